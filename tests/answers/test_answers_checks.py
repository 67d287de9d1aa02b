import numpy as np
import pytest
from scipy import sparse

from complabel.answers import Answers
from complabel.errors import AnnotationError

NAMES = ["city", "fog", "sea", "sky"]


def row(*labels):
    """The mask of one answer."""
    return [[int(name in labels) for name in NAMES]]


FAULTY = {
    "named but not offered": (
        {"named": row("sky"), "offered": row("city", "sea")},
        r"answer 0 \(item 0\) names label 'sky', which was not offered; add it to offered",
    ),
    "named where nothing was to be named": (
        {"named": row("sky"), "question": "asked"},
        r"answer 0 \(item 0\) names label 'sky', but its question is not 'named'",
    ),
    "named and relevant": (
        {"named": row("sky"), "relevant": row("sea", "sky")},
        "names label 'sky' and gives it as relevant; a label either applies or does not",
    ),
    "yes and no": (
        {"absent": row("sky", "fog"), "relevant": row("fog")},
        "gives label 'fog' as relevant and as absent or excluded",
    ),
    "yes and excluded": (
        {"excluded": row("sky"), "relevant": row("sky")},
        "gives label 'sky' as relevant and as absent or excluded",
    ),
    "struck off but on a menu": (
        {"named": row("sky"), "offered": row("sky", "fog"), "absent": row("fog")},
        "offers label 'fog' and gives it as absent; leave the label out",
    ),
    "struck off with all labels on offer": (
        {"named": row("sky"), "absent": row("fog")},
        "offers label 'fog' and gives it as absent",
    ),
    "asked, no, not offered": (
        {"absent": row("fog"), "offered": row("sky")},
        "judges label 'fog', which was not offered; add it to offered",
    ),
    "ticked, not offered": (
        {"absent": row("fog"), "offered": row("sky", "sea"), "question": "ticked"},
        "judges label 'fog', which was not offered",
    ),
    "yes, not offered": (
        {"relevant": row("fog"), "offered": row("sky"), "question": "asked"},
        "judges label 'fog', which was not offered",
    ),
    "excluded where labels were judged": (
        {"absent": row("fog"), "excluded": row("sky"), "question": "asked"},
        "excludes label 'sky', but its question is 'asked' or 'ticked'; .* separate answer",
    ),
    "excluded, not offered": (
        {"excluded": row("fog", "sky"), "offered": row("sky", "sea")},
        "excludes label 'fog', which was not offered; add it to offered",
    ),
    "more than asked for": (
        {"named": row("sky", "fog"), "asked_for": 1},
        r"answer 0 \(item 0\) names 2 labels but was asked for 1; correct asked_for or named",
    ),
    "asked for more than on offer": (
        {"named": row("sky"), "offered": row("sky", "sea"), "asked_for": 3},
        "was asked for 3 labels with 2 on offer; correct asked_for or offered",
    ),
    "asked for nothing": (
        {"named": row("sky"), "asked_for": 0},
        "has asked_for 0 with question 'named'; give at least 1 for 'named', and 0 for all others",
    ),
    "asked for marks in a yes/no question": (
        {"absent": row("sky"), "asked_for": [1]},
        "has asked_for 1 with question 'asked'",
    ),
    "a menu of one": (
        {"named": row("sky"), "offered": row("sky")},
        "is a menu of one label, which is a yes/no question; give it question 'asked'",
    ),
    "judged nothing": (
        {"absent": row(), "question": "asked", "offered": row("sky")},
        "judges no label; leave it out",
    ),
    "judged nothing at all": (
        {"absent": row(), "question": "asked"},
        "judges no label; leave it out",
    ),
    "asked and half judged": (
        {"absent": row("sky"), "offered": row("sky", "sea"), "question": "asked"},
        "judges 1 of 2 labels on offer; mark each as absent or relevant, or offer fewer",
    ),
    "ticked and half judged": (
        {"absent": row("sky"), "relevant": row("sea"), "question": "ticked"},
        "judges 2 of 4 labels on offer",
    ),
    "nothing marked": (
        {"named": row()},
        'answer 0 marks no label, so its meaning is unknown; .* "named" if all offered labels',
    ),
    "all apply, but nobody could say so": (
        {"named": row(), "offered": row("sky", "sea"), "all_apply": "skip"},
        "names nothing, which says that all labels on offer apply, but all_apply is 'skip'; leave",
    ),
    "all apply, but that never is so": (
        {"named": row(), "question": "named", "all_apply": ["never"]},
        "but all_apply is 'never'",
    ),
    "probability of 0": ({"named": row("sky"), "probability": 0.0}, "has probability 0.0; .* NaN"),
    "probability of 2": ({"named": row("sky"), "probability": [2.0]}, "has probability 2.0; give"),
    "infinite probability": ({"named": row("sky"), "probability": np.inf}, "has probability inf"),
    "item beyond": (
        {"named": row("sky"), "item": [3], "n_items": 3},
        r"answer 0 \(item 3\) is about an item that does not exist: with 3 items the .* to 2",
    ),
    "negative item": ({"named": row("sky"), "item": [-1]}, r"answer 0 \(item -1\) is about"),
    "fewer items than answers": (
        {"named": row("sky") * 2, "n_items": 1},
        r"answer 1 \(item 1\) is about an item that does not exist",
    ),
}


