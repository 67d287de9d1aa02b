import numpy as np
import pytest
from sklearn.metrics import label_ranking_average_precision_score
from tests.methods.selection.answered import logistic_regression, prior_of

from complabel.answers import Answers
from complabel.datasets import make_synthetic
from complabel.experiments.methods import SupervisedClassifier
from complabel.methods import SelectionLikelihoodClassifier


@pytest.fixture(scope="module")
def problem():
    return make_synthetic(400, n_features=5, n_labels=4, signal=2.0, random_state=0)


def test_it_is_one_ridge_logistic_regression_per_label(problem):
    X, Y = (problem.X - problem.X.mean(axis=0)) / problem.X.std(axis=0), problem.Y
    ours = SupervisedClassifier(alpha=0.01, kernel="linear", scaling="standardize", rank=None)
    ours.fit(X, Y)
    ticked = Answers.from_arrays(absent=1 - Y, relevant=Y, question="ticked")
    given = {"n_items": len(X), "alpha": 0.01, "prior": prior_of(ours, X, ticked)}
    for label in range(Y.shape[1]):
        theirs = logistic_regression(X, Y[:, label], **given)
        np.testing.assert_allclose(ours.coef_[label], theirs[:-1], rtol=1e-3, atol=1e-4)
        assert ours.intercept_[label] == pytest.approx(theirs[-1], rel=1e-3, abs=1e-3)


def test_it_is_the_selection_likelihood_of_all_labels_ticked(problem):
    X, Y = problem.X, problem.Y
    ticked = Answers.from_arrays(absent=1 - Y, relevant=Y, question="ticked")
    settings = {"cv": 2, "n_components": 30, "random_state": 0}
    ours = SupervisedClassifier(**settings).fit(X, Y)
    theirs = SelectionLikelihoodClassifier(**settings).fit(X, ticked)
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
    assert (ours.kernel_, ours.alpha_) == (theirs.kernel_, theirs.alpha_)


def test_its_settings_are_chosen(problem):
    # Without a penalty, so few rows with so many features of noise are learned by heart.
    noise = np.random.default_rng(0).normal(size=(len(problem.X), 100))
    X, few, rest = np.hstack([problem.X, noise]), slice(80), slice(80, None)
    settings = {"kernel": "linear", "rank": None, "random_state": 0}
    found, unpenalized = (
        SupervisedClassifier(alpha=alpha, **settings).fit(X[few], problem.Y[few])
        for alpha in ("auto", 1e-9)
    )
    assert (
        found.score(X[rest], problem.Y[rest]) > unpenalized.score(X[rest], problem.Y[rest]) + 0.02
    )


def test_score_is_the_average_precision_on_relevant_labels(problem):
    classifier = SupervisedClassifier(alpha=0.01, kernel="linear", random_state=0)
    classifier.fit(problem.X, problem.Y)
    decision = classifier.decision_function(problem.X)
    expected = label_ranking_average_precision_score(problem.Y, decision)
    assert classifier.score(problem.X, problem.Y) == pytest.approx(expected)
