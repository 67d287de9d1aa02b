"""Confidences: their projection and quadratic programs against generic solvers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import optimize
from tests.examples import examples
from tests.methods.candidates.by_definition import random_candidates

from complabel.methods.candidates._confidences import Quadratic, project_confidences


def test_projection_worked_by_hand():
    candidates = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0]], dtype=bool)
    values = np.array([[1.7, -0.2, 5.0], [0.1, -0.3, 9.0], [-4.0, 2.0, 2.0]])
    # Clipped; lifted by 0.6 each; the only candidate must be believed.
    expected = [[1.0, 0.0, 0.0], [0.7, 0.3, 0.0], [1.0, 0.0, 0.0]]
    assert_allclose(project_confidences(values, candidates), expected, atol=1e-15)


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


def test_projected_gradient_never_rises():
    rng = np.random.default_rng(4)
    root = rng.normal(size=(5, 5))
    term = Quadratic(root @ root.T, rng.normal(size=(20, 5)))
    allowed = random_candidates(rng, (20, 5)).astype(bool)
    start = allowed.astype(float)
    values = [term.value(term.minimize(start, allowed, steps=steps)) for steps in range(1, 30)]
    assert (np.diff([term.value(start), *values]) <= 1e-12).all()