@pytest.mark.parametrize(("arrays", "message"), FAULTY.values(), ids=FAULTY)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_an_answer_that_cannot_be_is_refused_with_its_place(form, arrays, message):
    masks = {"named", "absent", "relevant", "excluded", "offered"}
    given = {name: form(values) if name in masks else values for name, values in arrays.items()}
    with pytest.raises(AnnotationError, match=message):
        Answers.from_arrays(**given, label_names=NAMES)


def test_the_first_of_several_is_told_as_the_caller_numbers_it():
    with pytest.raises(
        AnnotationError, match=r"answer 1 \(item 5\) names label 2, .* \(2 answers in all\)$"
    ):
        Answers.from_arrays(
            named=[[1, 0, 0], [0, 0, 1], [0, 0, 1]],
            offered=[[1, 1, 0], [1, 1, 0], [1, 1, 0]],
            item=[7, 5, 3],
        )
    with pytest.raises(AnnotationError, match=r"answer 0 .* \(2 answers in all\); leave it out"):
        Answers.from_arrays(absent=[[0, 0], [0, 0]])
    with pytest.raises(AnnotationError, match=r"answer 0 .* asked for 1.*\(2 answers in all\)"):
        Answers.from_arrays(named=np.ones((2, 3)), asked_for=1)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "there are no answers; give at least one of named, absent, relevant, excluded"),
        ({"named": [1, 0]}, r"named has shape \(2,\)"),
        ({"named": [[2, 0]]}, "named holds 2 at row 0, label 0"),
        ({"offered": sparse.csr_array([[0, -1]])}, "offered holds -1 at row 0, label 1; every"),
        ({"absent": sparse.csr_array([[0, np.nan]])}, "absent holds nan at row 0, label 1"),
        (
            {"named": np.eye(3), "absent": np.eye(2)},
            r"absent has shape \(2, 2\) but named \(3, 3\); all need one row per answer",
        ),
        ({"named": np.zeros((2, 0))}, "named has no columns"),
        ({"named": np.eye(3), "label_names": ["a", "b"]}, "2 label names for 3 columns"),
        ({"named": np.eye(3), "label_names": ["a", "b", "a"]}, "label_names repeats 'a'"),
        ({"named": np.eye(3), "label_names": ["a", "b", 3]}, r"label_names\[2\] is 3; give names"),
        (
            {"named": np.eye(3), "question": "told"},
            "question of answer 0 is 'told'; it must be one",
        ),
        (
            {"named": np.eye(3), "question": ["named", "named", None]},
            "question of answer 2 is None; it must be one of named, asked, ticked, excluded",
        ),
        ({"named": np.eye(3), "question": ["named"]}, r"question has shape \(1,\) for 3 answers"),
        ({"named": np.eye(3), "all_apply": "no"}, "all_apply of answer 0 is 'no'; .* skip, pick"),
        ({"named": np.eye(3), "item": [0.0, 1, 2]}, "item holds values of type float64; give int"),
        ({"named": np.eye(3), "item": [0, 1]}, r"item has shape \(2,\) for 3 answers"),
        ({"named": np.eye(3), "item": [[0], [1], [2]]}, r"item has shape \(3, 1\)"),
        ({"named": np.eye(3), "probability": "high"}, "probability holds values of type <U4; give"),
        ({"named": np.eye(3), "asked_for": [1, 2]}, r"asked_for has shape \(2,\)"),
        ({"named": np.eye(3), "annotator": ["bob"]}, r"annotator has shape \(1,\)"),
        ({"named": np.eye(3), "annotator": [0, 1, -2]}, "annotator holds -2; codes go from 0"),
        ({"named": np.eye(3), "annotator": [0, 1, 10**9]}, "annotator holds 1000000000; .*strings"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays, message):
    with pytest.raises(AnnotationError, match=message):
        Answers.from_arrays(**arrays)


def test_people_may_contradict_each_other():
    answers = Answers.from_arrays(
        absent=[[1, 0, 0], [0, 0, 0]], relevant=[[0, 0, 0], [1, 0, 0]], item=[1, 1]
    )
    np.testing.assert_array_equal(answers.contradictions(), [[1, 0]])
    assert answers[[0]].contradictions().shape == (0, 2)


@pytest.mark.parametrize(
    "arrays",
    [
        {"named": row("sky"), "relevant": row("sea")},
        {"named": row("sky"), "offered": row("sky", "sea"), "relevant": row("fog", "sea")},
        {"named": row("sky"), "offered": row("sky", "sea"), "absent": row("fog")},
        {"named": row(*NAMES)},
        {"named": row(), "question": "named"},
        {"named": row("sky"), "excluded": row("fog")},
        {"excluded": row("sky"), "absent": row("fog"), "relevant": row("sea")},
        {"excluded": row("sky"), "absent": row("sky")},
        {"excluded": row(*NAMES)},
        {"absent": row(*NAMES), "question": "ticked"},
        {"relevant": row("sky"), "question": "asked", "probability": 1},
    ],
)
def test_answers_that_can_be_are_accepted(arrays):
    assert Answers.from_arrays(**arrays).n_answers == 1


def test_one_label_can_be_asked_about_but_not_chosen_from():
    assert Answers.from_arrays(absent=[[1], [0]], relevant=[[0], [1]]).n_labels == 1
    with pytest.raises(AnnotationError, match="menu of one label"):
        Answers.from_arrays(named=[[1]])
