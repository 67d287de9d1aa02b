"""fPML: each block against the objective written out, its limits, and what it learns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from complabel.experiments.methods.candidates.fpml import Factorization, Factors, FPMLClassifier

LAMBDAS = (0.7, 1.3, 0.4)


class WrittenOut:
    """The problem with S as a matrix and every formula as in the paper."""

    def __init__(self, *, n_samples=14, n_features=4, n_labels=5, rank=2, seed=0):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(n_samples, n_features))
        self.T = (rng.random(size=(n_samples, n_labels)) < 0.7).astype(float)
        shapes = {
            "S": (n_samples, rank),
            "F": (n_features, rank),
            "G": (n_labels, rank),
            "W": (n_features, n_labels),
        }
        self.point = {name: rng.normal(size=shape) for name, shape in shapes.items()}

    def factorization(self):
        return Factorization(self.X, self.T, lambdas=LAMBDAS)

    def factors(self):
        return Factors(self.point["F"], self.point["G"], self.point["W"])

    def best_samples(self):
        lambda1, lambda2, lambda3 = LAMBDAS
        F, G, W = (self.point[name] for name in "FGW")
        right = self.T @ G + lambda1 * self.X @ F + lambda2 * self.X @ W @ G
        matrix = (1 + lambda2) * G.T @ G + lambda1 * F.T @ F + lambda3 * np.eye(G.shape[1])
        return right @ np.linalg.inv(matrix)

    def objective(self, **changed):
        lambda1, lambda2, lambda3 = LAMBDAS
        S, F, G, W = ({**self.point, **changed}[name] for name in "SFGW")
        squares = [np.sum(matrix**2) for matrix in (S, F, G, W)]
        return (
            np.sum((self.T - S @ G.T) ** 2)
            + lambda1 * np.sum((self.X - S @ F.T) ** 2)
            + lambda2 * np.sum((S @ G.T - self.X @ W) ** 2)
            + lambda3 * sum(squares)
        )

    def slope(self, name, *, step=1e-4):
        """Central differences of the objective by every entry of one factor."""
        at = self.point[name]
        slopes = np.empty(at.shape)
        for entry in np.ndindex(at.shape):
            move = np.zeros(at.shape)
            move[entry] = step
            rise = self.objective(**{name: at + move}) - self.objective(**{name: at - move})
            slopes[entry] = rise / (2 * step)
        return slopes


@pytest.fixture
def explicit():
    return WrittenOut()


@pytest.fixture
def moments(explicit):
    """Of the best S, which is put in place in the problem written out."""
    explicit.point["S"] = explicit.best_samples()
    return explicit.factorization().best_samples(explicit.factors())


def test_the_moments_are_those_of_the_best_sample_factor(explicit, moments):
    S = explicit.point["S"]
    assert_allclose(explicit.slope("S"), 0, atol=1e-6)
    assert_allclose(moments.features, explicit.X.T @ S)
    assert_allclose(moments.candidates, explicit.T.T @ S)
    assert_allclose(moments.samples, S.T @ S)


def test_each_block_is_where_the_objective_is_level(explicit, moments):
    problem = explicit.factorization()
    explicit.point["F"] = problem.best_features(moments)
    assert_allclose(explicit.slope("F"), 0, atol=1e-6)
    explicit.point["G"] = problem.best_candidates(moments, explicit.point["W"])
    assert_allclose(explicit.slope("G"), 0, atol=1e-6)
    explicit.point["W"] = problem.best_mapping(
        moments, explicit.point["G"], start=explicit.point["W"]
    )
    assert_allclose(explicit.slope("W"), 0, atol=1e-6)


def test_the_objective_through_traces_is_the_objective(explicit, moments):
    found = explicit.factorization().objective(moments, explicit.factors())
    assert found == pytest.approx(explicit.objective(), rel=1e-12)


def test_an_intercept_is_one_more_feature(problem, complementary):
    # Both start from the same draw and take the same path, so that after equally many sweeps they
    # differ by rounding alone. At the optimum they would differ by its square root: there a sweep
    # no longer lowers the objective noticeably, and either stops somewhere else.
    settled = {"rank": 5, "tol": 0.0, "max_iter": 20, "random_state": 0}
    inside = FPMLClassifier(**settled).fit(problem.X, complementary)
    extended = np.column_stack([problem.X, np.ones(len(problem.X))])
    outside = FPMLClassifier(fit_intercept=False, **settled).fit(extended, complementary)
    assert_allclose(
        inside.decision_function(problem.X), outside.decision_function(extended), atol=1e-12
    )
    assert_array_equal(outside.intercept_, np.zeros(5))


def test_many_features_are_fitted_without_the_gram_matrix(explicit, turned):
    expected, value = explicit.factorization().sweep(explicit.factors())
    turned = turned[:4]
    explicit.X = explicit.X @ turned
    explicit.point |= {name: turned.T @ explicit.point[name] for name in "FW"}
    found, found_value = explicit.factorization().sweep(explicit.factors())
    assert_allclose(found.mapping, turned.T @ expected.mapping, atol=1e-6)
    assert found_value == pytest.approx(value)
