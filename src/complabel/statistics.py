"""Statistical tests of repeated measurements, on plain arrays.

Ranks and their tests are described in J. Demsar, "Statistical comparisons of classifiers over
multiple data sets", Journal of Machine Learning Research 7, 2006, section 3.2.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from complabel._parameters import check_array, check_choice, check_integer, check_real
from complabel.errors import InputError

__all__ = [
    "critical_difference",
    "judge",
    "paired_t_test",
]

Judgement: TypeAlias = Literal["better", "worse", "tie"]
"""The result of a test: how our method compares with another one."""

# Sums over thousands of instances, and sums of ranks, are exact up to about this relative error.
_RELATIVE_ROUNDING = 1e-12


@dataclass(frozen=True)
class PairedTestResult:
    """A two-sided test; ``statistic`` is positive if the first is larger, and may be infinite."""

    statistic: float
    p_value: float


@dataclass(frozen=True)
class WinTieLoss:
    """Counts of how often our method was better, equal and worse."""

    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class Summary:
    """Mean and sample standard deviation (n - 1)."""

    mean: float
    std: float


def paired_t_test(
    first: ArrayLike, second: ArrayLike, *, test_share: float | None = None
) -> PairedTestResult:
    """Test whether two methods differ over the same folds.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        Values of one criterion on the same folds in the same order, at least two.
    test_share : float or None, default=None
        Share of the instances that a fold tests on, above 0 and below 1; 1/k in k-fold
        cross-validation. The test then allows for overlapping training sets, which make the
        differences of the folds dependent. With None, it finds more differences than there are.

    Returns
    -------
    PairedTestResult
        A two-sided test with ``n_folds - 1`` degrees of freedom. The p-value is 1 if no fold
        differs, and 0 if all differ by the same amount. Differences within rounding do not count.

    Raises
    ------
    InputError
        If the lengths differ, there are fewer than two folds, or a value is not finite.

    Notes
    -----
    With ``test_share``, this is the corrected resampled t-test of C. Nadeau and Y. Bengio,
    "Inference for the generalization error", Machine Learning 52, 2003. The variance of the mean
    difference is taken as ``1 / n_folds + n_test / n_train`` times the variance of the
    differences, instead of ``1 / n_folds`` times.

    Examples
    --------
    >>> result = paired_t_test([3, 5, 7], [2, 3, 4])
    >>> round(result.statistic, 3), round(result.p_value, 3)
    (3.464, 0.074)
    >>> round(paired_t_test([3, 5, 7], [2, 3, 4], test_share=1 / 3).p_value, 2)
    0.16
    """
    first = check_array("the first method's values", first, "fold")
    second = check_array("the second method's values", second, "fold")
    if len(first) != len(second):
        raise InputError(
            f"a paired test needs both methods on the same folds, got {len(first)} values of the"
            f" first method and {len(second)} of the second"
        )
    _refuse_single("each method", len(first))
    variance_factor = 1 / len(first)
    if test_share is not None:
        check_real("test_share", test_share, above=0, below=1)
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
    level: float = 0.05,
) -> Judgement:
    """Return whether our method is significantly better or worse than another one, or neither.

    Parameters
    ----------
    ours, others, test_share
        As for :func:`paired_t_test`.
    higher_is_better : bool
    level : float, default=0.05
        A difference counts if the two-sided p-value is at most this; above 0 and below 1.

    Returns
    -------
    {"better", "worse", "tie"}

    Raises
    ------
    InputError
        As for :func:`paired_t_test`.

    Examples
    --------
    >>> judge([0.1, 0.2, 0.1], [0.5, 0.7, 0.6], higher_is_better=False)
    'better'
    """
    check_real("level", level, above=0, below=1)
    result = paired_t_test(ours, others, test_share=test_share)
    if result.p_value > level:
        return "tie"
    return "better" if (result.statistic > 0) == higher_is_better else "worse"


def win_tie_loss(judgements: Iterable[Judgement]) -> WinTieLoss:
    """Count how often each judgement occurs.

    Parameters
    ----------
    judgements : iterable of {"better", "worse", "tie"}
        Results of :func:`judge`.

    Returns
    -------
    WinTieLoss

    Raises
    ------
    InputError
        If a value is not a judgement.

    Examples
    --------
    >>> win_tie_loss(["better", "tie", "better"])
    WinTieLoss(wins=2, ties=1, losses=0)
    """
    counts = Counter(judgements)
    for judgement in counts:
        check_choice("a judgement", judgement, get_args(Judgement))
    return WinTieLoss(wins=counts["better"], ties=counts["tie"], losses=counts["worse"])


def summarize(values: ArrayLike) -> Summary:
    """Return the mean and the sample standard deviation.

    Parameters
    ----------
    values : array-like of shape (n_folds,)
        At least two finite numbers.

    Returns
    -------
    Summary

    Raises
    ------
    InputError
        If there are fewer than two values, or one is not finite.

    Examples
    --------
    >>> summarize([1.0, 2.0, 3.0])
    Summary(mean=2.0, std=1.0)
    """
    array = check_array("values", values, "fold")
    _refuse_single("values", len(array))
    return Summary(mean=float(array.mean()), std=float(array.std(ddof=1)))


def _refuse_single(name: str, n_values: int) -> None:
    if n_values < 2:
        raise InputError(
            f"{name} must have at least 2 values, one per fold, got {n_values}; run more folds"
        )


@dataclass(frozen=True)
class FriedmanResult:
    """Friedman's chi-squared, corrected for ties, and Iman and Davenport's less conservative F.

    F is infinite if all problems rank the methods alike.
    """

    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float


def average_ranks(scores: ArrayLike, *, higher_is_better: bool) -> NDArray[np.float64]:
    """Rank the methods on each problem and average over the problems.

    Parameters
    ----------
    scores : array-like of shape (n_problems, n_methods)
        Values of one criterion for each method on each problem (dataset), all finite.
    higher_is_better : bool

    Returns
    -------
    ndarray of shape (n_methods,), dtype float64
        From 1, the best, to ``n_methods``; equal scores share the mean of their ranks.

    Raises
    ------
    InputError
        If there is no score, or one is not finite.

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.8], [0.7, 0.9, 0.1]], higher_is_better=True)
    array([1.5 , 1.75, 2.75])
    """
    scores = check_array("scores", scores, "problem", "method")
    ascending = -scores if higher_is_better else scores
    return np.asarray(stats.rankdata(ascending, axis=1).mean(axis=0), dtype=np.float64)


def friedman_test(scores: ArrayLike) -> FriedmanResult:
    """Test whether the methods differ in their ranks.

    Parameters
    ----------
    scores : array-like of shape (n_problems, n_methods)

    Returns
    -------
    FriedmanResult
        The p-values are 1 if all methods tie on every problem.

    Raises
    ------
    InputError
        If there are fewer than two problems or three methods, or a score is not finite.

    Notes
    -----
    With N problems and k methods, ``F = (N - 1) chi2 / (N (k - 1) - chi2)``, on ``k - 1`` and
    ``(k - 1) (N - 1)`` degrees of freedom. Demsar's formula for chi2 has no correction for ties.
    So with ties, both statistics are larger here.

    References
    ----------
    M. Friedman, "The use of ranks to avoid the assumption of normality implicit in the analysis of
    variance", Journal of the American Statistical Association 32, 1937.

    Examples
    --------
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
    return FriedmanResult(chi_squared, float(result.pvalue), f_statistic, float(f_p_value))


