r"""Test whether all labels that could be named are named with equal chances.

Where other answers tell which labels could be named, the null hypothesis is that labels are named
in proportion to their propensities. With a set S of labels that could be named, label j of S is
named with the probability ::

    q_j = w_j / (sum of w_l over l in S)

This is a conditional logit model (D. McFadden, "Conditional logit analysis of qualitative choice
behavior", Frontiers in Econometrics, 1974).

If some answers are given at random among M offered labels, a label of S is named with the
probability (q_j + r / M) / (1 + r |S| / M), where r is the odds of such an answer. Both w and r are
fitted by maximum likelihood. Answers outside S are left out: some of them are right, and what other
answers say of S is wrong. Under the null hypothesis, that changes nothing for the labels of S.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse, special

from complabel._parameters import AnyArray, Array, Bools, Ints
from complabel.answers import Answers, mirrored
from complabel.asking._inspection import DEPENDS, ChoiceTest
from complabel.asking._statistics import AnswerStatements, names_of_labels
from complabel.frequencies import LabelFrequencies, named_at_random

KNOWN = "named against what could be named"
EXPECTED = "named against frequencies"

LEVEL = 0.01
"""Significance level: a p-value below it is reported as a finding."""

_LEAST_EXPECTED = 5.0  # expected counts below 5 are too small for a chi-square test
_MOST_MENUS = 20_000  # a random part of more menus is used, as each takes an integral
_MOST_LABELS = 200  # the tests take time in proportion to the square of the number of labels


def tests_of_choice(
    statements: AnswerStatements, audit: LabelFrequencies | None
) -> list[ChoiceTest]:
    """Run all tests that the answers allow; ``audit`` is from random judgements only."""
    answers = statements.answers
    if not (answers.question == "named").any() and (answers.question == "positive").any():
        if audit is not None:
            audit = replace(audit, values=1 - audit.values)
        tests = tests_of_choice(AnswerStatements.by(mirrored(answers)), audit)
        return [test for test in tests if test.name != DEPENDS]  # on what does not apply
    names_one = (np.diff(answers.named.indptr) == 1) & (answers.asked_for == 1)
    single = np.flatnonzero((answers.question == "named") & names_one)
    if not len(single) or answers.n_labels > _MOST_LABELS:
        return []
    results = []
    choices = KnownChoices.of(statements, single)
    if len(choices.named) >= _LEAST_EXPECTED:
        fitted, names = Proportional.fit(choices), names_of_labels(answers)
        results += [_of_labels(choices, fitted, names), _of_pairs(choices, fitted, names)]
    if audit is not None:
        results.append(_test_of_expected(answers, single, audit))
    return [test for test in results if test is not None]


def _of_labels(
    choices: KnownChoices, fitted: Proportional, names: tuple[str, ...]
) -> ChoiceTest | None:
    """Test whether each label is named as often as equal chances predict."""
    share = choices.could / choices.could.sum(axis=1, keepdims=True)
    expected = share.sum(axis=0)
    difference = np.bincount(choices.named, minlength=len(expected)) - expected
    covariance = np.diag(expected) - share.T @ share
    test = _wald(KNOWN, difference, covariance, expected, len(choices.named), names)
    spread = fitted.spread(expected >= _LEAST_EXPECTED)
    return None if test is None else replace(test, effect=spread)


def _of_pairs(
    choices: KnownChoices, fitted: Proportional, names: tuple[str, ...]
) -> ChoiceTest | None:
    """Test for each pair of labels if one is named more or less often where the other applies.

    Fitted propensities and mistakes do not count: if a share of the names is denied by other
    answers, the same share of the labels that seem free may not be. Counts may be small, so the
    tail of a Poisson distribution replaces the normal one. P-values are corrected by Holm's method
    (A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics
    6(2), 1979).
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


