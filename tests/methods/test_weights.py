"""Weights of rows and of answers: what they mean, and who refuses them."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.model_selection import cross_val_score
from tests.methods.small import brief
from tests.refusals import raises, warns

from complabel.answers import Answers, IgnoredAnswersWarning
from complabel.datasets import make_synthetic
from complabel.errors import AnnotationError, InputError
from complabel.experiments.methods import SupervisedClassifier
from complabel.methods import (
    METHODS,
    ComplementaryRidgeClassifier,
    NetworkLikelihoodClassifier,
    PriorClassifier,
    SelectionLikelihoodClassifier,
)
from complabel.methods._door import WEIGHTED
from complabel.methods.selection import _trials
from complabel.simulate import draw_answers, draw_complementary

PROBLEM = make_synthetic(45, n_features=3, n_labels=4, random_state=3)
X, N_SAMPLES = PROBLEM.X, len(PROBLEM.X)
COMPLEMENTARY = draw_complementary(PROBLEM.Y, random_state=0)
WEIGHTS = np.random.default_rng(0).integers(0, 4, N_SAMPLES)
REPEATED, KEPT = np.repeat(np.arange(N_SAMPLES), WEIGHTS), np.flatnonzero(WEIGHTS)
ASKED = draw_answers(PROBLEM.Y, question="asked", answers_per_item=2, random_state=1)
MENUS = draw_answers(PROBLEM.Y, question="menu-2", answers_per_item=2, random_state=1)
SETTING = {"alpha": 0.01, "kernel": "linear", "scaling": "standardize", "random_state": 0}


def selection(**settings):
    given = {"cardinality": 1.5, "rank": None, "propensities": "equal", **SETTING, **settings}
    return SelectionLikelihoodClassifier(**given)


def network(**settings):
    full = {"batch_size": N_SAMPLES * 4, "epochs": 4, "learning_rate": 0.05}
    return NetworkLikelihoodClassifier(**full, random_state=0, cardinality=1.5, **settings)


# Each method with nothing to choose, and what it learns from.
CASES = {
    "prior": (PriorClassifier(), COMPLEMENTARY),
    "prior, answers": (PriorClassifier(), MENUS),
    "ridge": (ComplementaryRidgeClassifier(alpha=0.01, rank=2), COMPLEMENTARY),
    "supervised": (SupervisedClassifier(rank=None, **SETTING), PROBLEM.Y),
    "network": (network(propensities="equal"), COMPLEMENTARY),
    "network, propensities": (network(propensities="auto"), MENUS),
    "selection, free": (selection(), COMPLEMENTARY),
    "selection, biases' prior": (selection(cardinality=None), MENUS),
    "selection, asked": (selection(), ASKED),
    "selection, mistakes": (selection(error_rate=0.1), ASKED),
    "selection, frequencies": (selection(label_frequencies=PROBLEM.Y.mean(axis=0)), COMPLEMENTARY),
}
# L-BFGS ends near the minimum; the others take the same steps.
TOLERANCE = {name: 2e-3 if name.startswith(("sel", "sup")) else 1e-5 for name in CASES}
SLOW = ("selection, biases' prior", "selection, frequencies")
each = pytest.mark.parametrize("name", CASES)
pytestmark = pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")


@pytest.fixture
def _fits_to_the_end(monkeypatch):
    monkeypatch.setattr(_trials, "_FINAL", 1e-9)


def below(answers, at, copies=3):
    """Return answers about items n * at to n * (at + 1) - 1 of n * copies."""
    return replace(answers, item=answers.item + at * len(answers), n_items=copies * len(answers))


def scores(name, rows=slice(None), **more):
    """Fit to some rows, and score all."""
    classifier, y = CASES[name]
    return classifier.fit(X[rows], y[rows], **more).decision_function(X)


@each
@pytest.mark.usefixtures("_fits_to_the_end")
def test_integer_weights_equal_repeated_rows(name):
    found = scores(name, sample_weight=WEIGHTS)
    np.testing.assert_allclose(found, scores(name, REPEATED), rtol=0, atol=TOLERANCE[name])
    assert np.abs(found - scores(name, KEPT)).max() > 10 * TOLERANCE[name]  # they matter


@pytest.mark.parametrize("name", [name for name in CASES if name not in SLOW])
def test_weight_0_leaves_a_row_out_and_weight_1_changes_nothing(name):
    marked = (WEIGHTS > 0).astype(float)
    np.testing.assert_array_equal(scores(name, sample_weight=marked), scores(name, KEPT))
    np.testing.assert_array_equal(scores(name, sample_weight=np.ones(N_SAMPLES)), scores(name))


@pytest.mark.usefixtures("_fits_to_the_end")
def test_weights_of_sparse_rows():
    rows = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    for name in ("ridge", "selection, asked"):
        classifier, y = CASES[name]
        found = classifier.fit(rows, y, sample_weight=WEIGHTS).decision_function(rows)
        expected = classifier.fit(rows[REPEATED], y[REPEATED]).decision_function(rows)
        np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE[name])


@pytest.mark.parametrize("question", [pytest.param("free", marks=pytest.mark.slow), "asked"])
def test_rows_of_weight_0_do_not_matter_for_any_choice(question):
    y = Answers.from_complementary(COMPLEMENTARY) if question == "free" else ASKED
    automatic = SelectionLikelihoodClassifier(random_state=0, kernel="linear", scaling="global")
    marked = (WEIGHTS > 0).astype(float)
    found = automatic.fit(X, y, sample_weight=marked).decision_function(X)
    np.testing.assert_array_equal(found, automatic.fit(X[KEPT], y[KEPT]).decision_function(X))


def test_a_search_weighs_what_is_held_out():
    # Of the rows with a great weight, all labels are pure noise: features cannot help there.
    rng = np.random.default_rng(0)
    noise = np.arange(N_SAMPLES) >= N_SAMPLES // 2
    Y = np.where(noise[:, np.newaxis], rng.permutation(PROBLEM.Y), PROBLEM.Y)
    answers = draw_answers(Y, question="ticked", random_state=0)
    search = {"kernel": "linear", "scaling": "global", "rank": None, "random_state": 0}
    found = []
    for of_noise in (0.1, 10.0):
        classifier = SelectionLikelihoodClassifier(**search)
        classifier.fit(X, answers, sample_weight=np.where(noise, of_noise, 1.0))
        found.append((classifier.alpha_, classifier.cv_results_["mean_test_score"].max()))
    assert found[0][0] < found[1][0]
    assert found[0][1] > found[1][1] + 0.05


def test_single_classes_and_pandas_rows():
    pd = pytest.importorskip("pandas")
    y, names = COMPLEMENTARY.argmax(axis=1), [f"row {n}" for n in range(N_SAMPLES)]
    weights = pd.Series(WEIGHTS, index=names).sample(frac=1, random_state=0)
    frame = pd.DataFrame(X, index=names)
    found = PriorClassifier().fit(frame, pd.Series(y, index=names), sample_weight=weights)
    expected = PriorClassifier().fit(X[REPEATED], y[REPEATED])
    np.testing.assert_allclose(found.choice_rate_, expected.choice_rate_)


def test_rows_without_an_answer_drop_with_their_weight():
    empty = COMPLEMENTARY * (np.arange(N_SAMPLES) % 3 > 0)[:, np.newaxis]
    rows = np.flatnonzero(empty.any(axis=1))
    with warns(UserWarning, "11 of 31", "rows 0"):
        found = PriorClassifier().fit(X, empty, sample_weight=WEIGHTS)
    expected = PriorClassifier().fit(X[rows], empty[rows], sample_weight=WEIGHTS[rows])
    np.testing.assert_array_equal(found.choice_rate_, expected.choice_rate_)


def test_weights_pass_through_scikit_learn():
    ridge, y = CASES["ridge"]
    found = cross_val_score(ridge, X, y, cv=3, params={"sample_weight": WEIGHTS})
    assert np.abs(found - cross_val_score(ridge, X, y, cv=3)).max() > 1e-6
    with config_context(enable_metadata_routing=True):
        asking = ComplementaryRidgeClassifier(**ridge.get_params())
        asking.set_fit_request(sample_weight=True)
        routed = cross_val_score(asking, X, y, cv=3, params={"sample_weight": WEIGHTS})
    np.testing.assert_array_equal(routed, found)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (np.zeros(N_SAMPLES), "sample_weight"),
        (np.where(np.arange(N_SAMPLES) == 4, -1.0, 1.0), ("sample_weight", "row 4", "-1")),
        (np.where(np.arange(N_SAMPLES) == 5, np.nan, 1.0), ("sample_weight", "row 5", "nan")),
        (np.where(np.arange(N_SAMPLES) == 6, np.inf, 1.0), ("sample_weight", "row 6", "inf")),
        (np.ones(3), ("X", "45 rows", "sample_weight", "shape (3,)")),
        (["heavy"] * N_SAMPLES, "sample_weight"),
    ],
    ids=["all zero", "negative", "nan", "infinite", "wrong length", "words"],
)
def test_refused_weights(weights, said):
    with raises(InputError, said):
        PriorClassifier().fit(X, COMPLEMENTARY, sample_weight=weights)


def test_an_error_says_that_rows_of_weight_0_are_not_counted():
    with pytest.raises(AnnotationError) as caught:
        PriorClassifier().fit(X, COMPLEMENTARY, relevant=COMPLEMENTARY, sample_weight=WEIGHTS)
    assert caught.value.__notes__ == ["Rows are counted without those of sample_weight 0."]


def test_who_understands_weights():
    classes = {method.classifier for method in METHODS.values()}
    classes = classes | {NetworkLikelihoodClassifier}
    assert {each.__name__ for each in classes if each.understands_weights} == set(WEIGHTED)
    with raises(InputError, WEIGHTED[0]):
        brief("mlcl").fit(X, COMPLEMENTARY, sample_weight=WEIGHTS)
    with raises(TypeError, "'weights'"):
        brief("ridge").fit(X, COMPLEMENTARY, weights=WEIGHTS)


# Weights of answers


@pytest.mark.parametrize("name", ["selection, mistakes", "selection, free", "network"])
def test_weights_of_all_answers_about_an_item_are_its_weight(name):
    classifier, y = CASES[name]
    answers = y if isinstance(y, Answers) else Answers.from_complementary(y)
    weighted = answers.with_weight(1.0 * WEIGHTS[answers.item])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows without an answer
        found = classifier.fit(X, weighted).decision_function(X)
    expected = classifier.fit(X, answers, sample_weight=WEIGHTS).decision_function(X)
    np.testing.assert_array_equal(found, expected)


def test_weight_0_leaves_an_answer_out_and_weight_1_changes_nothing():
    classifier = selection(error_rate=0.1)
    marks = np.random.default_rng(1).integers(0, 2, ASKED.n_answers)
    marks[np.flatnonzero(np.diff(ASKED.item, prepend=-1))] = 1  # each item keeps one
    found = classifier.fit(X, ASKED.with_weight(marks)).decision_function(X)
    expected = classifier.fit(X, ASKED.only(marks > 0)).decision_function(X)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.usefixtures("_fits_to_the_end")
def test_answers_of_different_weights_count_in_parts():
    # One row with answers of weights 1 and 3 is a row with both, and two with the second alone.
    weights = np.where(np.diff(ASKED.item, prepend=-1) > 0, 1.0, 3.0)
    found = selection(error_rate=0.1).fit(X, ASKED.with_weight(weights))
    second = ASKED.only(weights == 3)
    rows = np.tile(np.arange(len(X)), 3)
    apart = Answers.concatenate([below(x, at) for at, x in enumerate([ASKED, second, second])])
    expected = selection(error_rate=0.1).fit(X[rows], apart)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-3)


def test_scores_of_weighted_answers_are_weighted_means():
    classifier = selection().fit(X, ASKED)
    weighted = ASKED.with_weight(1.0 * WEIGHTS[ASKED.item])
    expected = classifier.score(X[REPEATED], ASKED[REPEATED])
    assert classifier.score(X, weighted) == pytest.approx(expected)


@pytest.mark.filterwarnings("default::complabel.answers.IgnoredAnswersWarning")
@pytest.mark.parametrize("name", ["ml-knn", "ccmn"])
def test_methods_without_weights_say_that_they_ignore_them(name):
    named = Answers.from_complementary(COMPLEMENTARY).with_weight(WEIGHTS + 1.0)
    with warns(
        IgnoredAnswersWarning, "SelectionLikelihoodClassifier", "NetworkLikelihoodClassifier"
    ):
        found = brief(name).fit(X, named).decision_function(X)
    expected = brief(name).fit(X, named.with_weight(1)).decision_function(X)
    np.testing.assert_array_equal(found, expected)


def test_a_consensus_refuses_weights():
    classifier = selection(error_rate=0.1).fit(X, ASKED)
    with raises(InputError, "1", "answers.with_weight"):
        classifier.predict_consensus(X, ASKED.with_weight(2))
    assert classifier.predict_consensus(X, ASKED).shape == PROBLEM.Y.shape