def critical_difference(n_methods: int, n_problems: int, *, level: float = 0.05) -> float:
    """Return the least difference of two average ranks that is significant (Nemenyi's test).

    Parameters
    ----------
    n_methods, n_problems : int
        At least 2; all pairs of methods are compared, by ranks averaged over the problems.
    level : float, default=0.05
        Probability of finding a difference if there is none; above 0 and below 1.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If a number is out of range.

    References
    ----------
    P. Nemenyi, "Distribution-free multiple comparisons", PhD thesis, Princeton University, 1963.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    check_integer("n_methods", n_methods, at_least=2)
    check_integer("n_problems", n_problems, at_least=2)
    check_real("level", level, above=0, below=1)
    quantile = float(stats.studentized_range.isf(level, n_methods, np.inf))
    return quantile / math.sqrt(2) * math.sqrt(n_methods * (n_methods + 1) / (6 * n_problems))


def groups_not_different(ranks: ArrayLike, difference: float) -> list[tuple[int, ...]]:
    """Find groups of methods that do not differ: the bars of a critical-difference diagram.

    Parameters
    ----------
    ranks : array-like of shape (n_methods,)
    difference : float
        Ranks that are at least this far apart differ; above 0, from :func:`critical_difference`.

    Returns
    -------
    list of tuple of int
        Each group has the indices of two or more methods, from the best rank to the worst. Groups
        may overlap, but none is inside another. The group with the best rank comes first.

    Raises
    ------
    InputError
        If a rank is not finite, or ``difference`` is not above 0.

    Examples
    --------
    >>> groups_not_different([3.9, 1.0, 2.1, 1.5], 1.0)
    [(1, 3), (3, 2)]
    """
    check_real("difference", difference, above=0)
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
