"""A loss as a method: what the five share, what each learns, and a loss of one's own."""

import itertools

import numpy as np
import pytest
import torch
from scipy import special
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from complabel import metrics
from complabel.datasets import make_synthetic
from complabel.errors import InputError
from complabel.experiments.losses import (
    BinaryCrossEntropy,
    GDFLoss,
)
from complabel.experiments.methods import (
    ComplementaryLossClassifier,
    ComRankClassifier,
    CTLClassifier,
    GDFClassifier,
    LUWClassifier,
    SupervisedBCEClassifier,
    UnbiasedBCEClassifier,
)
from complabel.losses import ComplementaryCrossEntropy, MLCLLoss, SelectionLikelihoodLoss
from complabel.simulate import draw_complementary

CLASSIFIERS = [
    LUWClassifier,
    GDFClassifier,
    UnbiasedBCEClassifier,
    CTLClassifier,
    ComRankClassifier,
]
every_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS)


@pytest.fixture(scope="module")
def problem():
    """Features, relevant and complementary labels; 400 instances, 5 labels."""
    data = make_synthetic(n_samples=400, n_features=8, n_labels=5, random_state=0)
    return data.X, data.Y, draw_complementary(data.Y, random_state=0)


def quick(classifier, **settings):
    """A classifier that trains in a blink."""
    return classifier(**{"epochs": 12, "learning_rate": 0.05, "random_state": 0, **settings})


@every_classifier
@pytest.mark.parametrize("cut", [0.3, 0.5, 0.8])
def test_predicts_what_lies_above_the_cut_of_its_rows_range(problem, classifier, cut):
    X, _, complementary = problem
    fitted = quick(classifier, cut=cut).fit(X, complementary)
    scores = fitted.predict_proba(X)
    lowest, highest = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    expected = (scores - lowest) / (highest - lowest) > cut
    np.testing.assert_array_equal(fitted.predict(X), expected)
    np.testing.assert_allclose(fitted.decision_function(X), special.logit(scores), rtol=1e-9)


def test_comrank_orders_labels_by_how_unlikely_they_are_to_be_complementary():
    # Three kinds of instances, each with known chances of the complementary label.
    counts = np.array([[50, 30, 20, 0], [0, 10, 35, 55], [25, 60, 5, 10]])
    X = np.repeat(np.eye(3), 100, axis=0)
    chosen = np.concatenate([np.repeat(np.arange(4), row) for row in counts])
    complementary = np.eye(4, dtype=int)[chosen]
    model = ComRankClassifier(learning_rate=0.1, epochs=100, weight_decay=1e-4, random_state=0).fit(
        X, complementary
    )
    ranks = model.decision_function(np.eye(3)).argsort(axis=1)
    np.testing.assert_array_equal(ranks, (-counts).argsort(axis=1))


def test_a_loss_may_be_given_as_a_class_or_an_object(problem):
    X, _, complementary = problem
    settings = {"epochs": 5, "random_state": 0, "cut": 0.8}
    expected = GDFClassifier(**settings).fit(X, complementary)
    for loss in (GDFLoss, GDFLoss()):
        found = ComplementaryLossClassifier(loss=loss, **settings).fit(X, complementary)
        np.testing.assert_array_equal(found.coef_, expected.coef_)
        np.testing.assert_array_equal(found.predict(X), expected.predict(X))


def test_a_loss_with_a_use_for_known_relevant_labels_gets_them(problem):
    X, Y, complementary = problem
    loss = MLCLLoss(torch.full((5, 5), 0.25, dtype=torch.float64).fill_diagonal_(0))
    classifier = ComplementaryLossClassifier(loss=loss, epochs=5, random_state=0)
    without = classifier.fit(X, complementary).coef_
    assert np.abs(classifier.fit(X, complementary, relevant=Y).coef_ - without).max() > 1e-3
    assert loss.transition.dtype == torch.float64  # the caller's loss stays as it is


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (None, "loss must be a complabel.losses.LogitLoss or a subclass of it, got None"),
        (torch.nn.BCELoss, "loss must be a complabel.losses.LogitLoss"),
        ("gdf", "loss must be a complabel.losses.LogitLoss or a subclass of it, got 'gdf'"),
        (BinaryCrossEntropy, "must take complementary .* BinaryCrossEntropy takes true_labels"),
        (ComplementaryCrossEntropy, "must take complementary .* takes named"),
    ],
)
def test_what_is_no_loss_of_complementary_labels_is_refused(problem, loss, message):
    X, _, complementary = problem
    with pytest.raises(InputError, match=message):
        ComplementaryLossClassifier(loss=loss).fit(X, complementary)


def test_a_loss_that_models_the_choice_gives_the_score(problem):
    X, _, complementary = problem
    loss = SelectionLikelihoodLoss(cardinality=1.5)
    fitted = quick(ComplementaryLossClassifier, loss=loss).fit(X, complementary)
    assert fitted.models_the_choice
    # The chance to be named: over all relevant sets, one label of those that are left.
    f, named = fitted.predict_proba(X), complementary.argmax(axis=1)
    q = np.zeros(len(X))
    for relevant in itertools.product([0, 1], repeat=f.shape[1]):
        left = f.shape[1] - sum(relevant)
        chance = np.where(relevant, f, 1 - f).prod(axis=1)
        if left:
            q += chance * (1 - np.array(relevant)[named]) / left
    assert fitted.score(X, complementary) == pytest.approx(np.log(q).mean(), rel=1e-9)


@every_classifier
def test_only_the_loss_of_l_uw_models_the_choice(problem, classifier):
    X, _, complementary = problem
    fitted = quick(classifier).fit(X, complementary)
    assert fitted.models_the_choice == (classifier is LUWClassifier)
    expected = -metrics.complementary_ranking_error(complementary, fitted.decision_function(X))
    if fitted.models_the_choice:
        q = special.expit(1 - fitted.predict_proba(X))
        expected = metrics.complementary_log_likelihood_of_rows(complementary, q).mean()
    assert fitted.score(X, complementary) == pytest.approx(expected, rel=1e-9)


@pytest.fixture(scope="module")
def strong_problem():
    return make_synthetic(400, n_features=5, n_labels=4, signal=2.0, random_state=0)


def test_converges_to_one_logistic_regression_per_label(strong_problem):
    X, Y = strong_problem.X, strong_problem.Y
    ours = SupervisedBCEClassifier(epochs=300, learning_rate=0.05, batch_size=400, random_state=0)
    ours.fit(X, Y)
    # Weight decay w adds w times the parameter to the mean gradient: a ridge of C = 1 / (n w).
    # Ours decays the bias too, which at this strength does not show.
    ridge = LogisticRegression(C=1 / (len(X) * ours.weight_decay), tol=1e-8)
    expected = OneVsRestClassifier(ridge).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(ours.predict_proba(X), expected, atol=0.01)


class Own(ComplementaryLossClassifier):
    loss = GDFLoss


def test_a_subclass_may_set_the_loss(problem):
    X, _, complementary = problem
    expected = GDFClassifier(epochs=5, random_state=0).fit(X, complementary)
    found = clone(Own(epochs=5, random_state=0)).fit(X, complementary)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert (found.models_the_choice, Own(loss=SelectionLikelihoodLoss).models_the_choice) == (
        False,
        True,
    )
