"""Linear maps, and one thread for a fit; this needs no torch until a fit begins."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from complabel._parameters import Array, Floats

Features: TypeAlias = Floats | sparse.csr_array  # (n, d)

# Logits are computed for this many rows at a time: 80 MB for 1,000 features in float64.
_BATCH = 10_000


@dataclass(frozen=True)
class LinearMap:
    """Weights and biases of K linear functions."""

    coef: Array  # (K, d)
    intercept: Array  # (K,)

    def __call__(self, X: Features) -> Array:
        """Return the logits (n, K) of the rows of ``X``, without a copy of X in another type."""
        logits = np.empty((X.shape[0], len(self.intercept)))
        for first in range(0, X.shape[0], _BATCH):
            batch = slice(first, first + _BATCH)
            logits[batch] = X[batch] @ self.coef.T
        logits += self.intercept
        return logits

    @classmethod
    def mean(cls, maps: Sequence[LinearMap], weights: Sequence[float]) -> LinearMap:
        """Return the map with the means of the logits of maps, by their weights (M,)."""
        coefs, intercepts = ([each.coef for each in maps], [each.intercept for each in maps])
        return cls(*(np.average(each, axis=0, weights=weights) for each in (coefs, intercepts)))


class _FittingThreads:
    """The threads that fit now, and what there was before the first of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.mine = threading.local()  # has ``inside`` in a thread that is in the block
        self.n_threads = 0
        self.torch = 1
        self.blas: Any = None


_fits = _FittingThreads()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let torch and BLAS use one thread inside the block, so that several fits can run at once.

    The number of BLAS is one for the whole process: the last thread that leaves gives it back.
    """
    import torch

    fits = _fits
    if hasattr(fits.mine, "inside"):
        yield
        return
    with contextlib.ExitStack() as stack:
        with fits.lock:
            before = (
                torch.get_num_threads()
            )  # after this, what other threads set does not reach this one
            if fits.n_threads == 0:
                fits.torch = before
            stack.callback(torch.set_num_threads, fits.torch)
            # The number of OpenMP belongs to the thread. Only this limit is entered: when it is
            # left, threadpoolctl 3.8 lets another thread set BLAS, here the last that leaves.
            stack.enter_context(_limit("openmp"))
            if fits.n_threads == 0:
                fits.blas = _limit("blas")
            fits.n_threads += 1
            torch.set_num_threads(1)
        fits.mine.inside = True
        try:
            yield
        finally:
            del fits.mine.inside
            with fits.lock:
                fits.n_threads -= 1
                torch.set_num_threads(fits.torch)
                if fits.n_threads == 0:
                    fits.blas.restore_original_limits()


# The libraries with threads, by the number of modules, since a library comes with a module. To look
# for them takes longer than a small fit.
_libraries: dict[int, Any] = {}


def _limit(kind: str) -> Any:
    from threadpoolctl import ThreadpoolController

    n_modules = len(sys.modules)
    if n_modules not in _libraries:
        _libraries.clear()
        _libraries[n_modules] = ThreadpoolController()
    # threadpool_limits(user_api=...) gives back the numbers of the other kinds, too.
    return _libraries[n_modules].select(user_api=kind).limit(limits=1)


def _in_forked_child() -> None:
    """Keep the child of a fork to one thread: it lacks the threads that OpenMP would wait for."""
    global _fits
    _fits = _FittingThreads()
    _limit("openmp")
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_forked_child)
