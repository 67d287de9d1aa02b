"""Labels named or tagged because they apply: what each method learns from them, or refuses."""

import warnings

import numpy as np
import pytest

from complabel.answers import Answers, AssumedUniformWarning, IgnoredAnswersWarning
from complabel.datasets import make_synthetic
from complabel.errors import ComplabelError, InputError
from complabel.frequencies import estimate_exposure, estimate_label_frequencies
from complabel.methods import (
    METHODS,
    NetworkLikelihoodClassifier,
    SelectionLikelihoodClassifier,
)
from complabel.metrics import average_precision, complementary_log_likelihood_scorer
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


EXPOSURE = np.linspace(0.25, 0.75, 6)
TAGS = drawn("tagged", exposure=EXPOSURE)
POSITIVE = Answers.concatenate([drawn(), drawn(asked_for=2), drawn("positive-menu-3")])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("positive", [POSITIVE, TAGS], ids=["positive", "tagged"])
def test_no_method_learns_the_opposite(name, positive):
    classifier = METHODS[name].classifier()
    if name == "selection-likelihood":
        scores = classifier.fit(X, positive).predict_proba(X)
        assert average_precision(Y, scores) > constant() + 0.05
        return
    with pytest.raises(ComplabelError, match=f"'{positive.question[0]}'") as refused:
        classifier.fit(X, positive)
    does = "true labels" if METHODS[name].learns == "relevant" else "SelectionLikelihoodClassifier"
    assert does in str(refused.value)


@pytest.mark.filterwarnings("ignore")
def test_a_network_learns_what_applies():
    for answers, given in ((drawn(), {"cardinality": 2.0}), (TAGS, {"exposure": EXPOSURE})):
        scores = NetworkLikelihoodClassifier(**given).fit(X, answers).predict_proba(X)
        assert average_precision(Y, scores) > constant() + 0.05
    with pytest.raises(InputError) as refused:
        NetworkLikelihoodClassifier().fit(X, TAGS)
    assert refused.value.parameter == "exposure"


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


@pytest.mark.filterwarnings("ignore")
def test_beside_positives_judgements_alone_tell_how_many_labels_apply():
    """One label applies to each item; positives would say that more do."""
    one = np.eye(6, dtype=int)[Y.argmax(axis=1)]
    positive = draw_answers(one, question="positive", random_state=1)
    off = []
    for seed in range(6):
        asked = draw_answers(one, question="asked", items_share=0.5, random_state=seed)
        both = Answers.concatenate([positive, asked])
        fitted = SelectionLikelihoodClassifier(**LINEAR, alpha=0.01).fit(X, both)
        shown, covariance = fitted.label_frequencies_.sum(), fitted.label_frequencies_covariance_
        np.testing.assert_allclose(covariance, estimate_label_frequencies(asked).covariance)
        assert fitted.mean_cardinality_ == pytest.approx(shown, rel=0.05)
        off.append((shown - 1) / np.sqrt(covariance.sum()))
    assert abs(np.mean(off)) < 0.8  # two standard errors of a mean of six


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
@pytest.mark.parametrize("question", ["positive", "positive-menu-3", "tagged"])
def test_positives_are_no_sample_of_what_applies(question):
    """One label applies to each item, so that labels depend on each other."""
    one = np.eye(6, dtype=int)[Y.argmax(axis=1)]
    asked = draw_answers(one, question="asked", random_state=3)
    given = {"exposure": EXPOSURE} if question == "tagged" else {}
    positive = draw_answers(one, question=question, random_state=1, **given)
    with pytest.raises(InputError, match=f"'{positive.question[0]}'"):
        estimate_label_frequencies(positive)
    alone, both = (
        estimate_label_frequencies(each) for each in (asked, Answers.concatenate([asked, positive]))
    )
    np.testing.assert_array_equal(both.values, alone.values)
    np.testing.assert_array_equal(both.intervals, alone.intervals)
    assert (both.propensities is None) == (question == "tagged")


def test_what_is_left_over_is_no_label_that_somebody_named():
    both = Answers.concatenate([drawn(asked_for=6), drawn("named")])
    with pytest.warns(IgnoredAnswersWarning):
        ridge = METHODS["ridge"].classifier().fit(X, both)
    alone = METHODS["ridge"].classifier().fit(X, drawn("named"))
    np.testing.assert_allclose(ridge._decision(X), alone._decision(X))


def log_loss(truth, p):
    return -np.where(truth == 1, np.log(p), np.log1p(-p)).mean()


