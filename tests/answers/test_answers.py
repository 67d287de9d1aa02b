import io
import pickle
from copy import deepcopy

import joblib
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.answers.records import MASKS, affirmed, back, denied, make, records, same, what_is_said
from tests.examples import examples
from tests.refusals import raises

from complabel.answers import Answers, check_indicator
from complabel.errors import AnnotationError, InputError


def by_item(n_items, found):
    """The records in the order of their items."""
    return [record for item in range(n_items) for record in found if record["item"] == item]


@examples(25)
@given(records())
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_answers_are_what_was_given_sorted_by_items(form, given_records):
    n_items, n_labels, found = given_records
    answers = make(n_items, n_labels, found, form)
    assert (len(answers), answers.ndim, answers.n_answers) == (n_items, 2, len(found))
    assert same(back(answers), by_item(n_items, found))
    assert {answers.item.dtype, answers.annotator.dtype, answers.asked_for.dtype} == {
        np.dtype(np.intp)
    }
    assert answers.probability.dtype == np.float64
    for name in MASKS:
        mask = getattr(answers, name)
        assert isinstance(mask, sparse.csr_array)
        assert mask.dtype == np.uint8
        assert mask.shape == (len(found), n_labels)
        assert (mask.data == 1).all()
        assert mask.has_canonical_format
    sizes = [len(record["offered"]) or n_labels for record in by_item(n_items, found)]
    np.testing.assert_array_equal(answers.n_offered, np.array(sizes, dtype=int))


@examples(25)
@given(records())
def test_what_answers_come_to_is_what_the_sets_say(given_records):
    answers = make(*given_records)
    no, applies = (what_is_said(*given_records, of) for of in (denied, affirmed))
    np.testing.assert_array_equal(answers.complementary, no)
    np.testing.assert_array_equal(answers.complementary, no)
    np.testing.assert_array_equal(answers.known_relevant, applies)
    np.testing.assert_array_equal(answers.contradictions(), np.argwhere(no & applies))
    items = {record["item"] for record in given_records[2]}
    assert set(np.flatnonzero(answers.answered)) == items
    assert answers.complementary.dtype == answers.known_relevant.dtype == np.uint8


@examples(25)
@given(records(), st.data())
def test_items_are_chosen_as_the_rows_of_an_array_are(given_records, data):
    n_items, n_labels, found = given_records
    answers = make(n_items, n_labels, found)
    numbers = st.lists(st.integers(-n_items, n_items - 1), max_size=8)
    index = data.draw(
        st.one_of(
            numbers,
            numbers.map(lambda each: np.array(each, dtype=np.int32)),
            st.lists(st.booleans(), min_size=n_items, max_size=n_items).map(np.array),
            st.slices(n_items),
        )
    )
    chosen = answers[index]
    rows = np.array(index, dtype=int) if isinstance(index, list) else index
    expected = np.arange(n_items)[rows]
    assert len(chosen) == len(expected)
    np.testing.assert_array_equal(chosen.complementary, answers.complementary[expected])
    parts = [
        record | {"item": at}
        for at, item in enumerate(expected)
        for record in found
        if record["item"] == item
    ]
    assert same(back(chosen), parts)
    assert same(back(answers[index, ...]), parts)
    assert same(back(answers[index, :]), parts)


@examples(25)
@given(records(), st.data())
def test_answers_put_together_are_those_given_together(given_records, data):
    n_items, n_labels, found = given_records
    cut = data.draw(st.integers(0, len(found)))
    parts = [make(n_items, n_labels, part) for part in (found[:cut], found[cut:])]
    together = Answers.concatenate(parts)
    assert same(back(together), by_item(n_items, found))
    assert len(set(together.annotator_names)) == len(together.annotator_names)


def test_codes_of_annotators_stay_where_the_first_answers_have_them():
    first = Answers.from_arrays(absent=np.eye(3), annotator=["bob", "cy", None])
    second = Answers.from_arrays(absent=np.eye(3), annotator=["cy", "ann", "bob"])
    together = Answers.concatenate([first, second])
    assert together.annotator_names == ("bob", "cy", "ann")
    np.testing.assert_array_equal(together.annotator, [0, 1, 1, 2, -1, 0])


@examples(25)
@given(
    st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=8).map(np.array)
)
def test_complementary_labels_come_back(y):
    answers = Answers.from_complementary(y)
    np.testing.assert_array_equal(answers.complementary, y)
    np.testing.assert_array_equal(answers.answered, y.any(axis=1))
    np.testing.assert_array_equal(answers.asked_for, y.sum(axis=1)[y.any(axis=1)])
    assert (answers.question == "named").all()
    assert (answers.all_apply == "never").all()
    assert answers.offered.nnz == 0
    assert not answers.known_relevant.any()
    assert answers.shape == y.shape


def test_relevant_labels_go_with_the_row_that_has_an_answer():
    y, relevant = [[1, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 1]]
    answers = Answers.from_complementary(sparse.csr_array(y), relevant=relevant)
    np.testing.assert_array_equal(answers.known_relevant, [[0, 1, 0], [0, 0, 0]])
    with raises(AnnotationError, "row 0", "label 0"):
        Answers.from_complementary(y, relevant=[[1, 0, 0], [0, 0, 0]])
    with raises(AnnotationError, "relevant", "shape (1, 3)", "(2, 3)"):
        Answers.from_complementary(y, relevant=[[1, 0, 0]])


