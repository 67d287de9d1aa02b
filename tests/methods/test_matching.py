import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from complabel.methods._matching import class_shifts, label_shifts


def drawn(seed, n=60, k=4, spread=1.0):
    rng = np.random.default_rng(seed)
    scores = spread * rng.standard_t(2, size=(n, k)) + 5 * rng.normal(size=k)
    return scores, rng.uniform(0.001, 0.999, size=k)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 30))
def test_probabilities_of_labels_have_the_means_asked_for(seed, spread):
    scores, frequencies = drawn(seed, spread=spread)
    b = label_shifts(scores, frequencies)
    np.testing.assert_allclose(special.expit(scores + b).mean(axis=0), frequencies, rtol=1e-10)


def test_constant_scores_are_replaced_by_the_log_odds_of_the_frequency():
    frequencies = np.array([1e-6, 0.3, 1 - 1e-6])
    scores = np.tile([1e6, 0.0, -7.5], (5, 1))
    b = label_shifts(scores, frequencies)
    np.testing.assert_allclose(scores[0] + b, special.logit(frequencies), rtol=1e-9)


@pytest.mark.parametrize(
    ("scores", "frequency"),
    [([-1e4, -1e4, 0.0, 0.0, 1e4, 1e4], 0.4), ([300.0] + [0.0] * 999, 1e-6)],
    ids=["certain either way", "one row"],
)
def test_far_scores_are_matched(scores, frequency):
    scores = np.array(scores)[:, np.newaxis]
    b = label_shifts(scores, np.array([frequency]))
    assert special.expit(scores + b).mean() == pytest.approx(frequency, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 30))
def test_probabilities_of_classes_have_the_means_asked_for(seed, spread):
    scores, frequencies = drawn(seed, spread=spread)
    frequencies /= frequencies.sum()
    b = class_shifts(scores, frequencies)
    mean = special.softmax(scores + b, axis=1).mean(axis=0)
    np.testing.assert_allclose(mean, frequencies, rtol=1e-9)
    assert b.mean() == pytest.approx(0, abs=1e-9 * np.abs(b).max())


def test_a_class_that_underflows_everywhere_is_brought_back():
    scores = np.zeros((10, 3))
    scores[:, 2] = np.linspace(-5000, -4000, 10)
    frequencies = np.array([0.5, 0.25, 0.25])  # class 2: two rows, and half of another one
    b = class_shifts(scores, frequencies)
    mean = special.softmax(scores + b, axis=1).mean(axis=0)
    np.testing.assert_allclose(mean, frequencies, rtol=1e-9)
