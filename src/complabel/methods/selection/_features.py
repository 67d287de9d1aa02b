"""The features that the linear map is fitted to: scaled ones, or those of an RBF kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse, special
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import gen_batches

from complabel._parameters import Array, Features, Ints
from complabel._training import LinearMap
from complabel.errors import InputError
from complabel.methods._features import moments_of, range_of
from complabel.methods.selection._blocks import PreparedBlocks, SomeRows
from complabel.methods.selection._maps import (
    BATCH,
    SCALINGS,
    LandmarkKernel,
    MappedLinear,
    RowsToLengthOne,
    centre_of,
    minus,
    model_of,
)

if TYPE_CHECKING:
    import torch

    from complabel._training import Scaling, Spread

# kernel="auto" tries the kernel only up to this many rows: 500 features take 1 GB in float32 then.
_MOST_KERNEL_ROWS = 500_000
# Kernel features of more rows than this are stored in float32, to save memory.
_MANY_KERNEL_ROWS = 50_000
# Added to the diagonal of the landmarks' kernel, which is 1, so that its Cholesky factor exists.
# Directions that vary less than this are rounding.
_JITTER = 1e-8
# Fewer rows than these, and than columns, are rotated to as many columns as rows in trials. The
# rotation takes its time once, and each fit gains by it, the more the more labels there are.
_MOST_ROTATED, _MANY_LABELS, _MOST_OF_MANY_LABELS = 2048, 64, 4501
_ROUNDING = 1e-10  # directions that vary less than this share of the most are rounding
# A search makes sparse features of at most so many entries dense: 134 MB in float64.
_MOST_DENSE = 2**24


def landmark_kernel(X: Features, *, gamma: float, n_landmarks: int, seed: int) -> LandmarkKernel:
    """Return the kernel features whose landmarks are rows of X, drawn at random."""
    landmarks = X[landmark_rows(X.shape[0], n_landmarks, seed)]
    # In single precision, rounding would exceed the jitter.
    centred = minus(landmarks.astype(np.float64, copy=False), centre_of(landmarks))
    kernel = rbf_kernel(centred, gamma=gamma)
    kernel[np.diag_indices_from(kernel)] += _JITTER
    try:
        return LandmarkKernel(landmarks, gamma, np.linalg.cholesky(kernel))
    except np.linalg.LinAlgError as error:
        raise InputError(
            f"X is too far from 0 for its kernel to be computed. {range_of(X)}; centre and"
            ' scale the features first, or give kernel="linear"'
        ) from error


def landmark_rows(n_rows: int, n_landmarks: int, seed: int) -> Ints:
    return np.sort(np.random.default_rng(seed).permutation(n_rows)[:n_landmarks])


@dataclass(frozen=True)
class PreparedFeatures:
    """Training rows (n, d) after a feature map, with the scaling for the penalty."""

    X: Features
    transformer: RowsToLengthOne | LandmarkKernel | None
    scaling: Scaling  # of the features that the penalty refers to; not applied to X
    _made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, key: object, make: Callable[[], Any]) -> Any:
        """Return what is made of these features for a key, and is made once."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    @cached_property
    def spread(self) -> Spread:
        from complabel._training import Spread  # imports torch

        return Spread.of(self.X, self.scaling)

    @cached_property
    def gram(self) -> Array:
        """The inner products (n, n) of rows of scaled features."""
        return _inner_products(self.X, self.scaling)

    def model(self, linear: LinearMap) -> LinearMap | MappedLinear:
        return model_of(self.transformer, linear)

    def probabilities(self, linear: LinearMap) -> Array:
        """Return the probabilities (n, K) of labels."""
        logits = linear(self.X)
        return np.asarray(special.expit(logits, out=logits))

    def mean_cardinality(self, linear: LinearMap, weights: Array | None) -> float:
        """Return the mean of how many labels apply to a row, by the ``weights`` (n,) of rows."""
        return float(np.average(self.probabilities(linear).sum(axis=1), weights=weights))

    def with_rows(self, X: Features) -> PreparedFeatures:
        kernel = self.transformer
        return self.with_prepared(X if kernel is None else _transformed(kernel, X))

    def with_prepared(self, X: Features) -> PreparedFeatures:
        """Return the same with other rows, to which the map was applied."""
        prepared = replace(self, X=X)
        vars(prepared)["spread"] = self.spread
        return prepared

    def in_short(self, n_labels: int = 1) -> PreparedFeatures:
        """Return the features in float32, for maps of which only the logits are used."""
        # Dense ones are scaled, so that float32 is precise enough, and rotated to their principal
        # directions, which saves the rotation in each step.
        from complabel._training import Scaling, Spread  # imports torch

        n, d = self.X.shape
        if n < min(d, _MOST_ROTATED if n_labels < _MANY_LABELS else _MOST_OF_MANY_LABELS):
            scaled, variances = _as_many_as_rows(self.X, self.scaling)
        elif sparse.issparse(self.X):
            X: Features = self.X
            return self.with_prepared(X.astype(np.float32))
        else:
            variances, vectors = self.spread.values, self.spread.vectors
            turn = None if vectors is None else vectors.astype(np.float32)
            shift, factor = self.scaling.shift, self.scaling.factor
            blocks = ((self.X[rows] - shift) * factor for rows in gen_batches(n, BATCH))
            parts = (block.astype(np.float32) for block in blocks)
            scaled = np.concatenate([p if turn is None else p @ turn for p in parts])
        d = scaled.shape[1]
        short = PreparedFeatures(scaled, None, Scaling(np.zeros(d), np.ones(d)))
        vars(short)["spread"] = Spread(variances)
        return short


