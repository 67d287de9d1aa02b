"""Intervals of single labels: how often they hold the truth, by sums over all possible counts."""

import numpy as np
import pytest
from scipy import special, stats

from complabel.frequencies._counts import Counts
from complabel.frequencies._posterior import assisted_intervals

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
