"""Naming rates and label frequencies: given, estimated, assumed; and what the methods learn."""

import warnings

import numpy as np
import pytest
from tests.methods.small import N_LABELS, PROBLEM

import complabel
from complabel import metrics
from complabel.answers import Answers, AssumedUniformWarning
from complabel.datasets import make_synthetic
from complabel.errors import AnnotationError
from complabel.experiments.methods import (
    BCEClassifier,
    CCMNClassifier,
    COMESHammingClassifier,
    COMESRankingClassifier,
    GDFClassifier,
)
from complabel.frequencies import estimate_label_frequencies
from complabel.methods import PriorClassifier, make_classifier
from complabel.simulate import draw_answers, draw_complementary

CLASSIFIERS = [CCMNClassifier, COMESHammingClassifier, COMESRankingClassifier]
every_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS)
X, Y = PROBLEM.X, PROBLEM.Y


def quick(classifier, **settings):
    return classifier(**{"epochs": 5, "learning_rate": 0.05, "random_state": 0, **settings})


def named_by_class(Y, rates, *, seed):
    """Each label that does not apply, named with its own chance; at least one and not all."""
    rng = np.random.default_rng(seed)
    named = (rng.random(Y.shape) < rates) & (Y == 0)
    rows = named.any(axis=1) & ~named.all(axis=1)
    return named.astype(np.uint8), rows


@every_classifier
def test_given_frequencies_make_the_rates(classifier):
    """Label 0 is named for 2 of 4 rows and applies to 1/4: of 3 rows where it may, 2."""
    y = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]])
    with pytest.warns(complabel.answers.UnchosenLabelWarning):
        fitted = quick(classifier, label_frequencies=[0.25, 0.6, 0.1]).fit(np.eye(4), y)
    # Label 1 fails to apply to .4 of the rows and is named for .5: always, then. Label 2 never is.
    np.testing.assert_allclose(fitted.naming_rates_, [2 / 3, 1, 1])
    np.testing.assert_array_equal(fitted.label_frequencies_, [0.25, 0.6, 0.1])
    assert fitted.label_frequencies_errors_ is None
    assert fitted.label_frequencies_intervals_ is None


@every_classifier
@pytest.mark.parametrize(
    ("named", "rate"),
    [([0, 0, 0, 1], 3 / 4), ([0, 1, 2, 3], 1 / 3), ([0, 0, 1, 2], 1 / 2)],
    ids=["by the label named most", "by one relevant label", "by the label named most, of three"],
)
def test_one_rate_is_assumed_where_nothing_tells_frequencies(classifier, named, rate):
    y = np.eye(4, dtype=int)[named]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", complabel.answers.UnchosenLabelWarning)
        with pytest.warns(AssumedUniformWarning, match="taken to be named equally readily"):
            fitted = quick(classifier).fit(np.eye(4), y)
    np.testing.assert_allclose(fitted.naming_rates_, rate)
    np.testing.assert_allclose(fitted.label_frequencies_, 1 - y.mean(axis=0) / rate)


@every_classifier
def test_random_questions_tell_frequencies_and_the_named_ones_the_rates(classifier):
    named = Answers.from_complementary(draw_complementary(Y, random_state=0))
    asked = draw_answers(Y, question="asked", random_state=1)
    both = Answers.concatenate([named, asked])
    with warnings.catch_warnings():
        warnings.simplefilter("error", AssumedUniformWarning)
        fitted = quick(classifier).fit(X, both)
    estimate = estimate_label_frequencies(both)
    np.testing.assert_array_equal(fitted.label_frequencies_, estimate.values)
    np.testing.assert_array_equal(fitted.label_frequencies_errors_, estimate.standard_errors)
    np.testing.assert_array_equal(fitted.label_frequencies_intervals_, estimate.intervals)
    shares = both.complementary.mean(axis=0)
    np.testing.assert_allclose(fitted.naming_rates_, np.minimum(1, shares / (1 - estimate.values)))


@every_classifier
def test_items_without_a_wrong_label_are_unlabelled_ones(classifier):
    """Everybody answers "yes" about half of the items, which still count in the shares."""
    named = Answers.from_complementary(draw_complementary(Y[:45], random_state=0))
    rows = np.flatnonzero(Y[45:].any(axis=1)) + 45
    first = np.eye(N_LABELS, dtype=int)[Y[rows].argmax(axis=1)]
    yes = Answers.from_arrays(relevant=first, offered=first, item=rows, n_items=len(Y))
    first_half = Answers.from_arrays(
        named=named.named.toarray(), item=np.arange(45), n_items=len(Y)
    )
    given = Answers.concatenate([first_half, yes])
    n_answered = 45 + len(rows)
    fitted = quick(classifier, label_frequencies=np.zeros(N_LABELS)).fit(X, given)
    expected = named.named.toarray().sum(axis=0) / n_answered
    np.testing.assert_allclose(fitted.naming_rates_, expected)


@every_classifier
def test_answers_that_rule_nothing_out_are_refused(classifier):
    first = np.eye(N_LABELS, dtype=int)[Y.argmax(axis=1)] * Y
    rows = first.any(axis=1)
    yes = Answers.from_arrays(relevant=first[rows], offered=first[rows])
    with pytest.raises(AnnotationError, match="no answer of y names one; SelectionLikelihood"):
        quick(classifier).fit(X[rows], yes)


@every_classifier
def test_true_frequencies_and_class_wise_naming_lead_near_supervision(classifier):
    """The assumption of both papers holds: so labels are learned in spite of unequal rates."""
    data = make_synthetic(1500, n_features=6, n_labels=5, signal=6.0, random_state=0)
    named, rows = named_by_class(data.Y, [0.2, 0.3, 0.5, 0.7, 0.9], seed=0)
    train, test = np.flatnonzero(rows[:1000]), slice(1000, None)
    settings = {"learning_rate": 0.05, "epochs": 60, "random_state": 0}
    told = classifier(label_frequencies=data.Y[train].mean(axis=0), **settings)
    found = told.fit(data.X[train], named[train]).decision_function(data.X[test])
    truth = make_classifier("supervised-bce", **settings).fit(data.X[train], data.Y[train])
    best = metrics.average_precision(data.Y[test], truth.decision_function(data.X[test]))
    bar = PriorClassifier().fit(data.X[train], named[train]).decision_function(data.X[test])
    reached = metrics.average_precision(data.Y[test], found)
    assert reached > best - 0.03
    assert reached > metrics.average_precision(data.Y[test], bar) + 0.1


def test_bce_is_gdf_under_the_settings_of_gdf():
    y = draw_complementary(Y, random_state=0)
    settings = {"optimizer": "sgd", "weight_decay": 1e-3, "milestones": (100, 150), "epochs": 5}
    bce = BCEClassifier(threshold="minmax", cut=0.8, random_state=0, **settings).fit(X, y)
    gdf = GDFClassifier(random_state=0, epochs=5).fit(X, y)
    np.testing.assert_array_equal(bce.decision_function(X), gdf.decision_function(X))
    np.testing.assert_array_equal(bce.predict(X), gdf.predict(X))
    assert bce.get_params() == gdf.get_params()