def _as_many_as_rows(X: Features, scaling: Scaling) -> tuple[Any, Array]:
    """Return at most as many features as rows, in float32, and their variances.

    Inner products of rows are those of scaled features, and the minimum lies in what rows span.
    """
    values, vectors = np.linalg.eigh(_inner_products(X, scaling))
    kept = values > _ROUNDING * values[-1]
    rotated = (vectors[:, kept] * np.sqrt(values[kept])).astype(np.float32)
    return rotated, values[kept] / len(rotated)


def _inner_products(X: Features, scaling: Scaling) -> Array:
    shift, factor, scaled = scaling.shift, scaling.factor, X
    if sparse.issparse(X):
        scaled = scaled.multiply(factor)
        moved = np.asarray(scaled @ (shift * factor), dtype=np.float64)
        inner = (scaled @ scaled.T).toarray() - moved[:, np.newaxis] - moved
        return np.asarray(inner + float(np.square(shift * factor).sum()))
    scaled = (scaled - shift) * factor
    return np.asarray(scaled @ scaled.T)


@dataclass(frozen=True)
class FeatureMap:
    """A kind of features to fit to: scaled ones, or those of an RBF kernel with a gamma."""

    scaling: str | None  # None with a kernel
    gamma: float | None = None
    n_components: int = 0
    seed: int = 0  # decides which rows approximate the kernel

    @property
    def parameters(self) -> dict[str, Any]:
        if self.gamma is None:
            return {"kernel": "linear", "scaling": self.scaling}
        return {"kernel": "rbf", "gamma": self.gamma}

    def fit_transform(
        self, X: Features, weights: Any = None, device: torch.device | None = None
    ) -> PreparedFeatures | PreparedBlocks:
        """Fit the map to rows X, or to SomeRows of blocks.

        The ``weights`` (n,) of rows count in their scaling; None are all 1. A kernel of dense rows
        in memory is computed on the ``device``.
        """
        transformer: RowsToLengthOne | LandmarkKernel | None = None
        if self.gamma is not None:
            n_landmarks = min(self.n_components, X.shape[0])
            transformer = landmark_kernel(
                X, gamma=self.gamma, n_landmarks=n_landmarks, seed=self.seed
            )
        elif self.scaling == "rows":
            transformer = RowsToLengthOne()
        if isinstance(X, SomeRows):
            transform = None if transformer is None else transformer.transform
            moments = X.moments
            if transform is not None or weights is not None:
                moments = X.blocks.moments(transform, weights)
            model = partial(model_of, transformer)
            return PreparedBlocks(X, transform, moments, self._scaling(moments), model)
        transformed = X if transformer is None else _transformed(transformer, X, device)
        moments = moments_of(transformed, weights)
        return PreparedFeatures(transformed, transformer, self._scaling(moments))

    def _scaling(self, moments: Any) -> Scaling:
        from complabel._training import Scaling  # imports torch

        if self.scaling == "standardize":
            spread = moments.scale_
        else:
            spread = np.sqrt(moments.var_.mean())
            # The spread of constant features is only rounding error.
            if spread <= 1e-12 * np.abs(moments.mean_).max():
                spread = 1.0
            spread = np.full_like(moments.mean_, spread)
        return Scaling(moments.mean_, 1 / spread)


