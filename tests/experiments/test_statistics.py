import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from tests.examples import examples

from complabel.errors import InputError
from complabel.experiments.statistics import (
    average_ranks,
    critical_difference,
    friedman_test,
    groups_not_different,
    judge,
    paired_t_test,
)

# Demsar (2006), Table 6: ranks of four variants of C4.5 on 14 data sets.
DEMSAR_TABLE = """4 3 2 1, 1 2 3 4, 4 1 2 3, 4 1 3 2, 4 2 3 1, 1 2.5 4 2.5, 3 2 4 1,
2.5 2.5 4 1, 4 3 2 1, 2.5 2.5 2.5 2.5, 4 2.5 1 2.5, 3 2 4 1, 4 1 2 3, 3 1 4 2"""
DEMSAR_RANKS = np.array([row.split() for row in DEMSAR_TABLE.split(",")], dtype=float)
# Demsar (2006), Table 5(a): critical values of the Nemenyi test for 2 to 10 classifiers.
DEMSAR_Q = {
    0.05: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.10: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}

THOUSANDTHS = st.integers(0, 1000).map(lambda value: value / 1000)


@st.composite
def paired_folds(draw):
    """Two methods on the same folds, their difference not all the same."""
    n_folds = draw(st.integers(3, 12))
    first, second = draw(hnp.arrays(float, (2, n_folds), elements=THOUSANDTHS))
    assume(np.ptp(np.round(first - second, 6)) > 0)
    return first, second


def score_tables(*, least_problems=2, least_methods=3):
    """Tables with many ties."""
    shapes = st.tuples(st.integers(least_problems, 8), st.integers(least_methods, 6))
    return hnp.arrays(float, shapes, elements=st.integers(0, 5).map(float))


class TestPairedTTest:
    def test_hand_worked(self):
        # Differences 1, 2, 3: mean 2, variance 1. Student's t on 2 degrees of freedom has the
        # two-sided p-value 1 - |t| / sqrt(t^2 + 2).
        result = paired_t_test([3, 5, 7], [2, 3, 4])
        assert result.statistic == pytest.approx(math.sqrt(12))
        assert result.p_value == pytest.approx(1 - math.sqrt(12 / 14))

    @given(paired_folds())
    def test_agrees_with_scipy(self, folds):
        own, reference = paired_t_test(*folds), stats.ttest_rel(*folds)
        assert own.statistic == pytest.approx(reference.statistic, rel=1e-6, abs=1e-9)
        assert own.p_value == pytest.approx(reference.pvalue, rel=1e-6, abs=1e-12)

    @pytest.mark.parametrize("values", [[0.1, 0.7, 0.3], [0.0, 0.0, 0.0]])
    def test_rounding_is_no_difference(self, values):
        rounded = np.array(values) * (1 + 4 * np.finfo(float).eps)
        assert paired_t_test(values, rounded).p_value == 1

    def test_a_constant_difference_is_certain(self):
        # In floating point 0.3 - 0.2, 0.4 - 0.3 and 0.9 - 0.8 are not quite the same.
        result = paired_t_test([0.3, 0.4, 0.9], [0.2, 0.3, 0.8])
        assert (result.statistic, result.p_value) == (math.inf, 0)
        assert paired_t_test([0.2, 0.3], [0.3, 0.4]).statistic == -math.inf


class TestCorrectedTTest:
    def test_hand_worked(self):
        # As above, with the variance times 1/3 + 1/2 for one third of the instances held out.
        result = paired_t_test([3, 5, 7], [2, 3, 4], test_share=1 / 3)
        assert result.statistic == pytest.approx(2 / math.sqrt(5 / 6))
        assert result.p_value == pytest.approx(1 - math.sqrt(4.8 / 6.8))


