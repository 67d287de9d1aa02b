"""Intervals for people who stop when they know enough: the chances of false stops, summed up."""

import math

import numpy as np
import pytest
from scipy import stats

from complabel.frequencies import Audit
from complabel.frequencies._sequential import (
    answers_left,
    beside_predictions,
    interval_at_goal,
    interval_whenever,
)


def false_stops(within, n_items, counts):
    """Return the chance that the interval misses when it is short enough, for each true count.

    Each item is judged once, in random order, with a look after each answer; an infinite number of
    items gives independent answers. ``counts`` are then true shares.
    """
    counts = np.asarray(counts, dtype=float)
    finite = math.isfinite(n_items)
    truth = counts / n_items if finite else counts
    state, misses, n = np.ones((1, len(counts))), np.zeros(len(counts)), 0
    while state.sum() > 1e-9 and n < n_items:
        said = np.arange(n + 1.0)[:, np.newaxis]
        yes = np.clip((counts - said) / (n_items - n), 0, 1) if finite else truth
        n += 1
        now = np.zeros((n + 1, len(counts)))
        now[1:] += state * yes
        now[:-1] += state * (1 - yes)
        low, high = interval_at_goal(
            np.arange(n + 1.0), np.full(n + 1, float(n)), within, n_items
        ).T
        met = (high - low) / 2 <= within
        out = (truth < low[met, np.newaxis] - 1e-12) | (truth > high[met, np.newaxis] + 1e-12)
        misses += (now[met] * out).sum(axis=0)
        now[met] = 0
        state = now
    assert state.sum() <= 1e-9  # everybody stops
    return misses


@pytest.mark.parametrize("within", [0.0465, 0.069, 0.1, 0.16, 0.22])
def test_at_most_five_of_a_hundred_stop_falsely_whatever_the_share(within):
    judged, yes = (at.astype(float) for at in np.tril_indices(int(1.3 / within**2)))
    ends = interval_at_goal(yes[1:], judged[1:], within)
    half = np.ptp(ends, axis=1) / 2
    # The chance jumps where an interval ends at which somebody may stop.
    ends = np.unique(ends[(half <= within) & (half > 0.9 * within)])
    shares = np.append(ends - 1e-9, ends + 1e-9)
    shares = shares[(shares > 0) & (shares < 0.5)]
    assert false_stops(within, math.inf, shares[:: len(shares) // 400 + 1]).max() <= 0.05


@pytest.mark.parametrize(("within", "n_items"), [(0.02, 30), (0.03, 50), (0.05, 100), (0.1, 300)])
def test_few_items_are_known_sooner_and_no_less_surely(within, n_items):
    assert false_stops(within, n_items, range(n_items + 1)).max() <= 0.05
    judged = np.array([0.9 * n_items])
    of_few, of_all = (interval_at_goal(judged / 3, judged, within, n) for n in (n_items, math.inf))
    assert np.ptp(of_few) < np.ptp(of_all)


def test_items_that_are_all_judged_leave_nothing_open():
    yes = np.array([0.0, 3.0, 20.0])
    ends = interval_at_goal(yes, np.full(3, 20.0), 0.05, 20)
    np.testing.assert_allclose(ends, np.stack([yes, yes], axis=1) / 20, rtol=1e-12)


def test_without_a_number_of_items_it_is_the_interval_of_clopper_and_pearson():
    yes, judged = np.array([0.0, 4.0, 30.0]), np.array([25.0, 30.0, 30.0])
    for ends, k, n in zip(interval_at_goal(yes, judged, 0.05), yes, judged, strict=True):
        whole = stats.binomtest(int(k), int(n)).proportion_ci(0.964, method="exact")
        np.testing.assert_allclose(ends, whole, rtol=1e-9)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5])
def test_the_other_interval_holds_at_all_times_together(share):
    state, ever = np.ones(1), 0.0
    for n in range(1, 201):
        state = np.append(0.0, state) * share + np.append(state, 0.0) * (1 - share)
        low, high = interval_whenever(np.arange(n + 1.0), np.full(n + 1, float(n))).T
        out = (share < low) | (share > high)
        ever += state[out].sum()
        state[out] = 0.0
    assert 0 < ever <= 0.05


