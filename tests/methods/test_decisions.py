import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import special

from complabel.methods._decisions import labels_above, log_odds_around_half, log_odds_of_regression

SCORES = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.floats(-6, 6)
)


@given(SCORES, st.floats(0.05, 0.95))
def test_a_probability_is_held_against_the_cut(log_odds, cut):
    f = special.expit(log_odds)
    far = np.abs(f - cut) > 1e-9  # what is nearer depends on rounding
    predicted = labels_above(log_odds, threshold="probability", cut=cut)
    np.testing.assert_array_equal(predicted[far], (f > cut)[far])


def test_probabilities_that_round_to_one_are_told_apart():
    log_odds = np.array([[50.0, 60.0, 70.0], [-800.0, -900.0, -700.0]])
    predicted = labels_above(log_odds, threshold="minmax", cut=0.5)
    # 1 - f is 1.9e-22, 8.8e-27 and 4e-31: the middle one is much nearer to the greatest.
    np.testing.assert_array_equal(predicted, [[0, 1, 1], [0, 0, 1]])


def test_certain_labels_have_infinite_log_odds_and_a_place_in_the_row():
    log_odds = log_odds_around_half(np.array([[-0.5, 0.5, 0.1], [0.5, 0.5, 0.5]]))
    np.testing.assert_allclose(special.expit(log_odds), [[0, 1, 0.6], [1, 1, 1]])
    predicted = labels_above(log_odds, threshold="minmax", cut=0.5)
    np.testing.assert_array_equal(predicted, [[0, 1, 1], [1, 1, 1]])


@pytest.mark.parametrize("least", [np.finfo(float).tiny, 1e-20])
def test_the_least_score_above_one_half_is_predicted(least):
    log_odds = log_odds_around_half(np.array([[least, -least, 0.0]]))
    predicted = labels_above(log_odds, threshold="probability", cut=0.5)
    np.testing.assert_array_equal(predicted, [[1, 0, 0]])


def test_a_regression_score_is_near_f_at_the_cut():
    scores = np.linspace(-0.05, 0.05, 5)
    f = special.expit(log_odds_of_regression(scores))
    np.testing.assert_allclose(f, scores + 0.5, atol=1e-3)
