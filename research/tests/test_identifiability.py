"""The numbers of the page on what answers can tell; ranks and equations have files of their own."""

from fractions import Fraction

import numpy as np
import pytest
from research.tests.enumeration import (
    both_apply,
    distribution,
    exact,
    frequencies,
    independent,
    label_sets,
    menus,
    said,
    shares,
)
from scipy.optimize import brentq, linprog

HALF = Fraction(1, 2)
NOTHING = distribution(3, {(): 1})
ONE_OF_THREE = distribution(3, {(1,): "1/3", (2,): "1/3", (3,): "1/3"})


def named_only(probabilities, **kwargs):
    """Shares of the named labels where "all of these apply" is not seen."""
    answers = shares(probabilities, **kwargs)
    return answers[:-1] / answers[:-1].sum()


def test_1_label_sets_of_different_sizes_are_named_alike():
    always_1 = distribution(3, {(1,): 1})
    two = distribution(3, {(1, 2): HALF, (1, 3): HALF})
    for probabilities, cardinality in ((always_1, 1), (two, 2)):
        assert list(shares(probabilities)) == list(exact(0, "1/2", "1/2", 0))
        assert frequencies(probabilities).sum() == cardinality
    said("q = (0, 1/2, 1/2) and c = 1.", "again q = (0, 1/2, 1/2), and c = 2.")
    for n_labels in (3, 5):
        all_but = {
            tuple(set(range(1, n_labels + 1)) - {k}): Fraction(1, n_labels)
            for k in range(1, n_labels + 1)
        }
        for sets, cardinality in (({(): 1}, 0), (all_but, n_labels - 1)):
            probabilities = distribution(n_labels, sets)
            assert set(shares(probabilities)[:-1]) == {Fraction(1, n_labels)}
            assert frequencies(probabilities).sum() == cardinality


@pytest.mark.parametrize("q", [(1 / 6, 1 / 3, 1 / 2), (0, 0.5, 0.5), (0.1, 0.15, 0.15, 0.6)])
def test_1_the_cardinalities_that_a_share_allows(q):
    n_labels, sizes = len(q), label_sets(len(q)).sum(axis=1)
    named = np.array([shares(row) for row in np.eye(2**n_labels)]).T
    ends = [
        sign * linprog(sign * sizes, A_eq=named, b_eq=[*q, 0], bounds=(0, None)).fun
        for sign in (1, -1)
    ]
    steps = np.arange(n_labels, 0, -1) ** 2 * np.diff([0, *sorted(q)])
    np.testing.assert_allclose(ends, [n_labels - steps.sum(), n_labels - 1], atol=1e-9)
    if n_labels == 3 and q[0] > 0:
        np.testing.assert_allclose(ends, [2 / 3, 2], atol=1e-9)
        said("For q = (1/6, 1/3, 1/2) that is 2/3 to 2.")


def test_2_equal_probabilities_cannot_be_told_apart():
    for n_labels in (3, 4, 6):
        for p in ("1/10", "1/2", "9/10"):
            answers = named_only(independent(exact(*[p] * n_labels)))
            assert set(answers) == {Fraction(1, n_labels)}
    assert Fraction(1, 10) ** 15 == Fraction(1, 10**15)
    said("for K = 15 and pk = 1/10, r is 10-15", "0.71 for K = 4, and 9.46 for K = 15")
    assert round(4 * 0.001 ** (1 / 4), 2) == 0.71
    assert round(15 * 0.001 ** (1 / 15), 2) == 9.46


def test_3_who_is_named_less_applies_more_but_only_if_labels_are_independent():
    p = np.random.default_rng(0).random(5)
    assert list(np.argsort(p)) == list(np.argsort(-shares(independent(p))[:-1]))
    turned = distribution(3, {(1, 3): "2/5", (2,): "3/5"})
    assert list(shares(turned)) == list(exact("3/10", "2/5", "3/10", 0))
    assert list(frequencies(turned)) == list(exact("2/5", "3/5", "2/5"))
    said("q = (3/10, 2/5, 3/10)", "(3/5; the others 2/5)")


def test_6_propensities_make_up_for_probabilities():
    equal = shares(independent(exact(HALF, HALF, HALF)))
    unequal = shares(independent(exact("3/5", HALF, HALF)), w=exact(2, 1, 1))
    assert set(equal[:-1]) == {Fraction(7, 24)}
    assert set(unequal[:-1]) == {Fraction(17, 60)}
    said("p = (3/5, 1/2, 1/2) with w = (2, 1, 1)", "q is 7/24 each, and 17/60 each")


def test_6_of_a_rare_label_only_a_product_is_seen():
    p, w = np.full(6, 0.1), np.ones(6)
    named = [_first_of_fifteen(p1, w1) for p1, w1 in ((0.1, 1), (0.2, 9 / 8), (0.2, 1))]
    assert [round(value, 4) for value in named] == [0.0667, 0.0661, 0.0593]
    said("gives qj = 0.0667", "gives 0.0661")
    np.testing.assert_allclose(_first_of(0.1, 1, 6), shares(independent(p), w=w)[0])


