"""Coordinates of linear maps, against the formulas that they stand for."""

import numpy as np
import torch

from complabel._training import Scaling, Spread
from complabel._training._full_batch import Coordinates


def test_the_hessian_of_squares_is_the_unit_matrix():
    """With the loss z C z / 2 of logits z, whose curvature C is, all directions are alike."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(50, 4)) * [1, 2, 5, 9] @ np.linalg.qr(rng.normal(size=(4, 4)))[0]
    root = rng.normal(size=(3, 3))
    C = root @ root.T / 10 + np.eye(3)  # curvatures within a factor of ten are not bounded
    centred = torch.from_numpy(X - X.mean(axis=0))
    coordinates = Coordinates(
        Spread.of(X, Scaling(X.mean(axis=0), np.ones(4))),
        C,
        alpha=0,
        first_bias=np.zeros(3),
        rank=None,
        n_others=0,
        dtype=torch.float64,
    )

    def loss(vector):
        coef, bias, _ = coordinates.read(vector.unsqueeze(0))
        logits = centred @ coef[0].t() + bias
        return ((logits @ torch.from_numpy(C)) * logits).sum() / (2 * len(X))

    hessian = torch.autograd.functional.hessian(loss, torch.zeros(15, dtype=torch.float64))
    # Stretches fall short by 1e-7 of the greatest curvature, lest constant features have no limit.
    conditions = np.linalg.cond(np.cov(X.T)) * np.linalg.cond(C)
    np.testing.assert_allclose(hessian, np.eye(15), atol=1.01e-7 * conditions)
