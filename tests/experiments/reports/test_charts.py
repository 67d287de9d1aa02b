from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from tests.reports.test_charts import texts

from complabel.experiments.reports._charts import Bar, bar_chart, heat_map, matrix_charts


def draw_heat_map(matrix=None, *, ident="m", description="three labels"):
    scale = {"centre": 0.5, "centre_name": "= 1/2", "reach": 0.5}
    matrix = np.full((3, 3), 0.5) if matrix is None else matrix
    names = ("relevant", "chosen")
    chart = heat_map(matrix, title="", description=description, axes_names=names, **scale)
    return chart.svg(ident)


def cell_colours(svg):
    """Fill of every cell beside the diagonal, in the order of the rows."""
    mesh = next(g for g in ET.fromstring(svg).iter("g") if len(g.findall("path")) == 9)
    fills = [re.search(r"fill: ([^;]+)", path.get("style")).group(1) for path in mesh]
    assert fills[0] == fills[4] == fills[8] == "none"
    return [fill for fill in fills if fill != "none"]


def test_heat_map_colours_equal_entries_alike_and_others_apart():
    matrix = np.array([[9.0, 0.5, 0.0], [0.5, 9.0, 1.0], [0.5, 0.0, 9.0]])
    middle, low, middle_again, high, third, low_again = cell_colours(draw_heat_map(matrix))
    assert middle == middle_again == third
    assert low == low_again
    assert len({low, middle, high}) == 3


def test_the_diagonal_has_no_colour():
    matrix = np.full((3, 3), 0.5)
    svg = draw_heat_map(matrix)
    np.fill_diagonal(matrix, 77.0)
    assert draw_heat_map(matrix) == svg


def test_heat_map_numbers_labels_and_names_axes_and_the_reference_value():
    shown = texts(draw_heat_map())
    assert [text for text in shown if text in ("1", "2", "3")] == ["1", "2", "3"] * 2
    assert {"relevant", "chosen", "0.000", "0.500", "= 1/2", "1.000"} <= set(shown)


@pytest.mark.parametrize("name", ["<b>", "R&D", "cost in $ or $"])
def test_names_appear_as_they_are(name):
    assert texts(draw_bars([Bar(name, 0.2)])).count(name) == 1


def draw_bars(bars):
    return bar_chart(bars, title="", description="d").svg("x")


def test_figures_take_the_colours_of_the_page():
    bars = draw_bars([Bar("one", 0.4, kind="reference")])
    for svg in (bars, draw_heat_map()):
        assert "currentColor" in svg
        assert "#010203" not in svg
        assert "#0a0b0c" not in svg
        assert "<style" not in svg  # would style the whole page
    assert "var(--accent)" in bars


def test_figures_describe_themselves():
    root = ET.fromstring(draw_heat_map(description='"S" & <T>'))
    assert root.tag == "svg"
    assert (root.get("role"), root.get("aria-label")) == ("img", '"S" & <T>')
    assert root.get("viewBox")


def test_figures_are_the_same_under_any_matplotlibrc_and_leave_it_alone():
    import matplotlib as mpl

    expected = draw_heat_map()
    with mpl.rc_context({"axes.facecolor": "red", "font.size": 30.0}):
        before = dict(mpl.rcParams)
        assert draw_heat_map() == expected
        assert dict(mpl.rcParams) == before


def test_bars_are_as_long_as_their_values():
    svg = draw_bars([Bar("a", 0.2), Bar("b", 0.4, kind="reference"), Bar("c", None), Bar("d", 0.1)])
    paths = re.findall(r'<path d="M ([\d.]+) [\d.]+\s+L ([\d.]+) [^"]*z\s*" clip-path', svg)
    lengths = sorted(float(end) - float(start) for start, end in paths)
    assert np.array(lengths) / lengths[0] == pytest.approx([1, 2, 4], rel=1e-3)
    assert svg.count("var(--accent)") == 1


def test_choices_share_a_scale_and_label_correlations_have_their_own():
    near, far = np.full((3, 3), 0.6), np.full((3, 3), 0.9)
    C = np.array([[1.0, 0.5, 0.6], [0.6, 1.0, 0.7], [0.6, 0.6, 1.0]])
    matrices = {"transition_": near, "initial_transition_": far, "label_correlation_": C}
    charts = list(matrix_charts(matrices, "MLCL on scene"))
    assert [chart.title[0] for chart in charts] == ["S", "C", "T"]
    ends = [{"0.100", "0.500", "0.900"}, {"0.500", "0.600", "0.700"}, {"0.100", "0.500", "0.900"}]
    for chart, expected in zip(charts, ends, strict=True):
        assert expected <= set(texts(chart.svg("x")))
