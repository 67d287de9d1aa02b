"""MLCL as a whole: what it learns, its ablations, its parameters, and its place in searches."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from complabel.answers import UnchosenLabelWarning
from complabel.errors import TransitionError
from complabel.methods import MLCLClassifier, PriorClassifier, SupervisedBCEClassifier
from complabel.simulate import draw_complementary, draw_relevant
from complabel.transition import (
    corrected_transition,
    label_correlation,
    phi_correlation,
    uniform_transition,
)

FAST = {"epochs": 60, "learning_rate": 0.05, "batch_size": 128, "random_state": 0}
TRAIN, TEST = slice(0, 1000), slice(1000, None)


@pytest.fixture(scope="module")
def fitted(X, complementary):
    return MLCLClassifier(**FAST).fit(X[TRAIN], complementary[TRAIN])


def brief(**settings):
    """A fit too short to learn, long enough to see what it does."""
    return MLCLClassifier(**{"epochs": 2, "random_state": 0, **settings})


def test_recovers_the_ranking_far_better_than_the_constant_one(
    fitted, precision_of, X, relevant, complementary
):
    constant = precision_of(PriorClassifier().fit(X[TRAIN], complementary[TRAIN]))
    full = precision_of(SupervisedBCEClassifier(**FAST).fit(X[TRAIN], relevant[TRAIN]))
    found = precision_of(fitted)
    assert found > constant + 0.3
    assert found > full - 0.05


def test_the_order_of_labels_is_that_of_the_generating_probabilities(fitted, problem, X):
    exact = problem.probabilities[TEST]
    pairs = np.triu_indices(exact.shape[1], 1)
    gap = exact[:, pairs[0]] - exact[:, pairs[1]]
    scores = fitted.decision_function(X[TEST])
    found = scores[:, pairs[0]] - scores[:, pairs[1]]
    clear = np.abs(gap) > 0.3
    assert np.mean(np.sign(found[clear]) == np.sign(gap[clear])) > 0.95


@pytest.mark.parametrize(
    "settings",
    [{"correlation": None}, {"correlation": "phi"}, {"beta": 0.0}, {"transition": "uniform"}],
    ids=str,
)
def test_every_ablation_still_learns_but_something_else(
    settings, fitted, precision_of, X, complementary
):
    ablated = MLCLClassifier(**FAST, **settings).fit(X[TRAIN], complementary[TRAIN])
    assert precision_of(ablated) > 0.85
    assert np.abs(ablated.coef_ - fitted.coef_).max() > 1e-3


def test_a_known_transition_is_used_as_it_is(problem, precision_of, X, complementary):
    classifier = MLCLClassifier(**FAST, transition=problem.transition)
    classifier.fit(X[TRAIN], complementary[TRAIN])
    np.testing.assert_array_equal(classifier.transition_, problem.transition)
    assert not hasattr(classifier, "initial_transition_")
    assert not hasattr(classifier, "label_correlation_")
    assert precision_of(classifier) > 0.8


def test_uniform_is_the_known_uniform_matrix(X, complementary):
    by_name = brief(transition="uniform").fit(X, complementary)
    np.testing.assert_array_equal(by_name.transition_, uniform_transition(5))
    by_matrix = brief(transition=uniform_transition(5).tolist()).fit(X, complementary)
    np.testing.assert_array_equal(by_matrix.coef_, by_name.coef_)


def test_the_initial_transition_averages_a_softmax_regression(X, complementary):
    # Trained to convergence, g is scikit-learn's multinomial logistic regression: weight decay w
    # is a ridge of C = 1 / (n w). S then averages its probabilities over the candidates of k.
    classifier = MLCLClassifier(epochs=300, learning_rate=0.05, batch_size=1000, random_state=0)
    classifier.fit(X[TRAIN], complementary[TRAIN])
    ridge = LogisticRegression(C=1 / (1000 * classifier.weight_decay), tol=1e-8)
    ridge.fit(X[TRAIN], complementary[TRAIN].argmax(axis=1))
    g = ridge.predict_proba(X[TRAIN])
    expected = np.array([g[complementary[TRAIN][:, k] == 0].mean(axis=0) for k in range(5)])
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(classifier.initial_transition_, expected, atol=2e-3)


def test_the_correction_is_made_of_the_stored_matrices(fitted, complementary):
    expected = label_correlation(complementary[TRAIN])
    np.testing.assert_array_equal(fitted.label_correlation_, expected)
    np.testing.assert_array_equal(
        fitted.transition_, corrected_transition(fitted.initial_transition_, expected)
    )


def test_without_correlation_the_initial_matrix_is_only_normalized(X, complementary):
    classifier = brief(correlation=None).fit(X, complementary)
    expected = corrected_transition(classifier.initial_transition_)
    np.testing.assert_array_equal(classifier.transition_, expected)
    assert not hasattr(classifier, "label_correlation_")


def test_phi_takes_the_place_of_the_rates(X, complementary):
    classifier = brief(correlation="phi").fit(X, complementary)
    phi = phi_correlation(complementary)
    np.testing.assert_array_equal(classifier.label_correlation_, phi)
    np.testing.assert_array_equal(
        classifier.transition_, corrected_transition(classifier.initial_transition_, phi)
    )


def test_the_ablations_share_the_first_step(X, complementary):
    first_steps = [
        brief(**settings).fit(X, complementary).initial_transition_
        for settings in ({}, {"correlation": None}, {"correlation": "phi"}, {"beta": 0.0})
    ]
    for other in first_steps[1:]:
        np.testing.assert_array_equal(other, first_steps[0])


def test_a_second_fit_forgets_what_only_the_first_estimated(X, complementary):
    classifier = brief().fit(X, complementary)
    classifier.set_params(transition="uniform").fit(X, complementary)
    assert not hasattr(classifier, "initial_transition_")
    assert not hasattr(classifier, "label_correlation_")


def test_known_relevant_labels_improve_the_ranking(
    fitted, precision_of, X, relevant, complementary
):
    known = draw_relevant(relevant, random_state=1)
    told = MLCLClassifier(**FAST).fit(X[TRAIN], complementary[TRAIN], relevant=known[TRAIN])
    assert precision_of(told) > precision_of(fitted) + 0.005


def test_knowing_nothing_relevant_is_the_same_as_not_being_told(X, complementary):
    untold = brief().fit(X, complementary)
    told = brief().fit(X, complementary, relevant=np.zeros_like(complementary))
    np.testing.assert_allclose(told.coef_, untold.coef_, atol=1e-6)


def test_more_complementary_labels_per_row_teach_more(precision_of, X, relevant):
    # Few rows, so that labels are what is scarce.
    rows = np.flatnonzero(relevant[TRAIN].sum(axis=1) <= 2)[:150]
    found = []
    for asked_for in (1, 3):
        several = draw_complementary(relevant[rows], asked_for=asked_for, random_state=0)
        found.append(precision_of(MLCLClassifier(**FAST).fit(X[rows], several)))
    assert found[1] > found[0]


def test_score_is_the_mean_log_likelihood_of_complementary_labels(fitted, X, complementary):
    held_out = complementary[TEST]
    implied = fitted.predict_proba(X[TEST]) @ fitted.transition_
    q = implied / implied.sum(axis=1, keepdims=True)
    expected = np.mean(np.log(q[held_out == 1]))
    assert fitted.score(X[TEST], held_out) == pytest.approx(expected)
    assert expected > np.log(1 / 5)


def test_the_default_rule_is_one_half(fitted, X):
    probability = fitted.predict_proba(X)
    np.testing.assert_array_equal(fitted.predict(X), probability > 0.5)
    np.testing.assert_array_equal(fitted.predict(X), fitted.decision_function(X) > 0)


def test_minmax_cuts_each_row_in_the_middle_of_its_range(fitted, X, complementary):
    classifier = MLCLClassifier(**FAST, threshold="minmax").fit(X[TRAIN], complementary[TRAIN])
    probability = classifier.predict_proba(X)
    np.testing.assert_array_equal(probability, fitted.predict_proba(X))
    middle = (probability.min(axis=1) + probability.max(axis=1)) / 2
    away = np.abs(probability - middle[:, None]) > 1e-9
    expected = probability > middle[:, None]
    np.testing.assert_array_equal(classifier.predict(X)[away], expected[away])
    assert (classifier.predict(X) != fitted.predict(X)).any()


def test_coef_and_intercept_are_the_linear_map(fitted, X):
    assert fitted.coef_.shape == (5, 6)
    assert fitted.intercept_.shape == (5,)
    expected = X @ fitted.coef_.T + fitted.intercept_
    np.testing.assert_allclose(fitted.decision_function(X), expected, atol=1e-12)
    np.testing.assert_allclose(fitted.predict_proba(X), 1 / (1 + np.exp(-expected)), atol=1e-12)


def test_clone_keeps_every_parameter(problem):
    classifier = brief(
        transition=problem.transition, correlation=None, beta=0.3, threshold="minmax"
    )
    copy = clone(classifier)
    np.testing.assert_array_equal(copy.transition, problem.transition)
    for name, value in classifier.get_params().items():
        if name != "transition":
            assert getattr(copy, name) == value


def label_free_score(classifier, X, complementary):
    """Held-out mean log-likelihood by the definition."""
    implied = classifier.predict_proba(X) @ classifier.transition_
    q = implied / implied.sum(axis=1, keepdims=True)
    return np.mean(np.log(q[complementary == 1]))


def test_searches_and_cross_validation_score_without_true_labels(X, complementary):
    X, complementary = X[:400], complementary[:400]
    folds = KFold(3, shuffle=True, random_state=0)
    grid = {"mlcl__learning_rate": [1e-4, 0.05], "mlcl__beta": [0.0, 1.0]}
    pipeline = Pipeline([("scale", StandardScaler()), ("mlcl", brief(epochs=15))])
    search = GridSearchCV(pipeline, grid, cv=folds, error_score="raise").fit(X, complementary)
    assert search.best_params_["mlcl__learning_rate"] == 0.05
    best = clone(pipeline).set_params(**search.best_params_)
    by_hand = []
    for train, test in folds.split(X):
        scale = StandardScaler().fit(X[train])
        mlcl = clone(best["mlcl"]).fit(scale.transform(X[train]), complementary[train])
        by_hand.append(label_free_score(mlcl, scale.transform(X[test]), complementary[test]))
    assert search.best_score_ == pytest.approx(np.mean(by_hand))
    np.testing.assert_allclose(cross_val_score(best, X, complementary, cv=folds), by_hand)
    assert search.predict(X).shape == (400, 5)
    assert search.score(X, complementary) == search.best_estimator_.score(X, complementary)


def test_known_relevant_labels_follow_their_rows_into_a_search(X, relevant, complementary):
    # A relevant label that left its row would soon meet its own complementary label.
    known = draw_relevant(relevant, random_state=0)
    pipeline = Pipeline([("scale", StandardScaler()), ("mlcl", brief())])
    search = GridSearchCV(pipeline, {"mlcl__beta": [0.0, 1.0]}, cv=3, error_score="raise")
    search.fit(X, complementary, mlcl__relevant=known)
    told = clone(search.best_estimator_).fit(X, complementary, mlcl__relevant=known)
    np.testing.assert_array_equal(search.predict_proba(X), told.predict_proba(X))
    untold = clone(search.best_estimator_).fit(X, complementary)
    assert np.abs(told.predict_proba(X) - untold.predict_proba(X)).max() > 1e-4


@pytest.mark.parametrize(
    ("transition", "message"),
    [
        (uniform_transition(4), r"shape \(4, 4\), but there are 5 labels"),
        (np.eye(5), "non-zero diagonal"),
        (2 * uniform_transition(5), "does not sum to 1"),
    ],
)
def test_a_known_transition_is_checked(transition, message, X, complementary):
    with pytest.raises(TransitionError, match=message):
        brief(transition=transition).fit(X, complementary)


def test_a_label_chosen_in_every_row_cannot_be_estimated(X, complementary):
    everywhere = complementary.copy()
    everywhere[:, 2] = 1
    with pytest.raises(TransitionError, match="label 2 is complementary for every instance"):
        brief().fit(X, everywhere)


def test_a_label_never_chosen_is_warned_of_and_phi_cannot_be_had(X, complementary):
    unchosen = complementary.copy()
    unchosen[unchosen[:, 4] == 1, 0] = 1
    unchosen[:, 4] = 0
    with pytest.warns(UnchosenLabelWarning, match="label 4;"):
        classifier = brief().fit(X, unchosen)
    assert np.isfinite(classifier.score(X, unchosen))
    with (
        pytest.warns(UnchosenLabelWarning, match="label 4;"),
        pytest.raises(
            TransitionError, match=r"label 4 has a constant .* use correlation='cooccurr"
        ),
    ):
        brief(correlation="phi").fit(X, unchosen)


def test_a_row_weighs_the_same_however_many_labels_it_has(X, relevant):
    # The first model starts near the uniform one, whose cross-entropy is log K for any distribution
    # over labels; labels that did not add up to 1 would make it a multiple of that.
    told = []
    draws = draw_complementary(relevant, asked_for=2, random_state=0)
    assert draws.sum(axis=1).mean() > 1.5
    classifier = brief(epochs=1, learning_rate=1e-9, callback=lambda *at: told.append(at))
    classifier.fit(np.zeros((len(draws), 10_000)), draws)
    (stage, *_, loss) = told[0]
    assert stage == "transition"
    assert loss == pytest.approx(np.log(5), rel=0.02)  # biases start within .01
