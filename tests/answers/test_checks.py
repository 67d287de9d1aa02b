import numpy as np
import pytest
from scipy import sparse
from tests.refusals import raises

from complabel.answers import (
    check_complementary,
    check_indicator,
    check_known,
    check_label_names,
    check_relevant,
    label_names_of,
)
from complabel.errors import AnnotationError

VALID = np.array([[0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0]])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float32, object])
@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, np.ndarray.tolist])
def test_every_dense_form_gives_the_same_matrix(dtype, container):
    checked = check_complementary(container(VALID.astype(dtype)))
    assert checked.dtype == np.uint8
    np.testing.assert_array_equal(checked, VALID)


@pytest.mark.parametrize("kind", ["csr", "coo", "dok"])
@pytest.mark.parametrize("make", [sparse.coo_array, sparse.coo_matrix])
def test_every_sparse_form_gives_the_same_matrix(kind, make):
    checked = check_complementary(make(VALID.astype(float)).asformat(kind))
    assert checked.dtype == np.uint8
    np.testing.assert_array_equal(checked, VALID)


@pytest.mark.parametrize("kind", ["coo", "csr"])
def test_checking_leaves_a_sparse_input_with_duplicates_as_it_was(kind):
    # Two stored halves at one cell are a one.
    cells = ([0, 0, 1], [1, 1, 2])
    halves = sparse.coo_array((np.array([0.5, 0.5, 1.0]), cells), shape=(2, 3))
    if kind == "csr":
        halves = sparse.csr_array((halves.data, [1, 1, 2], [0, 2, 3]), shape=(2, 3))
    np.testing.assert_array_equal(check_complementary(halves), [[0, 1, 0], [0, 0, 1]])
    assert halves.nnz == 3


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0, 1, 0], "shape (3,)"),
        (np.zeros((2, 3, 1)), "shape (2, 3, 1)"),
        ([[0, 1, 0], [0, 0, 2]], ("2", "row 1", "label 2")),
        ([[0, 1, 0], [-1, 0, 1]], ("-1", "row 1", "label 0")),
        ([[0, 1, np.nan], [1, 0, 1]], ("nan", "row 0", "label 2")),
        (sparse.csr_array([[0, 1.0, 0], [0, 0.5, 1]]), ("0.5", "row 1", "label 1")),
        ([["a", "b", "c"]], ("'a'", "row 0", "label 0", "indicator_from_names")),
        ([[0, 1, 0], [1, 0]], ("row 0", "3 entries", "row 1", "2")),
        ([["a"], ["b", "c"]], ("row 0", "1 entry", "row 1", "2 entries", "indicator_from_names")),
        ([[0, 1, 1], [1, 0, "x"]], ("'x'", "row 1", "label 2")),
        (np.array([[0, 1, 0], [1, 0, "x"]], object), ("'x'", "row 1", "label 2")),
        (np.array([[0], [1, 0, 1]], object), ("row 0", "1 entry", "row 1", "3 entries")),
    ],
)
@pytest.mark.parametrize("check", [check_indicator, check_complementary, check_relevant])
def test_what_is_no_indicator_matrix_is_refused(check, values, message):
    with raises(AnnotationError, message):
        check(values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0, 1], [1, 0]], "2 labels"),
        (np.zeros((0, 3)), ()),
        ([[0, 1, 0], [0, 0, 0]], "row 1"),
        ([[0, 1, 0], [1, 1, 1]], ("3 labels", "row 1")),
        (np.zeros((17, 3)), ("rows 0", "1", "2", "3", "4", "17 in all")),
    ],
)
@pytest.mark.parametrize(
    ("check", "name"), [(check_complementary, "complementary"), (check_relevant, "relevant")]
)
def test_rows_that_say_nothing_or_everything_are_refused(check, name, values, message):
    with raises(AnnotationError, name, message):
        check(values)


