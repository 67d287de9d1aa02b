"""Which answers methods refuse, and in which words."""

import numpy as np
import pytest
from tests.methods.small import COMPLEMENTARY, PROBLEM, brief
from tests.methods.test_base_answers import Recorder, Understanding

from complabel.answers import Answers
from complabel.errors import AnnotationError, InputError
from complabel.methods import METHODS, PriorClassifier
from complabel.metrics import complementary_log_likelihood_scorer, complementary_ranking_scorer
from complabel.simulate import draw_answers

X, Y = PROBLEM.X, PROBLEM.Y
NAMES = ["ash", "beech", "cedar", "oak"]
FREE = Answers.from_complementary(COMPLEMENTARY)
ASKED = draw_answers(Y, question="asked", random_state=0)
YES = ASKED[ASKED.known_relevant.any(axis=1)]
NAMED = Answers.from_arrays(named=COMPLEMENTARY, label_names=NAMES)
REFERENCES = [name for name, method in METHODS.items() if method.learns_from == "relevant"]

every_kind = pytest.mark.parametrize("method", [Recorder, Understanding])


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_takes_no_answers(name):
    message = "this reference method learns from true labels, not from answers; give an indicator"
    with pytest.raises(InputError, match=message):
        brief(name).fit(X, FREE)
    with pytest.raises(InputError, match=message):
        brief(name).fit(X, Y, absent=COMPLEMENTARY)
    with pytest.raises(InputError, match="y is Answers, but this method is scored on true labels"):
        brief(name).fit(X, Y).score(X, FREE)


@every_kind
def test_answers_need_as_many_items_as_there_are_rows(method):
    with pytest.raises(InputError, match="X has 90 rows but y has 89; both need one row per samp"):
        method().fit(X, FREE[1:])
    with pytest.raises(InputError, match="X has 90 rows but y has 89; both need one row per samp"):
        method().fit(X, FREE).score(X, FREE[1:])


@every_kind
def test_somebody_must_have_answered(method):
    nobody = Answers.from_arrays(absent=np.eye(4, dtype=int)[:1], n_items=9)[1:]
    with pytest.raises(AnnotationError, match="y has no answers; at least one item needs one"):
        method().fit(X[:8], nobody)
    fitted = method().fit(X, FREE)
    message = (
        "y has no answers"
        if method is Understanding
        else "the ranking error needs an item with a label that"
    )
    with pytest.raises(AnnotationError, match=message):
        fitted.score(X[:8], nobody)


@every_kind
def test_one_label_is_refused(method):
    one = Answers.from_arrays(absent=np.ones((3, 1), dtype=int))
    with pytest.raises(AnnotationError, match="y has 1 label; give answers about at least 2"):
        method().fit(X[:3], one)


def test_two_labels_are_refused_where_they_are_read_as_named():
    two = Answers.from_arrays(absent=np.array([[1, 0], [0, 1]]))
    with pytest.raises(AnnotationError, match=r"y has 2 labels .*needs at least 3: with two, '"):
        Recorder().fit(X[:2], two)


def test_answers_that_rule_nothing_out_are_refused_where_nothing_else_is_learned():
    message = "Recorder learns from labels that do not apply, but y has no item for which answers"
    with pytest.raises(AnnotationError, match=message):
        Recorder().fit(X[: len(YES)], YES)
    everything = Answers.from_arrays(absent=np.ones((3, 4), dtype=int))
    with pytest.raises(AnnotationError, match=message):
        Recorder().fit(X[:3], everything)


@every_kind
def test_answers_to_score_on_are_about_the_labels_of_fit(method):
    fitted = method().fit(X, NAMED)
    assert np.isfinite(fitted.score(X, NAMED))
    turned = Answers.from_arrays(named=COMPLEMENTARY, label_names=NAMES[::-1])
    with pytest.raises(AnnotationError, match="y has its columns in another order than fit: col"):
        fitted.score(X, turned)
    with pytest.raises(AnnotationError, match=r"y has no label_names; .* 'ash', .* fit was"):
        fitted.score(X, FREE)
    with pytest.raises(AnnotationError, match=r"y has no label_names; .* 'ash', .* fit was"):
        complementary_ranking_scorer(fitted, X, FREE)
    five = Answers.from_arrays(named=np.eye(5, dtype=int)[np.arange(90) % 5])
    with pytest.raises(AnnotationError, match="y has 5 labels, but fit was given 4"):
        method().fit(X, FREE).score(X, five)
    with pytest.raises(InputError, match=r"complementary has shape \(90, 5\) but scores \(90, 4\)"):
        complementary_ranking_scorer(method().fit(X, FREE), X, five)


def test_a_likelihood_of_free_namings_is_none_of_answers():
    prior = PriorClassifier().fit(X, COMPLEMENTARY)
    with pytest.raises(InputError, match="PriorClassifier models labels that are named freely, so"):
        complementary_log_likelihood_scorer(prior, X, ASKED)
    understanding = Understanding().fit(X, ASKED)
    found = complementary_log_likelihood_scorer(understanding, X, ASKED)
    assert found == understanding.score(X, ASKED)
