"""Tests of thresholds: beside binomial tails of SciPy, by enumeration of all answers, and drawn."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.examples import examples

from complabel.trust._thresholds import Judged, for_precision, for_recall, is_within_reach

ERROR = 0.05


def judged(score, applies, weight=None, group=None):
    n = len(score)
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=float)
    group = np.arange(n) if group is None else np.asarray(group)
    return Judged.sorted(np.asarray(score, float), np.asarray(applies, float), weight, group)


def passes(yes, number, least, error=ERROR):
    return number > 0 and stats.binomtest(yes, number, least, "greater").pvalue <= error


samples = st.integers(1, 120).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(1, 40).map(lambda x: x / 41), min_size=n, max_size=n),
        st.integers(0, 2**32 - 1),
    )
)


@examples(20)
@given(samples, st.sampled_from([0.5, 0.7, 0.9]))
def test_a_recall_is_that_of_all_lower_thresholds_by_binomial_tails(sample, least):
    scores, seed = np.array(sample[0]), sample[1]
    applies = np.random.default_rng(seed).random(len(scores)) < scores
    expected, total = None, int(applies.sum())
    for score in np.unique(scores[applies]):
        if not passes(int((applies & (scores >= score)).sum()), total, least):
            break
        expected = score
    found = for_recall(judged(scores, applies), least, ERROR)
    assert (found is None) == (expected is None)
    if found is not None:
        assert found < expected
        assert found == pytest.approx(expected, rel=1e-5)


@examples(20)
@given(samples, st.sampled_from([0.3, 0.5, 0.8]))
def test_a_precision_passes_by_binomial_tails_and_stops_at_the_first_that_fails(sample, least):
    scores, seed = np.array(sample[0]), sample[1]
    applies = np.random.default_rng(seed).random(len(scores)) < scores**0.3
    found = for_precision(judged(scores, applies), least, ERROR)
    each = {
        score: passes(int((applies & (scores >= score)).sum()), int((scores >= score).sum()), least)
        for score in np.unique(scores)
    }
    if found is None:
        return
    assert not (scores == found).any()  # between scores, so that rounding cannot matter
    lowest = scores[scores >= found].min()
    assert each[lowest]
    # The next threshold to test predicts at most a tenth more, and one; it failed, or is the last.
    n = (scores >= found).sum()
    later = [score for score in each if (scores >= score).sum() >= 1.1 * n]
    assert not later or not each[max(later)]


def test_a_precision_is_broken_rarely_enough_among_all_answers():
    """The chance of an error, over all 2^10 answers, if labels apply with these chances."""
    chances = np.array([0.95] * 5 + [0.9, 0.6, 0.3, 0.2, 0.1])
    scores = np.linspace(0.9, 0.2, len(chances))
    least, error, broken, promised = 0.7, 0.2, 0.0, 0.0
    for answers in itertools.product((0, 1), repeat=len(chances)):
        found = for_precision(judged(scores, answers), least, error)
        if found is not None:
            chance = np.where(answers, chances, 1 - chances).prod()
            promised += chance
            broken += chance * (chances[scores >= found].mean() < least)
    assert promised > 0.3
    assert 0 < broken <= error


@pytest.mark.parametrize("test", [for_precision, for_recall])
def test_what_one_answer_says_twice_counts_once(test):
    rng = np.random.default_rng(3)
    scores = rng.random(150)
    applies = rng.random(150) < scores**0.6
    alone = test(judged(scores, applies), 0.7, ERROR)
    twice = judged(np.tile(scores, 2), np.tile(applies, 2), None, np.tile(np.arange(150), 2))
    assert 0 < test(twice, 0.7, ERROR) == pytest.approx(alone, rel=0.15)
    many = judged(np.tile(scores, 2), np.tile(applies, 2))
    easier = test(many, 0.7, ERROR)
    assert easier < alone if test is for_precision else easier > alone


@pytest.mark.parametrize("test", [for_precision, for_recall])
def test_only_the_ratios_of_weights_count(test):
    rng = np.random.default_rng(1)
    scores = rng.random(300)
    applies = rng.random(300) < scores**0.2
    weight = rng.choice([1.0, 3.0], 300)
    found = test(judged(scores, applies, weight), 0.7, ERROR)
    assert found == pytest.approx(test(judged(scores, applies, 7 * weight), 0.7, ERROR))


@pytest.mark.parametrize("test", [for_precision, for_recall])
@pytest.mark.parametrize("design", ["by score", "ticked"])
def test_a_promise_is_kept_when_weights_differ_or_answers_are_long(design, test):
    rng = np.random.default_rng(2)
    p = rng.beta(0.4, 1.2, (3000, 5))
    applies = rng.random(p.shape) < p
    chance = (p + 0.05).ravel() / (p + 0.05).sum()
    kept, promised = 0, 0
    for _ in range(100):
        if design == "ticked":
            items = rng.choice(len(p), 60, replace=False)
            pairs, group = (items[:, None] * 5 + np.arange(5)).ravel(), np.repeat(items, 5)
            weight = None
        else:
            pairs, group = rng.choice(p.size, 300, p=chance), None
            weight = 1 / chance[pairs]
        sample = judged(p.ravel()[pairs], applies.ravel()[pairs], weight, group)
        found = test(sample, 0.7, ERROR)
        if found is None:
            kept += 1
            continue
        promised += 1
        right = applies[p >= found]
        kept += (right.mean() if test is for_precision else right.sum() / applies.sum()) >= 0.7
    assert kept >= 91  # fewer than 0.7 % of the time if it is kept with a chance of 0.95
    assert promised > 20


def test_how_many_judgements_are_within_reach():
    """0.9^28 = 0.052 and 0.9^29 = 0.047."""
    for number, enough in ((28, False), (29, True)):
        sure = judged(np.full(number, 0.999), np.ones(number))
        assert is_within_reach(sure, "recall", 0.9, ERROR) == enough
        assert is_within_reach(sure, "precision", 0.9, ERROR) == enough
        assert (for_recall(sure, 0.9, ERROR) is not None) == enough
        assert (for_precision(sure, 0.9, ERROR) is not None) == enough
    doubtful = judged(np.full(500, 0.5), np.zeros(500))
    assert not is_within_reach(doubtful, "precision", 0.9, ERROR)


def test_nothing_is_promised_without_judgements():
    for empty in (judged([], []), judged([0.5], [0])):
        assert for_recall(empty, 0.5, ERROR) is None
        assert for_precision(empty, 0.5, ERROR) is None
