import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer

from complabel.annotations import (
    candidates_from_complementary,
    indicator_from_indices,
    indicator_from_names,
    indices_from_indicator,
    names_from_indicator,
)
from complabel.errors import AnnotationError

NAMES = ["beach", "sunset", "fall foliage", "field", "mountain", "urban"]
ROWS = st.lists(
    st.lists(st.integers(0, len(NAMES) - 1), min_size=1, unique=True), min_size=1, max_size=20
)


@given(ROWS)
def test_label_numbers_make_scikit_learns_indicator_and_come_back(rows):
    indicator = indicator_from_indices(rows, len(NAMES))
    expected = MultiLabelBinarizer(classes=range(len(NAMES))).fit_transform(rows)
    np.testing.assert_array_equal(indicator, expected)
    for form in (indicator, sparse.csr_array(indicator)):
        assert [row.tolist() for row in indices_from_indicator(form)] == list(map(sorted, rows))


@given(ROWS)
def test_label_names_make_the_same_indicator_and_come_back(rows):
    named = [{NAMES[label] for label in row} for row in rows]
    indicator = indicator_from_names(named, NAMES)
    np.testing.assert_array_equal(indicator, indicator_from_indices(rows, len(NAMES)))
    back = names_from_indicator(indicator, NAMES)
    assert back == [tuple(NAMES[label] for label in sorted(row)) for row in rows]


@pytest.mark.parametrize(
    "indices",
    [
        [2, 0, 1],
        np.array([2, 0, 1]),
        np.array([[2], [0], [1]], dtype=np.uint8),
        [(2,), np.array([0]), {1}],
        [2, [0], np.int32(1)],
    ],
)
def test_one_label_per_row_may_be_given_bare(indices):
    indicator = indicator_from_indices(indices, 3)
    assert indicator.dtype == np.uint8
    np.testing.assert_array_equal(indicator, [[0, 0, 1], [1, 0, 0], [0, 1, 0]])


def test_a_bare_name_is_one_label():
    np.testing.assert_array_equal(
        indicator_from_names(["b", ["a", "c"]], ["a", "b", "c"]), [[0, 1, 0], [1, 0, 1]]
    )


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([0, 3], "row 1 has label number 3, but with 3 labels the numbers go from 0 to 2"),
        ([[0], [1, -1]], "row 1 has label number -1"),
        (np.array([0, 1, 7]), "row 2 has label number 7"),
        ([[0], [], [1], []], r"rows 1, 3 \(2 in all\) without a label number"),
        ([[0, 1], [2, 0, 2]], "row 1 gives label 2 twice"),
        (np.array([[0, 1], [1, 1]]), "row 1 gives label 1 twice"),
        ([0.0, 1.0], "row 0 is 0.0, neither a label number nor"),
        (np.array([0.0, 1.0]), "type float64"),
        (np.array([True, False]), "type bool"),
        (["0", "1"], "type <U1"),
        ([0, None], "row 1 is None"),
        ([], "no rows"),
        (np.zeros((2, 2, 2), dtype=int), r"shape \(4, 2\)"),
    ],
)
def test_label_numbers_that_make_no_indicator_are_refused(indices, message):
    with pytest.raises(AnnotationError, match=message):
        indicator_from_indices(indices, 3)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["beach", "sunsett"], "row 1 has the unknown label 'sunsett'; did you mean 'sunset'?"),
        ([["beach"], ["urban", "Mountain"]], "row 1 .* did you mean 'mountain'"),
        ([["beach"], []], "row 1 without a label name"),
        ([["beach", "beach"]], "row 0 gives label 0 twice"),
        ([3], "row 0 is 3, neither a label name nor"),
        ([], "no rows"),
    ],
)
def test_names_that_make_no_indicator_are_refused(names, message):
    with pytest.raises(AnnotationError, match=message):
        indicator_from_names(names, NAMES)


def test_label_names_must_differ_and_match_the_columns():
    with pytest.raises(AnnotationError, match="repeats 'a'"):
        indicator_from_names(["a"], ["a", "b", "a"])
    with pytest.raises(AnnotationError, match="2 label names for 3 columns"):
        names_from_indicator([[1, 0, 0]], ["a", "b"])


def test_a_row_without_labels_has_no_numbers_and_no_names():
    assert [row.tolist() for row in indices_from_indicator([[0, 0], [0, 1], [0, 0]])] == [
        [],
        [1],
        [],
    ]
    assert names_from_indicator([[0, 0]], ["a", "b"]) == [()]


def test_candidates_are_what_is_not_complementary():
    candidates = candidates_from_complementary(sparse.csr_array([[0, 1, 0], [1, 0, 1]]))
    assert candidates.dtype == np.uint8
    np.testing.assert_array_equal(candidates, [[1, 0, 1], [0, 1, 0]])
    with pytest.raises(AnnotationError, match="complementary holds 2"):
        candidates_from_complementary([[0, 2, 0]])
