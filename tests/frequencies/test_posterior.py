"""The posterior of judgements alone, against numerical integration by SciPy."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from complabel.frequencies._counts import Counts
from complabel.frequencies._posterior import (
    HETEROGENEITY,
    PRIOR_MEAN,
    PRIOR_SD,
    from_audit,
    log_prior_of_heterogeneity,
)

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
