"""Logits that are exchangeable: draws, narrow likelihoods, and what the other labels tell."""

import numpy as np
import pytest
from scipy import special, stats

from complabel.frequencies._counts import Counts
from complabel.frequencies._exchangeable import GRID, Exchangeable, Likelihood

YES, JUDGED = np.array([0.0, 3.0, 7.0, 1.0]), np.array([4.0, 10.0, 9.0, 30.0])


def likelihood(yes, judged):
    counts = Counts.of_one_group(np.asarray(yes), np.asarray(judged))
    return Likelihood.of(counts.log_likelihood, special.expit, len(yes))


def test_draws_have_the_moments():
    found = Exchangeable.of([likelihood(YES, JUDGED)], (-1.0, 3.0))
    mean, covariance = found.moments()
    draws = found.draw(40_000, np.random.default_rng(0))
    error = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.04 * error.max())
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.06 * error.max() ** 2)


@pytest.mark.parametrize("judged", [0.0, 20.0, 2e3, 2e5, 2e7])
def test_a_likelihood_is_integrated_however_narrow_it_is(judged):
    of_it = likelihood([0.3 * judged], [judged])
    # A flat prior of the logit is a beta distribution with 0 and 0 added, of the frequency.
    prior = stats.norm.pdf(GRID, -0.5, 1.0)
    posterior = of_it.values[0] * prior
    mean = (posterior * of_it.frequencies[0]).sum() / posterior.sum()
    square = (posterior * of_it.squares[0]).sum() / posterior.sum()
    if judged < 100:
        nodes = np.linspace(-12, 11, 200_001)
        exact = stats.binom.pmf(0.3 * judged, judged, special.expit(nodes))
        exact = exact * stats.norm.pdf(nodes, -0.5, 1.0)
        exact /= exact.sum()
        expected = exact @ special.expit(nodes)
        spread = np.sqrt(exact @ special.expit(nodes) ** 2 - expected**2)
    else:
        expected, spread = 0.3, np.sqrt(0.21 / judged)
    assert abs(mean - expected) < 0.05 * spread
    assert np.sqrt(square - mean**2) == pytest.approx(spread, rel=0.02)


def test_one_of_several_likelihoods_is_chosen_by_what_was_said():
    counts = Counts.of_one_group(np.array([45.0, 5.0]), np.array([50.0, 50.0]))
    beside = np.array([[2.2], [-2.2]])
    both = [
        Likelihood.of(
            lambda z, rise=rise: counts.log_likelihood(z + rise * beside),
            lambda z, rise=rise: special.expit(z + rise * beside),
            2,
            np.log(0.5),
        )
        for rise in (1.0, -1.0)
    ]
    found = Exchangeable.of(both, (0.0, 1.0), shares=(0.0,))
    weight = {id(each): posterior.sum() / 2 for each, posterior in found.marginals}
    assert weight[id(both[0])] > 0.9
    assert sum(weight.values()) == pytest.approx(1)


def test_a_label_is_expected_where_the_others_are():
    alike = Exchangeable.of([likelihood([30.0] * 5 + [0.0], [100.0] * 5 + [0.0])], (-1.0, 3.0))
    center, variance = alike.from_others()
    assert center[5] == pytest.approx(special.logit(0.3), abs=0.05)
    alone = Exchangeable.of([likelihood([30.0, 0.0], [100.0, 0.0])], (-1.0, 3.0))
    assert alone.from_others()[1][1] > variance[5]
