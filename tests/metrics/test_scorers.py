"""Scorers for scikit-learn's searches; the methods here are stand-ins, worked by hand."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import coverage_error, hamming_loss, label_ranking_average_precision_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.refusals import raises

from complabel import metrics
from complabel.errors import AnnotationError, InputError
from complabel.methods import PriorClassifier
from complabel.metrics import (
    TrueLabelScorer,
    complementary_log_likelihood_scorer,
    complementary_ranking_scorer,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
Y = (RNG.random((30, 4)) < 0.4).astype(int)
Y[Y.all(axis=1), 0] = 0
COMPLEMENTARY = np.eye(4, dtype=int)[np.argmin(Y, axis=1)]
CRITERIA = {
    "average_precision": label_ranking_average_precision_score,
    "hamming_loss": hamming_loss,
    "coverage_error": coverage_error,
}
TRUE_LABEL_SCORERS = {
    "average_precision": metrics.average_precision_scorer,
    "hamming_loss": TrueLabelScorer(hamming_loss, response="predict"),
    "coverage_error": TrueLabelScorer(coverage_error),
}


class Base(ClassifierMixin, BaseEstimator):
    """Scores are the features times a factor."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y):
        self.classes_ = np.arange(4) if np.ndim(y) == 2 else np.unique(y)
        return self

    def decision_function(self, X):
        return self.factor * X

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)

    def score(self, X, y):
        return -1.0


class Modelling(Base):
    models_the_choice = True

    def score(self, X, y):
        return -float(np.mean(X))


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_the_likelihood_scorer_is_the_methods_own_score():
    assert complementary_log_likelihood_scorer(Modelling(), X, COMPLEMENTARY) == -X.mean()


def test_the_likelihood_scorer_looks_through_pipelines_and_searches():
    pipeline = make_pipeline(FunctionTransformer(np.exp), Modelling()).fit(X, COMPLEMENTARY)
    expected = pytest.approx(-np.exp(X).mean())
    assert complementary_log_likelihood_scorer(pipeline, X, COMPLEMENTARY) == expected
    search = GridSearchCV(
        pipeline,
        {"modelling__factor": [1.0, 2.0]},
        scoring=complementary_log_likelihood_scorer,
        cv=2,
        error_score="raise",
    ).fit(X, COMPLEMENTARY)
    assert complementary_log_likelihood_scorer(search, X, COMPLEMENTARY) == expected


@pytest.mark.parametrize("estimator", [Base(), make_pipeline(Base()), BaseEstimator()])
def test_a_method_without_a_likelihood_is_refused(estimator):
    message = "complementary_ranking_scorer"
    with raises(InputError, message):
        complementary_log_likelihood_scorer(estimator, X, COMPLEMENTARY)


def test_the_ranking_scorer_worked_by_hand():
    # The complementary label's score exceeds one of two candidates, and ties with the other.
    scores, complementary = np.array([[3.0, 1.0, 3.0]]), [[1, 0, 0]]
    assert complementary_ranking_scorer(Base(), scores, complementary) == -0.75
    assert complementary_ranking_scorer(Base(factor=-1.0), scores, complementary) == -0.25


def test_the_ranking_scorer_takes_one_class_per_row():
    classes = np.array(list("abcd"))[COMPLEMENTARY.argmax(axis=1)]
    classifier = Base().fit(X, np.array(list("abcd")))
    expected = complementary_ranking_scorer(Base(), X, COMPLEMENTARY)
    assert complementary_ranking_scorer(classifier, X, classes) == expected
    binary = Base().fit(X[:, 0], np.array(["a", "b"]))
    # A positive decision is for "b": "a" being complementary, the first is right.
    found = complementary_ranking_scorer(binary, np.array([2.0, -1.0]), np.array(["a", "a"]))
    assert found == -0.5


def test_the_ranking_scorer_refuses_classes_that_fit_was_not_given():
    classes = np.array([0, 1, 2, 0])
    classifier = PriorClassifier().fit(np.zeros((4, 1)), classes)
    with raises(AnnotationError, "class 7", "row 2"):
        metrics.complementary_ranking_scorer(classifier, np.zeros((4, 1)), [0, 1, 7, 7])


