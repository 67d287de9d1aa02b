"""How often labels apply, as the flagship is told it or learns it from random answers."""

import numpy as np
import pytest
import torch
from scipy import optimize
from tests.methods.selection.answered import logistic_problem

from complabel.answers import Answers
from complabel.frequencies import estimate_label_frequencies
from complabel.methods import SelectionLikelihoodClassifier, load
from complabel.methods.selection._features import FeatureMap
from complabel.methods.selection._known import KnownRates, Setting
from complabel.methods.selection._likelihood import Likelihood
from complabel.methods.selection._objective import Objective
from complabel.methods.selection._plan import answers_without_audit
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

PROPENSITIES = np.array([6.0, 1.0, 0.2, 1.0])
X, Y = logistic_problem(900)
PROPER = ~Y.all(axis=1)
X, Y = X[PROPER], Y[PROPER]
TRAIN, TEST = slice(0, 600), slice(600, None)
NAMED = draw_answers(Y[TRAIN], propensities=PROPENSITIES, random_state=3)
AUDIT = draw_answers(Y[TRAIN], question="asked", items_share=0.2, random_state=4)
BOTH = Answers.concatenate([NAMED, AUDIT])
SHARE = Y[TRAIN].mean(axis=0)
uniform_assumed = pytest.mark.filterwarnings(
    "ignore::complabel.answers.AssumedUniformWarning",
    "ignore::complabel.answers.UnansweredRowWarning",
)


def linear(**settings):
    """A linear flagship with fixed features, so that a test is fast."""
    fixed = {"kernel": "linear", "scaling": "standardize", "rank": None, "random_state": 0}
    return SelectionLikelihoodClassifier(**fixed | settings)


def precision(classifier):
    """Average precision on rows that nothing was said about."""
    return average_precision(Y[TEST], classifier.predict_proba(X[TEST]))


@pytest.mark.slow
def test_the_mean_of_probabilities_comes_near_to_what_is_known():
    both = linear().fit(X[TRAIN], BOTH)
    mean = both.predict_proba(X[TRAIN]).mean(axis=0)
    assert (np.abs(mean - both.label_frequencies_) < both.label_frequencies_errors_).all()
    told = linear(label_frequencies=SHARE).fit(X[TRAIN], NAMED)
    np.testing.assert_allclose(told.predict_proba(X[TRAIN]).mean(axis=0), SHARE, atol=0.01)
    assert told.cardinality_ == pytest.approx(SHARE.sum())


def test_what_was_found_is_shown_with_its_errors():
    both = linear(alpha=0.01).fit(X[TRAIN], BOTH)
    assert both.label_frequencies_.shape == both.label_frequencies_errors_.shape == (4,)
    assert both.label_frequencies_.sum() == pytest.approx(both.cardinality_)
    diagonal = np.diag(both.label_frequencies_covariance_)
    np.testing.assert_allclose(both.label_frequencies_errors_**2, diagonal)
    low, high = both.label_frequencies_intervals_.T
    assert ((low < both.label_frequencies_) & (both.label_frequencies_ < high)).all()
    reach = 1.96 * both.label_frequencies_errors_
    np.testing.assert_allclose((high - low) / 2, reach, rtol=0.2)
    assert (np.abs(both.label_frequencies_ - SHARE) < 4 * both.label_frequencies_errors_).all()
    # The fit learned from these answers, so it makes no error smaller than they do.
    alone = estimate_label_frequencies(BOTH).covariance
    np.testing.assert_allclose(both.label_frequencies_covariance_, alone)
    ratio = np.log(both.propensities_) - np.log(PROPENSITIES)
    assert np.ptp(ratio) < 1.5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::complabel.answers.AssumedUniformWarning")
def test_frequencies_are_corrected_by_mistakes_that_are_given():
    rates = {"missed": np.array([0.4])}
    erring = draw_answers(Y[TRAIN], question="asked", items_share=0.8, random_state=4, **rates)
    both = Answers.concatenate([NAMED, erring])
    found = linear(alpha=0.01, **rates).fit(X[TRAIN], both)
    assert (np.abs(found.label_frequencies_ - SHARE) < 3 * found.label_frequencies_errors_).all()
    ignored = linear(alpha=0.01).fit(X[TRAIN], both)
    off = [each.label_frequencies_.sum() - SHARE.sum() for each in (found, ignored)]
    assert abs(off[0]) < abs(off[1]) / 3
    # Rates that shall be found are not known when frequencies are estimated.
    auto = linear(alpha=0.01, missed="auto", invented="auto").fit(X[TRAIN], both)
    np.testing.assert_array_equal(auto.label_frequencies_, ignored.label_frequencies_)