def test_a_data_frame_names_the_labels():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[1, 0, 0], [0, 1, 0]], columns=["city", "sea", "sky"])
    assert Answers.from_complementary(frame).label_names == ("city", "sea", "sky")
    answers = Answers.from_arrays(named=frame.to_numpy(), relevant=1 - frame)
    assert answers.label_names == ("city", "sea", "sky")
    assert answers[[1]].label_names == answers.label_names
    with raises(AnnotationError, "absent"):
        Answers.from_arrays(named=frame, absent=frame[["sea", "city", "sky"]])
    with raises(AnnotationError, "label_names"):
        Answers.from_arrays(named=frame, label_names=["city", "sea", "fog"])


def test_questions_are_inferred_from_what_is_marked():
    answers = Answers.from_arrays(
        named=[[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]],
        excluded=[[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]],
        absent=[[0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]],
        relevant=[[0, 1, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]],
        offered=[[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 0, 1]],
    )
    assert answers.question.tolist() == ["named", "excluded", "asked", "asked", "named"]
    assert answers.asked_for.tolist() == [1, 0, 0, 0, 1]
    np.testing.assert_array_equal(
        answers.offered.toarray(), [[0, 0, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]]
    )
    # The last one says that all labels of its menu apply.
    np.testing.assert_array_equal(answers.known_relevant[4], [1, 0, 1])
    nothing_ruled_out = Answers.from_arrays(excluded=[[0, 0, 0], [1, 0, 0]])
    assert nothing_ruled_out.question.tolist() == ["excluded", "excluded"]