@pytest.mark.parametrize("check", [check_complementary, check_relevant])
def test_too_few_labels_come_with_advice(check):
    with raises(AnnotationError, "2 labels", "'not a'", "'b'"):
        check([[0, 1], [1, 0]])
    with raises(AnnotationError, "1 label"):
        check([[0], [1]])


def test_rows_without_an_answer_are_allowed_where_asked_for():
    rows = [[0, 1, 0], [0, 0, 0]]
    np.testing.assert_array_equal(check_complementary(rows, allow_unanswered=True), rows)
    with raises(AnnotationError, "rows 0", "1"):
        check_complementary(np.zeros((2, 3)), allow_unanswered=True)
    with raises(AnnotationError, "3 labels", "row 1"):
        check_complementary([[0, 0, 0], [1, 1, 1]], allow_unanswered=True)


class Frame:
    """As much of a data frame as is read: polars has no more, pandas has."""

    def __init__(self, values, columns):
        self.values, self.columns = np.asarray(values), columns

    def __array__(self, dtype=None, copy=None):
        return self.values


def test_a_data_frame_names_its_labels():
    assert label_names_of(Frame(VALID, ["a", "b", "c", "d"])) == ["a", "b", "c", "d"]
    assert label_names_of(Frame(VALID, range(4))) is None
    assert label_names_of(Frame(VALID, ["a", "b", "c", 3])) is None
    assert label_names_of(VALID) is None
    assert label_names_of(sparse.csr_array(VALID)) is None
    with raises(AnnotationError, "'b'"):
        label_names_of(Frame(VALID, ["a", "b", "c", "b"]))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["a", "sea", "city", "d"], ("y", "column 1")),
        (["a", "city", "see", "d"], ("y", "column 'see'")),
        (["a", "city", "zebra", "d"], ("4", "'a'", "'city'", "'sea'", "'d'")),
        (["a", "city", "sea"], ("y", "column 'd'")),
    ],
)
def test_columns_of_other_labels_are_refused(columns, message):
    with raises(AnnotationError, message):
        check_label_names(Frame(VALID, columns), ["a", "city", "sea", "d"])


def test_columns_are_held_against_names_only():
    check_label_names(Frame(VALID, ["a", "b", "c", "d"]), range(4))
    check_label_names(Frame(VALID, range(4)), ["a", "b", "c", "d"])
    check_label_names(Frame(VALID, ["a", "b", "c", "d"]), np.array(["a", "b", "c", "d"]))


@pytest.mark.parametrize(
    ("relevant", "message"),
    [
        ([[1, 0, 0], [0, 1, 0], [1, 0, 0]], ("shape (3, 3)", "(3, 4)")),
        ([[1, 0, 0, 0], [0, 1, 0, 1], [1, 0, 1, 0]], ("row 1", "label 3", "2 in all")),
        ([[1, 0, 0, 0], [0, 3, 0, 0], [1, 0, 0, 0]], ("relevant", "3", "row 1", "label 1")),
    ],
)
def test_relevant_labels_that_contradict_are_refused(relevant, message):
    with raises(AnnotationError, message):
        check_known(relevant, VALID.astype(np.uint8))


@pytest.mark.parametrize(
    ("labels", "shown"), [(None, "3"), (["sea", "sky", "sun", "fog"], "'fog'"), ([2, 4, 6, 8], "8")]
)
def test_a_contradiction_is_told_in_the_words_of_the_labels(labels, shown):
    relevant = np.zeros_like(VALID)
    relevant[1, 3] = 1
    with raises(AnnotationError, "row 1", f"label {shown}"):
        check_known(relevant, VALID.astype(np.uint8), labels)


def test_known_labels_are_returned_after_they_were_held_against_names():
    known = check_known(Frame(1 - VALID, list("abcd")), VALID.astype(np.uint8), list("abcd"))
    assert known.dtype == np.uint8
    np.testing.assert_array_equal(known, 1 - VALID)
    with raises(AnnotationError, "relevant", "column 'd'"):
        check_known(
            Frame(VALID[:, :3], list("abc")), VALID.astype(np.uint8), list("abcd"), name="y"
        )