def _test_of_expected(answers: Answers, single: Ints, audit: LabelFrequencies) -> ChoiceTest | None:
    """Test counts of named labels against equal chances and ``audit``, for independent labels."""
    listed: Any = answers.offered
    size = np.diff(listed.indptr)[single]
    free = single[size == 0]
    menus = single[(size > 0) & (size <= 24) & named_at_random(answers)[single]]
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
    name: str, difference: Array, covariance: Array, expected: Array, n: int, names: tuple[str, ...]
) -> ChoiceTest | None:
    """Return Wald's chi-square test that all differences are 0; Pearson's for one multinomial."""
    kept = np.flatnonzero(expected >= _LEAST_EXPECTED)
    if len(kept) < 2:
        return None
    values, vectors = np.linalg.eigh(covariance[np.ix_(kept, kept)])
    large = values > 1e-9 * values[-1]
    scores = vectors.T[large] @ difference[kept] / np.sqrt(values[large])
    statistic, dof = float(scores @ scores), int(large.sum())
    z = difference[kept] / np.sqrt(np.maximum(np.diag(covariance)[kept], 1e-12))
    order = np.argsort(-np.abs(z))
    limit = -special.ndtri(LEVEL / 2 / len(kept))  # of the standard normal distribution
    shown = [
        f"{names[kept[at]]} {'more' if z[at] > 0 else 'less'}"
        for at in order.tolist()
        if abs(z[at]) > limit
    ]
    p_value = float(special.chdtrc(dof, statistic))  # of the chi-square distribution
    return ChoiceTest(name, statistic, dof, p_value, n, tuple(shown))


_MOST_CELLS = 4_000_000  # answers times labels; a random part of more answers is used
_PRIOR = 3.0  # standard deviation of log-propensities; it keeps those of labels never named finite
_MOST_RANDOM = 0.9  # largest share of answers given at random


