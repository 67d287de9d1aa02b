import numpy as np
import pytest
from scipy import sparse
from tests.refusals import raises

from complabel.answers import Answers
from complabel.errors import AnnotationError

NAMES = ["city", "fog", "sea", "sky"]


def row(*labels):
    """The mask of one answer."""
    return [[int(name in labels) for name in NAMES]]


FAULTY = [
    ({"named": row("sky"), "offered": row("city", "sea")}, "label 'sky'"),
    ({"named": row("sky"), "question": "asked"}, ("answer 0", "item 0", "label 'sky'")),
    ({"named": row("sky"), "relevant": row("sea", "sky")}, "label 'sky'"),
    ({"absent": row("sky", "fog"), "relevant": row("fog")}, "label 'fog'"),
    ({"excluded": row("sky"), "relevant": row("sky")}, "label 'sky'"),
    ({"named": row("sky"), "offered": row("sky", "fog"), "absent": row("fog")}, "label 'fog'"),
    ({"named": row("sky"), "absent": row("fog")}, "label 'fog'"),
    ({"absent": row("fog"), "offered": row("sky")}, "label 'fog'"),
    ({"absent": row("fog"), "offered": row("sky", "sea"), "question": "ticked"}, "label 'fog'"),
    ({"relevant": row("fog"), "offered": row("sky"), "question": "asked"}, "label 'fog'"),
    ({"absent": row("fog"), "excluded": row("sky"), "question": "asked"}, "label 'sky'"),
    ({"excluded": row("fog", "sky"), "offered": row("sky", "sea")}, "label 'fog'"),
    ({"tagged": row("fog", "sky"), "offered": row("sky", "sea")}, "label 'fog'"),
    ({"tagged": row("sky"), "absent": row("sky")}, "label 'sky'"),
    ({"tagged": row("sky"), "relevant": row("fog")}, "label 'fog'"),
    ({"tagged": row("sky"), "question": "asked"}, "label 'sky'"),
    ({"named": row("sky", "fog"), "asked_for": 1}, ("answer 0", "item 0", "2 labels")),
    ({"named": row("sky"), "offered": row("sky", "sea"), "asked_for": 3}, ("answer 0", "3")),
    ({"named": row("sky"), "asked_for": 0}, ("asked_for 0", "question 'named'")),
    ({"absent": row("sky"), "asked_for": [1]}, ("asked_for 1", "question 'asked'")),
    ({"named": row("sky"), "offered": row("sky")}, ("answer 0", "item 0")),
    ({"absent": row(), "question": "asked", "offered": row("sky")}, ("answer 0", "item 0")),
    ({"absent": row(), "question": "asked"}, ("answer 0", "item 0")),
    ({"absent": row("sky"), "offered": row("sky", "sea"), "question": "asked"}, "'sea'"),
    ({"absent": row("sky"), "relevant": row("sea"), "question": "ticked"}, "'city'"),
    ({"absent": row(), "relevant": row(), "question": "ticked"}, ("answer 0", "item 0")),
    ({"relevant": row("sea"), "question": "named"}, ("answer 0", "'named'")),
    ({"named": row()}, ("answer 0", '"named"')),
    ({"named": row(), "offered": row("sky", "sea"), "all_apply": "skip"}, ("all_apply", "'skip'")),
    ({"named": row(), "question": "named", "all_apply": ["never"]}, ("all_apply", "'never'")),
    ({"named": row("sky"), "probability": 0.0}, ("probability 0.0", "NaN")),
    ({"named": row("sky"), "probability": 5e-324}, "probability 5e-324"),
    ({"relevant": row("sky"), "probability": 9e-13}, ("probability 9e-13", "at least 1e-12")),
    ({"named": row("sky"), "probability": [2.0]}, "probability 2.0"),
    ({"named": row("sky"), "probability": np.inf}, "probability inf"),
    ({"named": row("sky"), "seconds": -1.0}, "-1.0 seconds"),
    ({"named": row("sky"), "seconds": np.inf}, "inf seconds"),
    ({"named": row("sky"), "weight": -1.0}, ("weight -1.0", "0")),
    ({"named": row("sky"), "weight": [np.nan]}, ("weight nan", "0")),
    ({"named": row("sky"), "item": [3], "n_items": 3}, ("answer 0", "item 3")),
    ({"named": row("sky"), "item": [-1]}, ("answer 0", "item -1")),
    ({"named": row("sky") * 2, "n_items": 1}, ("answer 1", "item 1")),
]


@pytest.mark.parametrize(("arrays", "message"), FAULTY)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_an_answer_that_cannot_be_is_refused_with_its_place(form, arrays, message):
    masks = {"named", "absent", "relevant", "excluded", "tagged", "offered"}
    given = {name: form(values) if name in masks else values for name, values in arrays.items()}
    with raises(AnnotationError, message):
        Answers.from_arrays(**given, label_names=NAMES)


def test_the_first_of_several_is_told_as_the_caller_numbers_it():
    with raises(AnnotationError, "answer 1", "item 5", "label 2", "2 answers"):
        Answers.from_arrays(
            named=[[1, 0, 0], [0, 0, 1], [0, 0, 1]],
            offered=[[1, 1, 0], [1, 1, 0], [1, 1, 0]],
            item=[7, 5, 3],
        )
    with raises(AnnotationError, "answer 0", "2 answers"):
        Answers.from_arrays(absent=[[0, 0], [0, 0]])
    with raises(AnnotationError, "answer 0", "1", "2 answers"):
        Answers.from_arrays(named=np.ones((2, 3)), asked_for=1)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, ("named", "absent", "relevant", "excluded", "offered")),
        ({"named": [1, 0]}, ("named", "shape (2,)")),
        ({"named": [[2, 0]]}, ("named", "2", "row 0", "label 0")),
        ({"offered": sparse.csr_array([[0, -1]])}, ("offered", "-1", "row 0", "label 1")),
        ({"absent": sparse.csr_array([[0, np.nan]])}, ("absent", "nan", "row 0", "label 1")),
        ({"named": np.eye(3), "absent": np.eye(2)}, ("absent", "shape (2, 2)")),
        ({"named": np.zeros((2, 0))}, "named"),
        ({"named": np.eye(3), "label_names": ["a", "b"]}, ("2 label", "3 columns")),
        ({"named": np.eye(3), "label_names": ["a", "b", "a"]}, ("label_names", "'a'")),
        ({"named": np.eye(3), "label_names": ["a", "b", 3]}, ("label_names[2]", "3")),
        ({"named": np.eye(3), "question": "told"}, ("answer 0", "'told'")),
        ({"named": np.eye(3), "question": ["named", "named", None]}, "answer 2"),
        ({"named": np.eye(3), "question": ["named"]}, ("question", "shape (1,)", "3 answers")),
        ({"named": np.eye(3), "all_apply": "no"}, ("all_apply", "answer 0", "'no'")),
        ({"named": np.eye(3), "item": [0.0, 1, 2]}, "float64"),
        ({"named": np.eye(3), "item": [0, 1]}, ("shape (2,)", "3 answers")),
        ({"named": np.eye(3), "item": [[0], [1], [2]]}, "shape (3, 1)"),
        ({"named": np.eye(3), "probability": "high"}, "probability"),
        ({"named": np.eye(3), "asked_for": [1, 2]}, ("asked_for", "shape (2,)")),
        ({"named": np.eye(3), "annotator": ["bob"]}, ("annotator", "shape (1,)")),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays, message):
    with raises(AnnotationError, message):
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
    with raises(AnnotationError, "answer 0", "item 0"):
        Answers.from_arrays(named=[[1]])