def _first_of_fifteen(p, w):
    return _first_of(p, w, 15)


def _first_of(p, w, n_labels):
    """Share of the first label, by the number of the other labels that do not apply."""
    counts = np.array([1.0])
    for _ in range(n_labels - 1):
        counts = np.convolve(counts, [0.1, 0.9])
    return (1 - p) * (counts * w / (w + np.arange(n_labels))).sum()


def test_7_the_bound_that_agreement_gives_on_the_cardinality():
    for sets, agreement, bound in (
        ({(1,): 1}, HALF, 1),
        ({(1, 2): HALF, (1, 3): HALF}, 1, 2),
    ):
        probabilities = distribution(3, sets)
        n_absent = 3 - label_sets(3).sum(axis=1)
        seen = probabilities > 0
        assert (probabilities[seen] / n_absent[seen].astype(object)).sum() == agreement
        assert frequencies(probabilities).sum() == 3 - 1 / agreement == bound
    said("a = 1/2 and a = 1: the bounds are 1 and 2")


def test_9_mistakes_can_be_explained_away():
    observed = exact("1/6", "1/3", "1/2")
    for e, q in (("1/4", ("1/9", "1/3", "5/9")), ("1/2", (0, "1/3", "2/3"))):
        e, q = Fraction(e), exact(*q)
        assert list((1 - e) * q + e / 3) == list(observed)
    assert Fraction("1/2") == 3 * min(observed)  # the most that fits
    said("q = (1/9, 1/3, 5/9) with e = 1/4, and from q = (0, 1/3, 2/3) with e = 1/2")


def test_10_rates_and_probabilities_of_a_rule():
    for rate, p in (("3/5", "1/2"), ("3/8", "1/5"), ("1", "7/10")):
        assert Fraction(rate) * (1 - Fraction(p)) == Fraction("3/10")
        said(f"rate {rate} with p = {p}")
    s, frequency = Fraction("3/10"), HALF
    assert s / (1 - frequency) == Fraction("3/5")
    assert frequency / (1 - s) == Fraction("5/7")
    said("5/7 for s = 3/10, π = 1/2")


def test_10_independent_labels_are_excluded_independently():
    p, rate = exact("1/2", "1/5", "1/3"), exact("3/5", "3/8", "1")
    excluded, absent = label_sets(3), 1 - label_sets(3)
    by_set = np.prod(np.where(excluded[:, None] == 1, rate * absent, 1 - rate * absent), axis=2)
    assert list(by_set @ independent(p)) == list(independent(1 - rate * (1 - p))[::-1])


def test_12_one_yes_or_no_does_not_tell_mistakes_two_do():
    for p, e in (("3/10", 0), ("1/4", "1/5"), (0, "3/5")):
        assert _yes(Fraction(p), Fraction(e)) == Fraction("3/10")
    p, e, other = Fraction("1/5"), Fraction("1/5"), Fraction("2/5")
    assert _yes(p, e) == Fraction("13/50")
    assert _yes(p, other) == Fraction("8/25")
    different = 2 * (e / 2) * (1 - e / 2)
    assert different == Fraction("9/50")
    assert (1 - e) ** 2 == 1 - 2 * different
    assert (_yes(p, e) - e / 2) / (1 - e) == p
    both = p * (1 - e / 2) * (1 - other / 2) + (1 - p) * (e / 2) * (other / 2)
    covariance = both - _yes(p, e) * _yes(p, other)
    assert covariance == Fraction("48/625")
    ratio = (_yes(p, e) - HALF) * (_yes(p, other) - HALF) / covariance
    assert ratio == (p - HALF) ** 2 / (p * (1 - p))
    said("P(yes) = 13/50, D = 9/50", "P = (13/50, 8/25), C = 48/625")
    said("p = 3/10 with e = 0, p = 1/4 with e = 1/5, p = 0 with e = 3/5")


def _yes(p, e):
    return shares(independent(np.array([p], dtype=object)), e=e)[-1]


def test_13_pairs_of_three_labels_give_p_and_pairs_of_two_do_not():
    p = exact("1/2", "1/3", "1/4")
    r = [shares(independent(p), pair)[-1] for pair in menus(3, 2)]
    assert r == list(exact("1/6", "1/8", "1/12"))
    assert r[0] * r[1] / r[2] == p[0] ** 2
    for p, w in ((exact(HALF, HALF), exact(1, 1)), (exact("4/9", "9/16"), exact(9, 26))):
        assert list(shares(independent(p), w=w)) == list(exact("3/8", "3/8", "1/4"))
    said("r = (1/6, 1/8, 1/12) gives p = (1/2, 1/3, 1/4)", "p = (4/9, 9/16) with w = (9, 26)")


