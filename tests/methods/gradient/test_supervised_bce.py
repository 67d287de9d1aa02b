import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.multiclass import OneVsRestClassifier

from complabel.datasets import make_synthetic
from complabel.methods import SupervisedBCEClassifier


@pytest.fixture(scope="module")
def problem():
    return make_synthetic(400, n_features=5, n_labels=4, signal=2.0, random_state=0)


def test_declares_what_it_learns_from():
    assert SupervisedBCEClassifier.learns_from == "relevant"


def test_converges_to_one_logistic_regression_per_label(problem):
    X, Y = problem.X, problem.Y
    ours = SupervisedBCEClassifier(epochs=300, learning_rate=0.05, batch_size=400, random_state=0)
    ours.fit(X, Y)
    # Weight decay w adds w times the parameter to the mean gradient: a ridge of C = 1 / (n w).
    # Ours decays the bias too, which at this strength does not show.
    ridge = LogisticRegression(C=1 / (len(X) * ours.weight_decay), tol=1e-8)
    expected = OneVsRestClassifier(ridge).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(ours.predict_proba(X), expected, atol=0.01)


def test_score_is_the_average_precision_on_relevant_labels(problem):
    X, Y = problem.X, problem.Y
    classifier = SupervisedBCEClassifier(epochs=5, random_state=0).fit(X, Y)
    expected = label_ranking_average_precision_score(Y, classifier.decision_function(X))
    assert classifier.score(X, Y) == pytest.approx(expected)


def test_rows_with_no_or_with_all_labels_are_true_labels_like_others(problem):
    Y = problem.Y.copy()
    Y[0], Y[1] = 0, 1
    SupervisedBCEClassifier(epochs=2, random_state=0).fit(problem.X, Y)


def test_one_true_class_per_row_is_predicted(problem):
    classes = np.array(list("wxyz"))[problem.X[:, :4].argmax(axis=1)]
    classifier = SupervisedBCEClassifier(epochs=60, learning_rate=0.1, random_state=0)
    classifier.fit(problem.X, classes)
    assert np.mean(classifier.predict(problem.X) == classes) > 0.85
    assert classifier.score(problem.X, classes) > 0.9
