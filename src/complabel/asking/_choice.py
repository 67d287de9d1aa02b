"""Test whether all labels that could be named are named with equal chances."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse, special, stats

from complabel.asking._choice_known import KnownChoices, Proportional
from complabel.asking._inspection import DEPENDS, ChoiceTest
from complabel.asking._statements import names_of_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.answers import Answers
    from complabel.asking._statements import Statements
    from complabel.frequencies import LabelFrequencies

    Array = NDArray[np.float64]

KNOWN = "named against what could be named"
EXPECTED = "named against frequencies"

LEVEL = 0.01
"""Significance level: a p-value below it is reported as a finding."""

_LEAST_EXPECTED = 5.0  # expected counts below 5 are too small for a chi-square test
_MOST_MENUS = 20_000  # a random part of more menus is used, as each takes an integral
_MOST_LABELS = 200  # the tests take time in proportion to the square of the number of labels


def tests_of_choice(statements: Statements, audit: LabelFrequencies | None) -> list[ChoiceTest]:
    """Run all tests that the answers allow.

    ``audit`` holds label frequencies that were estimated from random judgements only.
    """
    single = _single_names(statements.answers)
    if not len(single):
        return []
    found = _tests_of_known(statements, single)
    if audit is not None and statements.answers.n_labels <= _MOST_LABELS:
        found.append(_test_of_expected(statements.answers, single, audit))
    return [test for test in found if test is not None]


def _single_names(answers: Answers) -> NDArray[np.intp]:
    """Return the rows of the answers that were asked for one label and name one."""
    one = np.diff(answers.named.indptr) == 1
    return np.flatnonzero((answers.question == "named") & one & (answers.asked_for == 1))


def _tests_of_known(statements: Statements, single: NDArray[np.intp]) -> list[ChoiceTest | None]:
    """Test the answers for which other answers judged every offered label, one by one."""
    if statements.answers.n_labels > _MOST_LABELS:
        return []
    choices = KnownChoices.of(statements, single)
    if len(choices.named) < _LEAST_EXPECTED:
        return []
    fitted = Proportional.fit(choices)
    names = names_of_labels(statements.answers)
    return [_of_labels(choices, fitted, names), _of_pairs(choices, fitted, names)]


def _of_labels(
    choices: KnownChoices, fitted: Proportional, names: tuple[str, ...]
) -> ChoiceTest | None:
    """Test whether each label is named as often as equal chances predict."""
    share = choices.could / choices.could.sum(axis=1, keepdims=True)
    expected = share.sum(axis=0)
    difference = np.bincount(choices.named, minlength=len(expected)) - expected
    covariance = np.diag(expected) - share.T @ share
    found = _wald(KNOWN, difference, covariance, expected, len(choices.named), names)
    spread = fitted.spread(expected >= _LEAST_EXPECTED)
    return None if found is None else replace(found, effect=spread)


def _of_pairs(
    choices: KnownChoices, fitted: Proportional, names: tuple[str, ...]
) -> ChoiceTest | None:
    """Test for each pair of labels if one is named more or less often where the other applies.

    A label is compared with what its own fitted propensity predicts, so unequal propensities do
    not count. Nor does what mistakes explain: if a share of the names is denied by other answers,
    the same share of the labels that seem free may not be, and this may depend on the labels that
    apply. Counts may be small, so the tail of a Poisson distribution takes the place of the
    normal one. The p-values are corrected by Holm's method [1]_.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal
       of Statistics 6(2), 1979.
    """
    score, variance, expected, swing = fitted.pairs(choices.applies)
    score = np.sign(score) * np.maximum(np.abs(score) - choices.wrong * swing, 0)
    tested = (expected >= _LEAST_EXPECTED) & (variance >= _LEAST_EXPECTED / 2)
    np.fill_diagonal(tested, False)
    n_tests = int(tested.sum())
    if not n_tests:
        return None
    score, variance = score[tested], variance[tested]
    p = np.minimum(2 * special.gammainc(variance + np.abs(score), variance), 1)
    order = np.argsort(p)
    holm = np.maximum.accumulate(p[order] * np.arange(n_tests, 0, -1))
    effect = np.abs(score / variance)[order]
    pairs = np.argwhere(tested)[order]
    shown = [
        f"{names[j]} {'more' if above > 0 else 'less'} where {names[other]} applies"
        for (j, other), above, corrected in zip(pairs.tolist(), score[order], holm, strict=True)
        if corrected < LEVEL
    ]
    return ChoiceTest(
        DEPENDS,
        float((np.abs(score) / np.sqrt(variance))[order[0]]),
        n_tests,
        float(min(holm[0], 1.0)),
        len(choices.named),
        tuple(shown),
        effect=float(effect[holm < LEVEL].max(initial=0.0)),
    )


def _test_of_expected(
    answers: Answers, single: NDArray[np.intp], audit: LabelFrequencies
) -> ChoiceTest | None:
    """Test counts of named labels against those that equal chances and ``audit`` predict.

    The test assumes that labels apply independently. It accounts for the errors of the
    frequencies.
    """
    listed: Any = answers.offered
    size = np.diff(listed.indptr)[single]
    free = single[size == 0]
    menus = single[(size > 0) & (size <= 24) & ~np.isnan(answers.probability[single])]
    if len(menus) > _MOST_MENUS:
        menus = np.random.default_rng(0).permutation(menus)[:_MOST_MENUS]
    K = answers.n_labels
    difference, covariance, expected = np.zeros(K), np.zeros((K, K)), np.zeros(K)
    slopes = np.zeros((K, K))
    groups = [menus[np.diff(listed.indptr)[menus] == n] for n in np.unique(size[size > 0])]
    for rows in (free, *groups):
        if not len(rows):
            continue
        count = np.asarray(answers.named[rows].sum(axis=0), dtype=np.float64)
        if rows is free:
            shown, weight = np.arange(K)[np.newaxis], float(len(rows))
        else:
            shown, weight = listed[rows].indices.reshape(len(rows), -1), 1.0

        def expect(pi: Array, shown: Any = shown, weight: float = weight) -> tuple[Array, Array]:
            chance = _chances(pi[shown])
            chance /= chance.sum(axis=1, keepdims=True)  # condition: one label is named
            total = np.bincount(shown.ravel(), weight * chance.ravel(), minlength=K)
            return np.asarray(total), chance

        at, chance = expect(audit.values)
        step = 1e-4
        slopes += np.stack(
            [(expect(audit.values + step * unit)[0] - at) / step for unit in np.eye(K)], axis=1
        )
        marks: Any = sparse.csr_array(
            (chance.ravel(), (np.repeat(np.arange(len(shown)), shown.shape[1]), shown.ravel())),
            shape=(len(shown), K),
        )
        covariance += np.diag(at) - weight * (marks.T @ marks).toarray()
        difference += count - at
        expected += at
    covariance += slopes @ audit.covariance @ slopes.T
    names = names_of_labels(answers)
    return _wald(EXPECTED, difference, covariance, expected, len(free) + len(menus), names)


def _chances(p: Array) -> Array:
    r"""Return the probability that each label of a menu is named, (menus, M).

    For label j of a menu whose labels apply with frequencies p, this is

    .. math:: (1 - p_j) \int_0^1 \prod_{k \ne j} (p_k + (1 - p_k) t) \, dt.

    Gauss-Legendre quadrature is exact here with at least M / 2 nodes.
    """
    nodes, weights = np.polynomial.legendre.leggauss(min(64, p.shape[1] // 2 + 1))
    total = np.zeros_like(p)
    for t, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        factor = p + (1 - p) * t
        total += weight * factor.prod(axis=1, keepdims=True) / factor
    return np.asarray((1 - p) * total)


def _wald(
    name: str,
    difference: Array,
    covariance: Array,
    expected: Array,
    n_answers: int,
    names: tuple[str, ...],
) -> ChoiceTest | None:
    """Return Wald's chi-square test that all differences are 0.

    If the counts are one multinomial sample, it equals Pearson's test.
    """
    kept = np.flatnonzero(expected >= _LEAST_EXPECTED)
    if len(kept) < 2:
        return None
    values, vectors = np.linalg.eigh(covariance[np.ix_(kept, kept)])
    large = values > 1e-9 * values[-1]
    scores = vectors.T[large] @ difference[kept] / np.sqrt(values[large])
    statistic, dof = float(scores @ scores), int(large.sum())
    z = difference[kept] / np.sqrt(np.maximum(np.diag(covariance)[kept], 1e-12))
    order = np.argsort(-np.abs(z))
    limit = stats.norm.isf(LEVEL / 2 / len(kept))
    shown = [
        f"{names[kept[at]]} {'more' if z[at] > 0 else 'less'}"
        for at in order.tolist()
        if abs(z[at]) > limit
    ]
    p_value = float(stats.chi2.sf(statistic, dof))
    return ChoiceTest(name, statistic, dof, p_value, n_answers, tuple(shown))