class TestJudge:
    LOW, HIGH = (0.1, 0.2, 0.1, 0.3), (0.5, 0.7, 0.6, 0.7)

    @pytest.mark.parametrize(
        ("ours", "others", "higher_is_better", "expected"),
        [
            (HIGH, LOW, True, "better"),
            (LOW, HIGH, True, "worse"),
            (HIGH, LOW, False, "worse"),
            (LOW, HIGH, False, "better"),
            (LOW, LOW, True, "tie"),
            (LOW, LOW, False, "tie"),
        ],
    )
    def test_direction(self, ours, others, higher_is_better, expected):
        assert judge(ours, others, higher_is_better=higher_is_better) == expected

    def test_the_correction_turns_a_narrow_win_into_a_tie(self):
        # Ten folds, t = 2.5 on 9 degrees of freedom (p = 0.034); corrected t = 1.72 (p = 0.12).
        noise = np.repeat([-1.0, 1.0], 5)
        ours = 2.5 / math.sqrt(10) + noise * math.sqrt(9 / 10)
        others = np.zeros(10)
        assert paired_t_test(ours, others).statistic == pytest.approx(2.5)
        assert judge(ours, others, higher_is_better=True) == "better"
        assert judge(ours, others, higher_is_better=True, test_share=0.1) == "tie"


class TestAverageRanks:
    def test_hand_worked(self):
        scores = [[0.9, 0.8, 0.8, 0.1], [0.5, 0.7, 0.6, 0.7]]
        assert average_ranks(scores, higher_is_better=True).tolist() == [2.5, 2, 2.75, 2.75]
        assert average_ranks(scores, higher_is_better=False).tolist() == [2.5, 3, 2.25, 2.25]

    def test_the_published_average_ranks(self):
        ranks = average_ranks(DEMSAR_RANKS, higher_is_better=False)
        assert ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)


def two_way_f(ranks):
    """F of the columns in a two-way analysis of variance without interaction."""
    n, k = ranks.shape
    columns, rows, mean = ranks.mean(axis=0), ranks.mean(axis=1, keepdims=True), ranks.mean()
    between = n * ((columns - mean) ** 2).sum() / (k - 1)
    residual = ((ranks - columns - rows + mean) ** 2).sum() / ((k - 1) * (n - 1))
    return between / residual


class TestFriedman:
    def test_the_published_example(self):
        # The published figures, 9.28 and 3.69, leave ties uncorrected. There is one tie of four
        # and there are three of two: 4^3 - 4 + 3 (2^3 - 2) = 78 out of 14 (4^3 - 4).
        correction = 1 - 78 / 840
        result = friedman_test(DEMSAR_RANKS)
        uncorrected = result.statistic * correction
        assert uncorrected == pytest.approx(9.28, abs=5e-3)
        assert 13 * uncorrected / (14 * 3 - uncorrected) == pytest.approx(3.69, abs=5e-3)
        assert result.p_value == pytest.approx(stats.chi2.sf(result.statistic, 3))
        assert result.f_p_value == pytest.approx(stats.f.sf(result.f_statistic, 3, 39))

    @given(score_tables())
    def test_f_is_that_of_an_analysis_of_variance_of_the_ranks(self, scores):
        result = friedman_test(scores)
        assume(result.statistic > 0 and result.f_statistic is not None)
        assert result.f_statistic == pytest.approx(two_way_f(stats.rankdata(scores, axis=1)))