def test_the_ranking_scorer_checks_labels():
    with raises(AnnotationError, "rows 0"):
        complementary_ranking_scorer(Base(), X, np.zeros((30, 4)))


def test_the_ranking_scorer_leaves_out_rows_without_an_answer():
    gaps = COMPLEMENTARY.copy()
    gaps[[3, 17]] = 0
    answered = gaps.any(axis=1)
    expected = complementary_ranking_scorer(Base(), X[answered], gaps[answered])
    assert complementary_ranking_scorer(Base(), X, gaps) == expected


def test_the_ranking_scorer_checks_the_names_and_number_of_labels():
    pandas = pytest.importorskip("pandas")
    classifier = Base().fit(X, COMPLEMENTARY)
    classifier.classes_ = np.array(["a", "b", "c", "d"])
    frame = pandas.DataFrame(COMPLEMENTARY, columns=classifier.classes_)
    expected = complementary_ranking_scorer(Base(), X, COMPLEMENTARY)
    assert complementary_ranking_scorer(classifier, X, frame) == expected
    with raises(AnnotationError, "column 0", "'d'"):
        complementary_ranking_scorer(classifier, X, frame[["d", "b", "c", "a"]])
    with raises(InputError, "y", "shape (29, 4)"):
        complementary_ranking_scorer(Base(), X, COMPLEMENTARY[1:])


@pytest.mark.parametrize("name", TRUE_LABEL_SCORERS)
def test_a_criterion_of_true_labels_has_the_sign_that_makes_greater_better(name):
    scorer = TRUE_LABEL_SCORERS[name]
    response = Base().predict(X) if name == "hamming_loss" else X
    sign = 1 if name == "average_precision" else -1
    found = scorer(Base(), X, COMPLEMENTARY, true_labels=Y)
    assert found == pytest.approx(sign * CRITERIA[name](Y, response))
    assert scorer(Base(), 10.0 * Y - 5, COMPLEMENTARY, true_labels=Y) > found


@pytest.mark.parametrize("name", TRUE_LABEL_SCORERS)
def test_cross_validation_hands_each_scorer_its_part_of_the_true_labels(name, routing):
    scorer = TRUE_LABEL_SCORERS[name]
    results = cross_validate(
        make_pipeline(Base()),
        X,
        COMPLEMENTARY,
        scoring={"true": scorer, "ranking": complementary_ranking_scorer},
        params={"true_labels": Y},
        cv=3,
        error_score="raise",
    )
    parts = np.split(np.arange(30), 3)
    expected = [scorer(Base(), X[part], true_labels=Y[part]) for part in parts]
    np.testing.assert_allclose(results["test_true"], expected)
    of_ranking = [complementary_ranking_scorer(Base(), X[p], COMPLEMENTARY[p]) for p in parts]
    np.testing.assert_allclose(results["test_ranking"], of_ranking)


def test_the_request_can_be_changed_and_the_original_stays(routing):
    original = metrics.average_precision_scorer
    renamed = original.set_score_request(true_labels="secret")
    results = cross_validate(
        Base(), X, COMPLEMENTARY, scoring=renamed, params={"secret": Y}, cv=2, error_score="raise"
    )
    assert (results["test_score"] > 0).all()
    assert original.get_metadata_routing().score.requests == {"true_labels": True}
    assert renamed.get_metadata_routing().score.requests == {"true_labels": "secret"}


def test_missing_true_labels_are_asked_for():
    with raises(InputError, "coverage_error_scorer", "true_labels"):
        TRUE_LABEL_SCORERS["coverage_error"](Base(), X, COMPLEMENTARY)


@pytest.mark.parametrize("name", TRUE_LABEL_SCORERS)
def test_scorers_travel_to_workers_and_through_clone(name):
    scorer = TRUE_LABEL_SCORERS[name]
    search = clone(GridSearchCV(Base(), {}, scoring=scorer))
    for copy in (pickle.loads(pickle.dumps(scorer)), search.scoring):
        assert copy(Base(), X, true_labels=Y) == scorer(Base(), X, true_labels=Y)
    assert repr(scorer) == f"{name}_scorer"
