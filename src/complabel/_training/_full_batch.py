"""Full-batch training of linear maps by L-BFGS: one, or several on parts of the same rows.

The maps are searched in coordinates in which a gradient step has about the right length. Near a
minimum, the Hessian of a mean of losses is about a Kronecker product: the covariance of the
features times the K x K curvature of a loss by its logits. In the eigenvectors of both matrices it
is diagonal. Divided by the roots of the diagonal, the loss curves alike in all directions. Logits
are stored label by label: likelihoods read them so, and products with features are fastest.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from complabel._parameters import AnyArray, Array, Floats, Ints
from complabel._training._device import CPU, bytes_for_rows
from complabel._training._lbfgs import minimize
from complabel._training._map import Features, LinearMap

LogitObjective = Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]
"""Takes the logits (N, K) of B maps, stacked map by map, and further unknowns (B, E).

It returns the mean loss of each map (B,) in float64, and the gradients by the logits (N, K) and by
the unknowns (B, E)."""

MapObjective = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor, Tensor]]
"""Takes weights (B, K, d) and biases (B, K) of maps, and further unknowns (B, E).

It returns the mean loss of each map (B,) in float64, and the gradients by the three."""

IterationCallback = Callable[[int, int, float], None]
"""Called after every iteration with its number (from 1), ``max_iter`` and the mean objective."""

# Up to this many features the covariance is decomposed, in O(d^3) time. Beyond, only the variances
# are used.
_MOST_DECOMPOSED = 2048
# This many rows of a dense matrix are centred at a time, so that no centred copy of X is made.
_BLOCK = 8192
# A covariance is that of about this many rows or of up to twice as many, evenly spread.
_MOST_ROWS = 16_384
# This share of the largest stiffness is added to all, so that directions in which features hardly
# vary are not stretched without limit.
_LEAST_SHARE = 1e-7
# Curvatures below this share of the largest are raised to it. A label that hardly ever applies has
# little curvature; long first steps would move it to where the sigmoid is flat, and it would stay.
_LEAST_CURVATURE = 0.1


@dataclass(frozen=True)
class LinearFits:
    """The result of :func:`minimize_linear`: B linear maps of X."""

    models: list[LinearMap]
    others: Array  # (B, E), the further unknowns
    values: Array  # (B,), the objectives with the penalty
    logits: Tensor  # (B, K, n), of all rows of X, on the device of the fit
    n_iter: int

    def logits_of(self, rows: Sequence[Ints] | None) -> Floats:
        """Return the logits (N, K) of each map's own rows, stacked map by map."""
        if rows is None:
            return self.logits[0].t().cpu().numpy()
        device = self.logits.device
        each = zip(self.logits, rows, strict=True)
        parts = [of.index_select(1, torch.from_numpy(index).to(device)) for of, index in each]
        return torch.cat(parts, dim=1).t().cpu().numpy()


def minimize_linear(
    X: Features,
    objective: LogitObjective,
    *,
    start: Sequence[LinearMap],
    products: DenseProducts | SparseProducts | None = None,
    rows: Sequence[Ints] | None = None,
    others: Array | None = None,
    rank: int | None = None,
    alpha: float = 0.0,
    scaling: Scaling | None = None,
    spread: Spread | None = None,
    curvature: Array | None = None,
    tolerance: float = 1e-8,
    max_iter: int = 500,
    warn: bool = True,
    on_iteration: IterationCallback | None = None,
) -> LinearFits:
    """Minimize objective(X W^T + b) + alpha ||W||^2 over B linear maps of X (n, d), in its type.

    A map stops when each of two iterations in a row gains less than ``tolerance`` times its
    objective, or times 1 if the objective is smaller. ``rows`` are those that each map is fitted
    to, none of them twice; None fits one map to all. ``others`` (B, E) are the start of unknowns
    without a penalty. With a ``rank`` r, W is a product of (K, r) and (r, d) matrices; it starts
    from the rank-r part of ``start`` or, where that is 0, from the r steepest directions. ``alpha``
    belongs to the W of scaled features, of which no copy is made. ``spread`` (of scaled features)
    and ``curvature`` (about the mean Hessian (K, K) of a row's loss by its logits) change the
    number of iterations, not the minimum. All is computed on the device of ``products``, those of
    X; by default on the processor.
    """
    n_outputs, n_features = start[0].coef.shape
    scale = scaling or Scaling(np.zeros(n_features), np.ones(n_features))
    products = products or products_of(X)
    over_rows = _OverRows(products, objective, rows)
    fits = minimize_maps(
        over_rows,
        start=start,
        others=np.empty((len(start), 0)) if others is None else others,
        rank=rank,
        alpha=alpha,
        scaling=scale,
        spread=spread or Spread.of(X, scale),
        curvature=np.eye(n_outputs) if curvature is None else curvature,
        tolerance=tolerance,
        max_iter=max_iter,
        warn=warn,
        on_iteration=on_iteration,
        dtype=products.dtype,
        device=products.device,
    )
    return replace(fits, logits=over_rows.logits)


