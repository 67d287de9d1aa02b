"""Features in NumPy arrays and archives, SciPy's sparse matrices and svmlight files."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from complabel.errors import DatasetFormatError
from complabel.files._source import explained

_CSR_PARTS = ("data", "indices", "indptr", "shape")
# A limit, because one wrong index would make a matrix of any width.
_MAX_FEATURES = 2_000_000
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_npy(path: Path) -> NDArray[Any]:
    """Open an array on disk; only the parts that are used take memory."""
    with explained(path, "save it again with numpy.save, as an array of numbers"):
        found: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(found, np.ndarray):
            raise DatasetFormatError(f"{path}: this is a .npz archive; end its name in .npz")
    return found


def read_npz(path: Path) -> tuple[Any, NDArray[Any] | None, NDArray[Any] | None]:
    """Return X, and the names of items and of features if the archive has them."""
    with explained(path, "save it again with numpy.savez or scipy.sparse.save_npz"):
        with zipfile.ZipFile(path) as archive:
            infos = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            stored = ("format", *_CSR_PARTS)
            prefix = "" if "X" not in infos and set(stored) <= set(infos) else "X_"
            parts = [f"{prefix}{part}" for part in _CSR_PARTS]
            known = ("X", *parts, "items", "feature_names", *(["format"] if not prefix else []))
            arrays = {name: _member(path, archive, infos[name]) for name in known if name in infos}
        if "X" in arrays:
            X: Any = arrays["X"]
        elif set(parts) <= set(arrays):
            X = _sparse(path, [arrays[part] for part in parts], arrays.get("format"))
        else:
            found = ", ".join(map(repr, list(infos)[:8])) or "none"
            raise DatasetFormatError(
                f"{path}: found the arrays {found}; name the features X, or give the parts of a "
                f"sparse matrix, {', '.join(f'X_{part}' for part in _CSR_PARTS)}"
            )
    return X, arrays.get("items"), arrays.get("feature_names")


def read_svmlight(path: Path, n_features: int | None) -> Any:
    """Return the features of a file in svmlight format as CSR; its labels are ignored."""
    from sklearn.datasets import load_svmlight_file  # takes over a second

    advice = "each line is 'label,label index:value index:value ...'"
    with explained(path, advice):
        loaded, _ = load_svmlight_file(path, n_features=n_features, multilabel=True)
        X = sparse.csr_array(loaded)
    if n_features is None and X.shape[1] > _MAX_FEATURES:
        raise DatasetFormatError(
            f"{path}: found index {X.shape[1]:,}, above {_MAX_FEATURES:,}, the most features that "
            "are read; if it is right, give n_features in Python"
        )
    return X


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """Read an array of an archive; a false size in its header takes no memory."""
    with archive.open(info) as stream:
        version = npy.read_magic(stream)
        shape, _, dtype = _HEADERS[version](stream)
        n_bytes = info.file_size - stream.tell()
    if dtype.kind not in "biufUS":
        raise DatasetFormatError(
            f"{path}: {info.filename} holds values of type {str(dtype)[:60]}; save numbers as "
            "numbers and names as np.array(names, dtype=str), since Python objects are not read"
        )
    if min(shape, default=1) < 0 or math.prod(shape) * dtype.itemsize != n_bytes:
        raise DatasetFormatError(
            f"{path}: {info.filename} has {n_bytes:,} bytes of values, which do not fit the shape "
            f"{str(shape)[:60]} and type {str(dtype)[:60]} in its header; save it again"
        )
    with archive.open(info) as stream:
        found: NDArray[Any] = npy.read_array(stream, allow_pickle=False)
    return found


def _sparse(path: Path, parts: list[NDArray[Any]], form: NDArray[Any] | None) -> Any:
    """Build a sparse matrix from its parts, with checks of each."""
    data, indices, indptr, shape = parts
    word = "csr" if form is None else form.item()
    word = word.decode("ascii") if isinstance(word, bytes) else word
    if word not in ("csr", "csc"):
        raise DatasetFormatError(
            f"{path}: the sparse matrix has the format {word!r}; save it as CSR"
        )
    integers = all(part.dtype.kind in "iu" for part in (indices, indptr, shape))
    if not integers or shape.shape != (2,) or data.dtype.kind not in "biuf":
        raise DatasetFormatError(
            f"{path}: {', '.join(_CSR_PARTS)} are not the parts of a sparse matrix; give numbers, "
            "integers, integers and (rows, columns)"
        )
    if (indptr[1:] < indptr[:-1]).any():  # SciPy's own check would overflow
        raise DatasetFormatError(
            f"{path}: the starts of a sparse matrix (indptr) decrease; save it again"
        )
    kind = sparse.csr_array if word == "csr" else sparse.csc_array
    matrix: Any = kind(
        (as_float(data), indices.astype(np.int64), indptr.astype(np.int64)),
        shape=tuple(shape.tolist()),
    )
    matrix.check_format(full_check=True)
    matrix.sum_duplicates()
    return sparse.csr_array(matrix)


def as_float(values: Any) -> Any:
    """Return numbers as float32 if that holds their type exactly, else as float64."""
    kind = values.dtype
    if kind.kind not in "biuf":
        raise DatasetFormatError(f"X holds values of type {kind}; give numbers")
    is_small = kind.itemsize <= 2 or (kind.kind == "f" and kind.itemsize == 4)
    wanted = np.float32 if is_small else np.float64
    with np.errstate(
        over="ignore"
    ):  # a too large long double becomes infinite and is refused later
        return values.astype(wanted, copy=False)