def test_files_keep_intervals_and_older_files_have_none(tmp_path):
    found = linear(alpha=0.01, cardinality=1.8).fit(X[TRAIN], BOTH)
    found.save(tmp_path / "new")
    kept = load(tmp_path / "new").label_frequencies_intervals_
    np.testing.assert_array_equal(kept, found.label_frequencies_intervals_)
    del found.label_frequencies_intervals_
    found.save(tmp_path / "old")
    old = load(tmp_path / "old")
    np.testing.assert_array_equal(old.label_frequencies_, found.label_frequencies_)
    assert not hasattr(old, "label_frequencies_intervals_")


def test_what_is_given_is_shown_without_errors():
    told = linear(alpha=0.01, label_frequencies=SHARE).fit(X[TRAIN], NAMED)
    np.testing.assert_allclose(told.label_frequencies_, SHARE)
    assert not hasattr(told, "label_frequencies_errors_")
    assert not hasattr(told, "label_frequencies_intervals_")
    # Known frequencies and counts of what was named tell propensities.
    np.testing.assert_allclose(
        np.log(told.propensities_), np.log(PROPENSITIES / 1.2**0.25), atol=0.4
    )
    again = told.set_params(label_frequencies=None, propensities="equal").fit(X[TRAIN], NAMED)
    assert not hasattr(again, "label_frequencies_")
    assert not hasattr(again, "propensities_")


def test_given_propensities_and_equal_ones_win():
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    told = linear(alpha=0.01, label_frequencies=SHARE, propensities=weights).fit(X[TRAIN], NAMED)
    np.testing.assert_array_equal(told.propensities_, weights)
    equal = linear(alpha=0.01, label_frequencies=SHARE, propensities="equal").fit(X[TRAIN], NAMED)
    assert not hasattr(equal, "propensities_")
    np.testing.assert_allclose(equal.label_frequencies_, SHARE)


@uniform_assumed
@pytest.mark.parametrize(
    ("settings", "answers"),
    [
        ({"label_frequencies": None, "propensities": "equal"}, BOTH),
        ({"cardinality": None, "propensities": "equal"}, BOTH),
        ({}, NAMED),
        ({}, AUDIT),
        ({}, Answers.concatenate([NAMED, AUDIT.only(np.arange(AUDIT.n_answers) < 3)])),
    ],
    ids=["not wanted", "no cardinality", "named only", "asked only", "fewer than labels"],
)
def test_without_need_or_knowledge_nothing_is_held_to_frequencies(settings, answers):
    found = linear(alpha=0.01, **{"cardinality": 1.0} | settings).fit(X[TRAIN], answers)
    assert not hasattr(found, "label_frequencies_")


def test_a_given_cardinality_is_kept():
    found = linear(alpha=0.01, cardinality=1.3).fit(X[TRAIN], BOTH)
    assert found.cardinality_ == 1.3
    assert found.label_frequencies_.sum() == pytest.approx(1.3)


def test_labels_that_never_or_always_apply_can_be_given():
    share = np.array([0.0, 0.3, 0.2, 1.0])
    told = linear(alpha=0.01, label_frequencies=share, propensities="equal").fit(X[TRAIN], NAMED)
    assert np.isfinite(told.predict_proba(X)).all()


def test_the_gradient_of_the_objective_is_that_of_finite_differences():
    known = estimate_label_frequencies(BOTH)
    likelihood = Likelihood(BOTH, KnownRates(frequencies=known))
    setting = Setting(FeatureMap("global"), 0.1, known.cardinality + known.cardinality_error)
    objective = Objective(likelihood, setting).of_logits([BOTH.n_items])
    rng = np.random.default_rng(0)
    some = rng.integers(BOTH.n_items, size=3)
    logits = rng.normal(size=BOTH.shape)

    def value(few):
        at = logits.copy()
        at[some] = few.reshape(3, -1)
        return float(objective(torch.from_numpy(at), torch.empty(1, 0))[0])

    _, gradient, _ = objective(torch.from_numpy(logits), torch.empty(1, 0))
    expected = optimize.approx_fprime(logits[some].ravel(), value, 1e-5)
    np.testing.assert_allclose(gradient[some].ravel(), expected, atol=1e-7)


def test_predictions_that_sharpen_frequencies_have_not_seen_the_random_answers():
    left = answers_without_audit(BOTH)
    assert (left.n_answers, left.n_items) == (NAMED.n_answers, BOTH.n_items)
    np.testing.assert_array_equal(left.complementary, NAMED.complementary)
