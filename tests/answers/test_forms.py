import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer
from tests.examples import examples
from tests.refusals import raises

from complabel.answers import indicator_from_indices, indicator_from_names, names_from_indicator
from complabel.errors import AnnotationError

NAMES = ["beach", "sunset", "fall foliage", "field", "mountain", "urban"]
ROWS = st.lists(
    st.lists(st.integers(0, len(NAMES) - 1), min_size=1, unique=True), min_size=1, max_size=20
)


@examples(25)
@given(ROWS)
def test_label_numbers_make_scikit_learns_indicator(rows):
    indicator = indicator_from_indices(rows, len(NAMES))
    expected = MultiLabelBinarizer(classes=range(len(NAMES))).fit_transform(rows)
    np.testing.assert_array_equal(indicator, expected)


@examples(25)
@given(ROWS)
def test_label_names_make_the_same_indicator_and_come_back(rows):
    named = [{NAMES[label] for label in row} for row in rows]
    indicator = indicator_from_names(named, NAMES)
    np.testing.assert_array_equal(indicator, indicator_from_indices(rows, len(NAMES)))
    indicator[0] = 0
    for form in (indicator, sparse.csr_array(indicator)):
        back = names_from_indicator(form, NAMES)
        assert back == [(), *(tuple(NAMES[label] for label in sorted(row)) for row in rows[1:])]


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


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([0, 3], ("row 1", "number 3", "3 labels", "0 to 2")),
        ([[0], [1, -1]], ("row 1", "number -1")),
        (np.array([0, 1, 7]), ("row 2", "number 7")),
        ([0, 2**70], ("row 1", f"number {2**70}")),
        ([0.0, 1.5], ("row 1", "number 1.5")),
        ([float("inf"), 1], ("row 0", "number inf")),
        ([[0, True]], ("row 0", "True")),
        (np.array([True, False]), ("row 0", "True")),
        (["0", "1"], ("row 0", "'0'")),
        ([0, {1: False}], ("row 1", "{1: False}")),
        ({"a": 0}, ("numbers", "dict")),
        ([], "no rows"),
        (np.zeros((2, 2, 2), dtype=int), ("row 0", "[0, 0]")),
        ([[0, 1, 0], [1, 0, 0]], "indicator matrix"),
    ],
)
def test_label_numbers_that_make_no_indicator_are_refused(indices, message):
    with raises(AnnotationError, message):
        indicator_from_indices(indices, 3)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["beach", "sunsett"], ("row 1", "label 'sunsett'")),
        ([["beach"], ["urban", "Mountain"]], ("row 1", "'mountain'")),
        ([["beach"], ["SUNSET "]], ("row 1", "'sunset'")),
        (["zebra"], ("label 'zebra'", "6", "'beach'", "'mountain'")),
        ([3], ("row 0", "3")),
        ([["beach"], [["urban"]]], ("row 1", "['urban']")),
        ([["beach"], ["urban", 3]], ("row 1", "3")),
        ([{"beach": False}], ("row 0", "'beach'")),
        ("beach", ("names", "str")),
        ({"item": "beach"}, ("names", "dict")),
        ([], "no rows"),
    ],
)
def test_names_that_make_no_indicator_are_refused(names, message):
    with raises(AnnotationError, message):
        indicator_from_names(names, NAMES)


@pytest.mark.parametrize("gap", [None, np.nan, np.float32("nan"), "", "  ", ()])
def test_a_row_that_nobody_answered_is_a_row_of_zeros(gap):
    inside = None if isinstance(gap, tuple) else gap
    found = indicator_from_names(["b", gap, ["c", inside]], ["a", "b", "c"])
    np.testing.assert_array_equal(found, [[0, 1, 0], [0, 0, 0], [0, 0, 1]])
    if not isinstance(gap, str):
        np.testing.assert_array_equal(indicator_from_indices([1, gap, [2, inside]], 3), found)


def test_a_data_frame_has_one_annotator_a_column_and_gaps():
    pandas = pytest.importorskip("pandas")
    labels = ["beach", "city", "sea"]
    answers = {"first": ["sea", None, "city", ""], "second": ["sea", pandas.NA, "beach", np.nan]}
    expected = [[0, 0, 1], [0, 0, 0], [1, 1, 0], [0, 0, 0]]
    frame = pandas.DataFrame(answers)
    for form in (frame, frame.astype("string"), frame.astype("category"), frame.to_numpy()):
        np.testing.assert_array_equal(indicator_from_names(form, labels), expected)
    numbers = pandas.DataFrame({"first": [2, None, 1, None], "second": [2, None, 0, None]})
    for form in (numbers, numbers.astype("Int64"), numbers.to_numpy()):
        np.testing.assert_array_equal(indicator_from_indices(form, 3), expected)
    series = pandas.Series(["sea", pandas.NA], dtype="string")
    np.testing.assert_array_equal(indicator_from_names(series, labels), [[0, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize(
    ("label_names", "message"),
    [
        ("abc", ("label_names", "'abc'")),
        (["a", "", "c"], "label_names[1]"),
        (["a", None, "c"], ("label_names[1]", "None")),
    ],
)
def test_every_label_needs_a_name(label_names, message):
    with raises(AnnotationError, message):
        indicator_from_names(["a"], label_names)


def test_label_names_must_differ_and_match_the_columns():
    with raises(AnnotationError, "'a'"):
        indicator_from_names(["a"], ["a", "b", "a"])
    with raises(AnnotationError, "2 label", "3 columns"):
        names_from_indicator([[1, 0, 0]], ["a", "b"])
