"""Full-batch training of linear maps by L-BFGS: one, or several on parts of the same rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from complabel._parameters import check_integer, check_real
from complabel._training._coordinates import Coordinates, Scaling, Spread
from complabel._training._lbfgs import minimize
from complabel._training._map import LinearMap
from complabel._training._products import products_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel._training._products import Products
    from complabel._training._rows import Features

LogitObjective = Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]
"""Takes the logits (N, K) of B maps, stacked map by map, and further unknowns (B, E).

It returns the mean loss of each map (B,) in float64, and the gradients by the logits (N, K) and by
the unknowns (B, E)."""

IterationCallback = Callable[[int, int, float], None]
"""Called after every iteration with its number (from 1), ``max_iter`` and the mean objective."""


@dataclass(frozen=True)
class LinearFits:
    """The result of :func:`minimize_linear`: B linear maps of X.

    Attributes
    ----------
    models : list of LinearMap
    others : ndarray of shape (B, E)
        The further unknowns.
    values : ndarray of shape (B,)
        The objectives, including the penalty.
    logits : tensor of shape (B, K, n)
        The logits of all rows of X.
    n_iter : int
        Number of iterations.
    """

    models: list[LinearMap]
    others: NDArray[np.float64]
    values: NDArray[np.float64]
    logits: Tensor
    n_iter: int

    def logits_of(self, rows: Sequence[NDArray[np.intp]] | None) -> NDArray[np.floating[Any]]:
        """Return the logits (N, K) of each map's own rows, stacked map by map."""
        if rows is None:
            return self.logits[0].t().numpy()
        each = zip(self.logits, rows, strict=True)
        parts = [logits.index_select(1, torch.from_numpy(index)) for logits, index in each]
        return torch.cat(parts, dim=1).t().numpy()


def minimize_linear(
    X: Features,
    objective: LogitObjective,
    *,
    start: LinearMap | Sequence[LinearMap],
    rows: Sequence[NDArray[np.intp]] | None = None,
    others: NDArray[np.float64] | None = None,
    rank: int | None = None,
    alpha: float = 0.0,
    scaling: Scaling | None = None,
    spread: Spread | None = None,
    curvature: NDArray[np.float64] | None = None,
    tolerance: float = 1e-8,
    max_iter: int = 500,
    warn: bool = True,
    on_iteration: IterationCallback | None = None,
) -> LinearFits:
    """Minimize objective(X W^T + b) + alpha ||W||^2 over linear maps, in the type of X.

    A map stops when each of two iterations in a row gains less than ``tolerance`` times its
    objective, or times 1 if the objective is smaller.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
    objective : callable
        See :data:`LogitObjective`.
    start : LinearMap or sequence of B of them
        The maps of X to start from.
    rows : sequence of B index arrays or None, default=None
        The rows that each of B maps is fitted to; no array may hold a row twice. None fits one map
        to all rows.
    others : ndarray of shape (B, E) or None, default=None
        Start values of further unknowns, which are not penalized.
    rank : int or None, default=None
        r: W is a product of matrices (K, r) and (r, d). It starts from the rank-r part of
        ``start``; if ``start`` is 0, from the r steepest directions. None is full rank.
    alpha : float, default=0.0
        Weight of the penalty. Its W belongs to the scaled features.
    scaling : Scaling or None, default=None
        Scaling of the features. No scaled copy of X is made.
    spread : Spread or None, default=None
        Spread of the scaled features, if it is known already.
    curvature : ndarray of shape (K, K) or None, default=None
        About the mean Hessian of a row's loss by its logits; None is the identity. It and
        ``spread`` change the number of iterations, not the minimum.
    tolerance : float, default=1e-8
    max_iter : int, default=500
    warn : bool, default=True
        Whether to warn if a map has not converged after ``max_iter`` iterations.
    on_iteration : callable or None, default=None
        See :data:`IterationCallback`.

    Returns
    -------
    LinearFits

    Raises
    ------
    InputError
        If ``alpha``, ``tolerance`` or ``max_iter`` is out of range.

    Warns
    -----
    ConvergenceWarning
        If a map has not converged after ``max_iter`` iterations.
    """
    check_real("alpha", alpha, at_least=0)
    check_real("tolerance", tolerance, at_least=0)
    check_integer("max_iter", max_iter, at_least=1)
    starts = [start] if isinstance(start, LinearMap) else list(start)
    n_outputs, n_features = starts[0].coef.shape
    scale = scaling or Scaling(np.zeros(n_features), np.ones(n_features))
    products = products_of(X)
    unknowns = np.empty((len(starts), 0)) if others is None else others
    coordinates = Coordinates(
        spread or Spread.of(X, scale),
        np.eye(n_outputs) if curvature is None else curvature,
        alpha=alpha,
        first_bias=np.mean([each.intercept + each.coef @ scale.shift for each in starts], axis=0),
        rank=rank if rank is not None and rank < min(n_outputs, n_features) else None,
        n_others=unknowns.shape[1],
        dtype=products.dtype,
    )
    with torch.inference_mode():
        problem = _Problem(products, objective, coordinates, scale, rows)
        first = problem.vectors_of(starts, unknowns)

        def after_iteration(number: int, values: Tensor) -> None:
            if on_iteration is not None:
                on_iteration(number, max_iter, float(values.mean()))

        found = minimize(
            problem.evaluate,
            first,
            tolerance=tolerance,
            max_iter=max_iter,
            after_iteration=after_iteration,
        )
        models, unknowns = problem.maps_of(found.vectors)
    if warn and not bool(found.converged.all()):
        warnings.warn(
            f"L-BFGS stopped at max_iter={max_iter} before it converged to tolerance={tolerance:g};"
            " raise max_iter, raise alpha or scale the features",
            ConvergenceWarning,
            stacklevel=2,
        )
    return LinearFits(models, unknowns, found.values.numpy(), problem.logits, found.n_iter)