@dataclass(frozen=True)
class KnownChoices:
    """Answers that name one label, where each offered label was judged by other answers, N in all.

    Choices that are forced, and names of labels that apply, are left out.
    """

    could: Bools  # (N, K): offered, and does not apply
    applies: Bools  # (N, K): known to apply, offered or not
    named: Ints  # (N,)
    n_offered: Ints  # (N,)
    wrong: float  # share of names that other answers deny, before these were left out
    most_random: float  # odds of a random answer that would explain them

    @classmethod
    def of(cls, statements: AnswerStatements, single: Ints) -> Self:
        """Collect them among ``single``, the rows of the answers that name one label."""
        answers, K = statements.answers, statements.answers.n_labels
        places = tuple(np.divmod(statements.pair[statements.judged], K))
        judged: Any = sparse.csr_array(  # (n, K): +1 applies, -1 does not; 0 is a contradiction
            (np.where(statements.applies, 1.0, -1.0)[statements.judged], places),
            shape=answers.shape,
        ).sign()
        judged.eliminate_zeros()
        listed: Any = answers.offered
        menu = single[np.diff(listed.indptr)[single] > 0]
        # Multiply sparse matrices; judged[answers.item[menu]] alone would copy rows for each answer
        on_menu = np.diff((judged[answers.item[menu]].multiply(listed[menu])).tocsr().indptr)
        whole = menu[on_menu == np.diff(listed.indptr)[menu]]
        of_all = np.diff(listed.indptr)[single] == 0
        free = single[of_all & (np.diff(judged.indptr)[answers.item[single]] == K)]
        rows = np.concatenate([whole, free])
        if len(rows) * K > _MOST_CELLS:
            rows = np.random.default_rng(0).permutation(rows)[: _MOST_CELLS // K]
        state = judged[answers.item[rows]].toarray()
        offered = listed[rows].toarray() > 0
        offered[~offered.any(axis=1)] = True  # a row without a list offers all labels
        could = offered & (state < 0)
        named = answers.named[rows].indices.astype(np.intp)
        n_could, n_offered = could.sum(axis=1), offered.sum(axis=1)
        right = could[np.arange(len(rows)), named]
        chance_of_wrong = (1 - n_could / n_offered).sum()
        e = min(_MOST_RANDOM, (~right).sum() / max(chance_of_wrong, 1e-12))
        kept = right & (n_could > 1)
        wrong = 1 - right[n_could > 0].mean() if n_could.any() else 0.0
        return cls(could[kept], state[kept] > 0, named[kept], n_offered[kept], wrong, e / (1 - e))


@dataclass(frozen=True)
class Proportional:
    """The model of ``KnownChoices`` at its maximum likelihood; arrays are (N, K) if not noted.

    s = q / (q + r / M) is the probability that an answer was not given at random.
    """

    log_w: Array  # (K,)
    q: Array
    g: Array  # the weight of each answer's information
    residual: Array  # the score by log-propensities
    with_r: Array  # information that log-propensities share with r
    information: Array  # (K + 1, K + 1) of log-propensities and r

    @classmethod
    def fit(cls, choices: KnownChoices) -> Self:
        K = choices.could.shape[1]
        # Answers with the same labels to choose among and the same name count together.
        marks: list[AnyArray] = [
            np.packbits(choices.could, axis=1),
            choices.named[:, np.newaxis],
            choices.n_offered[:, np.newaxis],
        ]
        _, first, count = np.unique(np.hstack(marks), axis=0, return_index=True, return_counts=True)
        could, named, M = choices.could[first], choices.named[first], choices.n_offered[first]
        at, n_could = np.arange(len(first)), could.sum(axis=1)

        def loss(parameters: Array) -> tuple[float, Array]:
            log_w, r = parameters[:-1], parameters[-1]
            q = _shares(log_w, could)
            smoothed, more = q[at, named] + r / M, 1 + r * n_could / M
            s = count * q[at, named] / smoothed
            slope = np.bincount(named, s, minlength=K) - s @ q - log_w / _PRIOR**2
            by_r = (count / M) @ (1 / smoothed - n_could / more)
            value = count @ (np.log(smoothed) - np.log(more)) - log_w @ log_w / (2 * _PRIOR**2)
            return -float(value), -np.append(slope, by_r)

        start = np.append(np.zeros(K), choices.most_random / 2)
        limits = [(None, None)] * K + [(0.0, choices.most_random)]
        from scipy import optimize  # takes a third of a second

        optimum = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=limits).x
        return cls._at(choices, optimum[:-1] - optimum[:-1].mean(), float(optimum[-1]))

    @classmethod
    def _at(cls, choices: KnownChoices, log_w: Array, r: float) -> Self:
        K, at = len(log_w), np.arange(len(choices.named))
        could, each = choices.could, 1 / choices.n_offered[:, np.newaxis]
        n_could = could.sum(axis=1, keepdims=True)
        q, more = _shares(log_w, could), 1 + r * each * n_could
        sums = np.where(could, np.maximum(q + r * each, 1e-300), 1.0)
        s = q / sums
        g = q * s / more
        of_named = s[at, choices.named]
        residual = -of_named[:, np.newaxis] * q
        residual[at, choices.named] += of_named
        with_r = each / more * (s - q * s.sum(axis=1, keepdims=True))
        information = np.zeros((K + 1, K + 1))
        information[:K, :K] = _information(q, g)
        if choices.most_random:
            information[K, :K] = information[:K, K] = with_r.sum(axis=0)
            squares = each**2 / more * (could / sums).sum(axis=1, keepdims=True)
            information[K, K] = (squares - (each * n_could / more) ** 2).sum()
        return cls(log_w, q, g, residual, with_r, information)

    @cached_property
    def covariance(self) -> Array:
        """The covariance of log-propensities, whose mean is 0, and r; (K + 1, K + 1)."""
        return np.asarray(np.linalg.pinv(self.information, rcond=1e-10, hermitian=True))

    def spread(self, tested: Bools) -> float:
        """Return the standard deviation of the ``tested`` log-propensities, less their errors."""
        if tested.sum() < 2:
            return 0.0
        errors = np.diag(self.covariance)[:-1][tested]
        return float(np.sqrt(max(self.log_w[tested].var(ddof=1) - errors.mean(), 0.0)))

    def pairs(self, applies: Bools) -> tuple[Array, Array, Array, Array]:
        """Return scores, variances, expected counts and swings of all pairs (j, l), (K, K) each.

        Scores of more log-propensity for j where l applies, corrected for the fit (Rao's test). The
        swing is how far it goes if one label of S, in each answer, could not be named.
        """
        odds = self.q / np.maximum(1 - self.q, 1e-12)
        swings = self.q * np.maximum(odds.sum(axis=1, keepdims=True) - odds, 1.0)
        K = len(self.log_w)
        inverse = self.covariance
        rest = inverse @ np.append(self.residual.sum(axis=0), 0.0)
        score, variance, expected, swing = (np.zeros((K, K)) for _ in range(4))
        for label in np.flatnonzero(applies.any(axis=0)).tolist():
            rows = applies[:, label]
            cross = _information(self.q[rows], self.g[rows])
            both = np.column_stack([cross, self.with_r[rows].sum(axis=0)])
            score[:, label] = self.residual[rows].sum(axis=0) - both @ rest
            variance[:, label] = np.diag(cross) - ((both @ inverse) * both).sum(axis=1)
            expected[:, label] = self.g[rows].sum(axis=0)
            swing[:, label] = swings[rows].sum(axis=0)
        return score, variance, expected, swing


def _shares(log_w: Array, could: Bools) -> Array:
    return np.asarray(special.softmax(np.where(could, log_w, -np.inf), axis=1))


def _information(q: Array, g: Array) -> Array:
    """Return the information about log-propensities, (K, K), summed over answers."""
    cross = g.T @ q
    diagonal = np.diag(g.sum(axis=0))
    return np.asarray(diagonal - cross - cross.T + (q * g.sum(axis=1, keepdims=True)).T @ q)
