"""A penalty that the plan lists: its gradient, fits in memory and in blocks, and its search."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from scipy import optimize
from tests.methods.selection.answered import ANSWERS, X, fixed
from tests.training.test_blocks import Pieces

from complabel.methods.selection import _penalties, _plan
from complabel.methods.selection._features import FeatureMap
from complabel.methods.selection._known import Setting
from complabel.methods.selection._likelihood import Likelihood
from complabel.methods.selection._objective import Objective

N = 120
ARGUMENTS = (_penalties.ROWS, _penalties.MEAN_LOGITS, _penalties.MEAN_PROBABILITIES)


@dataclass(frozen=True)
class Pull(_penalties.Penalty):
    """Pulls the mean of its argument over labels to a number."""

    to: float
    argument: str = _penalties.MEAN_PROBABILITIES

    def __call__(self, at):
        off = at.mean(dim=1) - self.to
        return 5 * off**2, (10 / at.shape[1] * off).unsqueeze(1).expand_as(at)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("argument", ARGUMENTS)
def test_a_penalty_is_added_with_its_gradient(argument, weighted):
    rng = np.random.default_rng(0)
    answers, weights = ANSWERS["menu-2"][:9], rng.uniform(0.5, 2, 9) if weighted else None
    likelihood = Likelihood(answers, weights=weights)
    setting = Setting(FeatureMap("global"), 1.0, 1.5, penalties=(Pull(0.2, argument),))
    objective = Objective(likelihood, setting).of_logits([5, 4])
    logits, nothing = rng.normal(size=(9, 4)), torch.empty(2, 0)

    def values(at):
        return objective(torch.from_numpy(at.reshape(9, 4).copy()), nothing)[0].sum().item()

    found = objective(torch.from_numpy(logits.copy()), nothing)[1]
    expected = optimize.approx_fprime(logits.ravel(), values, 1e-6)
    np.testing.assert_allclose(found.ravel(), expected, atol=1e-6)


@pytest.fixture
def penalize(monkeypatch):
    """Let fits choose from a list of penalties."""
    plan_for = _plan.plan_for

    def penalize(grid):
        def plan(*args, **kwargs):
            likelihood, space = plan_for(*args, **kwargs)
            return likelihood, _plan.replace(space, penalties=[grid])

        monkeypatch.setattr(_plan, "plan_for", plan)

    return penalize


@pytest.mark.parametrize("kind", ["menu-2", "asked"])
@pytest.mark.parametrize("argument", ARGUMENTS)
def test_a_fit_has_the_penalty_in_memory_and_in_blocks(argument, kind, penalize):
    answers = ANSWERS[kind][:N]
    free = fixed(cardinality=1.5).fit(X[:N], answers)
    penalize([Pull(-3.0, argument)])
    pulled = fixed(cardinality=1.5).fit(X[:N], answers)
    assert pulled.to_ == -3.0
    means = (each.decision_function(X[:N]).mean() for each in (free, pulled))
    assert next(means) > next(means) + 0.1
    blocks = fixed(cardinality=1.5).fit(Pieces(X[:N], 50), answers)
    np.testing.assert_allclose(*(each.coef_ for each in (blocks, pulled)), rtol=0, atol=1e-3)


def test_held_out_answers_choose_among_penalties(penalize):
    penalize([Pull(to) for to in (0.05, 0.2, 0.45, 0.7, 0.9)])
    found = fixed().fit(X[:N], ANSWERS["asked"][:N])
    assert found.to_ == 0.45  # labels apply to about so many items
    assert {0.2, 0.45, 0.7} <= {*found.cv_results_["param_to"]}