class _Problem:
    """The objectives of B maps of the same features, as functions of their coordinates."""

    logits: Tensor  # (B, K, n), at the vectors of the last evaluation

    def __init__(
        self,
        products: Products,
        objective: LogitObjective,
        coordinates: Coordinates,
        scaling: Scaling,
        rows: Sequence[NDArray[np.intp]] | None,
    ) -> None:
        self._products, self._objective, self._coordinates = products, objective, coordinates
        self._factor = torch.as_tensor(scaling.factor, dtype=products.dtype)
        self._shift = torch.as_tensor(scaling.shift, dtype=products.dtype)
        self._rows = None if rows is None else [torch.from_numpy(index) for index in rows]

    def evaluate(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Return the objectives (B,) and their gradients (B, P)."""
        scaled, bias, others = self._coordinates.read(vectors)
        coef = scaled * self._factor
        flat = self._products.logits(coef.flatten(0, 1))  # (B K, n)
        flat += (bias - coef @ self._shift).view(-1, 1)
        self.logits = flat.view(*bias.shape, -1)
        values, *slopes = self._through_maps(others)
        gradient = self._coordinates.pull(vectors, *slopes)
        return values + self._coordinates.penalty(vectors), gradient

    def _through_maps(self, others: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the mean losses (B,) at the logits, and three gradients.

        The gradients are by the weights of scaled features (B, K, d), by the biases (B, K) and by
        the further unknowns (B, E).
        """
        logits, rows = self.logits, self._rows
        n_maps, n_outputs, n = logits.shape
        if rows is None:
            values, slope, through_others = self._objective(logits[0].t(), others)
            slope = slope.t()
        else:
            parts = [each.index_select(1, index) for each, index in zip(logits, rows, strict=True)]
            values, of_parts, through_others = self._objective(torch.cat(parts, dim=1).t(), others)
            slope = torch.zeros_like(logits)
            split = torch.split(of_parts.t(), [len(index) for index in rows], dim=1)
            for whole, index, part in zip(slope, rows, split, strict=True):
                whole.index_copy_(1, index, part)
            slope = slope.view(n_maps * n_outputs, n)
        through_bias = slope.sum(dim=1).view(n_maps, n_outputs)
        through_coef = self._products.pull(slope).view(n_maps, n_outputs, -1)
        if bool(self._shift.any()):
            through_coef = through_coef - through_bias.unsqueeze(2) * self._shift
        return values, through_coef * self._factor, through_bias, through_others

    def vectors_of(self, starts: Sequence[LinearMap], others: NDArray[np.float64]) -> Tensor:
        """Return the vectors (B, P) of maps of X, as starting points."""
        dtype = self._products.dtype
        coef = torch.as_tensor(np.array([each.coef for each in starts]), dtype=dtype)
        bias = torch.as_tensor(np.array([each.intercept for each in starts]), dtype=dtype)
        bias = bias + coef @ self._shift
        unknowns = torch.as_tensor(others, dtype=dtype)
        coordinates = self._coordinates
        vectors = coordinates.of_maps(coef / self._factor, bias, unknowns)
        nothing = ~coef.flatten(1).any(dim=1)
        if coordinates.rank is not None and bool(nothing.any()):
            n = self._products.shape[0]
            self.logits = bias.unsqueeze(2).expand(-1, -1, n).contiguous()
            step = coordinates.steepest(self._through_maps(unknowns)[1])
            steepest = coordinates.of_maps(step, bias, unknowns)
            vectors = torch.where(nothing.unsqueeze(1), steepest, vectors)
        return vectors

    def maps_of(self, vectors: Tensor) -> tuple[list[LinearMap], NDArray[Any]]:
        """Return maps of X, and the further unknowns (B, E), in float64."""
        scaled, bias, others = (part.double() for part in self._coordinates.read(vectors))
        coef = scaled * self._factor.double()
        intercept = bias - coef @ self._shift.double()
        models = [
            LinearMap(np.ascontiguousarray(each), of_it)
            for each, of_it in zip(coef.numpy(), intercept.numpy(), strict=True)
        ]
        return models, others.numpy()
