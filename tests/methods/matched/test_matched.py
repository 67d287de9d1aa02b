import numpy as np
import pytest
import torch
from scipy import special
from tests.methods.small import (
    COMPLEMENTARY,
    LEARNERS,
    N_LABELS,
    N_SAMPLES,
    PROBLEM,
    brief,
    targets_of,
)
from tests.refusals import raises

from complabel import metrics
from complabel.answers import Answers, IgnoredAnswersWarning
from complabel.datasets import make_synthetic
from complabel.errors import InputError
from complabel.frequencies import estimate_label_frequencies
from complabel.losses import answers_log_likelihood
from complabel.methods import METHODS, ComplementaryClassifier, FrequencyMatchedClassifier
from complabel.simulate import draw_answers

X, RELEVANT = PROBLEM.X, PROBLEM.Y
FREQUENCIES = np.array([0.1, 0.25, 0.5, 0.7])
NAMED = draw_answers(RELEVANT, propensities=[1, 4, 1, 2], random_state=0)
ASKED = draw_answers(RELEVANT, question="asked", items_share=0.8, random_state=1)
BOTH = Answers.concatenate([NAMED, ASKED])
taken_as_named = pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")


class Fixed(ComplementaryClassifier):
    """Scores that are the features, whatever the labels."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def _fit(self, X, complementary, relevant, /):
        pass

    def _decision(self, X):
        return self.factor * np.asarray(X, dtype=np.float64)


def matched(name="ridge", frequencies=FREQUENCIES, **settings):
    return FrequencyMatchedClassifier(brief(name), frequencies, **settings)


@pytest.mark.parametrize("name", METHODS)
def test_mean_probabilities_over_training_rows_are_the_frequencies(name):
    classifier = matched(name, cv=2).fit(X, targets_of(name))
    mean = classifier.predict_proba(X).mean(axis=0)
    np.testing.assert_allclose(mean, FREQUENCIES, rtol=1e-9)
    np.testing.assert_array_equal(classifier.label_frequencies_, FREQUENCIES)
    assert classifier.label_frequencies_errors_ is None
    assert classifier.label_frequencies_intervals_ is None
    assert not hasattr(classifier, "propensities_")
    assert classifier.learns_from == METHODS[name].learns_from


@pytest.mark.parametrize("name", LEARNERS)
def test_scores_are_those_of_the_method_scaled_and_shifted(name):
    classifier = matched(name, cv=None).fit(X, COMPLEMENTARY)
    alone = brief(name).fit(X, COMPLEMENTARY).decision_function(X)
    assert classifier.scale_ > 0
    expected = classifier.scale_ * alone + classifier.shift_
    np.testing.assert_allclose(classifier.decision_function(X), expected, rtol=1e-12)
    np.testing.assert_allclose(classifier.predict_proba(X), special.expit(expected), rtol=1e-12)
    np.testing.assert_array_equal(classifier.predict(X), expected > 0)


def test_a_worked_example():
    # Around the labels' means 1, 6 and 0 the scores deviate by 1: so the scale is 1. Of two rows
    # with log-odds b - 1 and b + 1, a mean of one half needs b = 0.
    features = np.array([[0.0, 5.0, 1.0], [2.0, 7.0, -1.0]])
    classifier = FrequencyMatchedClassifier(Fixed(), [0.5, 0.5, 0.5], cv=None)
    classifier.fit(features, [[1, 0, 1], [0, 1, 0]])
    assert classifier.scale_ == pytest.approx(1)
    np.testing.assert_allclose(classifier.shift_, [-1, -6, 0], atol=1e-12)
    np.testing.assert_allclose(
        classifier.decision_function(features), [[-1, -1, 1], [1, 1, -1]], rtol=1e-12
    )


@pytest.mark.parametrize("cv", [None, 3])
def test_the_unit_and_the_origin_of_scores_do_not_matter(cv):
    moved = X[:, :N_LABELS] * 50 + [100, -3, 0, 7]
    first = X[:, :N_LABELS]
    plain, other = (
        FrequencyMatchedClassifier(Fixed(factor), FREQUENCIES, cv=cv).fit(rows, COMPLEMENTARY)
        for factor, rows in ((1.0, first), (0.02, moved))
    )
    np.testing.assert_allclose(
        plain.decision_function(first), other.decision_function(moved), rtol=1e-6
    )


def test_the_scale_is_the_one_under_which_answers_are_likeliest():
    # Scores that are the log-odds themselves, in another unit: with many answers the scale leads
    # back to them.
    rng = np.random.default_rng(0)
    logits = 3 * rng.normal(size=(20_000, 3)) + [-1, 0, 1]
    relevant = (rng.random(logits.shape) < special.expit(logits)).astype(int)
    asked = draw_answers(relevant, question="asked", random_state=0)
    frequencies = special.expit(logits).mean(axis=0)
    classifier = FrequencyMatchedClassifier(Fixed(), frequencies)
    with pytest.warns(IgnoredAnswersWarning):
        classifier.fit(logits / 7, asked)
    assert classifier.scale_ == pytest.approx(7, rel=0.1)
    np.testing.assert_allclose(classifier.shift_, 0, atol=0.2)


def test_frequencies_of_0_and_1_are_taken_as_nearly_so():
    classifier = matched(frequencies=[0, 1, 0.5, 0.5]).fit(X, COMPLEMENTARY)
    mean = classifier.predict_proba(X).mean(axis=0)
    np.testing.assert_allclose(mean, [1e-6, 1 - 1e-6, 0.5, 0.5], rtol=1e-9)
    assert np.isfinite(classifier.shift_).all()


@taken_as_named
def test_frequencies_are_estimated_from_random_answers():
    classifier = matched(frequencies="auto", cv=None).fit(X, BOTH)
    found = estimate_label_frequencies(BOTH)
    np.testing.assert_allclose(classifier.label_frequencies_, found.values)
    np.testing.assert_allclose(classifier.label_frequencies_errors_, found.standard_errors)
    np.testing.assert_allclose(classifier.label_frequencies_intervals_, found.intervals)
    np.testing.assert_allclose(classifier.propensities_, found.propensities)
    mean = classifier.predict_proba(X).mean(axis=0)
    np.testing.assert_allclose(mean, found.values, rtol=1e-9)


@taken_as_named
def test_held_out_predictions_sharpen_the_estimate():
    classifier = matched(frequencies="auto", cv=2).fit(X, BOTH)
    held_out = np.empty((N_SAMPLES, N_LABELS))
    for rows in np.random.default_rng(0).permutation(N_SAMPLES).reshape(-1, 2).T:
        part = np.isin(np.arange(N_SAMPLES), rows)
        alone = brief("ridge").fit(X[~part], BOTH[~part])
        held_out[part] = alone.decision_function(X[part])
    alone = estimate_label_frequencies(BOTH)
    given = FrequencyMatchedClassifier(Fixed(), alone.values, cv=None).fit(held_out, COMPLEMENTARY)
    given.scale_ = classifier.scale_
    given.shift_ = given._shifts(given.scale_ * held_out, alone.values)
    found = estimate_label_frequencies(BOTH, predictions=given.predict_proba(held_out))
    np.testing.assert_allclose(classifier.label_frequencies_, found.values, rtol=1e-9)
    np.testing.assert_allclose(classifier.label_frequencies_errors_, alone.standard_errors)
    assert not np.allclose(found.values, alone.values, rtol=1e-4)


def test_it_mends_the_ranking_where_labels_come_to_mind_unequally():
    problem = make_synthetic(1500, n_features=6, n_labels=5, signal=6.0, random_state=1)
    train, test = slice(0, 1000), slice(1000, None)
    weights = np.array([0.2, 1, 5, 1, 1])
    named = draw_answers(problem.Y[train], propensities=weights, random_state=0)
    asked = draw_answers(problem.Y[train], question="asked", items_share=0.3, random_state=1)
    both = Answers.concatenate([named, asked])

    def precision(classifier, answers):
        scores = classifier.fit(problem.X[train], answers).decision_function(problem.X[test])
        return metrics.average_precision(problem.Y[test], scores)

    true = problem.Y[train].mean(axis=0)
    alone = precision(brief("ridge"), named)
    assert precision(FrequencyMatchedClassifier(brief("ridge"), true), named) > alone + 0.05
    with pytest.warns(IgnoredAnswersWarning):
        assert precision(FrequencyMatchedClassifier(brief("ridge")), both) > alone + 0.05


@pytest.mark.filterwarnings("ignore::complabel.answers.ClassPerRowWarning")
@pytest.mark.parametrize("name", ["ridge", "selection-likelihood", "supervised"])
@pytest.mark.parametrize("cv", [None, 3])
def test_one_class_per_row(name, cv):
    y = np.array(["red", "green", "blue"])[np.arange(N_SAMPLES) % 3]
    classifier = matched(name, [0.5, 0.3, 0.2], cv=cv).fit(X, y)
    p = classifier.predict_proba(X)
    np.testing.assert_allclose(p.mean(axis=0), [0.5, 0.3, 0.2], rtol=1e-9)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert classifier.classes_.tolist() == ["blue", "green", "red"]
    np.testing.assert_array_equal(classifier.predict(X), classifier.classes_[p.argmax(axis=1)])
    expected = np.log(1 - p[np.arange(N_SAMPLES), classifier.classes_.searchsorted(y)]).mean()
    if name != "supervised":
        assert classifier.score(X, y) == pytest.approx(expected)


@taken_as_named
def test_the_score_is_the_log_likelihood_of_answers():
    classifier = matched(frequencies="auto").fit(X, BOTH)
    logits = torch.from_numpy(classifier.decision_function(X))
    expected = answers_log_likelihood(logits, BOTH, propensities=classifier.propensities_)
    assert classifier.score(X, BOTH) == pytest.approx(float(expected.mean()))


@taken_as_named
def test_rates_of_exclusion_follow_from_the_frequencies():
    excluded = draw_answers(RELEVANT, question="excluded", exclusion_rates=0.5, random_state=0)
    classifier = matched().fit(X, excluded)
    share = excluded.complementary.mean(axis=0)
    expected = answers_log_likelihood(
        torch.from_numpy(classifier.decision_function(X)),
        excluded,
        exclusion_rates=np.clip(share / (1 - FREQUENCIES), 1e-3, 1 - 1e-3),
    )
    assert classifier.score(X, excluded) == pytest.approx(float(expected.mean()))
    # Features predict a rule: it does not choose the scale.
    assert classifier.scale_ == pytest.approx(matched(cv=None).fit(X, excluded).scale_, rel=0.3)


@taken_as_named
@pytest.mark.parametrize("denied", [slice(None), slice(0, 1)], ids=["all", "one"])
def test_contradictions_do_not_choose_the_scale(denied):
    yes = np.zeros_like(COMPLEMENTARY)
    yes[denied] = COMPLEMENTARY[denied]
    rows = np.flatnonzero(yes.any(axis=1))
    said = Answers.from_arrays(relevant=yes[rows], item=rows, question="asked", n_items=N_SAMPLES)
    named = Answers.from_complementary(COMPLEMENTARY)
    first = X[:, :N_LABELS]
    # Fixed learns nothing, so that its held-out scores are its scores.
    plain, contradicted = (
        FrequencyMatchedClassifier(Fixed(), FREQUENCIES).fit(first, answers)
        for answers in (named, Answers.concatenate([named, said]))
    )
    if len(rows) == N_SAMPLES:
        assert contradicted.scale_ == pytest.approx(1 / np.sqrt(first.var(axis=0).mean()))
    else:
        assert contradicted.scale_ == pytest.approx(plain.scale_, rel=0.2)
    assert contradicted.scale_ != plain.scale_


@pytest.mark.filterwarnings("ignore::complabel.answers.ClassPerRowWarning")
def test_a_class_of_a_single_row_is_unknown_to_some_parts():
    y = np.arange(N_SAMPLES) % 3
    y[7] = 3
    classifier = matched(frequencies=[0.3, 0.3, 0.3, 0.1]).fit(X, y)
    mean = classifier.predict_proba(X).mean(axis=0)
    np.testing.assert_allclose(mean, [0.3, 0.3, 0.3, 0.1], rtol=1e-9)


CLASSES, FEATURES = np.arange(N_SAMPLES) % 3, X[:, :N_LABELS]


@pytest.mark.filterwarnings(
    "ignore::complabel.answers.ClassPerRowWarning", "ignore::complabel.answers.UnchosenLabelWarning"
)
@pytest.mark.parametrize(
    ("classifier", "frequencies", "y", "message"),
    [
        (Fixed(), [0.1, 0.2], COMPLEMENTARY, ("label_frequencies", "2 entries", "4")),
        (Fixed(), [0.1, 0.2, 1.3, 0.5], COMPLEMENTARY, ("[0, 1]", "1.3", "label 2")),
        (Fixed(), [0.1, -0.2, 0.3, 0.5], COMPLEMENTARY, ("[0, 1]", "-0.2", "label 1")),
        (Fixed(), [0.1, np.nan, 0.3, 0.5], COMPLEMENTARY, ("nan", "label 1")),
        (Fixed(), [FREQUENCIES], COMPLEMENTARY, ("label_frequencies", "1-D array")),
        (Fixed(), "outo", COMPLEMENTARY, ("label_frequencies", "'auto'")),
        (Fixed(), "auto", COMPLEMENTARY, "random"),
        (Fixed(), "auto", NAMED, "random"),
        (Fixed(), [0.5, 0.3, 0.4], CLASSES, "up to 1.2"),
        ("ridge", FREQUENCIES, COMPLEMENTARY, ("classifier", "ComplementaryClassifier")),
        (Fixed(), FREQUENCIES, COMPLEMENTARY[:2], ("n_samples=2", "cv=3")),
        (Fixed(np.inf), FREQUENCIES, COMPLEMENTARY, "Fixed"),
    ],
)
def test_what_cannot_be_matched_is_refused(classifier, frequencies, y, message):
    rows = FEATURES[: y.n_items if isinstance(y, Answers) else len(y)]
    with raises(InputError, message):
        FrequencyMatchedClassifier(classifier, frequencies).fit(rows, y)
