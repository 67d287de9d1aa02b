"""The machine with squared hinge losses: its minimum, with and without some rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize

from complabel.experiments.methods.candidates._squared_hinge import SquaredHinge


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("out", [None, np.arange(0, 80, 5)], ids=["all rows", "without a fold"])
def test_the_minimum_is_that_of_a_general_optimizer(C, out):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(80, 4)) + 3
    positive = features[:, 0] + rng.normal(size=80) > 2.3
    used = np.setdiff1d(np.arange(80), [] if out is None else out)
    sign = np.where(positive, 1, -1)[used]

    def objective(at):
        shortfall = np.maximum(0, 1 - sign * (features[used] @ at[:-1] + at[-1]))
        return 0.5 * at[:-1] @ at[:-1] + C * shortfall @ shortfall

    machine = SquaredHinge.of(features, positive, C)
    whole = machine.minimize()
    found = whole if out is None else machine.minimize(without=out, start=whole)
    expected = optimize.minimize(objective, np.zeros(5), method="BFGS", options={"gtol": 1e-7})
    assert objective(found.weights) <= expected.fun * (1 + 1e-10)
    assert_allclose(found.weights, expected.x, rtol=1e-3, atol=1e-4)
