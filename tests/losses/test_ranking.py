"""The ranking loss against its definition, pair by pair, and finite differences."""

import numpy as np
import pytest
import torch
from scipy.special import expit

from complabel.losses import ExponentialRankingLoss

LOGITS = np.array([[0.3, -1.2, 2.0, -0.4], [-2.5, 0.1, 0.9, -3.0], [1.0, 1.0, -1.0, -1.0]])
LOSS = ExponentialRankingLoss()
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


def tensor(array):
    return torch.tensor(np.asarray(array), dtype=torch.float64)


def test_value_is_the_sum_over_pairs():
    expected = exponential_by_pairs(LOGITS, COMPLEMENTARY)
    assert float(LOSS(tensor(LOGITS), tensor(COMPLEMENTARY))) == pytest.approx(expected, rel=1e-13)


def test_gradient_is_that_of_finite_differences():
    found = LOSS.logit_gradient(tensor(LOGITS), tensor(COMPLEMENTARY)).numpy()
    step = 1e-6
    for index in np.ndindex(*LOGITS.shape):
        moved = [LOGITS.copy(), LOGITS.copy()]
        moved[0][index] += step
        moved[1][index] -= step
        up, down = (exponential_by_pairs(logits, COMPLEMENTARY) for logits in moved)
        assert found[index] == pytest.approx(len(LOGITS) * (up - down) / (2 * step), abs=1e-7)


def test_gradient_is_that_of_autograd():
    logits = tensor(LOGITS).requires_grad_()
    LOSS(logits, tensor(COMPLEMENTARY)).backward()
    by_hand = LOSS.logit_gradient(tensor(LOGITS), tensor(COMPLEMENTARY))
    torch.testing.assert_close(by_hand, len(LOGITS) * logits.grad, rtol=1e-12, atol=1e-12)


def test_extreme_logits_stay_finite():
    logits = torch.tensor([[100.0, -100.0, 0.0]])
    complementary = torch.tensor([[1.0, 0.0, 0.0]])
    assert torch.isfinite(LOSS(logits, complementary))
    assert torch.isfinite(LOSS.logit_gradient(logits, complementary)).all()
