"""What every method of the registry promises."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse, special
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.methods.small import (
    COMPLEMENTARY,
    FAMILIES,
    LEARNERS,
    N_FEATURES,
    N_LABELS,
    N_SAMPLES,
    PROBLEM,
    Recorder,
    brief,
    targets_of,
)
from tests.refusals import raises

from complabel import metrics
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.methods import METHODS, ComplementaryClassifier
from complabel.methods._decisions import RegressionScores, ScoresAroundHalf, labels_above
from complabel.methods._door import warn_assumed
from complabel.simulate import draw_answers, draw_complementary

X = np.where(np.abs(PROBLEM.X) < 0.3, 0.0, PROBLEM.X)

every_method = pytest.mark.parametrize("name", METHODS)
every_learner = pytest.mark.parametrize("name", LEARNERS)
unheard = pytest.mark.filterwarnings(
    "ignore::complabel.answers.IgnoredAnswersWarning",
    "ignore::complabel.answers.UnchosenLabelWarning",
    "ignore::complabel.answers.UnansweredRowWarning",
    "ignore::complabel.answers.ClassPerRowWarning",
)


@every_method
def test_a_fitted_method_and_its_copies(name):
    features, targets = X.copy(), targets_of(name).copy()
    classifier = brief(name).fit(features, targets)
    decision, probability = classifier.decision_function(features), classifier.predict_proba(X)
    predicted, score = classifier.predict(X), classifier.score(features, targets)
    for output in (decision, probability, predicted):
        assert output.shape == (N_SAMPLES, N_LABELS)
    assert decision.dtype == probability.dtype == np.float64
    assert predicted.dtype == np.int64
    assert np.isfinite(decision).all()
    assert np.isfinite(score)
    assert 0 <= probability.min() <= probability.max() <= 1
    assert set(np.unique(predicted)) <= {0, 1}
    assert classifier.n_features_in_ == N_FEATURES
    np.testing.assert_array_equal(classifier.classes_, range(N_LABELS))
    for scores, chances in zip(decision, probability, strict=True):  # ordered alike
        assert (np.diff(chances[np.argsort(scores, kind="stable")]) >= -1e-12).all()
    both = classifier.predict_with_proba(X)
    np.testing.assert_array_equal(both[0], predicted)
    np.testing.assert_array_equal(both[1], probability)
    loaded = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(loaded.predict_proba(X), probability)
    copy = clone(classifier)
    assert copy.get_params() == classifier.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(X)
    for again in (copy, classifier):  # the seed fixes the fit, and a fit forgets the one before
        np.testing.assert_array_equal(again.fit(X, targets).decision_function(X), decision)
    np.testing.assert_array_equal(features, X)  # what a method is given stays as it was
    np.testing.assert_array_equal(targets, targets_of(name))


@every_method
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_features_give_the_scores_of_dense_ones(name, kind):
    targets = targets_of(name)
    expected = brief(name).fit(X, targets).decision_function(X)
    found = brief(name).fit(kind(X), targets)
    np.testing.assert_allclose(found.decision_function(kind(X)), expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found.decision_function(X), expected, rtol=1e-3, atol=1e-3)


@every_learner
def test_several_complementary_labels_per_row_are_accepted(name):
    kept = PROBLEM.Y.sum(axis=1) <= N_LABELS - 2
    several = draw_complementary(PROBLEM.Y[kept], asked_for=2, random_state=0)
    relevant = np.zeros_like(several)
    classifier = brief(name).fit(X[kept], several, relevant=relevant)
    assert np.isfinite(classifier.decision_function(X)).all()
    assert np.isfinite(classifier.score(X[kept], several))
    assert not relevant.any()


@unheard
@pytest.mark.parametrize("name", FAMILIES)
def test_one_class_per_row_is_predicted_as_one_class_per_row(name):
    classes = np.array(["3", "5", "7", "9"])
    y = classes[COMPLEMENTARY.argmax(axis=1)]
    classifier = brief(name).fit(X, y)
    predicted, probability = classifier.predict(X), classifier.predict_proba(X)
    np.testing.assert_array_equal(predicted, classes[probability.argmax(axis=1)])
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert np.isfinite(classifier.score(X, y))


@pytest.mark.parametrize("name", FAMILIES)
def test_the_labels_of_a_column_are_in_the_order_of_the_classes(name):
    """What teaches with which label is the same whatever the labels are called."""
    turned = [2, 0, 3, 1]
    first, second = (
        brief(name, epochs=80, C1=10.0).fit(X, targets_of(name)[:, order]).decision_function(X)
        for order in ([0, 1, 2, 3], turned)
    )
    found = [np.corrcoef(first[:, label], second[:, at])[0, 1] for at, label in enumerate(turned)]
    assert min(found) > 0.5


@unheard
@pytest.mark.parametrize("name", LEARNERS)
def test_every_method_learns_from_answers(name):
    expected = brief(name).fit(X, COMPLEMENTARY).decision_function(X)
    free = brief(name).fit(X, Answers.from_complementary(COMPLEMENTARY))
    np.testing.assert_allclose(free.decision_function(X), expected, rtol=1e-6, atol=1e-8)
    asked = draw_answers(PROBLEM.Y, question="asked", answers_per_item=2, random_state=0)
    classifier = brief(name).fit(X, asked)
    assert np.isfinite(classifier.score(X, asked))


@unheard
def test_answers_are_split_searched_and_validated_with_their_rows():
    answers = draw_answers(PROBLEM.Y, question="asked", answers_per_item=3, random_state=0)
    scores = cross_val_score(brief("ridge"), X, answers, cv=3, error_score="raise")
    for at, score in enumerate(scores):
        test = np.arange(30 * at, 30 * at + 30)
        train = np.setdiff1d(np.arange(N_SAMPLES), test)
        alone = brief("ridge").fit(X[train], answers[train])
        assert score == pytest.approx(alone.score(X[test], answers[test]))
    search = GridSearchCV(
        make_pipeline(StandardScaler(), brief("ridge")),
        {"complementaryridgeclassifier__alpha": [0.1, 100.0]},
        scoring=metrics.complementary_ranking_scorer,
        cv=3,
        error_score="raise",
    ).fit(X, answers)
    assert np.isfinite(search.best_score_)
    assert search.predict(X).shape == PROBLEM.Y.shape
    *_, rows, _, train, _ = train_test_split(X, np.arange(N_SAMPLES), answers, random_state=0)
    np.testing.assert_array_equal(train.complementary, answers.complementary[rows])


class ByNearness(ComplementaryClassifier):
    """A method as somebody might add it: scores by the distance to a label's mean."""

    def _fit(self, X, labels, known):
        self.centres_ = (labels.T @ X) / labels.sum(axis=0)[:, None]

    def _decision(self, X):
        return np.linalg.norm(X[:, None, :] - self.centres_[None], axis=2) - 2.0