def test_14_without_both_apply_a_factor_or_a_shift_is_missing():
    for p in (exact("1/3", "3/5"), exact("1/2", "5/7")):
        a = shares(independent(p))
        assert a[0] / a[1] == 2 == (1 - p[0]) / (1 + p[0]) / ((1 - p[1]) / (1 + p[1]))
    said("p = (1/3, 3/5) and (1/2, 5/7) agree, at 2 : 1")
    any_sets = np.random.default_rng(0).dirichlet(np.ones(8))
    p = frequencies(any_sets)
    for j, k in menus(3, 2):
        a = shares(any_sets, (j, k))
        assert a[0] + a[2] / 2 == pytest.approx(0.5 + (p[k] - p[j]) / 2)


def test_15_mistakes_from_four_labels_but_not_from_labels_that_are_alike():
    p, e = exact("1/2", "1/3", "1/4", "1/5"), Fraction("1/10")
    r = {pair: shares(independent(p), pair, e=e)[-1] for pair in menus(4, 2)}
    assert r[0, 1] == Fraction("11/60")
    found = 3 * (r[0, 1] * r[2, 3] - r[0, 2] * r[1, 3])
    assert found / (r[0, 1] + r[2, 3] - r[0, 2] - r[1, 3]) == e
    alike = [
        [list(shares(independent(exact(*[p] * 4)), pair, e=Fraction(e))) for pair in menus(4, 2)]
        for p, e in (("1/2", 0), ("1/3", "5/8"))
    ]
    assert alike[0] == alike[1]
    assert alike[0][0][-1] == Fraction("1/4")
    said("r'12 = 11/60", "p = 1/2 with e = 0 and p = 1/3 with e = 5/8 both have r' = 1/4")


def test_15_three_labels_have_two_solutions():
    p, w = np.array([0.2, 0.4, 0.3]), np.array([1, 0.5, 2])
    seen = np.array([shares(independent(p), pair, w, 0.1) for pair in menus(3, 2)])
    e = brentq(lambda e: np.log(_solve_pairs(seen, e)[1]).sum(), 0.248, 0.252, xtol=1e-15)
    other, odds = _solve_pairs(seen, e)
    other_w = np.array([1, 1 / odds[0], odds[2]])
    again = [shares(independent(other), pair, other_w, e) for pair in menus(3, 2)]
    np.testing.assert_allclose(again, seen, atol=1e-12)
    assert list(other.round(4)) == [0.0444, 0.6583, 0.1173]
    assert (round(e, 4), *other_w.round(3)) == (0.2503, 1, 3.509, 1.531)
    said("p = (0.0444, 0.6583, 0.1173), w = (1, 3.509, 1.531), e = 0.2503")


def _solve_pairs(seen, e):
    """Return p, and the odds w1 : w2, w2 : w3 and w3 : w1, from the menus of two and e."""
    clean = (seen - e / 3) / (1 - e)
    (r12, r13, r23), n = clean[:, 2], clean
    p = np.sqrt([r12 * r13 / r23, r12 * r23 / r13, r13 * r23 / r12])
    odds = []
    for row, column, j, k in ((0, 0, 0, 1), (2, 0, 1, 2), (1, 1, 2, 0)):
        share = n[row, column] / (1 - p[j]) - p[k]
        odds.append(share / (1 - p[k] - share))
    return p, np.array(odds)


def test_16_menus_of_two_miss_a_shift():
    for probabilities in (NOTHING, ONE_OF_THREE):
        for pair in menus(3, 2):
            assert list(shares(probabilities, pair)) == list(exact(HALF, HALF, 0))
    assert frequencies(ONE_OF_THREE).sum() == 1
    w, any_sets = np.array([1, 2.5, 0.4]), np.random.default_rng(0).dirichlet(np.ones(8))
    t = 1 - frequencies(any_sets)
    for (j, k), r in zip(menus(3, 2), both_apply(any_sets), strict=True):
        a = (w[j] * t[j] - w[k] * t[k] + w[k] * (1 - r)) / (w[j] + w[k])
        assert shares(any_sets, (j, k), w)[0] == pytest.approx(a)


def test_18_dependent_labels_hide_the_propensities():
    one = distribution(3, dict.fromkeys(((2,), (3,), (1, 2), (1, 3)), "1/4"))
    every = ((1,), (2,), (3,), (1, 2), (1, 3), (2, 3))
    other = distribution(3, dict.fromkeys(every, "1/6"))
    for probabilities, w in ((one, exact(2, 1, 1)), (other, exact(1, 1, 1))):
        assert set(frequencies(probabilities)) == {HALF}
        assert list(shares(probabilities, w=w)) == list(exact("1/3", "1/3", "1/3", 0))
    said("{2}, {3}, {1, 2}, {1, 3}, each with probability 1/4 and w = (2, 1, 1)")


def test_19_menus_of_two_and_yes_or_no_give_the_propensities_of_dependent_labels():
    w, any_sets = np.array([1, 2.5, 0.4]), np.random.default_rng(1).dirichlet(np.ones(8))
    p = frequencies(any_sets)
    for (j, k), r in zip(menus(3, 2), both_apply(any_sets), strict=True):
        a = shares(any_sets, (j, k), w)[0]
        assert (a - p[k] + r) / (1 - p[j] - p[k] + r) == pytest.approx(w[j] / (w[j] + w[k]))
