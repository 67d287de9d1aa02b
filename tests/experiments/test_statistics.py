"""The tests of two methods over folds, by hand and by SciPy."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from tests.refusals import raises

from complabel.errors import InputError
from complabel.experiments.statistics import judge, paired_t_test

THOUSANDTHS = st.integers(0, 1000).map(lambda value: value / 1000)


@st.composite
def paired_folds(draw):
    """Two methods on the same folds, their difference not all the same."""
    n_folds = draw(st.integers(3, 12))
    first, second = draw(hnp.arrays(float, (2, n_folds), elements=THOUSANDTHS))
    assume(np.ptp(np.round(first - second, 6)) > 0)
    return first, second


@pytest.mark.parametrize(("test_share", "factor"), [(None, 1 / 3), (1 / 3, 1 / 3 + 1 / 2)])
def test_by_hand(test_share, factor):
    # Differences 1, 2, 3: mean 2, variance 1, times a third; or, where a third of the instances is
    # held out, times 1/3 + 1/2. Student's t on 2 degrees of freedom has the two-sided p-value
    # 1 - |t| / sqrt(t^2 + 2).
    result = paired_t_test([3, 5, 7], [2, 3, 4], test_share=test_share)
    t = 2 / math.sqrt(factor)
    assert result == pytest.approx((t, 1 - t / math.sqrt(t * t + 2)))


@given(paired_folds())
def test_the_plain_test_is_that_of_scipy(folds):
    own, reference = paired_t_test(*folds), stats.ttest_rel(*folds)
    assert own.statistic == pytest.approx(reference.statistic, rel=1e-6, abs=1e-9)
    assert own.p_value == pytest.approx(reference.pvalue, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("values", [[0.1, 0.7, 0.3], [0.0, 0.0, 0.0]])
def test_rounding_is_no_difference(values):
    rounded = np.array(values) * (1 + 4 * np.finfo(float).eps)
    assert paired_t_test(values, rounded).p_value == 1


def test_a_constant_difference_is_certain():
    # In floating point 0.3 - 0.2, 0.4 - 0.3 and 0.9 - 0.8 are not quite the same.
    assert paired_t_test([0.3, 0.4, 0.9], [0.2, 0.3, 0.8]) == (math.inf, 0)
    assert paired_t_test([0.2, 0.3], [0.3, 0.4]).statistic == -math.inf


LOW, HIGH = (0.1, 0.2, 0.1, 0.3), (0.5, 0.7, 0.6, 0.7)


@pytest.mark.parametrize("higher", [True, False])
def test_who_is_better_depends_on_the_criterion(higher):
    expected = ("better", "worse") if higher else ("worse", "better")
    pairs = ((HIGH, LOW), (LOW, HIGH))
    assert tuple(judge(*pair, higher_is_better=higher) for pair in pairs) == expected
    assert judge(LOW, LOW, higher_is_better=higher) == "tie"


def test_the_correction_turns_a_narrow_win_into_a_tie():
    # Ten folds, t = 2.5 on 9 degrees of freedom (p = 0.034); corrected t = 1.72 (p = 0.12).
    noise = np.repeat([-1.0, 1.0], 5)
    folds = 2.5 / math.sqrt(10) + noise * math.sqrt(9 / 10), np.zeros(10)
    assert judge(*folds, higher_is_better=True) == "better"
    assert judge(*folds, higher_is_better=True, test_share=0.1) == "tie"


@pytest.mark.parametrize("values", [[1, math.nan], [[1, 2]]])
def test_what_cannot_be_tested_is_refused(values):
    with raises(InputError, "the first method's values"):
        paired_t_test(values, [1, 2])
    with raises(InputError, "the second method's values"):
        paired_t_test([1, 2], values)
