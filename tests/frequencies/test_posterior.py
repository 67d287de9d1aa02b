"""The posterior of judgements alone by SciPy's integration; intervals by sums over all counts."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from complabel.frequencies._counts import Counts
from complabel.frequencies._exchangeable import HETEROGENEITY, log_prior_of_heterogeneity
from complabel.frequencies._posterior import PRIOR_MEAN, PRIOR_SD, assisted_intervals, from_audit

YES, JUDGED = np.array([0.0, 3.0, 7.0]), np.array([4.0, 10.0, 9.0])
COUNTS = Counts.of_one_group(YES, JUDGED)


def test_the_audit_alone_is_integrated_over_means_and_heterogeneities():
    means = np.linspace(-8, 7, 121)
    total, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for sd in HETEROGENEITY:
        # (means, nodes): fine nodes around each mean, where both densities are smooth
        logits = means[:, np.newaxis] + sd * np.linspace(-7, 7, 141)
        p = special.expit(logits)
        normal = stats.norm.pdf(np.linspace(-7, 7, 141)) / sd
        moments = np.empty((3, 3, len(means)))
        for k, power in np.ndindex(3, 3):
            chance = stats.binom.pmf(YES[k], JUDGED[k], p)
            moments[k, power] = integrate.simpson(normal * chance * p**power, x=logits)
        weight = stats.norm.pdf(means, PRIOR_MEAN, PRIOR_SD) * moments[:, 0].prod(axis=0)
        weight *= np.exp(log_prior_of_heterogeneity(sd))
        expected = moments[:, 1] / moments[:, 0]
        squares = expected[:, np.newaxis] * expected
        squares[np.arange(3), np.arange(3)] = moments[:, 2] / moments[:, 0]
        total += weight.sum()
        first += expected @ weight
        second += squares @ weight
    values = first / total
    covariance = second / total - np.outer(values, values)
    found = from_audit(COUNTS)
    np.testing.assert_allclose(found.values, values, rtol=2e-3)
    np.testing.assert_allclose(found.covariance, covariance, rtol=0.01)


def test_labels_share_the_error_of_their_mean():
    # The heterogeneity is small, so that a "yes" about one label is one about the others.
    alike = from_audit(Counts.of_one_group(np.full(3, 12.0), np.full(3, 40.0)))
    assert (alike.covariance > 0).all()
    assert alike.covariance[0, 1] > 0.2 * alike.covariance[0, 0]


@pytest.mark.parametrize("judged", [50.0, 1e4, 1e7])
def test_many_judgements_are_their_share_of_yes(judged):
    share = np.array([0.02, 0.3, 0.9])
    found = from_audit(Counts.of_one_group(share * judged, np.full(3, judged)))
    errors = np.sqrt(share * (1 - share) / judged)
    assert (np.abs(found.values - share) < errors).all()
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), errors, rtol=0.3)


def test_without_any_yes_labels_are_rare_and_without_questions_nothing_is_known():
    none = from_audit(Counts.of_one_group(np.zeros(4), np.full(4, 25.0)))
    assert (none.values < 0.03).all()
    assert (none.intervals[:, 0] == 0).all()
    unknown = from_audit(Counts.of_one_group(np.zeros(4), np.zeros(4)))
    np.testing.assert_allclose(unknown.intervals, [[0, 1]] * 4)
    assert np.ptp(unknown.values) < 1e-9


FREQUENCIES = np.array([0.0005, 0.003, 0.014, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 0.9, 0.99])


def intervals_of_all_counts(n, mean, variance, missed=0.0, invented=0.0):
    """The interval (n + 1, 2) for each number of "yes" among n judgements."""
    yes = np.arange(n + 1.0)
    counts = Counts.of_one_group(yes, np.full(n + 1, float(n)), missed, invented)
    return assisted_intervals(counts, np.full(n + 1, mean), np.full(n + 1, variance))


@pytest.mark.parametrize("n", [1, 4, 14, 60])
@pytest.mark.parametrize(("mean", "variance"), [(-1.0, 1.0), (-5.0, 1.5), (-1.5, 0.02), (2.0, 9.0)])
@pytest.mark.parametrize(("missed", "invented"), [(0.0, 0.0), (0.3, 0.05)])
def test_each_frequency_is_held_whatever_the_other_labels_are(n, mean, variance, missed, invented):
    low, high = intervals_of_all_counts(n, mean, variance, missed, invented).T
    chance = FREQUENCIES * (1 - missed) + (1 - FREQUENCIES) * invented
    for frequency, p in zip(FREQUENCIES, chance, strict=True):
        held = (low <= frequency) & (frequency <= high)
        assert stats.binom.pmf(np.arange(n + 1), n, p) @ held >= 0.95


def test_without_other_labels_they_are_those_of_clopper_and_pearson():
    found = intervals_of_all_counts(12, 0.0, 1e8)
    expected = [stats.binomtest(yes, 12).proportion_ci(method="exact") for yes in range(13)]
    np.testing.assert_allclose(found, np.array(expected), atol=1e-6)


def test_intervals_are_shorter_where_labels_are_alike():
    n, pi = 30, 0.18
    chance = stats.binom.pmf(np.arange(n + 1), n, pi)
    apart = intervals_of_all_counts(n, special.logit(pi), 1e8)
    alike = intervals_of_all_counts(n, special.logit(pi), 0.02)
    length, usual = (chance @ (each[:, 1] - each[:, 0]) for each in (alike, apart))
    assert length < 0.9 * usual


def test_the_split_of_the_level_makes_the_expected_length_least():
    # Of a normal prior; half of the tests at another mean are worse under the same prior.
    n, mean, variance = 40, -1.5, 0.3
    logits = mean + np.sqrt(variance) * np.linspace(-4, 4, 81)
    weight = stats.norm.pdf(logits, mean, np.sqrt(variance))
    chance = stats.binom.pmf(np.arange(n + 1)[:, np.newaxis], n, special.expit(logits)) @ weight

    def length(elsewhere):
        low, high = np.clip(intervals_of_all_counts(n, *elsewhere), 1e-3, 1 - 1e-3).T
        return chance @ (special.logit(high) - special.logit(low)) / chance.sum()

    best = length((mean, variance))
    for other in ((mean - 1, variance), (mean + 1, variance), (mean, 3.0), (mean, 0.03)):
        assert best < length(other)