def minimize_maps(
    objective: MapObjective,
    *,
    start: Sequence[LinearMap],
    others: Array,
    rank: int | None,
    alpha: float,
    scaling: Scaling,
    spread: Spread,
    curvature: Array,
    tolerance: float,
    max_iter: int,
    warn: bool = True,
    on_iteration: IterationCallback | None = None,
    dtype: torch.dtype = torch.float64,
    device: torch.device = CPU,
) -> LinearFits:
    """Minimize an objective of maps, wherever their rows are; see :func:`minimize_linear`.

    The fits have no logits. The objective takes and returns tensors on the ``device``.
    """
    starts = [*start]
    n_outputs, n_features = starts[0].coef.shape
    coordinates = Coordinates(
        spread,
        curvature,
        alpha=alpha,
        first_bias=np.mean([each.intercept + each.coef @ scaling.shift for each in starts], axis=0),
        rank=rank if rank is not None and rank < min(n_outputs, n_features) else None,
        n_others=others.shape[1],
        dtype=dtype,
        device=device,
    )
    with torch.inference_mode():
        problem = _Problem(objective, coordinates, scaling)
        first = problem.vectors_of(starts, others)

        def after_iteration(number: int, values: Tensor) -> None:
            if on_iteration is not None:
                on_iteration(number, max_iter, float(values.mean()))

        minimum = minimize(
            problem.evaluate,
            first,
            tolerance=tolerance,
            max_iter=max_iter,
            after_iteration=after_iteration,
        )
        models, unknowns = problem.maps_of(minimum.vectors)
    if warn and not bool(minimum.converged.all()):
        warnings.warn(
            f"L-BFGS stopped at max_iter={max_iter} before it converged to tolerance={tolerance:g};"
            " raise max_iter, raise alpha or scale the features",
            ConvergenceWarning,
            stacklevel=3,
        )
    return LinearFits(
        models, unknowns, minimum.values.cpu().numpy(), torch.empty(0), minimum.n_iter
    )