def test_the_interval_that_holds_at_all_times_is_the_longer_one():
    yes, judged = np.array([0.0, 10.0, 100.0, 0.0]), np.array([40.0, 40.0, 400.0, 0.0])
    at_goal, whenever = interval_at_goal(yes, judged, 0.05), interval_whenever(yes, judged)
    assert (whenever[:3, 1] > at_goal[:3, 1]).all()
    assert (whenever[1:3, 0] < at_goal[1:3, 0]).all()
    np.testing.assert_array_equal(whenever[3], [0, 1])


def test_answers_left_hold_as_often_as_they_say():
    rng = np.random.default_rng(0)
    held = []
    for _ in range(200):
        said = rng.random(1100) < rng.beta(0.5, 0.5)
        yes, judged = np.cumsum(said).astype(float), np.arange(1.0, 1101.0)
        low, high = interval_at_goal(yes, judged, 0.05).T
        stop = int(np.argmax((high - low) / 2 <= 0.05)) + 1
        if stop > 30:
            left = answers_left(yes[29:30], judged[29:30], np.array([0.05]), n_draws=200, rng=rng)
            least, most = np.quantile(left, [0.1, 0.9])
            held.append(least - 1 <= stop - 30 <= most + 1)
    assert 0.7 <= np.mean(held) <= 0.93
    assert not answers_left(yes[-1:], judged[-1:], np.array([0.05]), n_draws=9, rng=rng).any()


def beside(predicted, item, applies, within=0.05):
    """Return what is known of one label whose items were asked about one by one."""
    said = np.asarray(applies), np.ones(len(item))
    audit = Audit(np.asarray(item), *np.array([[0], [-1]]).repeat(len(item), 1), *said, 1)
    whole: dict = {"n_draws": 50, "rng": np.random.default_rng(0)}
    of = np.array([within]), np.array([float(len(predicted))])
    return beside_predictions(audit, np.asarray(predicted)[:, np.newaxis], *of, **whole)


def test_beside_predictions_is_the_share_of_both_sorts_of_items_together():
    predicted = np.arange(1000) < 300
    applies = [True] * 90 + [False] * 10 + [True] * 5 + [False] * 95
    yes, judged, n_items, left = beside(predicted, [*range(100), *range(900, 1000)], applies)
    assert yes / judged == pytest.approx(0.3 * 90 / 100 + 0.7 * 5 / 100)
    assert judged > 200
    assert n_items / judged == pytest.approx(1000 / 200)
    plain = (np.array([each]) for each in (95.0, 200.0, 0.05, 1000.0))
    assert left.max() < answers_left(*plain, n_draws=50, rng=np.random.default_rng(0)).min()


@pytest.mark.parametrize("predicted", [np.arange(400) % 2 > 0, np.zeros(400, dtype=bool)])
def test_predictions_that_tell_nothing_change_nothing(predicted):
    applies = np.arange(100) % 4 < 2  # of what is predicted and what is not, a half
    yes, judged, n_items, left = beside(predicted, range(100), applies)
    assert (yes, judged, n_items) == (50, 100, 400)
    plain = (np.array([each]) for each in (50.0, 100.0, 0.05, 400.0))
    expected = answers_left(*plain, n_draws=50, rng=np.random.default_rng(0))
    np.testing.assert_allclose(left, expected, rtol=0.05)  # other draws


def test_beside_predictions_few_stop_falsely_and_all_stop_sooner():
    rng = np.random.default_rng(0)
    truth = np.arange(2000) < 500
    wrong, stops = [], []
    for _ in range(40):
        predicted = rng.random(2000) < np.where(truth, 0.85, 0.02)
        item = rng.permutation(2000)
        for n in range(10, 400, 10):
            yes, judged, n_items, left = beside(predicted, item[:n], truth[item[:n]])
            if not left.any():
                break
        ((low, high),) = interval_at_goal(yes, judged, 0.05, n_items)
        wrong.append(not low <= 0.25 <= high)
        stops.append(n)
    assert np.sum(wrong) <= 5  # 6 of 40 would be seen in 1 of 100 tests at most, if 5 % are wrong
    assert np.mean(stops) < 200  # 290 answers are needed without a machine
