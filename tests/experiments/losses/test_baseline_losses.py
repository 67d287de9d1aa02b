"""The baselines' losses by hand and by enumeration; that they are losses, test_contract says."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from complabel.experiments.losses import (
    CTLLoss,
    ExponentialRankingLoss,
    GDFLoss,
    LUWLoss,
    UnbiasedBCELoss,
)


def loss_at(loss, scores, complementary):
    """The loss of one instance with the given scores f(x) in (0, 1)."""
    logits = torch.logit(torch.tensor(np.array([scores]), dtype=torch.float64))
    return float(loss(logits, torch.tensor(np.array([complementary]), dtype=torch.float64)))


def log_losses(scores):
    """-log f and -log(1 - f), in NumPy."""
    scores = np.asarray(scores)
    return -np.log(scores), -np.log(1 - scores)


def test_luw_by_hand():
    # Q = sigmoid(1 - f) = 1 / (1 + exp(f - 1)); the second label is complementary.
    first = -math.log(1 - 1 / (1 + math.exp(0.75 - 1)))
    second = -math.log(1 / (1 + math.exp(0.25 - 1)))
    third = -math.log(1 - 1 / (1 + math.exp(0.5 - 1)))
    expected = (first + second + third) / 3
    assert expected == pytest.approx(0.72896, abs=1e-5)
    assert loss_at(LUWLoss(), [0.75, 0.25, 0.5], [0, 1, 0]) == pytest.approx(expected)


def test_gdf_by_hand():
    # 3/4, 3/4 and 1/2 are the probabilities of what the candidates say.
    assert loss_at(GDFLoss(), [0.75, 0.25, 0.5], [0, 1, 0]) == pytest.approx(math.log(32 / 9))


@pytest.mark.parametrize("n_labels", [3, 4, 5, 9])
def test_unbiased_has_the_published_weights(n_labels):
    a = 2 ** (n_labels - 2) / (2 ** (n_labels - 1) - 1)
    b = (2 ** (n_labels - 2) - 1) / (2 ** (n_labels - 1) - 1)
    scores = np.random.default_rng(0).uniform(0.1, 0.9, n_labels)
    positive, negative = log_losses(scores)
    expected = (a * positive + b * negative)[1:].sum() + negative[0]
    found = loss_at(UnbiasedBCELoss(), scores, np.arange(n_labels) == 0)
    assert found == pytest.approx(expected)


@given(st.integers(3, 6), st.integers(0, 2**32 - 1))
def test_the_unbiased_estimator_expects_the_supervised_risk(n_labels, seed):
    """Whatever sets of complementary labels are how likely, over all label sets they leave."""
    rng = np.random.default_rng(seed)
    subsets = np.array(list(itertools.product([0, 1], repeat=n_labels)))
    proper = subsets[(subsets.sum(axis=1) > 0) & (subsets.sum(axis=1) < n_labels)]
    chance = rng.dirichlet(np.ones(len(proper)))  # of each set of complementary labels
    left = (proper @ proper.T) == 0  # (complementary set, relevant set): which go together
    relevant_chance = chance @ (left / left.sum(axis=1, keepdims=True))

    scores = rng.uniform(0.01, 0.99, n_labels)
    positive, negative = log_losses(scores)
    risk = relevant_chance @ (proper @ positive + (1 - proper) @ negative)
    estimates = [loss_at(UnbiasedBCELoss(), scores, complementary) for complementary in proper]
    assert chance @ estimates == pytest.approx(risk)
    assert relevant_chance.sum() == pytest.approx(1)


def test_ctl_by_hand():
    # Scaled scores are 1, 0, 1/6 and 1/3: only the third label is doubted.
    positive, negative = log_losses([0.8, 0.2, 0.3, 0.4])
    candidates = positive[1] + positive[2] + negative[2] + positive[3]
    expected = math.exp(-0.5) * candidates + math.exp(1) * negative[0]
    assert loss_at(CTLLoss(), [0.8, 0.2, 0.3, 0.4], [1, 0, 0, 0]) == pytest.approx(expected)


def test_ctl_weighs_by_the_number_of_complementary_labels():
    # The lowest score is that of a complementary label, and the other candidate stands at 3/4.
    positive, negative = log_losses([0.9, 0.1, 0.7, 0.3])
    candidates = positive[0] + positive[2]
    expected = math.exp(-0.25) * candidates + math.exp(0.5) * (negative[1] + negative[3])
    assert loss_at(CTLLoss(), [0.9, 0.1, 0.7, 0.3], [0, 1, 0, 1]) == pytest.approx(expected)


@pytest.mark.parametrize(("score", "doubted"), [(0.25, 1), (0.5, 0)])
def test_ctl_leaves_a_row_of_equal_scores_unscaled(score, doubted):
    expected = math.exp(-0.5) * 2 * (
        -math.log(score) - doubted * math.log(1 - score)
    ) - math.e * math.log(1 - score)
    assert loss_at(CTLLoss(), [score] * 3, [0, 1, 0]) == pytest.approx(expected)


def test_the_ranking_loss_is_the_sum_over_pairs():
    """Sum over candidates, mean over complementary labels, mean over instances."""
    rng = np.random.default_rng(0)
    logits, complementary = rng.normal(size=(3, 4)), [[0, 1, 0, 0], [1, 0, 0, 1], [0, 1, 1, 1]]
    rows = []
    for scores, wrong in zip(expit(logits), np.array(complementary), strict=True):
        pairs = [
            np.exp(scores[k] - scores[j])
            for j in np.flatnonzero(wrong == 0)
            for k in np.flatnonzero(wrong)
        ]
        rows.append(sum(pairs) / wrong.sum())
    found = ExponentialRankingLoss()(torch.tensor(logits), torch.tensor(complementary))
    assert float(found) == pytest.approx(np.mean(rows), rel=1e-13)
