"""The search for a setting, on likelihoods that are given instead of fitted."""

from types import SimpleNamespace

import numpy as np
import pytest

from complabel.methods.selection._features import FeatureMap
from complabel.methods.selection._known import KnownRates
from complabel.methods.selection._search import Search, Space
from complabel.methods.selection._trials import Trials

ALPHA, CARDINALITY = 0.01, 3.0  # of the greatest likelihood
N_ROWS, GRID = 400, [1.0, 1.5, 2.0, 3.0, 4.0]


class Ridge(Trials):
    """Trials whose likelihood is a ridge: the larger alpha, the larger the best cardinality."""

    _parts = (None,)

    def _rows(self, setting, n_parts):
        along = np.log10(setting.alpha / ALPHA)
        across = np.log2(setting.cardinality / CARDINALITY) - 0.75 * along
        noise = np.random.default_rng(0).normal(size=N_ROWS)
        rows = -0.02 * (along**2 + across**2) * (1 + noise)
        self.by_part[setting] = [rows]
        return rows


@pytest.mark.parametrize("start", [1.0, 0.1])
def test_the_top_of_a_ridge_between_alpha_and_the_cardinality_is_found(start):
    likelihood = SimpleNamespace(known=KnownRates())
    trials = Ridge(np.zeros((N_ROWS, 1)), likelihood, cv=3, seed=0, on_setting=lambda *_: None)
    space = Space([FeatureMap("global")], GRID, alpha=start)
    found = Search(trials, tunes_alpha=True, tunes_gamma=False).choose_setting(space, space.starts)
    assert found.alpha == ALPHA
    assert found.cardinality == pytest.approx(CARDINALITY, rel=0.05)
