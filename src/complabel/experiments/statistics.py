"""Statistical tests of repeated measurements, on plain arrays, for reports of studies.

Ranks and their tests are described in J. Demsar, "Statistical comparisons of classifiers over
multiple data sets", Journal of Machine Learning Research 7, 2006, section 3.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from complabel._parameters import check_array
from complabel.errors import InputError

Judgement: TypeAlias = Literal["better", "worse", "tie"]
"""The result of a test: how our method compares with another one."""

_LEVEL = 0.05
# Sums over thousands of instances, and sums of ranks, are exact up to about this relative error.
_RELATIVE_ROUNDING = 1e-12


@dataclass(frozen=True)
class PairedTestResult:
    """A two-sided test; ``statistic`` is positive if the first is larger, and may be infinite."""

    statistic: float
    p_value: float


def paired_t_test(
    first: ArrayLike, second: ArrayLike, *, test_share: float | None = None
) -> PairedTestResult:
    """Test whether two methods differ over the same folds, (n_folds,) each, two folds or more.

    ``test_share`` is the share of the instances that a fold tests on, 1/k in k-fold
    cross-validation. With it, this is the corrected resampled t-test of C. Nadeau and Y. Bengio,
    "Inference for the generalization error", Machine Learning 52, 2003: it allows for overlapping
    training sets, and takes the variance of the mean difference as ``1 / n_folds + n_test /
    n_train`` times that of the differences. Differences within rounding do not count.

    >>> result = paired_t_test([3, 5, 7], [2, 3, 4])
    >>> round(result.statistic, 3), round(result.p_value, 3)
    (3.464, 0.074)
    >>> round(paired_t_test([3, 5, 7], [2, 3, 4], test_share=1 / 3).p_value, 2)
    0.16
    """
    first = check_array("the first method's values", first, "fold")
    second = check_array("the second method's values", second, "fold")
    variance_factor = 1 / len(first)
    if test_share is not None:
        variance_factor += test_share / (1 - test_share)
    differences = first - second
    mean, spread = float(differences.mean()), float(differences.std(ddof=1))
    # Rounding alone must not count as a difference, nor make a constant difference look uncertain.
    rounding = _RELATIVE_ROUNDING * max(np.abs(first).max(), np.abs(second).max())
    if spread > rounding:
        statistic = mean / (spread * math.sqrt(variance_factor))
    else:
        statistic = math.copysign(math.inf, mean) if abs(mean) > rounding else 0.0
    p_value = 2 * float(stats.t.sf(abs(statistic), len(differences) - 1))
    return PairedTestResult(statistic=statistic, p_value=p_value)


def judge(
    ours: ArrayLike,
    others: ArrayLike,
    *,
    higher_is_better: bool,
    test_share: float | None = None,
) -> Judgement:
    """Return whether our method is significantly better or worse than another one, or neither.

    >>> judge([0.1, 0.2, 0.1], [0.5, 0.7, 0.6], higher_is_better=False)
    'better'
    """
    result = paired_t_test(ours, others, test_share=test_share)
    if result.p_value > _LEVEL:
        return "tie"
    return "better" if (result.statistic > 0) == higher_is_better else "worse"


@dataclass(frozen=True)
class FriedmanResult:
    """Friedman's chi-squared, corrected for ties, and Iman and Davenport's less conservative F.

    F is infinite if all problems rank the methods alike; then it is None, as JSON needs it.
    """

    statistic: float
    p_value: float
    f_statistic: float | None
    f_p_value: float


def average_ranks(scores: ArrayLike, *, higher_is_better: bool) -> NDArray[np.float64]:
    """Rank methods by scores (n_problems, n_methods), from 1, the best, and average over problems.

    Equal scores share the mean of their ranks.

    >>> average_ranks([[0.9, 0.8, 0.8], [0.7, 0.9, 0.1]], higher_is_better=True)
    array([1.5 , 1.75, 2.75])
    """
    scores = check_array("scores", scores, "problem", "method")
    ascending = -scores if higher_is_better else scores
    return np.asarray(stats.rankdata(ascending, axis=1).mean(axis=0), dtype=np.float64)


def friedman_test(scores: ArrayLike) -> FriedmanResult:
    """Test whether methods differ in their ranks by scores (n_problems, n_methods).

    With N problems and k methods, ``F = (N - 1) chi2 / (N (k - 1) - chi2)``, on ``k - 1`` and
    ``(k - 1) (N - 1)`` degrees of freedom. Demsar's formula for chi2 has no correction for ties.
    So with ties, both statistics are larger here. The p-values are 1 if all methods tie on every
    problem. There is an InputError for fewer than two problems or three methods.

    M. Friedman, "The use of ranks to avoid the assumption of normality implicit in the analysis of
    variance", Journal of the American Statistical Association 32, 1937.

    >>> result = friedman_test([[1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]])
    >>> result.statistic, result.f_statistic
    (6.5, 13.0)
    """
    scores = check_array("scores", scores, "problem", "method")
    n_problems, n_methods = scores.shape
    if n_problems < 2 or n_methods < 3:
        raise InputError(
            "Friedman's test needs scores of at least 2 problems by 3 methods, got"
            f" {n_problems} by {n_methods}"
        )
    if (scores == scores[:, :1]).all():
        return FriedmanResult(statistic=0.0, p_value=1.0, f_statistic=0.0, f_p_value=1.0)
    result = stats.friedmanchisquare(*scores.T)
    chi_squared = float(result.statistic)
    largest = n_problems * (n_methods - 1)
    remaining = largest - chi_squared
    exact = remaining <= _RELATIVE_ROUNDING * largest
    f_statistic = math.inf if exact else (n_problems - 1) * chi_squared / remaining
    f_p_value = stats.f.sf(f_statistic, n_methods - 1, (n_methods - 1) * (n_problems - 1))
    return FriedmanResult(
        statistic=chi_squared,
        p_value=float(result.pvalue),
        f_statistic=None if exact else f_statistic,
        f_p_value=float(f_p_value),
    )


def critical_difference(n_methods: int, n_problems: int, *, level: float = _LEVEL) -> float:
    """Return the least difference of two average ranks that is significant: P. Nemenyi's test.

    All pairs of methods are compared (PhD thesis, Princeton University, 1963).

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    quantile = float(stats.studentized_range.isf(level, n_methods, np.inf))
    return quantile / math.sqrt(2) * math.sqrt(n_methods * (n_methods + 1) / (6 * n_problems))


def groups_not_different(ranks: ArrayLike, difference: float) -> list[tuple[int, ...]]:
    """Find groups of methods that do not differ: the bars of a critical-difference diagram.

    Ranks that are at least ``difference`` apart differ. Each group has the indices of two or more
    methods, from the best rank to the worst. Groups may overlap, but none is inside another. The
    group with the best rank comes first.

    >>> groups_not_different([3.9, 1.0, 2.1, 1.5], 1.0)
    [(1, 3), (3, 2)]
    """
    ranks = check_array("ranks", ranks, "method")
    order = np.argsort(ranks, kind="stable")
    ends = np.searchsorted(ranks[order], ranks[order] + difference, side="left")
    starts = np.arange(len(ends))
    # A later start with the same end is inside the group of the start before it.
    reaches_further = np.diff(ends, prepend=0) > 0
    bars = (ends - starts >= 2) & reaches_further
    return [
        tuple(order[start:end].tolist())
        for start, end in zip(starts[bars], ends[bars], strict=True)
    ]
