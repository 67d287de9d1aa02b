"""Answers given as one mask for each kind: what they become, and what is refused."""

import numpy as np
import pytest
from scipy import sparse
from tests.methods.small import COMPLEMENTARY, PROBLEM, brief
from tests.methods.test_base_answers import Recorder, Understanding, learned

from complabel.answers import Answers, IgnoredAnswersWarning
from complabel.errors import AnnotationError, InputError
from complabel.simulate import draw_answers

X, Y = PROBLEM.X, PROBLEM.Y
N_SAMPLES, N_LABELS = Y.shape
NAMES = ["ash", "beech", "cedar", "oak"]


def rows_of(*rows):
    """A mask whose first rows are given; the others are empty."""
    mask = np.zeros((N_SAMPLES, N_LABELS), dtype=int)
    mask[: len(rows)] = rows
    return mask


def told(y=None, **masks):
    """The answers that masks become, one line each: question, marks, labels on offer."""
    answers = learned(y, Understanding, **masks).answers_[1]
    assert np.isnan(answers.probability).all()
    assert (answers.annotator == -1).all()
    lines = []
    for at in range(answers.n_answers):
        marks = {
            name: getattr(answers, name).toarray()[at].nonzero()[0].tolist()
            for name in ("named", "absent", "relevant", "excluded", "offered")
        }
        how = {"asked_for": answers.asked_for[at], "all_apply": str(answers.all_apply[at])}
        marks = {name: labels for name, labels in marks.items() if labels}
        if answers.question[at] == "named":
            marks |= how
        lines.append((int(answers.item[at]), str(answers.question[at]), marks))
    return lines


def test_labels_named_of_a_menu_or_of_all():
    named = rows_of([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0])
    offered = rows_of([1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 1, 0], [1, 1, 1, 0])
    # Row 1 was offered all labels; of row 2 all labels on offer apply.
    assert told(named, offered=offered) == [
        (0, "named", {"named": [0], "offered": [0, 2], "asked_for": 1, "all_apply": "answer"}),
        (1, "named", {"named": [1], "asked_for": 1, "all_apply": "never"}),
        (2, "named", {"offered": [1, 2], "asked_for": 1, "all_apply": "answer"}),
        (
            3,
            "named",
            {"named": [0, 1], "offered": [0, 1, 2], "asked_for": 2, "all_apply": "answer"},
        ),
    ]


def test_labels_asked_about_were_judged_absent_or_relevant():
    absent = rows_of([1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0])
    relevant = rows_of([0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0])
    assert told(absent=absent, relevant=relevant) == [
        (0, "asked", {"absent": [0], "relevant": [1], "offered": [0, 1]}),
        (1, "asked", {"relevant": [2], "offered": [2]}),
    ]


def test_a_rule_says_nothing_of_rows_that_it_rules_nothing_out_of():
    excluded = rows_of([1, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1])
    assert told(excluded=excluded) == [
        (0, "excluded", {"excluded": [0, 1, 3]}),
        (1, "excluded", {"excluded": [0, 1, 2, 3]}),  # the item between them is left out
    ]


def test_masks_of_several_kinds_are_several_answers_about_an_item():
    found = told(
        rows_of([1, 0, 0, 0]), absent=rows_of([1, 1, 0, 0]), excluded=rows_of([0, 1, 0, 0])
    )
    assert [(item, question) for item, question, _ in found] == [
        (0, "named"),
        (0, "asked"),
        (0, "excluded"),
    ]


@pytest.mark.parametrize("form", [np.ndarray.tolist, sparse.csr_array, np.ndarray.astype])
def test_masks_may_come_as_lists_booleans_or_sparse(form):
    given = [rows_of([1, 0, 0, 0], [0, 1, 0, 0]), rows_of([0, 0, 1, 1], [1, 0, 0, 0])]
    absent, excluded = (
        mask.astype(bool) if form is np.ndarray.astype else form(mask) for mask in given
    )
    assert told(absent=absent, excluded=excluded) == told(absent=given[0], excluded=given[1])


