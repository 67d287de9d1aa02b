"""The test of two methods over the folds of a cross-validation, on plain arrays.

Ranks over datasets and their tests come from SciPy and scikit-posthocs; see the room ``reports``.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

from numpy.typing import ArrayLike
from scipy import stats

from complabel._parameters import check_array

Judgement: TypeAlias = Literal["better", "worse", "tie"]
"""The result of a test: how our method compares with another one."""

_LEVEL = 0.05
# Sums over thousands of instances are exact up to about this relative error.
_RELATIVE_ROUNDING = 1e-12


class PairedTestResult(NamedTuple):
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
    rounding = _RELATIVE_ROUNDING * max(abs(first).max(), abs(second).max())
    if spread > rounding:
        statistic = mean / (spread * math.sqrt(variance_factor))
    else:
        statistic = math.copysign(math.inf, mean) if abs(mean) > rounding else 0.0
    p_value = 2 * float(stats.t.sf(abs(statistic), len(differences) - 1))
    return PairedTestResult(statistic, p_value)


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