class TestCriticalDifference:
    @pytest.mark.parametrize("level", DEMSAR_Q)
    def test_the_published_table(self, level):
        for n_methods, published in enumerate(DEMSAR_Q[level], start=2):
            difference = critical_difference(n_methods, 10, level=level)
            quantile = difference / math.sqrt(n_methods * (n_methods + 1) / 60)
            # The printed last digit is one off in places (2.343 for 2.3437).
            assert quantile == pytest.approx(published, abs=1.1e-3), n_methods

    def test_the_published_example(self):
        assert critical_difference(4, 14) == pytest.approx(1.25, abs=5e-3)
        assert critical_difference(4, 14, level=0.1) == pytest.approx(1.12, abs=5e-3)

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(3))
    def test_inverts_the_nemenyi_p_values_of_another_library(self, seed):
        from scikit_posthocs import posthoc_nemenyi_friedman

        scores = np.random.default_rng(seed).random((9, 5)) + np.linspace(0, 1, 5)
        ranks = average_ranks(scores, higher_is_better=True)
        p_values = posthoc_nemenyi_friedman(scores).to_numpy()
        pairs = [pair for pair in itertools.combinations(range(5), 2) if p_values[pair] < 0.99]
        assert pairs
        for one, other in pairs:
            difference = critical_difference(5, 9, level=float(p_values[one, other]))
            assert difference == pytest.approx(abs(ranks[one] - ranks[other]), rel=1e-4)


def maximal_groups(ranks, difference):
    """Groups by enumeration of all sets of methods."""
    indices = range(len(ranks))
    alike = [
        set(group)
        for size in range(2, len(ranks) + 1)
        for group in itertools.combinations(indices, size)
        if max(ranks[list(group)]) - min(ranks[list(group)]) < difference
    ]
    return [group for group in alike if not any(group < other for other in alike)]


class TestGroups:
    def test_the_published_example(self):
        # At 0.10 the plain C4.5 (3.143) differs from the two variants with tuned m (2.000, 1.964),
        # but not from the one with tuned cf (2.893); at 0.05 nothing differs.
        ranks = average_ranks(DEMSAR_RANKS, higher_is_better=False)
        narrow, wide = (critical_difference(4, 14, level=level) for level in (0.10, 0.05))
        assert groups_not_different(ranks, narrow) == [(3, 1, 2), (2, 0)]
        assert groups_not_different(ranks, wide) == [(3, 1, 2, 0)]

    @examples(50)
    @given(
        hnp.arrays(float, st.integers(2, 7), elements=st.integers(4, 28).map(lambda r: r / 4)),
        st.integers(1, 24).map(lambda eighths: eighths / 8),
    )
    def test_agrees_with_enumeration(self, ranks, difference):
        groups = groups_not_different(ranks, difference)
        expected = maximal_groups(ranks, difference)
        assert sorted(map(sorted, groups)) == sorted(map(sorted, expected))
        assert all(np.all(np.diff(ranks[list(group)]) >= 0) for group in groups)
        best = [ranks[group[0]] for group in groups]
        assert best == sorted(best)


def test_full_agreement_and_nothing_but_ties():
    result = friedman_test([[1, 2, 3, 4], [10, 20, 30, 40]])
    assert (result.statistic, result.f_p_value) == (pytest.approx(6), 0)
    assert result.f_statistic is None
    ties = friedman_test([[1, 1, 1], [2, 2, 2]])
    assert (ties.statistic, ties.p_value, ties.f_statistic, ties.f_p_value) == (0, 1, 0, 1)
    assert paired_t_test([0.1, 0.7, 0.3], [0.1, 0.7, 0.3]).p_value == 1
    assert groups_not_different([1, 2, 3], 1) == groups_not_different([1], 1) == []


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: paired_t_test([1, math.nan], [1, 2]), "first method's values"),
        (lambda: paired_t_test([1, 2], [[1, 2]]), "second method's values"),
        (lambda: average_ranks([[1, math.nan]], higher_is_better=True), "scores"),
        (lambda: average_ranks(np.empty((0, 3)), higher_is_better=True), "scores"),
        (lambda: friedman_test(np.zeros((1, 3))), "1 by 3"),
        (lambda: friedman_test(np.zeros((5, 2))), "5 by 2"),
        (lambda: groups_not_different([1, math.nan], 1), "ranks"),
    ],
)
def test_what_cannot_be_tested_is_refused(call, name):
    with pytest.raises(InputError, match=name):
        call()