def test_a_method_without_likelihood_is_scored_by_its_ranking_error():
    classifier = ByNearness().fit(X, COMPLEMENTARY)
    decision = classifier.decision_function(X)
    expected = -metrics.complementary_ranking_error(COMPLEMENTARY, decision)
    assert classifier.score(X, COMPLEMENTARY) == pytest.approx(expected)
    assert -1 < expected < 0
    np.testing.assert_array_equal(classifier.predict(X), decision > 0)
    np.testing.assert_allclose(classifier.predict_proba(X), 1 / (1 + np.exp(-decision)))


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "supervised"])
def test_a_higher_score_is_a_better_fit(name):
    classifier = brief(name, epochs=100).fit(X, COMPLEMENTARY)
    # Other labels handed over as the complementary ones must look worse.
    others = [np.roll(COMPLEMENTARY, shift, axis=1) for shift in range(1, N_LABELS)]
    worse = np.mean([classifier.score(X, other) for other in others])
    assert classifier.score(X, COMPLEMENTARY) > worse


def with_entry(kind, entry=np.nan):
    spoilt = np.where(X == 0, 0.5, X)
    spoilt[7, 2] = spoilt[11, 0] = entry
    return kind(spoilt)


@pytest.mark.parametrize("entry", [np.nan, np.inf])
@pytest.mark.parametrize(
    "kind", [np.asarray, sparse.csr_array, np.ndarray.tolist, lambda rows: rows.astype(object)]
)
def test_entries_that_are_not_finite_are_located(kind, entry):
    rows, classifier = with_entry(kind, entry), Recorder().fit(X, COMPLEMENTARY)
    for use in (classifier.predict, lambda rows: Recorder().fit(rows, COMPLEMENTARY)):
        with raises(InputError, "2 entries", "row 7", "column 2"):
            use(rows)


