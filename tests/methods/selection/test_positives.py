"""Labels that somebody named because they apply: what each method learns from them, or refuses."""

import warnings

import numpy as np
import pytest

from complabel.answers import Answers, AssumedUniformWarning, IgnoredAnswersWarning
from complabel.datasets import make_synthetic
from complabel.errors import ComplabelError, InputError
from complabel.frequencies import estimate_label_frequencies
from complabel.methods import (
    METHODS,
    NetworkLikelihoodClassifier,
    SelectionLikelihoodClassifier,
)
from complabel.metrics import average_precision
from complabel.simulate import draw_answers, draw_propensities

DATA = make_synthetic(600, n_features=8, n_labels=6, signal=4.0, random_state=0)
SOME = np.flatnonzero(DATA.Y.any(axis=1) & ~DATA.Y.all(axis=1))
X, Y = DATA.X[SOME], DATA.Y[SOME]
LINEAR = {"kernel": "linear", "scaling": "global", "random_state": 0}


def drawn(question="positive", **given):
    return draw_answers(Y, question=question, random_state=1, **given)


def constant():
    """The average precision of one order for all items: how often labels apply."""
    return average_precision(Y, np.tile(Y.mean(axis=0), (len(Y), 1)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", METHODS)
def test_no_method_learns_the_opposite(name):
    positive = Answers.concatenate([drawn(), drawn(asked_for=2), drawn("positive-menu-3")])
    classifier = METHODS[name].classifier()
    if name == "selection-likelihood":
        scores = classifier.fit(X, positive).predict_proba(X)
        assert average_precision(Y, scores) > constant() + 0.05
        return
    with pytest.raises(ComplabelError, match="'positive'") as refused:
        classifier.fit(X, positive)
    does = "true labels" if METHODS[name].learns == "relevant" else "SelectionLikelihoodClassifier"
    assert does in str(refused.value)


@pytest.mark.filterwarnings("ignore")
def test_a_network_learns_what_applies():
    scores = NetworkLikelihoodClassifier(cardinality=2.0).fit(X, drawn()).predict_proba(X)
    assert average_precision(Y, scores) > constant() + 0.05


@pytest.mark.parametrize(
    ("question", "asked_for"), [("positive", 1), ("positive", 3), ("positive-menu-3", 1)]
)
def test_a_fit_is_nearly_as_good_as_one_to_true_labels(question, asked_for):
    classifier = SelectionLikelihoodClassifier(**LINEAR, cardinality=float(Y.sum(axis=1).mean()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumedUniformWarning)
        fitted = classifier.fit(X, drawn(question, asked_for=asked_for))
    whole = SelectionLikelihoodClassifier(**LINEAR).fit(X, drawn("ticked"))
    ours, best = (average_precision(Y, each.predict_proba(X)) for each in (fitted, whole))
    assert best - ours < 0.04
    assert ours > constant() + 0.1
    assert fitted.mean_cardinality_ == pytest.approx(Y.sum(axis=1).mean(), rel=0.15)


def test_how_many_labels_apply_is_said_to_be_open_until_questions_tell_it():
    alone = SelectionLikelihoodClassifier(**LINEAR)
    one = np.eye(6, dtype=int)[Y.argmax(axis=1)]  # labels that exclude each other
    with pytest.warns(AssumedUniformWarning, match="how many apply") as caught:
        alone.fit(X, draw_answers(one, question="positive", random_state=1))
    low, high = alone.cardinality_interval_
    assert low == 1 < high
    assert any(f"{high:.3g}" in str(each.message) for each in caught)
    asked = drawn("asked", items_share=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="labels were named freely")
        both = Answers.concatenate([drawn(), asked])
        beside = SelectionLikelihoodClassifier(**LINEAR).fit(X, both)
    assert beside.mean_cardinality_ == pytest.approx(Y.sum(axis=1).mean(), rel=0.15)
    assert not hasattr(beside, "cardinality_interval_")


def test_propensities_follow_from_questions_beside_positives_only():
    rng = np.random.default_rng(0)
    truth = (rng.random((8000, 6)) < np.linspace(0.1, 0.5, 6)).astype(np.uint8)
    w = draw_propensities(6, 1.0, random_state=1)
    positive = draw_answers(truth, question="positive", propensities=w, random_state=2)
    asked = draw_answers(truth, question="asked", random_state=3)
    found = estimate_label_frequencies(Answers.concatenate([positive, asked]))
    np.testing.assert_allclose(found.values, truth.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(np.log(found.propensities), np.log(w) - np.log(w).mean(), atol=0.3)
    named = draw_answers(truth[~truth.all(axis=1)], propensities=w, random_state=2)
    named = Answers.concatenate([named, named])[np.arange(len(truth)) % len(named)]
    three = Answers.concatenate([positive, asked, named])
    assert estimate_label_frequencies(three).propensities is None
    with pytest.raises(InputError) as refused:
        SelectionLikelihoodClassifier(propensities=w).fit(np.zeros((len(truth), 1)), three)
    assert refused.value.parameter == "propensities"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("question", ["positive", "positive-menu-3"])
def test_positives_are_no_sample_of_what_applies(question):
    """One label applies to each item, so that labels depend on each other."""
    one = np.eye(6, dtype=int)[Y.argmax(axis=1)]
    asked = draw_answers(one, question="asked", random_state=3)
    positive = draw_answers(one, question=question, random_state=1)
    with pytest.raises(InputError, match="'positive'"):
        estimate_label_frequencies(positive)
    alone, both = (
        estimate_label_frequencies(each) for each in (asked, Answers.concatenate([asked, positive]))
    )
    np.testing.assert_array_equal(both.values, alone.values)
    np.testing.assert_array_equal(both.intervals, alone.intervals)
    assert both.propensities is not None


def test_what_is_left_over_is_no_label_that_somebody_named():
    both = Answers.concatenate([drawn(asked_for=6), drawn("named")])
    with pytest.warns(IgnoredAnswersWarning):
        ridge = METHODS["ridge"].classifier().fit(X, both)
    alone = METHODS["ridge"].classifier().fit(X, drawn("named"))
    np.testing.assert_allclose(ridge._decision(X), alone._decision(X))
