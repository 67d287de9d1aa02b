"""Validation of features: one canonical form, and errors that name the row and column."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.preprocessing import StandardScaler
from sklearn.utils import gen_batches
from sklearn.utils.validation import validate_data

from complabel._parameters import Array, Features
from complabel._training import Blocks
from complabel.errors import InputError

_LARGEST_INT32 = np.iinfo(np.int32).max
# Moments are computed for this many rows at a time: 40 MB for 500 features in float64.
_BATCH = 10_000
# Linear methods centre features with means of more than this many times the spread. Three times
# cost gradient methods .03 to .19 of average precision on make_synthetic(600, n_features=8,
# n_labels=6, signal=4) after 60 epochs at rate .01; thirty cost nearly all of it.
FAR = 10
# The message if X is in blocks, and a fit or a prediction needs it in memory.
_NOT_IN_BLOCKS = {
    True: "X is in blocks, and the fit of {name} needs all rows in memory; give numpy.asarray(X),"
    " or take SelectionLikelihoodClassifier, which reads block after block",
    False: "X is in blocks, and predictions need rows in memory; predict each block, with"
    " X.map_blocks(classifier.predict_proba, dtype=float, chunks=(X.chunks[0], (K,))) for a Dask"
    " array and K labels",
}


def validated(
    estimator: Any, X: ArrayLike, y: Any = "no_validation", *, reset: bool = True
) -> Features:
    """Return X (n, d) as an ndarray or canonical CSR; ``reset`` stores its number of columns."""
    if "torch" in sys.modules and isinstance(X, sys.modules["torch"].Tensor):
        # NumPy reads tensors of the processor alone, and no short floats.
        X = (X.float() if X.dtype.itemsize < 4 else X).detach().cpu().numpy()
    reads = reset and getattr(estimator, "reads_pieces", False)
    blocks = Blocks.of(X) if reads or not isinstance(X, np.ndarray) else None
    if blocks is not None:
        if not reads:
            raise InputError(_NOT_IN_BLOCKS[reset].format(name=type(estimator).__name__))
        return _as_blocks(estimator, blocks)
    # With None, scikit-learn complains that y is missing. Targets checks all other y.
    target = None if y is None else "no_validation"
    try:
        checked = validate_data(
            estimator,
            X,
            target,
            reset=reset,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            allow_nd=estimator.__sklearn_tags__().input_tags.three_d_array,
        )
    except ValueError as error:
        raise InputError(_located(error, X)) from error
    return _canonical(checked) if sparse.issparse(checked) else checked


def _as_blocks(estimator: Any, blocks: Blocks) -> Blocks:
    estimator.n_features_in_ = blocks.n_features
    vars(estimator).pop("feature_names_in_", None)
    if blocks.feature_names is not None:
        estimator.feature_names_in_ = np.array(blocks.feature_names, dtype=object)
    return blocks


def _located(error: ValueError, X: Any) -> str:
    """Return scikit-learn's message, shortened, with the place of the first bad entry of X."""
    message = str(error)
    # Drop the printed array, which can be long.
    message = re.sub(r":\s*\n?array=.*?\.\n(?=Reshape)", ". ", message, flags=re.DOTALL)
    if "NaN" not in message and "infinity" not in message:
        return message.splitlines()[0] if "Complex data" in message else message
    matrix: Any = X if sparse.issparse(X) else _flat(np.atleast_2d(X))
    try:
        entries = sparse.coo_array(matrix.astype(np.float64))
    except (TypeError, ValueError):  # not numbers: scikit-learn's message says so
        return message
    bad = np.flatnonzero(~np.isfinite(entries.data))
    if not bad.size:
        return message
    counted = "1 entry is" if len(bad) == 1 else f"{len(bad)} entries are"
    # Further lines of the message recommend estimators of scikit-learn.
    return (
        f"{message.splitlines()[0]} {counted} not finite, the first in {_place(entries, bad[0])}."
        " Remove or impute such entries first."
    )


def _canonical(X: Any) -> Any:
    """Return sorted CSR without duplicates or explicit zeros; the arrays of X are not changed.

    Some libraries read only the last of several entries for one place, some sort the given matrix
    in place, and some refuse 64-bit indices.
    """
    if not X.has_canonical_format or not X.data.all():
        X = X.copy()
        X.sum_duplicates()
        overflown = np.flatnonzero(~np.isfinite(X.data))
        if overflown.size:
            raise InputError(
                f"X has several entries for {_place(X, overflown[0])}, whose sum overflows; give"
                " one entry for each place, and scale the features"
            )
        X.eliminate_zeros()
    if X.indices.dtype != np.int32 and max(*X.shape, X.nnz) <= _LARGEST_INT32:
        indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = type(X)((X.data, indices, indptr), shape=X.shape)
    return X


def refuse_overflow(X: Features) -> None:
    """Refuse features if the sum of their squares may exceed the range of their type."""
    largest = _largest(X)
    if largest > (float(np.finfo(X.dtype).max) / X.shape[0] / X.shape[1]) ** 0.5:
        raise InputError(
            f"X holds values up to {largest:.3g}, whose squares overflow; scale the features first"
        )


def refuse_beyond_single(X: Features) -> None:
    if _largest(X) <= float(np.finfo(np.float32).max):
        return
    entries = sparse.coo_array(_flat(X))
    at = np.argmax(np.abs(entries.data))
    raise InputError(
        f"X holds {entries.data[at]:g} in {_place(entries, at)}, too large for single"
        " precision; scale the features first"
    )


def moments_of(X: Features, weights: Any = None) -> Any:
    """Return a fitted StandardScaler, which has ``mean_``, ``var_`` and ``scale_``.

    Rows count by their ``weights`` (n,); None are all 1.
    """
    scaler = StandardScaler(with_mean=False, copy=False)
    for batch in gen_batches(X.shape[0], _BATCH):  # in batches, to avoid a float64 copy of X
        scaler.partial_fit(X[batch], None, None if weights is None else weights[batch])
    return scaler


def far_centre(X: Features, times: float = FAR) -> Array | None:
    """Return the means (d,) of features if one is more than ``times`` their spread; else None."""
    moments = moments_of(_flat(X))
    spread = float(np.sqrt(moments.var_.mean()))
    # Features that differ by no more than rounding are constant, and not far from 0.
    far = times * spread < np.abs(moments.mean_).max() < spread / np.finfo(np.float64).eps
    return np.asarray(moments.mean_) if far else None


def range_of(X: Features) -> str:
    return f"X holds values from {X.min():.3g} to {X.max():.3g}"


def _flat(X: Any) -> Any:
    return np.asarray(X).reshape(len(X), -1) if X.ndim > 2 else X


def _largest(X: Features) -> float:
    return float(max(X.max(), -X.min()))


def _place(X: Any, at: np.integer[Any]) -> str:
    """Return the row and column, in words, of entry ``at`` of a sparse array's data."""
    entries = X.tocoo()
    return f"row {entries.row[at]}, column {entries.col[at]}"
