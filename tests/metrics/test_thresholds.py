import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from complabel.errors import InputError
from complabel.metrics import threshold_minmax


def test_minmax_worked_by_hand():
    scores = [[-3.0, 1.0, 0.0, -1.0], [0.01, 0.02, 0.04, 0.03], [0.5, 0.5, 0.5, 0.5]]
    predicted = threshold_minmax(scores)
    assert predicted.dtype == np.uint8
    # The middle itself, -1 in the first row, is not above the middle.
    np.testing.assert_array_equal(predicted, [[0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0]])


@given(
    hnp.arrays(
        np.int64, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.integers(-9, 9)
    )
)
def test_minmax_equals_the_comparison_in_whole_numbers(scores):
    lowest, highest = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    above_middle = 2 * scores > lowest + highest
    expected = np.where(lowest == highest, scores >= 1, above_middle)
    np.testing.assert_array_equal(threshold_minmax(scores), expected)


def test_scores_that_are_no_finite_matrix_are_refused():
    with pytest.raises(InputError, match="nan at row 1, label 0"):
        threshold_minmax([[0.1, 0.2], [np.nan, 0.2]])
    with pytest.raises(InputError, match=r"shape \(2,\)"):
        threshold_minmax([0.1, 0.2])
    with pytest.raises(InputError, match=r"shape \(0, 2\)"):
        threshold_minmax(np.zeros((0, 2)))