@pytest.mark.filterwarnings("ignore::complabel.answers.UnansweredRowWarning")
def test_masks_are_learned_by_every_method_as_far_as_it_can():
    answers = draw_answers(Y, question="asked", random_state=0)
    absent, relevant = (np.zeros(Y.shape, dtype=int) for _ in range(2))
    absent[answers.item] = answers.absent.toarray()
    relevant[answers.item] = answers.relevant.toarray()
    with pytest.warns(IgnoredAnswersWarning, match="times a label judged 'no' is treated"):
        found = brief("ridge").fit(X, absent=absent, relevant=relevant)
    with pytest.warns(IgnoredAnswersWarning):
        expected = brief("ridge").fit(X, answers)
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))


def test_columns_of_a_data_frame_name_the_labels():
    pandas = pytest.importorskip("pandas")
    mask = rows_of([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1])
    frame = pandas.DataFrame(mask, columns=NAMES)
    # The first of them that has names gives them.
    classifier = learned(None, absent=np.roll(mask, 1, axis=1), excluded=frame)
    assert classifier.classes_.tolist() == NAMES
    with pytest.raises(AnnotationError, match="excluded has its columns in another order than ab"):
        learned(None, absent=frame, excluded=frame[NAMES[::-1]])


A = rows_of([1, 0, 0, 0])


@pytest.mark.parametrize(
    ("y", "masks", "error", "message"),
    [
        (
            Answers.from_complementary(COMPLEMENTARY),
            {"absent": A, "relevant": A},
            InputError,
            "y is Answers, but absent and relevant is given, too; .*Answers.concatenate of both",
        ),
        (None, {"offered": A}, InputError, "offered is given, but y is not; give an indicator"),
        (None, {"relevant": A}, InputError, "requires y to be passed"),
        (None, {}, InputError, "requires y to be passed"),
        (
            list("abc") * 30,
            {"absent": A},
            InputError,
            "y holds one class per row, but absent is given, too; .*indicator_from_names",
        ),
        (None, {"absent": A[:5]}, InputError, "X has 90 rows but a mask has 5; both need one row"),
        (A[:5], {"absent": A[:5]}, InputError, "X has 90 rows but y has 5; both need one row"),
        (
            A,
            {"absent": A[:, 1:]},
            AnnotationError,
            r"absent has shape \(90, 3\), but y has shape \(90, 4\); both need one row per sample",
        ),
        (
            None,
            {"absent": 0 * A, "excluded": 0 * A},
            AnnotationError,
            "no row has a mark in absent and excluded; at least one row needs a mark",
        ),
        (
            None,
            {"absent": 2 * A},
            AnnotationError,
            "absent holds 2 at row 0, label 0; every entry must be 0 or 1",
        ),
        (
            None,
            {"absent": A, "relevant": A},
            AnnotationError,
            "row 0 gives label 0 as complementary and as relevant",
        ),
        (
            rows_of([0, 0, 0, 0], [0, 1, 0, 0]),
            {"offered": rows_of([0, 0, 0, 0], [1, 0, 1, 0])},
            AnnotationError,
            "row 1 of y marks label 1, but the same row of offered does not; mark it there, or",
        ),
    ],
)
def test_masks_that_say_nothing_or_contradict_each_other_are_refused(y, masks, error, message):
    for method in (Recorder, Understanding):
        with pytest.raises(error, match=message):
            method().fit(X, y, **masks)


def test_a_label_that_was_not_offered_is_said_by_name():
    pandas = pytest.importorskip("pandas")
    y = pandas.DataFrame(A, columns=NAMES)
    with pytest.raises(AnnotationError, match="row 0 of y marks label 'ash', but the same row of"):
        Understanding().fit(X, y, offered=rows_of([0, 1, 1, 0]))
