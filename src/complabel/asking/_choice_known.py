r"""Choices among labels that are known: which ones applied, which could be named, which one was.

The null hypothesis is that labels are named in proportion to their propensities. With a set S of
labels that could be named, label j of S is named with the probability ::

    q_j = w_j / (sum of w_l over l in S)                    (a conditional logit model [1]_)

If some answers are given at random among M offered labels, a label of S is named with the
probability (q_j + r / M) / (1 + r |S| / M), where r is the odds of such an answer. Both w and r are
fitted by maximum likelihood. Answers outside S are left out: some of them are right, and what other
answers say of S is wrong. Under the null hypothesis, that changes nothing for the labels of S.

References
----------
.. [1] D. McFadden, "Conditional logit analysis of qualitative choice behavior", Frontiers in
   Econometrics, 1974.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import optimize, sparse, special

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.asking._statements import Statements

    Array = NDArray[np.float64]

_MOST_CELLS = 4_000_000  # answers times labels; a random part of more answers is used
_PRIOR = 3.0  # standard deviation of log-propensities; it keeps those of labels never named finite
_MOST_RANDOM = 0.9  # largest share of answers given at random


@dataclass(frozen=True)
class KnownChoices:
    """Answers that name one label, where each offered label was judged by other answers, N in all.

    So no assumption is needed about how often labels apply. Choices that are forced, and names of
    labels that apply, are left out.
    """

    could: NDArray[np.bool_]  # (N, K): offered, and does not apply
    applies: NDArray[np.bool_]  # (N, K): known to apply, offered or not
    named: NDArray[np.intp]  # (N,)
    n_offered: NDArray[np.intp]  # (N,)
    wrong: float  # share of names that other answers deny, before these were left out
    most_random: float  # odds of a random answer that would explain them

    @classmethod
    def of(cls, statements: Statements, single: NDArray[np.intp]) -> Self:
        """Collect them among ``single``, the rows of the answers that name one label."""
        answers, K = statements.answers, statements.answers.n_labels
        judged: Any = sparse.csr_array(  # (n, K): +1 applies, -1 does not; 0 is a contradiction
            (
                np.where(statements.yes, 1.0, -1.0)[statements.judged],
                tuple(np.divmod(statements.pair[statements.judged], K)),
            ),
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

    Scores and information follow from s = q / (q + r / M), the probability that an answer was not
    given at random.
    """

    log_w: Array  # (K,)
    q: Array
    g: Array  # the weight of each answer's information
    residual: Array  # the score by log-propensities
    with_r: Array  # information that log-propensities share with r
    information: Array  # (K + 1, K + 1) of log-propensities and r

    @classmethod
    def fit(cls, choices: KnownChoices) -> Self:
        """Maximize the likelihood."""
        K = choices.could.shape[1]
        # Answers with the same labels to choose among and the same name count together.
        marks: list[NDArray[Any]] = [
            np.packbits(choices.could, axis=1),
            choices.named[:, np.newaxis],
            choices.n_offered[:, np.newaxis],
        ]
        _, first, count = np.unique(np.hstack(marks), axis=0, return_index=True, return_counts=True)
        could, named, M = choices.could[first], choices.named[first], choices.n_offered[first]
        at, n_could = np.arange(len(first)), could.sum(axis=1)

        def loss(parameters: Array) -> tuple[float, Array]:
            log_w, r = parameters[:-1], parameters[-1]
            q = _chances(log_w, could)
            own, more = q[at, named] + r / M, 1 + r * n_could / M
            s = count * q[at, named] / own
            slope = np.bincount(named, s, minlength=K) - s @ q - log_w / _PRIOR**2
            by_r = (count / M) @ (1 / own - n_could / more)
            value = count @ (np.log(own) - np.log(more)) - log_w @ log_w / (2 * _PRIOR**2)
            return -float(value), -np.append(slope, by_r)

        start = np.append(np.zeros(K), choices.most_random / 2)
        limits = [(None, None)] * K + [(0.0, choices.most_random)]
        found = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=limits).x
        return cls._at(choices, found[:-1] - found[:-1].mean(), float(found[-1]))

    @classmethod
    def _at(cls, choices: KnownChoices, log_w: Array, r: float) -> Self:
        """Compute scores and information at given parameters."""
        K, at = len(log_w), np.arange(len(choices.named))
        could, each = choices.could, 1 / choices.n_offered[:, np.newaxis]
        n_could = could.sum(axis=1, keepdims=True)
        q, more = _chances(log_w, could), 1 + r * each * n_could
        sums = np.where(could, np.maximum(q + r * each, 1e-300), 1.0)
        s = q / sums
        g = q * s / more
        own = s[at, choices.named]
        residual = -own[:, np.newaxis] * q
        residual[at, choices.named] += own
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

    def spread(self, tested: NDArray[np.bool_]) -> float:
        """Return the standard deviation of the ``tested`` log-propensities, less their errors."""
        if tested.sum() < 2:
            return 0.0
        errors = np.diag(self.covariance)[:-1][tested]
        return float(np.sqrt(max(self.log_w[tested].var(ddof=1) - errors.mean(), 0.0)))

    def pairs(self, applies: NDArray[np.bool_]) -> tuple[Array, Array, Array, Array]:
        """Return scores, variances, expected counts and swings of all pairs (j, l), (K, K) each.

        The parameter of a pair is added to the log-propensity of label j where label l applies.
        Its score is corrected for the fit of the propensities and of r (Rao's score test). The
        swing is how far the score goes if one label of S, in each answer, could not be named.
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


def _chances(log_w: Array, could: NDArray[np.bool_]) -> Array:
    """Return q, (N, K), of labels that ``could`` be named."""
    return np.asarray(special.softmax(np.where(could, log_w, -np.inf), axis=1))


def _information(q: Array, g: Array) -> Array:
    """Return the information about log-propensities, (K, K), summed over answers."""
    cross = g.T @ q
    return np.asarray(
        np.diag(g.sum(axis=0)) - cross - cross.T + (q * g.sum(axis=1, keepdims=True)).T @ q
    )