@pytest.mark.parametrize(("ticked", "others"), [("absent", "relevant"), ("relevant", "absent")])
def test_labels_that_are_not_ticked_are_the_opposite_of_those_that_are(ticked, others):
    marks = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    offered = [[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]
    answers = Answers.from_arrays(**{ticked: marks}, offered=offered, question="ticked")
    np.testing.assert_array_equal(getattr(answers, ticked).toarray(), marks)
    left = [[0, 1, 1, 1], [1, 0, 0, 0], [0, 0, 1, 1]]
    np.testing.assert_array_equal(getattr(answers, others).toarray(), left)


@pytest.mark.parametrize(
    ("annotator", "codes", "names"),
    [
        (None, [-1, -1, -1], ()),
        ([1, 0, -1], [1, 0, -1], ("0", "1")),
        (["b", "a", "b"], [1, 0, 1], ("a", "b")),
        (["b", None, "  "], [0, -1, -1], ("b",)),
        ([1001.0, np.nan, 7.0], [0, -1, 1], ("1001", "7")),
        ([2.5, 7, None], [0, 1, -1], ("2.5", "7")),
        ([10**9, -1, 7], [0, -1, 1], ("1000000000", "7")),  # ids of people, not codes
        ([0, -5, 0], [1, 0, 1], ("-5", "0")),
        (np.array([2**64 - 1, 7, 7], dtype=np.uint64), [0, 1, 1], (str(2**64 - 1), "7")),
    ],
)
def test_annotators_are_codes_or_names(annotator, codes, names):
    answers = Answers.from_arrays(absent=np.eye(3), annotator=annotator)
    assert answers.annotator.tolist() == codes
    assert answers.annotator_names == names
    assert answers[[2, 1]].annotator_names == names


def test_one_number_or_word_serves_all_answers():
    answers = Answers.from_arrays(
        named=np.eye(3), offered=np.ones((3, 3)), probability=0.5, asked_for=2, all_apply="skip"
    )
    assert answers.probability.tolist() == [0.5] * 3
    assert answers.asked_for.tolist() == [2] * 3
    assert answers.all_apply.tolist() == ["skip"] * 3


def test_what_is_given_is_neither_shared_nor_changed():
    named = sparse.csr_array(np.array([[1, 0, 0], [0, 1, 0]], dtype=np.uint8))
    item, chance = np.array([1, 0]), np.array([0.5, 0.25])
    given = {"named": named, "item": item, "probability": chance}
    before = deepcopy(given)
    answers = Answers.from_arrays(**given)
    own = [answers.item, answers.probability, answers.named.data, answers.named.indices]
    for array in own:
        assert not array.flags.writeable
        for other in (item, chance, named.data, named.indices, named.indptr):
            assert not np.shares_memory(array, other)
    for array in (item, chance, named.data, named.indices, named.indptr):
        assert array.flags.writeable
    np.testing.assert_array_equal(named.toarray(), before["named"].toarray())
    np.testing.assert_array_equal(item, before["item"])
    with pytest.raises(AttributeError):
        answers.n_items = 3
    dense = np.array([[1, 0, 0]], dtype=np.uint8)
    assert not np.shares_memory(Answers.from_arrays(named=dense).named.data, dense)


def test_zeros_that_a_sparse_mask_stores_are_no_marks():
    stored = sparse.csr_array(
        (np.array([1.0, 0.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 3)
    )
    answers = Answers.from_arrays(named=stored)
    assert answers.named.nnz == 1
    assert stored.nnz == 2
    twice = sparse.coo_array((np.ones(2), ([0, 0], [1, 1])), shape=(1, 3))
    with raises(AnnotationError, "named", "2.0", "row 0", "label 1"):
        Answers.from_arrays(named=twice)


@pytest.mark.parametrize(
    "convert",
    [
        np.asarray,
        lambda answers: np.asarray(answers, dtype=object),
        lambda answers: np.array([answers], dtype=float),
        lambda answers: np.eye(3) - answers,
        np.unique,
        sparse.coo_array,
        torch.as_tensor,
        pd.DataFrame,
        check_indicator,
    ],
)
def test_answers_never_become_an_array(convert):
    """An array of complementary labels would not say who was asked what."""
    with pytest.raises((AnnotationError, ValueError, TypeError)) as refused:
        convert(Answers.from_complementary(np.eye(3)))
    if convert not in (torch.as_tensor, pd.DataFrame):  # these do not ask for an array
        assert "answers.complementary" in str(refused.value)


@examples(25)
@given(records())
def test_pickled_answers_are_the_same_and_read_only(given_records):
    answers = make(*given_records)[::-1]
    buffer = io.BytesIO()
    joblib.dump(answers, buffer)
    buffer.seek(0)
    for again in (pickle.loads(pickle.dumps(answers)), joblib.load(buffer), deepcopy(answers)):
        assert same(back(again), back(answers))
        assert again.shape == answers.shape
        assert not again.item.flags.writeable
        assert not again.named.data.flags.writeable
        assert same(back(again[:2]), back(answers[:2]))


def test_answers_of_a_memory_map_can_be_split(tmp_path):
    answers = Answers.from_complementary(np.eye(4))
    joblib.dump(answers, tmp_path / "answers")
    mapped = joblib.load(tmp_path / "answers", mmap_mode="r")
    np.testing.assert_array_equal(mapped[[3, 1]].complementary, np.eye(4)[[3, 1]])


def test_one_item_has_its_answers_and_items_are_gone_through_in_order():
    answers = Answers.from_arrays(absent=np.eye(4)[[0, 2, 1]], item=[2, 0, 2], n_items=4)
    assert [len(each) for each in answers] == [1, 1, 1, 1]
    assert [each.n_answers for each in answers] == [1, 0, 2, 0]
    np.testing.assert_array_equal(answers[-2].complementary, [[1, 1, 0, 0]])
    np.testing.assert_array_equal(answers[np.int64(0)].complementary, [[0, 0, 1, 0]])


@pytest.mark.parametrize(
    "index", [4, -5, [0, 4], [True, False], 1.5, [0.0], "a", None, (0, 1), (0, [1]), [[0], [1]]]
)
def test_what_is_no_index_of_items_is_refused(index):
    with pytest.raises(IndexError):
        Answers.from_complementary(np.eye(4))[index]


def test_there_may_be_no_answers_and_no_items():
    answers = Answers.from_arrays(named=np.zeros((0, 3)), n_items=2)
    assert repr(answers) == "Answers(2 items, 3 labels, 0 answers)"
    assert repr(Answers.from_complementary(np.eye(3))).endswith("3 labels, 3 answers: 3 named)")
    np.testing.assert_array_equal(answers.complementary, np.zeros((2, 3)))
    assert not answers.answered.any()
    assert answers[[1, 1, 0]].shape == (3, 3)
    assert answers[[]].shape == (0, 3)
    assert Answers.concatenate([answers, answers]).n_answers == 0


def test_answers_about_different_things_are_not_put_together():
    three = Answers.from_complementary(np.eye(3))
    names = Answers.from_arrays(named=np.eye(3), label_names=list("abc"))
    assert Answers.concatenate([three, names]).label_names == ("a", "b", "c")
    assert Answers.concatenate([names]).label_names == ("a", "b", "c")
    with raises(AnnotationError, "answers 0", "shape (3, 3)", "answers 1"):
        Answers.concatenate([three, three[:2]])
    with raises(AnnotationError):
        Answers.concatenate([names, Answers.from_arrays(named=np.eye(3), label_names=list("acb"))])
    with raises(AnnotationError):
        Answers.concatenate([])


@pytest.mark.parametrize("n_items", [-1, 2.0, True])
def test_the_number_of_items_is_an_integer(n_items):
    with raises(InputError, "n_items", "at least 0"):
        Answers.from_arrays(named=np.eye(3), n_items=n_items)


def test_some_of_the_answers_keep_their_items():
    answers = Answers.from_arrays(
        absent=[[1, 0], [0, 1], [0, 0]], relevant=[[0, 1], [0, 0], [1, 0]], item=[4, 0, 2]
    )
    some = answers.only(np.array([True, False, True]))
    assert some.shape == answers.shape
    np.testing.assert_array_equal(some.item, [0, 4])
    np.testing.assert_array_equal(some[[4, 0]].complementary, answers[[4, 0]].complementary)
    assert not some[[2]].known_relevant.any()
