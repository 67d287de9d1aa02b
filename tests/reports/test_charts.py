from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import special
from tests.refusals import raises
from tests.reports.small import draw_labels
from tests.trust.small import Stated

from complabel.errors import InputError
from complabel.frequencies import estimate_label_frequencies
from complabel.reports import LabelFrequencyDisplay, ReliabilityDisplay, ThresholdDisplay
from complabel.reports._charts import new_axes, precision_recall_chart, reliability_chart
from complabel.simulate import draw_answers
from complabel.trust import estimate_metrics, reliability


def texts(svg):
    return [element.text for element in ET.fromstring(svg).iter("text")]


def test_reliability_is_drawn_as_points_with_intervals_beside_the_diagonal():
    p = np.tile([0.25, 0.75], (8, 1))
    found = reliability(p > [0.3, 0.9], p, n_bins=2)
    shown = ReliabilityDisplay.from_predictions(p > [0.3, 0.9], p, n_bins=2)
    (dots,) = (line for line in shown.ax_.lines if line.get_marker() == "o")
    np.testing.assert_array_equal(dots.get_xydata(), [[0.25, 0], [0.75, 0]])  # neither applies
    (bars,) = shown.ax_.collections
    ends = [segment[:, 1] for segment in bars.get_segments()]
    np.testing.assert_allclose(ends, found.intervals)
    svg = reliability_chart(found, title="t", description="d").svg("r")
    assert {"predicted probability", "share that applies"} <= set(texts(svg))


def test_displays_of_a_model_show_its_thresholds_and_its_figures():
    Y = draw_labels()
    answers = draw_answers(Y, question="asked", random_state=5)
    chances = np.where(Y == 1, 0.6, 0.1) + np.random.default_rng(6).normal(0, 0.1, Y.shape)
    model, figure = Stated.of(answers), Figure()
    model.thresholds_ = np.full(4, 0.4)
    at = special.logit(chances.clip(0.01, 0.99))
    shown = ThresholdDisplay.from_estimator(model, at, answers, ax=figure.add_subplot())
    assert shown.figure_ is figure
    precision, recall = shown.ax_.get_lines()[1:]
    assert shown.ax_.get_lines()[0].get_xdata() == [0.4, 0.4]
    expected = estimate_metrics(answers, model.predict_proba(at), threshold=0.4)
    for line, found in ((precision, expected.precision), (recall, expected.recall)):
        near = np.abs(line.get_xdata() - 0.4).argmin()
        assert line.get_ydata()[near] == pytest.approx(found.value, abs=0.05)
    with raises(InputError, "over"):
        shown.plot(over="precision")

    shown = LabelFrequencyDisplay.from_predictions(answers)
    frequencies = estimate_label_frequencies(answers).values
    (dots,) = (line for line in shown.ax_.lines if line.get_marker() == "o")
    np.testing.assert_array_equal(dots.get_xdata(), np.sort(frequencies)[::-1])
    assert shown.ax_.get_yticklabels()[0].get_text() == str(np.argmax(frequencies))


def test_a_curve_of_precision_and_recall_goes_forward_and_skips_what_is_unknown(estimated):
    found = estimated.estimates
    recall, precision = np.array([1.0, 0.5, 0.6, 0.2, 0.1]), np.array([0.3, 0.5, 0.6, 0.9, np.nan])
    ends = {"precision_low": precision - 0.1, "precision_high": precision + 0.1}
    curve = {"recall": recall, "precision": precision, **ends}
    shown = ThresholdDisplay(curve, found).plot(Figure().add_subplot(), over="recall")
    x, y = next(line for line in shown.ax_.lines if len(line.get_xdata()) == 4).get_xydata().T
    assert x == pytest.approx([1, 0.55, 0.55, 0.2])
    assert y == pytest.approx([0.3, 0.5, 0.6, 0.9])
    svg = precision_recall_chart(curve, found, title="t", description="d").svg("c")
    assert {"precision", "recall"} <= set(texts(svg))


@pytest.mark.parametrize("letters", [10, 50, 500])
def test_long_names_leave_room_to_draw(letters):
    axes = new_axes(Figure(figsize=(6, 3)), "", "", names=["short", "x" * letters])
    assert axes.get_position().width > 0.3
    assert axes.get_yticklabels()[0].get_text() == "short"
