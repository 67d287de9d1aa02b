import numpy as np
import pytest
from scipy import sparse

from complabel.answers import Answers
from complabel.errors import AnnotationError

NAMES = ["city", "fog", "sea", "sky"]


def row(*labels):
    """The mask of one answer."""
    return [[int(name in labels) for name in NAMES]]


FAULTY = [
    ({"named": row("sky"), "offered": row("city", "sea")}, "label 'sky', which was not offered"),
    ({"named": row("sky"), "question": "asked"}, r"answer 0 \(item 0\) names label 'sky', but"),
    ({"named": row("sky"), "relevant": row("sea", "sky")}, "names label 'sky' and gives it as"),
    ({"absent": row("sky", "fog"), "relevant": row("fog")}, "gives label 'fog' as relevant and"),
    ({"excluded": row("sky"), "relevant": row("sky")}, "gives label 'sky' as relevant and as"),
    ({"named": row("sky"), "offered": row("sky", "fog"), "absent": row("fog")}, "offers .* absent"),
    ({"named": row("sky"), "absent": row("fog")}, "offers label 'fog' and gives it as absent"),
    ({"absent": row("fog"), "offered": row("sky")}, "judges label 'fog', which was not offered"),
    ({"absent": row("fog"), "offered": row("sky", "sea"), "question": "ticked"}, "which was not"),
    ({"relevant": row("fog"), "offered": row("sky"), "question": "asked"}, "judges label 'fog'"),
    ({"absent": row("fog"), "excluded": row("sky"), "question": "asked"}, "excludes label 'sky'"),
    ({"excluded": row("fog", "sky"), "offered": row("sky", "sea")}, "excludes label 'fog', which"),
    ({"named": row("sky", "fog"), "asked_for": 1}, r"answer 0 \(item 0\) names 2 labels but was"),
    ({"named": row("sky"), "offered": row("sky", "sea"), "asked_for": 3}, "was asked for 3"),
    ({"named": row("sky"), "asked_for": 0}, "has asked_for 0 with question 'named'; give at"),
    ({"absent": row("sky"), "asked_for": [1]}, "has asked_for 1 with question 'asked'"),
    ({"named": row("sky"), "offered": row("sky")}, "is a menu of one label, which is a yes/no"),
    ({"absent": row(), "question": "asked", "offered": row("sky")}, "judges no label; leave it"),
    ({"absent": row(), "question": "asked"}, "judges no label; leave it out"),
    ({"absent": row("sky"), "offered": row("sky", "sea"), "question": "asked"}, "nothing .* 'sea'"),
    ({"absent": row("sky"), "relevant": row("sea"), "question": "ticked"}, "nothing .* 'city'"),
    ({"absent": row(), "relevant": row(), "question": "ticked"}, "judges no label"),
    ({"relevant": row("sea"), "question": "named"}, "answer 0 is 'named', but marks only labels"),
    ({"named": row()}, 'answer 0 marks no label, so its meaning is unknown; .* "named" if all'),
    ({"named": row(), "offered": row("sky", "sea"), "all_apply": "skip"}, "names nothing, which"),
    ({"named": row(), "question": "named", "all_apply": ["never"]}, "but all_apply is 'never'"),
    ({"named": row("sky"), "probability": 0.0}, "has probability 0.0; .* NaN"),
    ({"named": row("sky"), "probability": 5e-324}, "has probability 5e-324"),
    ({"relevant": row("sky"), "probability": 9e-13}, "has probability 9e-13; .* at least 1e-12"),
    ({"named": row("sky"), "probability": [2.0]}, "has probability 2.0; give"),
    ({"named": row("sky"), "probability": np.inf}, "has probability inf"),
    ({"named": row("sky"), "seconds": -1.0}, "took -1.0 seconds; give a number from 0"),
    ({"named": row("sky"), "seconds": np.inf}, "took inf seconds"),
    ({"named": row("sky"), "weight": -1.0}, "has weight -1.0; give a number from 0"),
    ({"named": row("sky"), "weight": [np.nan]}, "has weight nan; give a number from 0"),
    ({"named": row("sky"), "item": [3], "n_items": 3}, r"answer 0 \(item 3\) is about an item"),
    ({"named": row("sky"), "item": [-1]}, r"answer 0 \(item -1\) is about"),
    ({"named": row("sky") * 2, "n_items": 1}, r"answer 1 \(item 1\) is about an item that does"),
]


@pytest.mark.parametrize(("arrays", "message"), FAULTY)
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
        ({"named": np.eye(3), "absent": np.eye(2)}, r"absent has shape \(2, 2\) but named \(3"),
        ({"named": np.zeros((2, 0))}, "named has no columns"),
        ({"named": np.eye(3), "label_names": ["a", "b"]}, "2 label names for 3 columns"),
        ({"named": np.eye(3), "label_names": ["a", "b", "a"]}, "label_names repeats 'a'"),
        ({"named": np.eye(3), "label_names": ["a", "b", 3]}, r"label_names\[2\] is 3; give names"),
        ({"named": np.eye(3), "question": "told"}, "question of answer 0 is 'told'; it must be"),
        ({"named": np.eye(3), "question": ["named", "named", None]}, "question of answer 2 is"),
        ({"named": np.eye(3), "question": ["named"]}, r"question has shape \(1,\) for 3 answers"),
        ({"named": np.eye(3), "all_apply": "no"}, "all_apply of answer 0 is 'no'; .* skip, pick"),
        ({"named": np.eye(3), "item": [0.0, 1, 2]}, "item holds values of type float64; give int"),
        ({"named": np.eye(3), "item": [0, 1]}, r"item has shape \(2,\) for 3 answers"),
        ({"named": np.eye(3), "item": [[0], [1], [2]]}, r"item has shape \(3, 1\)"),
        ({"named": np.eye(3), "probability": "high"}, "probability holds values of type <U4"),
        ({"named": np.eye(3), "asked_for": [1, 2]}, r"asked_for has shape \(2,\)"),
        ({"named": np.eye(3), "annotator": ["bob"]}, r"annotator has shape \(1,\)"),
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