class _OverRows:
    """The objective of maps over rows in memory, from an objective of their logits."""

    logits: Tensor  # (B, K, n), of the last maps

    def __init__(
        self,
        products: DenseProducts | SparseProducts,
        objective: LogitObjective,
        rows: Sequence[Ints] | None,
    ) -> None:
        self.products, self._objective = products, objective
        tensors = (torch.from_numpy(index).to(products.device) for index in rows or ())
        self._rows = None if rows is None else [*tensors]

    def __call__(
        self, coef: Tensor, bias: Tensor, others: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        flat = self.products.logits(coef.flatten(0, 1))  # (B K, n)
        flat += bias.view(-1, 1)
        self.logits = logits = flat.view(*bias.shape, -1)
        rows = self._rows
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
        through_coef = self.products.pull(slope).view(n_maps, n_outputs, -1)
        return values, through_coef, through_bias, through_others


class _Problem:
    """An objective of maps as a function of vectors, with the penalty."""

    def __init__(self, objective: MapObjective, basis: Coordinates, scaling: Scaling) -> None:
        self._objective, self._coordinates = objective, basis
        self._factor, self._shift = basis.tensor(scaling.factor), basis.tensor(scaling.shift)
        self._is_shifted = bool(self._shift.any())

    def evaluate(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        scaled, bias, others = self._coordinates.read(vectors)
        values, *slopes = self._through_maps(scaled * self._factor, bias, others)
        gradient = self._coordinates.pull(vectors, *slopes)
        return values + self._coordinates.penalty(vectors), gradient

    def _through_maps(
        self, coef: Tensor, bias: Tensor, others: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the mean losses (B,) of maps, whose biases are at the shift, and gradients."""
        # They are by weights of scaled features (B, K, d), biases (B, K) and other unknowns (B, E).
        evaluated = self._objective(coef, bias - coef @ self._shift, others)
        values, through_coef, through_bias, through_others = evaluated
        if self._is_shifted:
            through_coef = through_coef - through_bias.unsqueeze(2) * self._shift
        return values, through_coef * self._factor, through_bias, through_others

    def vectors_of(self, starts: Sequence[LinearMap], others: Array) -> Tensor:
        coordinates = self._coordinates
        coef = coordinates.tensor(np.array([each.coef for each in starts]))
        bias = coordinates.tensor(np.array([each.intercept for each in starts]))
        bias = bias + coef @ self._shift
        unknowns = coordinates.tensor(others)
        vectors = coordinates.of_maps(coef / self._factor, bias, unknowns)
        nothing = ~coef.flatten(1).any(dim=1)
        if coordinates.rank is not None and bool(nothing.any()):
            through_coef = self._through_maps(torch.zeros_like(coef), bias, unknowns)[1]
            step = coordinates.steepest(through_coef)
            steepest = coordinates.of_maps(step, bias, unknowns)
            vectors = torch.where(nothing.unsqueeze(1), steepest, vectors)
        return vectors

    def maps_of(self, vectors: Tensor) -> tuple[list[LinearMap], AnyArray]:
        """Return maps of X, and the further unknowns (B, E), in float64."""
        scaled, bias, others = (part.double() for part in self._coordinates.read(vectors))
        coef = scaled * self._factor.double()
        intercept = bias - coef @ self._shift.double()
        models = [
            LinearMap(np.ascontiguousarray(each), of_it)
            for each, of_it in zip(coef.cpu().numpy(), intercept.cpu().numpy(), strict=True)
        ]
        return models, others.cpu().numpy()


@dataclass(frozen=True)
class Scaling:
    """An affine map of the features, (X - shift) * factor, which is never computed for all of X."""

    shift: Array  # (d,)
    factor: Array  # (d,), positive


@dataclass(frozen=True)
class Spread:
    """Eigenvalues (d,) and eigenvectors (d, d) of a covariance; without these, variances."""

    values: Array
    vectors: Array | None = None

    @classmethod
    def of(cls, X: Features, scaling: Scaling) -> Spread:
        n, d = X.shape
        if sparse.issparse(X):
            second = np.asarray(X.multiply(X).mean(axis=0), dtype=np.float64)
            mean = np.asarray(X.mean(axis=0), dtype=np.float64)
            moved = second - 2 * mean * scaling.shift + scaling.shift**2
            return cls(np.maximum(moved, 0) * scaling.factor**2)
        some = X[:: max(1, n // _MOST_ROWS)]
        starts, dtype = range(0, len(some), _BLOCK), np.result_type(X.dtype, np.float32)
        blocks = ((some[at : at + _BLOCK] - scaling.shift) * scaling.factor for at in starts)
        blocks = (block.astype(dtype, copy=False) for block in blocks)  # in float32 if X is
        if d > _MOST_DECOMPOSED:
            total = sum((np.square(block).sum(axis=0) for block in blocks), np.zeros(d))
            return cls(total / len(some))
        covariance = sum((block.T @ block for block in blocks), np.zeros((d, d)))
        return cls.of_covariance(covariance / len(some))

    @classmethod
    def of_covariance(cls, covariance: Array) -> Spread:
        values, vectors = np.linalg.eigh(covariance)
        return cls(np.maximum(values, 0), vectors)


class Coordinates:
    """A translation between vectors (B, P) and maps of scaled features with further unknowns.

    The weights of a map are U (D * A) V^T, and its bias is b0 + U S b, with orthogonal U (K, K) and
    V (d, d). A vector holds A (K, d), or its factors (K, r) and (d, r), then b and the unknowns.
    """

    def __init__(
        self,
        spread: Spread,
        curvature: Array,
        *,
        alpha: float,
        first_bias: Array,
        rank: int | None,
        n_others: int,
        dtype: torch.dtype,
        device: torch.device = CPU,
    ) -> None:
        sizes, outputs = np.linalg.eigh(curvature)
        # If all curvatures or all variances are 0, any scale is as good: take 1.
        floor = _LEAST_CURVATURE * sizes.max()
        sizes = np.maximum(sizes, floor) if floor > 0 else np.ones_like(sizes)
        widths = spread.values
        if alpha == 0 and not widths.any():
            widths = np.ones_like(widths)
        if rank is None:
            stiffness = np.outer(sizes, widths) + 2 * alpha
            stretch = stiffness + _LEAST_SHARE * stiffness.max()
        else:  # an outer product: scaling by it does not change the rank of A
            typical = sizes.mean()
            each = widths + 2 * alpha / typical
            stretch = np.outer(sizes, each + _LEAST_SHARE * each.max())

        self._where: Any = {"dtype": dtype, "device": device}
        self.alpha, self.rank, self.n_others = alpha, rank, n_others
        self.n_outputs, self.n_features = stretch.shape
        self._outputs, self._stretch = self.tensor(outputs), self.tensor(stretch**-0.5)
        self._features = None if spread.vectors is None else self.tensor(spread.vectors)
        self._of_bias = self.tensor(outputs * sizes**-0.5)
        self._first_bias = self.tensor(first_bias)
        # The loss is assumed to curve as much in a further unknown as in a logit.
        self._of_others = float(sizes.mean()) ** -0.5

    def tensor(self, values: Array) -> Tensor:
        return torch.as_tensor(values, **self._where)

    def read(self, vectors: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return weights (B, K, d) of scaled features, biases (B, K) and other unknowns (B, E)."""
        entries, bias, others = self._split(vectors)
        turned = self._outputs @ (self._stretch * self._entries(entries))
        coef = turned if self._features is None else turned @ self._features.t()
        return coef, self._first_bias + bias @ self._of_bias.t(), others * self._of_others

    def penalty(self, vectors: Tensor) -> Tensor:
        entries, *_ = self._split(vectors)
        coef = self._stretch * self._entries(entries)
        return self.alpha * coef.square().sum(dim=(1, 2), dtype=torch.float64)

    def pull(self, vectors: Tensor, coef: Tensor, bias: Tensor, others: Tensor) -> Tensor:
        """Return the gradient by vectors (B, P), including that of the penalty."""
        # The arguments are gradients by weights of scaled features (B, K, d), biases and unknowns.
        entries, *_ = self._split(vectors)
        turned = coef if self._features is None else coef @ self._features
        slope = self._stretch * (self._outputs.t() @ turned)
        matrix = self._entries(entries)
        slope = slope + 2 * self.alpha * self._stretch.square() * matrix
        if self.rank is not None:
            left, right = self._factors(entries)
            slope = torch.cat(
                [(slope @ right).flatten(1), (slope.transpose(1, 2) @ left).flatten(1)], dim=1
            )
        return torch.cat([slope.flatten(1), bias @ self._of_bias, others * self._of_others], dim=1)

    def steepest(self, coef: Tensor) -> Tensor:
        """Return the scaled gradient step (B, K, d) for a gradient (B, K, d) by the weights."""
        turned = coef if self._features is None else coef @ self._features
        step = -(self._outputs @ (self._stretch.square() * (self._outputs.t() @ turned)))
        return step if self._features is None else step @ self._features.t()

    def of_maps(self, coef: Tensor, bias: Tensor, others: Tensor) -> Tensor:
        """Return the vectors (B, P) of maps of scaled features, or of approximations of rank r."""
        turned = coef if self._features is None else coef @ self._features
        entries = (self._outputs.t() @ turned) / self._stretch
        others = others / self._of_others
        shifted = torch.linalg.solve(self._of_bias, (bias - self._first_bias).t()).t()
        if self.rank is None:
            return torch.cat([entries.flatten(1), shifted, others], dim=1)
        left, sizes, right = torch.linalg.svd(entries, full_matrices=False)
        root = sizes[:, None, : self.rank].sqrt()
        factors = (left[:, :, : self.rank] * root, right[:, : self.rank].transpose(1, 2) * root)
        return torch.cat([*(each.flatten(1) for each in factors), shifted, others], dim=1)

    def _split(self, vectors: Tensor) -> tuple[Tensor, ...]:
        n_entries = vectors.shape[1] - self.n_outputs - self.n_others
        return torch.split(vectors, [n_entries, self.n_outputs, self.n_others], dim=1)

    def _entries(self, entries: Tensor) -> Tensor:  # A (B, K, d)
        if self.rank is None:
            return entries.view(len(entries), self.n_outputs, self.n_features)
        left, right = self._factors(entries)
        return left @ right.transpose(1, 2)

    def _factors(self, entries: Tensor) -> tuple[Tensor, Tensor]:  # (B, K, r) and (B, d, r)
        assert self.rank is not None
        sizes = [self.n_outputs * self.rank, self.n_features * self.rank]
        left, right = torch.split(entries, sizes, dim=1)
        b = len(entries)
        return left.reshape(b, -1, self.rank), right.reshape(b, -1, self.rank)


class DenseProducts:
    """Products of a matrix X (n, d) with weights and with gradients, for several maps.

    Weights and gradients are on the device, and X, too. Blocks of its rows that have no room there
    stay where they are, and each is copied for a product.
    """

    def __init__(self, X: Floats, device: torch.device = CPU) -> None:
        matrix, room = _tensor_of(X), bytes_for_rows(device)
        self.shape = (X.shape[0], X.shape[1])
        self.dtype, self.device = matrix.dtype, device
        self._blocks: list[Tensor] = []
        for block in [matrix] if matrix.nbytes <= room else torch.split(matrix, _BLOCK):
            room -= block.nbytes
            self._blocks.append(block.to(device) if room >= 0 else block)

    def logits(self, coef: Tensor) -> Tensor:
        parts = [torch.mm(coef, block.to(self.device).t()) for block in self._blocks]
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)

    def pull(self, gradient: Tensor) -> Tensor:
        parts = torch.split(gradient, [len(block) for block in self._blocks], dim=1)
        each = zip(parts, self._blocks, strict=True)
        products = [torch.mm(part, block.to(self.device)) for part, block in each]
        return sum(products[1:], products[0])


class SparseProducts:
    """Products of a sparse matrix, which stays on the processor."""

    def __init__(self, X: sparse.csr_array, device: torch.device = CPU) -> None:
        self._matrix, self._transposed = X, X.T
        self.shape = X.shape
        self.dtype = torch.float32 if X.dtype == np.float32 else torch.float64
        self.device = device

    def logits(self, coef: Tensor) -> Tensor:
        product = self._matrix @ coef.t().contiguous().cpu().numpy()
        return torch.from_numpy(product).to(self.device).t().contiguous()

    def pull(self, gradient: Tensor) -> Tensor:
        product = self._transposed @ gradient.t().contiguous().cpu().numpy()
        return torch.from_numpy(product).to(self.device).t()


class CellProducts:
    """Products of a dense matrix X (n, d) with maps of which only some logits count: the cells.

    Cell c is row ``rows[c]`` and output ``outputs[c]``, of O outputs of all maps.
    """

    def __init__(self, X: Floats, rows: Tensor, outputs: Tensor, n_outputs: int) -> None:
        # Rows are copied in the order of the outputs, so that a pass reads the memory in its order.
        self._order = torch.argsort(outputs, stable=True)
        self._place = torch.argsort(self._order)
        self._counts = torch.bincount(outputs, minlength=n_outputs).tolist()
        copied = _tensor_of(X).index_select(0, rows[self._order])
        self._parts = torch.split(copied, self._counts)

    def logits(self, coef: Tensor) -> Tensor:
        """Return the cells (P,) of the products with weights (O, d)."""
        each = zip(self._parts, coef, strict=True)
        return torch.cat([torch.mv(part, of) for part, of in each])[self._place]

    def pull(self, slope: Tensor) -> Tensor:
        """Return the gradient (O, d) by the weights from that by the cells (P,)."""
        each = zip(self._parts, torch.split(slope[self._order], self._counts), strict=True)
        return torch.stack([torch.mv(part.t(), of) for part, of in each])


def products_of(X: Features, device: torch.device = CPU) -> DenseProducts | SparseProducts:
    """Return the products of a matrix; one that holds no floats is converted first."""
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    return SparseProducts(X, device) if sparse.issparse(X) else DenseProducts(X, device)


def _tensor_of(X: Floats) -> Tensor:
    """View an array as a tensor; a read-only array is fine, because nothing here writes to it."""
    if min(X.strides) < 0:
        X = np.ascontiguousarray(X)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")
        return torch.from_numpy(X)