def test_tags_tell_probabilities_once_exposure_is_known():
    """It is given, follows from frequencies, or is found beside answers to random questions."""
    asked = drawn("asked", items_share=0.7)
    both = Answers.concatenate([TAGS, asked])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given, known, found = (
            SelectionLikelihoodClassifier(**LINEAR, **settings).fit(X, y)
            for settings, y in (
                ({"exposure": EXPOSURE}, TAGS),
                ({"label_frequencies": Y.mean(axis=0)}, TAGS),
                ({}, both),
            )
        )
    whole = SelectionLikelihoodClassifier(**LINEAR).fit(X, drawn("ticked"))
    best = log_loss(Y, whole.predict_proba(X))
    constant = log_loss(Y, np.tile(Y.mean(axis=0), (len(Y), 1)))
    for each in (given, known, found):
        assert log_loss(Y, each.predict_proba(X)) < best + 0.3 * (constant - best)
    np.testing.assert_array_equal(given.exposure_, EXPOSURE)
    np.testing.assert_allclose(known.exposure_, EXPOSURE, atol=0.08)
    assert np.corrcoef(found.exposure_, EXPOSURE)[0, 1] > 0.8
    np.testing.assert_allclose(found.exposure_.mean(), EXPOSURE.mean(), atol=0.1)
    assert found.mean_cardinality_ == pytest.approx(Y.sum(axis=1).mean(), rel=0.15)


@pytest.mark.parametrize("settings", [{}, {"cardinality": 2.5}])
def test_tags_alone_do_not_tell_exposure_and_the_fit_says_so(settings):
    with pytest.warns(AssumedUniformWarning, match="-n 200") as caught:
        fitted = SelectionLikelihoodClassifier(**LINEAR, **settings).fit(X, TAGS)
    assert any("200 yes/no" in str(each.message) for each in caught)
    assert not hasattr(fitted, "exposure_")
    whole = SelectionLikelihoodClassifier(**LINEAR).fit(X, drawn("ticked"))
    for label in range(6):  # the order of items for each label hardly depends on it
        ours, best = (
            average_precision(Y[:, [label]].T, each.predict_proba(X)[:, [label]].T)
            for each in (fitted, whole)
        )
        assert ours > best - 0.08
    assert np.isfinite(complementary_log_likelihood_scorer(fitted, X, TAGS))
    if settings:
        assert fitted.mean_cardinality_ == pytest.approx(2.5, rel=0.15)


def test_the_posterior_of_exposure_is_that_of_sums_over_all_cases():
    """One label: the grid's posterior mean of the frequency, written out by hand."""
    truth = np.repeat([1, 0], [60, 40])[:, np.newaxis]
    tagged = truth * (np.arange(100) % 3 == 0)[:, np.newaxis]
    judged = np.arange(1, 100, 4)
    asked = Answers.from_arrays(
        relevant=truth[judged],
        absent=1 - truth[judged],
        item=judged,
        n_items=100,
        probability=1.0,
    )
    answers = Answers.concatenate([Answers.from_arrays(tagged=tagged, question="tagged"), asked])
    found = estimate_exposure(answers)
    share = (tagged.sum() + 0.5) / 101
    odds = np.linspace(-5, 5, 61)
    e = 1 / (1 + np.exp(-odds))
    of_untagged = truth[judged][tagged[judged] == 0]
    frequency = np.minimum(share / e, 1)
    q = frequency * (1 - e) / (1 - share)
    evidence = np.where(share < e, q ** of_untagged.sum() * (1 - q) ** (1 - of_untagged).sum(), 0)
    total = weights = 0.0
    for mean in np.linspace(0.04, 0.96, 24):
        for c in (2, 4, 8, 16, 32, 64):
            prior = e ** (mean * c) * (1 - e) ** ((1 - mean) * c)
            posterior = evidence * prior / prior.sum()
            total += (posterior * frequency).sum()
            weights += posterior.sum()
    assert found.cardinality == pytest.approx(total / weights, rel=1e-9)
    assert found.values[0] == pytest.approx(share * weights / total, rel=1e-9)


def test_the_interval_of_labels_per_item_holds_them():
    held = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = (rng.random((2000, 15)) < rng.uniform(0.05, 0.4, 15)).astype(np.uint8)
        exposure = rng.uniform(0.2, 0.8, 15)
        tags = draw_answers(truth, question="tagged", exposure=exposure, random_state=seed + 100)
        asked = draw_answers(truth, question="asked", items_share=0.1, random_state=seed + 200)
        low, high = estimate_exposure(Answers.concatenate([tags, asked])).interval
        held += low <= truth.sum(axis=1).mean() <= high
    assert held >= 36
