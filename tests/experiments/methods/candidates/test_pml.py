"""PML-lc and PML-fp: their structure terms, the alternation, and what it learns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse
from tests.examples import examples
from tests.experiments.methods.candidates.by_definition import costs_by_pairs, random_candidates

from complabel import metrics
from complabel.experiments.methods.candidates.pml import (
    PMLFPClassifier,
    PMLLCClassifier,
    Quadratic,
    RankLoss,
    correlation_laplacian,
    fit_weights,
    label_prototypes,
    project_confidences,
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
    term = classifier._structure(X, candidates, candidates)
    P = candidates * np.random.default_rng(7).random(candidates.shape)
    U = label_prototypes(X, candidates)
    assert term.value(P) == pytest.approx(0.15 * ((X - P @ U) ** 2).sum(), rel=1e-7)
    sparse_term = classifier._structure(sparse.csr_array(X), candidates, candidates)
    assert sparse_term.value(P) == pytest.approx(term.value(P), rel=1e-12)


def test_prototypes_are_least_squares():
    X, _, complementary = problem(n=30)
    confidences = (1 - complementary) * np.random.default_rng(8).random(complementary.shape)
    expected, *_ = np.linalg.lstsq(confidences, X, rcond=None)
    assert_allclose(label_prototypes(X, confidences), expected, atol=1e-6)


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
def test_beats_the_constant_ranking(classifier):
    X, Y, complementary = problem(n=400, d=4)
    model = classifier().fit(X[:300], complementary[:300])
    rarely_chosen = np.tile(-complementary[:300].sum(axis=0), (100, 1))
    found = metrics.average_precision(Y[300:], model.decision_function(X[300:]))
    assert found > metrics.average_precision(Y[300:], rarely_chosen) + 0.1


@BOTH
def test_predicts_the_upper_half_of_the_range(classifier):
    X, _, complementary = problem()
    model = classifier().fit(X, complementary)
    raw = X @ model.coef_.T + model.intercept_
    assert_array_equal(model.predict(X), metrics.threshold_minmax(raw))
    assert_array_equal(model.predict(X), metrics.threshold_minmax(model.predict_proba(X)))


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 30.0]))
@examples(40)
def test_projection_is_that_of_a_generic_solver(seed, scale):
    rng = np.random.default_rng(seed)
    values = scale * rng.normal(size=5)
    allowed = random_candidates(rng, (1, 5)).astype(bool)[0]
    found = project_confidences(values[None], allowed[None])[0]
    start = allowed / allowed.sum()
    generic = optimize.minimize(
        lambda p: 0.5 * ((p - values) ** 2).sum(),
        start,
        jac=lambda p: p - values,
        bounds=[(0.0, float(a)) for a in allowed],
        constraints={"type": "ineq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert_allclose(found, generic.x, atol=1e-5 * max(1, scale))
    assert found.min() >= 0
    assert found.max() <= 1 + 1e-15
    assert found.sum() >= 1 - 1e-12
    assert not found[~allowed].any()


def test_quadratic_program_meets_a_generic_solver():
    rng = np.random.default_rng(3)
    root = rng.normal(size=(4, 4))
    linear = rng.normal(size=(3, 4))
    term = Quadratic(root @ root.T, linear, 2.0)
    allowed = random_candidates(rng, (3, 4)).astype(bool)
    found = term.minimize(allowed.astype(float), allowed, steps=5000, tolerance=1e-13)
    for i in range(3):
        row = Quadratic(term.matrix, linear[i : i + 1])
        generic = optimize.minimize(
            lambda p, row=row: row.value(p[None]),
            allowed[i] / allowed[i].sum(),
            bounds=[(0.0, float(a)) for a in allowed[i]],
            constraints={"type": "ineq", "fun": lambda p: p.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert row.value(found[i : i + 1]) == pytest.approx(generic.fun, abs=1e-7)
        assert_allclose(found[i], generic.x, atol=1e-4)


# Rows are sorted, or complementary labels are compared one by one.
WAYS = pytest.mark.parametrize("most_others", [0, 6])


@WAYS
@given(hnp.arrays(np.float64, (5, 6), elements=st.floats(-20, 20)), st.integers(0, 2**32 - 1))
def test_both_ways_equal_pairs_with_ties_and_many_complementary_labels(most_others, scores, seed):
    rng = np.random.default_rng(seed)
    scores = np.round(scores, 1)  # exact ties, also at the margin
    candidates = random_candidates(rng, scores.shape)
    confidences = candidates * rng.random(scores.shape)
    loss = RankLoss(candidates, weight=1.0, most_others=most_others)
    expected = costs_by_pairs(scores, candidates, 1.0)
    assert_allclose(loss.costs(scores), expected, atol=1e-9)
    value, _ = loss.value_and_gradient(scores, confidences)
    assert value == pytest.approx((expected * confidences).sum(), abs=1e-9)


@WAYS
def test_gradient_is_that_of_finite_differences(most_others):
    rng = np.random.default_rng(1)
    candidates = random_candidates(rng, (4, 6))
    confidences = candidates * rng.random(candidates.shape)
    scores = rng.normal(size=candidates.shape)
    loss = RankLoss(candidates, weight=1.5, most_others=most_others)
    _, gradient = loss.value_and_gradient(scores, confidences)
    numeric = optimize.approx_fprime(
        scores.ravel(),
        lambda flat: loss.value_and_gradient(flat.reshape(scores.shape), confidences)[0],
        1e-6,
    )
    assert_allclose(gradient.ravel(), numeric, atol=1e-5)


@BOTH
def test_dense_features_that_are_mostly_0_give_the_scores_of_sparse_ones(classifier):
    X, _, complementary = problem()
    X = np.where(np.random.default_rng(2).random(X.shape) < 0.05, X, 0.0)
    dense, of_csr = (classifier().fit(x, complementary) for x in (X, sparse.csr_array(X)))
    assert_allclose(dense.coef_, of_csr.coef_, rtol=1e-9, atol=1e-12)
