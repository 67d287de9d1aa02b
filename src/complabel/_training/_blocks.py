"""Rows in blocks that are never in memory together: read one after another, or kept by Dask."""

from __future__ import annotations

import contextlib
import math
import pickle
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from complabel._parameters import AnyArray, Array, Bools, Ints
from complabel._training._map import Features, one_thread
from complabel.errors import InputError

Transform = Callable[[Features], Features]

_CONNECT_SECONDS = 10  # a scheduler that exists answers at once
# A memory map is read in blocks of this many rows. They are small beside the memory, and a pass
# spends hardly any time between them.
_ROWS = 65_536
# A memory map of more bytes than this is read in blocks.
_LARGE = 2**30
# Moments are computed for this many rows at a time: 6 MB for 100 features in float64.
_BATCH = 8192
# Up to this many features, moments have all covariances.
_MOST_COVARIANCES = 2048


@dataclass(frozen=True, eq=False)
class Blocks:
    """Features (n, d) in blocks of rows. A *pass* calls a function for each block in turn.

    The blocks are read again in each pass. Of Dask arrays with a distributed client, the workers
    keep them, and compute those anew that were lost with a worker.
    """

    # Reads all blocks, in order; or a Delayed for each block, and the client that computes them.
    source: Callable[[], Iterable[Any]] | Sequence[Any]
    all_sizes: tuple[int, ...]
    n_features: int
    dtype: np.dtype[Any]  # float32 or float64
    feature_names: tuple[str, ...] | None = None
    kept: Bools | None = None  # the rows in use, (n,); None for all
    client: Any = None
    ndim = 2

    @classmethod
    def of(cls, X: Any) -> Blocks | None:
        """Return a Dask array, a large memory map or the pieces of a file as blocks; else None."""
        if isinstance(X, cls):
            return X
        if isinstance(X, np.memmap) and X.ndim == 2 and X.nbytes > _LARGE:
            # A plain array has no file of its own in each slice.
            batches, rows = list(gen_batches(len(X), _ROWS)), np.asarray(X)
            sizes = tuple(batch.stop - batch.start for batch in batches)
            return cls(lambda: (rows[each] for each in batches), sizes, X.shape[1], _float(X.dtype))
        if hasattr(X, "pieces") and hasattr(X, "sizes"):
            if _client() is not None:
                return replace(cls._of_dask(X.to_dask_array()), feature_names=X.feature_names)
            return cls(X.pieces, tuple(X.sizes), X.shape[1], X.dtype, X.feature_names)
        if type(X).__module__.partition(".")[0] in ("dask", "dask_expr"):
            return cls._of_dask(X)
        return None

    @classmethod
    def _of_dask(cls, X: Any) -> Blocks:
        if not hasattr(X, "to_delayed") or not hasattr(X, "chunks"):
            raise InputError(
                f"X is a {type(X).__name__} of Dask; give an array, as to_dask_array(lengths=True)"
                " makes of a data frame"
            )
        if X.ndim != 2 or X.dtype.kind not in "biuf" or 0 in X.shape:
            raise InputError(
                f"X is a Dask array of shape {X.shape} and type {X.dtype}; give a matrix of numbers"
                " with a row for each item"
            )
        if any(math.isnan(size) for size in X.chunks[0]):
            raise InputError(
                "the blocks of X have unknown numbers of rows; call X.compute_chunk_sizes() first"
            )
        if len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        delayed, sizes = X.to_delayed().ravel().tolist(), tuple(map(int, X.chunks[0]))
        width, dtype = X.shape[1], _float(X.dtype)
        client = _client()
        if client is not None:
            return cls(delayed, sizes, width, dtype, client=client)
        here = partial(_computed, delayed)
        return cls(here, sizes, width, dtype)

    @property
    def shape(self) -> tuple[int, int]:
        return sum(self.sizes), self.n_features

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of rows in use of each block; some may be 0."""
        each = zip(self._masks, self.all_sizes, strict=True)
        return tuple(size if mask is None else int(mask.sum()) for mask, size in each)

    @cached_property
    def _masks(self) -> list[Any]:
        """Which rows of each block are in use; None if all are."""
        if self.kept is None:
            return [None] * len(self.all_sizes)
        parts = np.split(self.kept, list(accumulate(self.all_sizes))[:-1])
        return [None if part.all() else part for part in parts]

    def __getitem__(self, rows: Any) -> Blocks:
        """Return the blocks with only some of the rows in use: a mask, or ascending numbers."""
        used = np.zeros(self.shape[0], dtype=np.bool_)
        used[rows[0] if isinstance(rows, tuple) else rows] = True  # scikit-learn gives (rows, ...)
        kept = np.ones(sum(self.all_sizes), dtype=np.bool_) if self.kept is None else self.kept
        kept = kept.copy()
        kept[kept] = used
        return replace(self, kept=kept)

    def map(
        self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] | None = None
    ) -> list[Any]:
        """Return function(block, its entry of ``each`` or None, *shared) of all blocks in order.

        Blocks without a row in use are left out.
        """
        own = [None] * len(self.sizes) if each is None else each
        if self.client is None:
            return self._map_here(function, own, shared)
        same = self.client.submit(_same, shared, pure=False)
        futures = [
            self.client.submit(_called, function, block, part, same, pure=False)
            for block, part, size in zip(self._futures, own, self.sizes, strict=True)
            if size
        ]
        results: list[Any] = self.client.gather(futures)
        return results

    def _map_here(self, function: Callable[..., Any], own: Sequence[Any], shared: Any) -> list[Any]:
        # joblib takes the next block when a thread is free, so only few are in memory.
        import torch
        from joblib import Parallel, delayed

        jobs = torch.get_num_threads()
        read = zip(self._read(), own, self.sizes, strict=True)
        calls = (delayed(function)(_as_float(X), part, *shared) for X, part, size in read if size)
        with one_thread():
            results: list[Any] = Parallel(jobs, backend="threading", pre_dispatch=jobs + 1)(calls)
        return results

    def _read(self) -> Iterator[Any]:
        assert callable(self.source)
        about = zip(self.source(), self._masks, self.all_sizes, strict=True)
        for number, (block, mask, size) in enumerate(about):
            if block.shape[0] != size:
                raise InputError(
                    f"block {number} of X has {block.shape[0]} rows, and {size} before; X must not"
                    " change during the fit"
                )
            yield _some(block, mask)

    def hand_out(self, function: Callable[[Any], Any], pieces: Iterable[Any]) -> Sequence[Any]:
        """Return function(piece) for each block's piece, made where the block is."""
        if self.client is None:
            return [function(piece) for piece in pieces]
        # The packed piece is part of the task, so that Dask can make it again elsewhere. The task
        # also takes the block, because Dask runs it where its largest argument is.
        return [
            self.client.submit(_unpacked, function, _packed(piece), block, pure=False)
            for piece, block in zip(pieces, self._futures, strict=True)
        ]

    def gather(self, rows: Ints) -> Features:
        """Return some rows, by their ascending numbers among those in use."""
        ends = np.cumsum(self.sizes)
        parts = np.split(rows, np.searchsorted(rows, ends[:-1]))
        local = [part - end + size for part, end, size in zip(parts, ends, self.sizes, strict=True)]
        of_blocks = self.map(_rows_of, each=local)
        if sparse.issparse(of_blocks[0]):
            return sparse.csr_array(sparse.vstack(of_blocks, format="csr"))
        return np.concatenate(of_blocks)

    def split(self, values: AnyArray | None) -> list[Any]:
        """Split values of the rows in use, (n,), into those of each block; None are all None."""
        if values is None:
            return [None] * len(self.sizes)
        return np.split(values, np.cumsum(self.sizes)[:-1])

    def moments(self, transform: Transform | None = None, weights: Array | None = None) -> Moments:
        """Return the moments of all rows after a transform, in which rows count by ``weights``.

        Values that are not finite are refused.
        """
        used = [number for number, size in enumerate(self.sizes) if size]
        total: Moments | None = None
        parts = self.map(_moments_of, transform, each=self.split(weights))
        for number, of_block in zip(used, parts, strict=True):
            if of_block.wrong is not None:
                (row, column), mask = of_block.wrong, self._masks[number]
                row = row if mask is None else int(np.flatnonzero(mask)[row])
                raise InputError(
                    f"X has a value that is missing or infinite in row"
                    f" {sum(self.all_sizes[:number]) + row}, column {column}; fill it in, or leave"
                    " the row out"
                )
            with np.errstate(over="ignore", invalid="ignore"):  # ``largest`` tells
                total = of_block if total is None else total + of_block
        assert total is not None
        return total

    @cached_property
    def _futures(self) -> list[Any]:
        assert not callable(self.source)
        blocks = self.client.compute(list(self.source))
        return [
            block if mask is None else self.client.submit(_some, block, mask, pure=False)
            for block, mask in zip(blocks, self._masks, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Moments:
    """The mean (d,) of rows, and sums of products about it: (d, d), or (d,) of squares alone."""

    # Chan, Golub and LeVeque, "Algorithms for computing the sample variance", The American
    # Statistician, 1983: sums of parts are added without loss of precision.
    n: float  # the number of rows, or the sum of their weights
    mean_: Array
    about: Array
    largest: float  # absolute value; NaN if a value is missing
    wrong: tuple[int, int] | None = None  # row and column of the first value that is not finite

    @classmethod
    def of(
        cls, X: Features, transform: Transform | None = None, weights: Array | None = None
    ) -> Moments:
        """Compute the moments of rows; of sparse ones and of many features, without covariances."""
        total = None
        with np.errstate(over="ignore", invalid="ignore"):  # ``largest`` tells
            for batch in gen_batches(X.shape[0], _BATCH):
                x = X[batch] if transform is None else transform(X[batch])
                weight = np.ones(x.shape[0]) if weights is None else weights[batch]
                part = cls._of_batch(x, weight, batch.start)
                total = part if total is None else total + part
        assert total is not None
        return total

    @classmethod
    def _of_batch(cls, X: Any, weight: Array, first: int) -> Moments:
        n, d = float(weight.sum()), X.shape[1]
        largest = float(abs(X).max())
        wrong = None
        if not math.isfinite(largest):
            entries = sparse.coo_array(X)
            at = int(np.argmin(np.isfinite(entries.data)))
            wrong = first + int(entries.row[at]), int(entries.col[at])
            return cls(n, np.zeros(d), np.zeros(()), largest, wrong)
        if sparse.issparse(X):
            exact: Any = X.astype(np.float64)  # type: ignore[attr-defined]
            mean = exact.T @ weight / n
            squares = exact.multiply(exact).T @ weight - n * mean**2
            return cls(n, mean, np.maximum(squares, 0), largest)
        mean = weight @ X / n
        centred = (X - mean) * np.sqrt(weight)[:, None]
        about = centred.T @ centred if d <= _MOST_COVARIANCES else np.square(centred).sum(axis=0)
        return cls(n, mean, about, largest)

    def __add__(self, other: Moments) -> Moments:
        n, moved = self.n + other.n, other.mean_ - self.mean_
        product = np.outer(moved, moved) if self.about.ndim == 2 else moved**2
        return Moments(
            n,
            self.mean_ + moved * (other.n / n),
            self.about + other.about + product * (self.n * other.n / n),
            float(np.maximum(self.largest, other.largest)),
            self.wrong or other.wrong,
        )

    @property
    def var_(self) -> Array:
        return np.asarray((np.diag(self.about) if self.about.ndim == 2 else self.about) / self.n)

    @property
    def scale_(self) -> Array:
        """Standard deviations; 1 for features that vary no more than by rounding."""
        rounding = self.n * np.finfo(np.float64).eps
        constant = self.var_ <= rounding * self.var_ + (rounding * self.mean_) ** 2
        return np.where(constant, 1.0, np.sqrt(self.var_))


def _float(dtype: Any) -> np.dtype[Any]:
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)


@contextlib.contextmanager
def dask_client(address: str, *, as_default: bool = False) -> Iterator[Any]:
    """Connect to a Dask scheduler inside the block; refuse one that is not there, or that ends."""
    try:
        from distributed import CancelledError, Client
    except ModuleNotFoundError as error:
        raise InputError(
            "a Dask cluster needs packages that are not installed: run pip install"
            " 'complabel[cluster]'"
        ) from error
    try:
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=as_default)
    except (OSError, ValueError) as error:
        raise InputError(
            f"the Dask scheduler at {address} cannot be reached ({error}); check its address"
        ) from error
    with client:
        if not client.nthreads():
            raise InputError(f"the Dask scheduler at {address} has no workers; start some first")
        try:
            yield client
        except CancelledError as error:
            raise InputError(
                f"the Dask scheduler at {address} ended or lost work; check it, and try again"
            ) from error


def _client() -> Any:
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


def _as_float(block: Any) -> Any:
    return block if block.dtype in (np.float32, np.float64) else block.astype(np.float64)


def _called(function: Callable[..., Any], block: Any, own: Any, shared: Any) -> Any:
    with one_thread():
        return function(_as_float(block), own, *shared)


def _moments_of(block: Any, weights: Any, transform: Transform | None) -> Moments:
    return Moments.of(block, transform, weights)


def _computed(several: Sequence[Any]) -> Iterator[Any]:
    return (each.compute(scheduler="sync") for each in several)


def _same(value: Any) -> Any:
    return value


def _some(block: Any, mask: Bools | None) -> Any:
    return block if mask is None else block[mask]


def _rows_of(block: Any, rows: Ints) -> Any:
    return block[rows]


def _packed(piece: Any) -> bytes:
    return zlib.compress(pickle.dumps(piece, protocol=5), 1)


def _unpacked(function: Callable[[Any], Any], packed: bytes, block: Any) -> Any:
    del block
    return function(pickle.loads(zlib.decompress(packed)))
