from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.figure import Figure

from complabel.reports._charts import new_axes, precision_recall_chart, reliability_chart
from complabel.trust import reliability


def texts(svg):
    return [element.text for element in ET.fromstring(svg).iter("text")]


def test_reliability_is_drawn_as_points_with_intervals_beside_the_diagonal():
    p = np.tile([0.25, 0.75], (8, 1))
    found = reliability(p > [0.3, 0.9], p, n_bins=2)
    svg = reliability_chart(found, title="t", description="d").svg("r")
    marks = [g for g in ET.fromstring(svg).iter("g") if len(g.findall("use")) == 2]
    (dots,) = marks
    x = [float(dot.get("x")) for dot in dots.findall("use")]
    y = [float(dot.get("y")) for dot in dots.findall("use")]
    assert x[0] < x[1]
    assert y[0] == pytest.approx(y[1])  # neither label applies: both lie on the ground
    assert {"predicted probability", "share that applies"} <= set(texts(svg))


def test_a_curve_of_precision_and_recall_goes_forward_and_skips_what_is_unknown(estimated):
    found = estimated.estimates
    recall, precision = np.array([1.0, 0.5, 0.6, 0.2, 0.1]), np.array([0.3, 0.5, 0.6, 0.9, np.nan])
    ends = {"precision_low": precision - 0.1, "precision_high": precision + 0.1}
    curve = {"recall": recall, "precision": precision, **ends}
    svg = precision_recall_chart(curve, found, title="t", description="d").svg("c")
    lines = [
        np.array(re.findall(r"[ML] ([\d.]+) ([\d.]+)", path.get("d")), float)
        for path in ET.fromstring(svg).iter("path")
        if "stroke: var(--accent)" in path.get("style", "") and "clip-path" in path.attrib
    ]
    (line,) = lines
    assert len(line) == 4
    x, y = line.T
    width = (x[0] - x[-1]) / 0.8  # recall 1 and .2
    assert (x - x[-1]) / width + 0.2 == pytest.approx([1, 0.55, 0.55, 0.2], abs=1e-5)
    assert np.diff(y).max() < 0  # upward, as precision grows
    assert "fill: var(--accent)" in svg
    assert {"precision", "recall"} <= set(texts(svg))


@pytest.mark.parametrize("letters", [10, 50, 500])
def test_long_names_leave_room_to_draw(letters):
    axes = new_axes(Figure(figsize=(6, 3)), "", "", names=["short", "x" * letters])
    assert axes.get_position().width > 0.3
    assert axes.get_yticklabels()[0].get_text() == "short"
