"""The ranking losses against their definitions, pair by pair, and finite differences."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import expit

from complabel.losses import ExponentialRankingLoss, SquaredHingeRankingLoss

LOGITS = np.array([[0.3, -1.2, 2.0, -0.4], [-2.5, 0.1, 0.9, -3.0], [1.0, 1.0, -1.0, -1.0]])
COMPLEMENTARY = np.array([[0, 1, 0, 0], [1, 0, 0, 1], [0, 1, 1, 1]])


def exponential_by_pairs(logits, complementary):
    """Sum over candidates, mean over complementary labels, mean over instances."""
    rows = []
    for scores, wrong in zip(expit(logits), complementary, strict=True):
        pairs = [
            np.exp(scores[k] - scores[j])
            for j in np.flatnonzero(wrong == 0)
            for k in np.flatnonzero(wrong)
        ]
        rows.append(sum(pairs) / wrong.sum())
    return np.mean(rows)


def squared_hinge_by_pairs(logits, complementary):
    """Mean over pairs, mean over instances."""
    rows = []
    for scores, wrong in zip(logits, complementary, strict=True):
        pairs = [
            max(0.0, 1 - scores[j] + scores[k]) ** 2
            for j in np.flatnonzero(wrong == 0)
            for k in np.flatnonzero(wrong)
        ]
        rows.append(np.mean(pairs))
    return np.mean(rows)


LOSSES = pytest.mark.parametrize(
    ("loss", "by_pairs"),
    [
        (ExponentialRankingLoss(), exponential_by_pairs),
        (SquaredHingeRankingLoss(), squared_hinge_by_pairs),
    ],
)


def tensor(array):
    return torch.tensor(np.asarray(array), dtype=torch.float64)


@LOSSES
def test_value_is_the_sum_over_pairs(loss, by_pairs):
    expected = by_pairs(LOGITS, COMPLEMENTARY)
    assert float(loss(tensor(LOGITS), tensor(COMPLEMENTARY))) == pytest.approx(expected, rel=1e-13)


@given(hnp.arrays(np.float64, (4, 5), elements=st.floats(-9, 9)), st.integers(0, 2**32 - 1))
def test_squared_hinge_holds_with_ties_and_any_number_of_complementary_labels(logits, seed):
    rng = np.random.default_rng(seed)
    logits = np.round(logits, 1)
    complementary = (rng.random(logits.shape) < 0.5).astype(float)
    complementary[:, 0], complementary[:, 1] = 1, 0
    found = float(SquaredHingeRankingLoss()(tensor(logits), tensor(complementary)))
    assert found == pytest.approx(squared_hinge_by_pairs(logits, complementary), abs=1e-10)


@LOSSES
def test_gradient_is_that_of_finite_differences(loss, by_pairs):
    found = loss.logit_gradient(tensor(LOGITS.T), tensor(COMPLEMENTARY.T)).numpy().T
    step = 1e-6
    for index in np.ndindex(*LOGITS.shape):
        moved = [LOGITS.copy(), LOGITS.copy()]
        moved[0][index] += step
        moved[1][index] -= step
        up, down = (by_pairs(logits, COMPLEMENTARY) for logits in moved)
        assert found[index] == pytest.approx(len(LOGITS) * (up - down) / (2 * step), abs=1e-7)


@LOSSES
def test_gradient_is_that_of_autograd(loss, by_pairs):
    logits = tensor(LOGITS).requires_grad_()
    loss(logits, tensor(COMPLEMENTARY)).backward()
    by_hand = loss.logit_gradient(tensor(LOGITS.T), tensor(COMPLEMENTARY.T)).t()
    torch.testing.assert_close(by_hand, len(LOGITS) * logits.grad, rtol=1e-12, atol=1e-12)


@LOSSES
def test_extreme_logits_stay_finite(loss, by_pairs):
    logits = torch.tensor([[100.0, -100.0, 0.0]])
    complementary = torch.tensor([[1.0, 0.0, 0.0]])
    assert torch.isfinite(loss(logits, complementary))
    assert torch.isfinite(loss.logit_gradient(logits.t(), complementary.t())).all()
