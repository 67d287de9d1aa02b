"""PML-lc and PML-fp: their structure terms, the alternation, and what it learns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse
from sklearn.base import clone
from tests.methods.candidates.by_definition import costs_by_pairs

from complabel import metrics
from complabel.datasets import load_dataset
from complabel.errors import InputError
from complabel.methods.candidates._rank_loss import RankLoss
from complabel.methods.candidates.pml import (
    PMLFPClassifier,
    PMLLCClassifier,
    correlation_laplacian,
    fit_weights,
    label_prototypes,
)
from complabel.simulate import draw_complementary

BOTH = pytest.mark.parametrize("classifier", [PMLLCClassifier, PMLFPClassifier])


def problem(seed=0, n=60, d=5, n_labels=4, asked_for=1):
    """Features whose signs are the labels, noise, and complementary labels of it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4 * n, d))
    Y = (X @ rng.normal(size=(d, n_labels)) > 0).astype(int)
    size = Y.sum(axis=1)
    usable = np.flatnonzero((size > 0) & (size <= n_labels - asked_for))[:n]
    X, Y = X[usable], Y[usable]
    return X, Y, draw_complementary(Y, asked_for=asked_for, random_state=seed)


def test_correlation_term_is_the_weighted_distance_between_columns():
    _, _, complementary = problem(n=30, asked_for=2)
    candidates = 1.0 - complementary
    laplacian = correlation_laplacian(candidates)
    similarity = np.diag(np.diag(laplacian)) - laplacian
    norms = np.linalg.norm(candidates, axis=0)
    cosine = candidates.T @ candidates / np.outer(norms, norms) * (1 - np.eye(4))
    assert_allclose(similarity, cosine / cosine.sum(axis=1).mean(), atol=1e-14)
    P = candidates * np.random.default_rng(6).random(candidates.shape)
    distances = sum(
        similarity[j, k] * ((P[:, j] - P[:, k]) ** 2).sum() for j in range(4) for k in range(j)
    )
    assert np.trace(P @ laplacian @ P.T) == pytest.approx(distances)


def test_reconstruction_term_is_the_squared_distance_to_the_features():
    X, _, complementary = problem(n=20)
    candidates = 1.0 - complementary
    classifier = PMLFPClassifier(C2=0.3)
    term = classifier._structure(X, candidates)(candidates)
    P = candidates * np.random.default_rng(7).random(candidates.shape)
    U = label_prototypes(X, candidates)
    assert term.value(P) == pytest.approx(0.15 * ((X - P @ U) ** 2).sum(), rel=1e-7)
    sparse_term = classifier._structure(sparse.csr_array(X), candidates)(candidates)
    assert sparse_term.value(P) == pytest.approx(term.value(P), rel=1e-12)


def test_prototypes_are_least_squares():
    X, _, complementary = problem(n=30)
    confidences = (1 - complementary) * np.random.default_rng(8).random(complementary.shape)
    expected, *_ = np.linalg.lstsq(confidences, X, rcond=None)
    assert_allclose(label_prototypes(X, confidences), expected, atol=1e-6)


def test_prototype_of_a_label_nobody_believes_is_zero():
    confidences = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert_allclose(label_prototypes(np.array([[2.0], [4.0]]), confidences), [[3.0], [0.0]])


def test_weights_at_full_confidence_solve_plain_ranking():
    X, _, complementary = problem(n=25, d=3)
    candidates = 1.0 - complementary
    shape = (X.shape[1], candidates.shape[1])

    def objective(flat):
        W = flat.reshape(shape)
        return 0.5 * (W**2).sum() + costs_by_pairs(X @ W, candidates, 1.0).sum()

    loss = RankLoss(candidates, weight=1.0)
    W = fit_weights(X, candidates, loss=loss, start=np.zeros(shape), iterations=500)
    reference = optimize.minimize(objective, np.zeros(W.size), method="BFGS")
    assert objective(W.ravel()) == pytest.approx(reference.fun, rel=1e-7)
    assert_allclose(W.ravel(), reference.x, atol=1e-3)


@BOTH
@pytest.mark.parametrize("C2", [0.0, 1e-3, 1.0])
def test_objective_never_rises_and_confidences_stay_feasible(classifier, C2):
    X, _, complementary = problem(asked_for=2)
    model = classifier(C2=C2, tol=0.0, max_iter=8).fit(X, complementary)
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[:-1]).all()
    P = model.confidences_
    assert P.min() >= 0
    assert P.max() <= 1 + 1e-12
    assert P.sum(axis=1).min() >= 1 - 1e-12
    assert not P[complementary == 1].any()


def test_reported_objective_is_the_stated_one():
    X, _, complementary = problem(n=20)
    candidates = 1.0 - complementary
    model = PMLLCClassifier(C1=2.0, C2=0.1).fit(X, complementary)
    P, W = model.confidences_, np.column_stack([model.coef_, model.intercept_])
    pairs = costs_by_pairs(X @ model.coef_.T + model.intercept_, candidates, 2.0)
    trace = np.trace(P @ correlation_laplacian(candidates) @ P.T)
    expected = 0.5 * (W**2).sum() + (P * pairs).sum() + 0.1 * trace
    assert model.objective_[-1] == pytest.approx(expected, rel=1e-10)