def feature_maps(
    X: Features, *, kernel: str, scaling: str, gamma: str | float, n_components: int, seed: int
) -> list[FeatureMap]:
    maps = []
    if kernel != "rbf":
        maps = [FeatureMap(each) for each in (SCALINGS if scaling == "auto" else (scaling,))]
    if kernel == "rbf" or (kernel == "auto" and X.shape[0] <= _MOST_KERNEL_ROWS):
        first = three_digits(middle_gamma(X)) if isinstance(gamma, str) else gamma
        maps.append(FeatureMap(None, first, n_components, seed))
    return maps


def _transformed(
    transformer: RowsToLengthOne | LandmarkKernel, X: Features, device: torch.device | None = None
) -> Features:
    transform, n_rows = transformer.transform, X.shape[0]
    there = device is not None and device.type != "cpu" and not sparse.issparse(X)
    if there and isinstance(transformer, LandmarkKernel):
        transform = partial(_kernel_there, transformer, device)
    if isinstance(transformer, RowsToLengthOne) or n_rows <= _MANY_KERNEL_ROWS:
        return transform(X)
    transformed = np.empty((n_rows, len(transformer.factor)), dtype=np.float32)
    for batch in gen_batches(n_rows, BATCH):
        transformed[batch] = transform(X[batch])
    return transformed


def _kernel_there(kernel: LandmarkKernel, device: torch.device | None, X: Any) -> Any:
    """Return what ``kernel.transform`` returns for dense rows, computed on a device."""
    import torch

    centre = centre_of(kernel.landmarks)
    rows, landmarks, factor = (
        torch.as_tensor(np.ascontiguousarray(each), device=device)
        for each in (minus(X, centre), minus(kernel.landmarks, centre), kernel.factor)
    )
    squares = [each.double().square().sum(dim=1) for each in (rows, landmarks)]
    # As scikit-learn does, distances are computed in float64, and the rest in the type of X.
    distances = squares[0].unsqueeze(1) - 2 * rows.double() @ landmarks.double().t() + squares[1]
    values = distances.clamp_(min=0).to(rows.dtype).mul_(-kernel.gamma).exp_()
    factor = factor.to(rows.dtype)
    features = torch.linalg.solve_triangular(factor, values.t(), upper=False).t()
    return features.cpu().numpy()


def in_trials(X: Features) -> Features:
    """Return features as a search fits to them: sparse ones dense, if that takes little memory.

    Held-out answers often hardly tell settings apart. Fits to sparse features take other steps and
    end elsewhere within their tolerance, so a search of them would choose other settings. Fewer
    rows than columns need no copy: ``in_short`` makes the same of both.
    """
    n, d = X.shape
    if not sparse.issparse(X) or n < min(d, _MOST_ROTATED) or n * d > _MOST_DENSE:
        return X
    dense: Features = X.toarray()  # type: ignore[attr-defined]
    return dense


def three_digits(value: float) -> float:
    """Round to three digits, so that the search recognizes a setting that it reaches again."""
    return float(f"{value:.3g}")


def middle_gamma(X: Features) -> float:
    """Return the gamma for which the kernel of two rows at the mean squared distance is 1/e."""
    # The mean squared distance is twice the sum of the features' variances.
    moments = X.moments if isinstance(X, SomeRows) else moments_of(X)
    spread = 2 * float(moments.var_.sum())
    return 1 / spread if spread > 0 else 1.0
