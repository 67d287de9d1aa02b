"""The rank loss of PML-lc and PML-fp against its definition, pair by pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose
from scipy import optimize
from tests.methods.candidates.by_definition import costs_by_pairs, random_candidates

from complabel.methods.candidates._rank_loss import RankLoss

# The first row excludes one label, the second two of four.
CANDIDATES = np.array([[1, 0, 1, 1], [0, 0, 1, 1], [1, 1, 1, 0]], dtype=float)
SCORES = np.array([[0.5, 0.2, 1.9, -1.0], [0.3, -0.4, 0.3, 2.0], [0.0, 0.0, 0.0, 0.0]])
CONFIDENCES = np.array([[0.7, 0, 1.0, 0.2], [0, 0, 0.5, 0.5], [1.0, 0.3, 0.0, 0]])


def test_costs_worked_by_hand():
    loss = RankLoss(np.array([[1.0, 0.0, 1.0]]), weight=6.0)
    # 6 / (2 * 1) = 3; (1 - 0 + 1)^2 = 4 and (1 - 3 + 1)_+^2 = 0.
    assert_allclose(loss.costs(np.array([[0.0, 1.0, 3.0]])), [[12.0, 0.0, 0.0]])


def test_costs_and_value_are_the_sums_over_pairs():
    expected = costs_by_pairs(SCORES, CANDIDATES, 2.0)
    loss = RankLoss(CANDIDATES, weight=2.0)
    assert_allclose(loss.costs(SCORES), expected, atol=1e-14)
    value, _ = loss.value_and_gradient(SCORES, CONFIDENCES)
    assert value == pytest.approx((expected * CONFIDENCES).sum(), rel=1e-13)


@given(
    hnp.arrays(np.float64, (5, 6), elements=st.floats(-20, 20)),
    st.integers(0, 2**32 - 1),
)
def test_sorted_sums_equal_pairs_with_ties_and_many_complementary_labels(scores, seed):
    rng = np.random.default_rng(seed)
    scores = np.round(scores, 1)  # exact ties, also at the margin
    candidates = random_candidates(rng, scores.shape)
    confidences = candidates * rng.random(scores.shape)
    loss = RankLoss(candidates, weight=1.0)
    expected = costs_by_pairs(scores, candidates, 1.0)
    assert_allclose(loss.costs(scores), expected, atol=1e-9)
    value, _ = loss.value_and_gradient(scores, confidences)
    assert value == pytest.approx((expected * confidences).sum(), abs=1e-9)


def test_gradient_is_that_of_finite_differences():
    rng = np.random.default_rng(1)
    candidates = random_candidates(rng, (4, 6))
    confidences = candidates * rng.random(candidates.shape)
    scores = rng.normal(size=candidates.shape)
    loss = RankLoss(candidates, weight=1.5)
    _, gradient = loss.value_and_gradient(scores, confidences)
    numeric = optimize.approx_fprime(
        scores.ravel(),
        lambda flat: loss.value_and_gradient(flat.reshape(scores.shape), confidences)[0],
        1e-6,
    )
    assert_allclose(gradient.ravel(), numeric, atol=1e-5)