@BOTH
def test_relevant_candidates_are_believed_more_than_others(classifier):
    X, Y, complementary = problem(n=300, d=4)
    P = classifier().fit(X, complementary).confidences_
    wrong_candidates = (Y == 0) & (complementary == 0)
    assert P[Y == 1].mean() > P[wrong_candidates].mean() + 0.2


@BOTH
def test_beats_the_constant_ranking(classifier):
    X, Y, complementary = problem(n=400, d=4)
    model = classifier().fit(X[:300], complementary[:300])
    rarely_chosen = np.tile(-complementary[:300].sum(axis=0), (100, 1))
    found = metrics.average_precision(Y[300:], model.decision_function(X[300:]))
    assert found > metrics.average_precision(Y[300:], rarely_chosen) + 0.1


@BOTH
def test_order_of_rows_and_labels_does_not_matter(classifier):
    X, _, complementary = problem()
    expected = classifier().fit(X, complementary).decision_function(X)
    rows = np.random.default_rng(9).permutation(len(X))
    by_rows = classifier().fit(X[rows], complementary[rows]).decision_function(X)
    assert_allclose(by_rows, expected, atol=1e-6)
    labels = [2, 0, 3, 1]
    by_labels = classifier().fit(X, complementary[:, labels]).decision_function(X)
    assert_allclose(by_labels, expected[:, labels], atol=1e-6)


@BOTH
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_equals_dense(classifier, container, fit_intercept):
    X, _, complementary = problem()
    X[np.abs(X) < 0.5] = 0
    model = classifier(fit_intercept=fit_intercept)
    dense = clone(model).fit(X, complementary).predict_proba(X)
    found = model.fit(container(X), complementary).predict_proba(container(X))
    assert_allclose(found, dense, atol=1e-6)


@BOTH
def test_same_fit_twice_is_the_same(classifier):
    X, _, complementary = problem()
    first = classifier().fit(X, complementary)
    second = clone(first).fit(X, complementary)
    assert_array_equal(first.decision_function(X), second.decision_function(X))


@BOTH
def test_without_intercept_an_instance_of_zeros_scores_nothing(classifier):
    X, _, complementary = problem()
    model = classifier(fit_intercept=False).fit(X, complementary)
    assert not model.intercept_.any()
    assert not model.predict(np.zeros((1, X.shape[1]))).any()


@BOTH
def test_rows_are_predicted_one_by_one(classifier):
    X, _, complementary = problem()
    model = classifier().fit(X, complementary)
    alone = np.vstack([model.decision_function(row[None]) for row in X])
    assert_allclose(model.decision_function(X), alone, atol=1e-12)


@BOTH
def test_predicts_the_upper_half_of_the_range(classifier):
    X, _, complementary = problem()
    model = classifier().fit(X, complementary)
    raw = X @ model.coef_.T + model.intercept_
    assert_array_equal(model.predict(X), metrics.threshold_minmax(raw))
    assert_array_equal(model.predict(X), metrics.threshold_minmax(model.predict_proba(X)))


def test_row_of_equal_scores_is_cut_at_one_half():
    scores = np.array([[0.2, 0.2], [0.7, 0.7], [-1.0, 1.0]])
    assert_array_equal(PMLLCClassifier()._log_odds(scores) > 0, metrics.threshold_minmax(scores))


@BOTH
def test_constant_feature_and_never_chosen_label_are_no_trouble(classifier):
    X, _, complementary = problem()
    X[:, 0] = 3.0
    complementary[:, 0] = 0
    complementary[complementary.sum(axis=1) == 0, 1] = 1
    with pytest.warns(UserWarning, match="label 0"):
        model = classifier().fit(X, complementary)
    assert np.isfinite(model.predict_proba(X)).all()


@BOTH
@pytest.mark.filterwarnings("ignore::complabel.answers.ClassPerRowWarning")
def test_two_classes_given_as_one_per_row(classifier):
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    model = classifier(C1=10.0).fit(X, np.array(["b", "b", "a", "a"]))
    assert_array_equal(model.predict(X), ["a", "a", "b", "b"])


@BOTH
@pytest.mark.parametrize(
    "parameter",
    [
        {"C1": 0.0},
        {"C2": -1.0},
        {"tol": float("nan")},
        {"max_iter": 0},
        {"weight_iterations": 2.5},
        {"confidence_iterations": 0},
    ],
)
def test_parameters_out_of_range_are_named(classifier, parameter):
    X, _, complementary = problem(n=10)
    (name,) = parameter
    with pytest.raises(InputError, match=name):
        classifier(**parameter).fit(X, complementary)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("classifier", "dataset", "average_precision"),
    [
        (PMLLCClassifier, "scene", 0.780),
        (PMLFPClassifier, "scene", 0.788),
        (PMLLCClassifier, "yeast", 0.689),
        (PMLFPClassifier, "yeast", 0.715),
    ],
)
def test_real_data_stays_at_the_level_measured(classifier, dataset, average_precision, data_dir):
    data = load_dataset(dataset, data_dir=data_dir)
    complementary = draw_complementary(data.Y, random_state=0)
    held_out = np.arange(len(data.Y)) % 5 == 0
    model = classifier(max_iter=8).fit(data.X[~held_out], complementary[~held_out])
    scores = model.decision_function(data.X[held_out])
    found = metrics.average_precision(data.Y[held_out], scores)
    assert found == pytest.approx(average_precision, abs=0.02)