@pytest.mark.parametrize(
    ("features", "found"),
    [
        (X[:, 0], "array.reshape"),
        (X[:0], "0 sample"),
        (X[:, :0], "0 feature"),
        (X * 1j, ()),
        (X[:-1], ("X", "89 rows", "90")),
    ],
)
def test_features_must_be_a_matrix_with_rows_and_columns(features, found):
    with raises(InputError, found) as caught:
        Recorder().fit(features, COMPLEMENTARY)
    assert "array=" not in str(caught.value)


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_refused_of_a_method(name):
    classifier, targets = brief(name), targets_of(name)
    for use in (classifier.predict, classifier.predict_proba, classifier.decision_function):
        with raises(NotFittedError, "'fit'"):
            use(X)
    with raises(NotFittedError, "'fit'"):
        classifier.score(X, targets)
    classifier.threshold = "half"
    with raises(InputError, "threshold", "'probability'", "'minmax'"):
        classifier.fit(X, targets)
    with raises(InputError, "X", "3 features", "5 features"):
        brief(name).fit(X, targets).predict(X[:, :3])


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("mlcl", {"transition": "unifrm"}),
        *(("mlcl", {"beta": each}) for each in (-0.5, NAN, INF, "1")),
        *(("mlcl", {"learning_rate": each}) for each in ("fast", 0, -0.1, None)),
        *(("mlcl", {"device": each}) for each in ("cuda:99", "abacus")),
        *(("mlcl", {"random_state": each}) for each in (-1, "seed")),
        ("mlcl", {"correlation": "pearson"}),
        ("mlcl", {"bias_init": "zero"}),
        ("mlcl", {"epochs": 0}),
        ("mlcl", {"batch_size": 2.5}),
        ("mlcl", {"weight_decay": -1}),
        *(("gdf", {"cut": each}) for each in (0.0, 1.0)),
        ("gdf", {"optimizer": "rmsprop"}),
        ("gdf", {"momentum": 2.0}),
        ("gdf", {"milestones": 100}),
        *(("ccmn", {"label_frequencies": each}) for each in ("true", [0.5] * 2, [0.5, 0.5, 0, 2])),
        ("comes-rl", {"flooding": -1.0}),
        *(("ridge", {"alpha": each}) for each in (0.0, "best")),
        *(("ridge", {"rank": each}) for each in (0, 5, "full")),
        *(("ridge", {"cv": each}) for each in (1, 91)),
        *(("ml-knn", {"n_neighbors": each}) for each in (0, 2.5, 90)),
        *(("ml-knn", {"smoothing": each}) for each in (-1.0, NAN)),
        *(("lift", {"ratio": each}) for each in (0.0, 1.5)),
        *(("lift", {"svm_max_iter": each}) for each in (0, "all")),
        ("lift", {"C": -1.0}),
        ("lift", {"solver": "hinge"}),
        *(("fpml", {"rank": each}) for each in (0, 5)),
        *(("fpml", {name: value}) for name, value in (("lambda1", -1), ("lambda2", INF))),
        ("fpml", {"lambda3": 0.0}),
        ("fpml", {"tol": NAN}),
        ("fpml", {"max_iter": 0}),
        *(("pml-lc", {"C1": each}) for each in (0.0, NAN)),
        ("pml-fp", {"C2": -1.0}),
        ("pml-lc", {"weight_iterations": 2.5}),
        ("pml-lc", {"confidence_iterations": 0}),
        *(("pml-lrs", {name: -0.5}) for name in ("gamma", "eta", "tol")),
        ("pml-lrs", {"beta": NAN}),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(name, settings):
    (parameter,) = settings
    with raises(InputError, parameter):
        brief(name).set_params(**settings).fit(X, COMPLEMENTARY)


def test_an_assumption_is_told_once_unless_each_warning_is_asked_for():
    def given(action):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter(action)
            for text in ("once upon a time", "once upon a time", "there was"):
                warn_assumed(text)
        return [(str(each.message), each.filename) for each in caught]

    assert given("default") == [("once upon a time", __file__), ("there was", __file__)]
    assert given("default") == []
    assert len(given("always")) == 3


SCORES = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.floats(-6, 6)
)


@given(SCORES, st.floats(0.05, 0.95))
def test_a_probability_is_held_against_the_cut(log_odds, cut):
    f = special.expit(log_odds)
    far = np.abs(f - cut) > 1e-9  # what is nearer depends on rounding
    predicted = labels_above(log_odds, threshold="probability", cut=cut)
    np.testing.assert_array_equal(predicted[far], (f > cut)[far])


def test_probabilities_that_round_to_one_are_told_apart():
    log_odds = np.array([[50.0, 60.0, 70.0], [-800.0, -900.0, -700.0]])
    predicted = labels_above(log_odds, threshold="minmax", cut=0.5)
    # 1 - f is 1.9e-22, 8.8e-27 and 4e-31: the middle one is much nearer to the greatest.
    np.testing.assert_array_equal(predicted, [[0, 1, 1], [0, 0, 1]])


def test_certain_labels_have_infinite_log_odds_and_a_place_in_the_row():
    log_odds = ScoresAroundHalf()._log_odds(np.array([[-0.5, 0.5, 0.1], [0.5, 0.5, 0.5]]))
    np.testing.assert_allclose(special.expit(log_odds), [[0, 1, 0.6], [1, 1, 1]])
    predicted = labels_above(log_odds, threshold="minmax", cut=0.5)
    np.testing.assert_array_equal(predicted, [[0, 1, 1], [1, 1, 1]])
    for least in (np.finfo(float).tiny, 1e-20):  # above one half, by so little
        log_odds = ScoresAroundHalf()._log_odds(np.array([[least, -least, 0.0]]))
        predicted = labels_above(log_odds, threshold="probability", cut=0.5)
        np.testing.assert_array_equal(predicted, [[1, 0, 0]])


def test_a_regression_score_is_near_f_at_the_cut():
    scores = np.linspace(-0.05, 0.05, 5)
    f = special.expit(RegressionScores()._log_odds(scores))
    np.testing.assert_allclose(f, scores + 0.5, atol=1e-3)


def test_a_notebook_shows_a_classifier_and_no_link_to_pages_that_do_not_know_it():
    shown = METHODS["ridge"].classifier(alpha=0.125)._repr_html_()
    assert "ComplementaryRidgeClassifier" in shown
    assert "0.125" in shown
    assert "href=" not in shown
