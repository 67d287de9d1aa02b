"""Fits to shares: against the losses of the package by item, and where the answer is known."""

import dataclasses

import numpy as np
import pytest
import torch
from research.theory import (
    JointDistribution,
    complementary_probabilities,
    estimated_transitions,
    exact_transition,
    label_sets,
    uniform_choice,
)
from research.theory import _fits as fits
from scipy import special

from complabel.losses import MLCLLoss, SelectionLikelihoodLoss
from complabel.transition import initial_transition, label_correlation

K = 4


@pytest.fixture(scope="module")
def features():
    return np.random.default_rng(0).normal(size=(30, 2))


@pytest.fixture(scope="module")
def distribution(features):
    """Independent labels whose logits are linear in the features."""
    weights = np.array([[1.0, -0.5, 0.3, 0.0], [0.2, 0.8, -1.0, 0.5]])
    return JointDistribution.independent(special.expit(features @ weights - 0.3))


@pytest.fixture(scope="module")
def exact(distribution, features):
    weights = distribution.weights
    named = complementary_probabilities(distribution, uniform_choice(K))
    at = weights[:, np.newaxis]
    return fits.Shares(features, weights, at * named, at * distribution.marginals)


@pytest.fixture(scope="module")
def sample(distribution):
    return distribution.sample(400, uniform_choice(K), random_state=0)


def test_shares_count_items(sample, features):
    shares = fits.Shares.of_sample(sample, features)
    assert shares.items.sum() == pytest.approx(1)
    assert shares.ridge == 1 / 400
    for x in range(30):
        here = sample.points == x
        np.testing.assert_allclose(shares.items[x], here.mean())
        np.testing.assert_allclose(shares.named[x], sample.complementary[here].sum(axis=0) / 400)
        np.testing.assert_allclose(shares.relevant[x], sample.Y[here].sum(axis=0) / 400)


def test_both_likelihoods_find_the_truth_from_exact_shares(exact, distribution):
    truth = distribution.marginals
    np.testing.assert_allclose(fits.fit_supervised(exact), truth, atol=1e-5)
    np.testing.assert_allclose(fits.fit_selection(exact, uniform_choice(K)), truth, atol=1e-3)


def gradient_of_items(loss, features, sample, scores):
    """The gradient of a loss of the package, summed over items, by weights and biases."""
    logits = torch.tensor(special.logit(scores[sample.points]))
    slope = loss.logit_gradient(logits, torch.tensor(sample.complementary.astype(float))).numpy()
    biased = np.column_stack([np.ones(len(features)), features])[sample.points]
    return biased.T @ slope / len(slope)


@pytest.mark.parametrize("method", ["MLCL", "selection likelihood"])
def test_no_step_from_a_fit_lowers_the_loss_of_the_package(method, sample, features):
    shares = dataclasses.replace(fits.Shares.of_sample(sample, features), ridge=0.0)
    if method == "MLCL":
        T = exact_transition(JointDistribution.empirical(sample.Y), uniform_choice(K))
        scores, loss = fits.fit_mlcl(shares, T), MLCLLoss(torch.tensor(T))
    else:
        scores, loss = fits.fit_plain_selection(shares), SelectionLikelihoodLoss()
    start = gradient_of_items(loss, features, sample, np.full((30, K), 0.5))
    slope = gradient_of_items(loss, features, sample, scores)
    assert np.abs(slope).max() < 1e-4 * np.abs(start).max()


def test_the_estimated_transition_is_that_of_the_package(exact, distribution, sample, features):
    # One point for each x: a free softmax is p(ybar|x), and T is the limit of the estimate.
    free = fits.Shares(np.eye(30), exact.items, exact.named, exact.relevant)
    limit = estimated_transitions(distribution, uniform_choice(K)).corrected
    np.testing.assert_allclose(fits.fit_transition(free), limit, atol=1e-6)
    # Without features g is the same for all items.
    counted = fits.Shares.of_sample(sample, np.zeros((30, 1)))
    shares = dataclasses.replace(counted, ridge=0.0)
    g = np.tile(sample.complementary.mean(axis=0), (400, 1))
    S, C = initial_transition(g, sample.complementary), label_correlation(sample.complementary)
    T = S @ C.T * (1 - np.eye(K))
    T /= T.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fits.fit_transition(shares), T, atol=1e-5)


def test_marginals_leave_empty_and_full_sets_out():
    p = np.array([[0.2, 0.5, 0.9]])
    expected = JointDistribution.independent(p).conditional @ label_sets(3)
    np.testing.assert_allclose(fits._marginals(special.logit(p)), expected, rtol=1e-12)
