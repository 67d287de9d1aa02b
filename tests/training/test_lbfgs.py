"""L-BFGS on functions whose minima are known."""

import numpy as np
import pytest
import torch

from complabel._training._lbfgs import minimize

TIGHT = {"tolerance": 1e-15, "max_iter": 500}
EPS = np.finfo(float).eps


def rosenbrock(x):
    """Rosenbrock's valleys (B, P): the minimum of each is 0, at (1, ..., 1)."""
    step, rest = x[:, 1:] - x[:, :-1] ** 2, 1 - x[:, :-1]
    gradient = torch.zeros_like(x)
    gradient[:, 1:] += 200 * step
    gradient[:, :-1] += -400 * x[:, :-1] * step - 2 * rest
    return (100 * step**2 + rest**2).sum(dim=1), gradient / 500


@pytest.mark.parametrize("size", [2, 5])
def test_rosenbrocks_valley_is_followed_to_its_end(size):
    start = torch.zeros(1, size, dtype=torch.float64)
    start[:, 0] = -1.2
    found = minimize(rosenbrock, start, **TIGHT)
    assert bool(found.converged.all())
    # The least curvature of the valley there is more than 0.1: f >= 0.05 |x - 1|^2.
    np.testing.assert_allclose(found.values, 0, atol=1e-14)
    np.testing.assert_allclose(found.vectors, 1, atol=np.sqrt(1e-14 / 0.05))


def test_one_iteration_that_gains_little_does_not_stop():
    """The first step is a thousand times too short, and gains less than the tolerance."""

    def shallow(x):
        return 0.5 * (x - 1).square().sum(dim=1), 1e-3 * (x - 1)

    start = torch.full((1, 3), 1.1, dtype=torch.float64)
    found = minimize(shallow, start, tolerance=1e-4, max_iter=50)
    assert shallow(start)[0] - shallow(start - shallow(start)[1])[0] < 1e-4
    assert found.n_iter > 2
    np.testing.assert_allclose(found.values, 0, atol=EPS)


@pytest.mark.parametrize("beyond", [torch.nan, torch.inf])
def test_values_that_are_not_finite_are_stepped_back_from(beyond):
    """x - log x - 1 is defined for positive x only; the first step leads out of there."""

    def barrier(x):
        inside = (x > 0).all(dim=1)
        values = torch.where(inside, (x - x.clamp(min=1e-300).log() - 1).sum(dim=1), beyond)
        return values, torch.where(inside.unsqueeze(1), 1 - 1 / x, torch.nan)

    start = torch.tensor([[0.05, 3.0], [2.0, 2.0]], dtype=torch.float64)
    steps = []
    found = minimize(barrier, start, after_iteration=lambda *args: steps.append(args), **TIGHT)
    # The curvature at 1 is 1.
    np.testing.assert_allclose(found.values, 0, atol=1e-14)
    np.testing.assert_allclose(found.vectors, 1, atol=np.sqrt(2e-14))
    assert all(bool(torch.isfinite(values).all()) for _, values in steps)


def test_a_slope_that_is_wrong_ends_the_search_where_it_was():
    def rising(x):
        return x.square().sum(dim=1), -x

    start = torch.ones(1, 2, dtype=torch.float64)
    found = minimize(rising, start, **TIGHT)
    assert bool(found.converged.all())
    assert found.n_iter == 1
    np.testing.assert_array_equal(found.vectors, start)
