"""Numbers in NumPy arrays and archives, SciPy's sparse matrices and svmlight files."""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from complabel._opening import explained, fault, limit_of, read_bytes, refuse_large, tidy
from complabel._parameters import AnyArray

CSR_PARTS = ("data", "indices", "indptr", "shape")
_READ_HEADER = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
# A limit, because one wrong index would make a matrix of any width.
_MOST_FEATURES = 2_000_000
_LARGEST_LABEL = 2**53  # labels are read as float64, which is exact only below this
_COMMENT = re.compile(rb"#[^\n]*")
# All characters that may occur outside comments. Others are refused, as float() would also read
# 1_0, nan and non-ASCII digits. "qid:5" is the number of a query and is skipped.
_KNOWN = b"0123456789+-.eE:,qid \t\n\r\v\f"


def read_npy(path: Path) -> AnyArray:
    """Open an array on disk; only the parts that are used take memory."""
    with explained(path, "save it again with numpy.save, as an array of numbers"):
        array: AnyArray = np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise fault(path, "this is a .npz archive; end its name in .npz")
    return array


def array_names(path: Path) -> list[str]:
    with explained(path, "save it again with numpy.savez"), zipfile.ZipFile(path) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist()]


def read_arrays(path: Path, names: Iterable[str]) -> dict[str, AnyArray]:
    """Read those arrays of an archive that it has; pickles are refused.

    A false size in a header takes no memory. Booleans are given as their bytes, which may be
    damaged, too.
    """
    arrays, left = {}, limit_of(path)
    with explained(path, "save it again with numpy.savez"), zipfile.ZipFile(path) as archive:
        members = {info.filename: info for info in archive.infolist()}
        for name in names:
            info = members.get(f"{name}.npy", members.get(name))
            if info is not None:
                refuse_large(path, name, info.file_size, left)
                left -= info.file_size
                with explained(f"{path}!{info.filename}", "save it again with numpy.savez"):
                    arrays[name] = _member(f"{path}!{info.filename}", archive, info)
    return arrays


def _member(source: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> AnyArray:
    with archive.open(info) as stream:
        version = npy.read_magic(stream)
        shape, _, dtype = _READ_HEADER[version](stream)
        n_bytes = info.file_size - stream.tell()
    if dtype.kind not in "biufUS":
        raise fault(
            source,
            f"holds values of type {str(dtype)[:60]}; save numbers as numbers and names as"
            " np.array(names, dtype=str), since Python objects are not read",
        )
    if (
        not dtype.itemsize
        or min(shape, default=1) < 0
        or math.prod(shape) * dtype.itemsize != n_bytes
    ):
        raise fault(
            source,
            f"has {n_bytes:,} bytes of values, which do not fit the shape {str(shape)[:60]} and"
            f" type {str(dtype)[:60]} in its header; save it again",
        )
    with archive.open(info) as stream:
        array: AnyArray = npy.read_array(stream, allow_pickle=False)
    array = array.view(np.uint8) if dtype.kind == "b" else array
    return np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")


def matrix_of(path: Path, arrays: Mapping[str, AnyArray], name: str) -> Any:
    """Return the dense or sparse matrix of an archive, in the types in which it is stored."""
    if name in arrays:
        return arrays[name]
    prefix = "" if name == "X" and "indptr" in arrays else f"{name}_"
    parts = [arrays[f"{prefix}{part}"] for part in CSR_PARTS if f"{prefix}{part}" in arrays]
    if len(parts) < len(CSR_PARTS):
        names = ", ".join(map(repr, array_names(path)[:8])) or "none"
        raise fault(
            path,
            f"found the arrays {names}; name the matrix {name}, or give the parts of a sparse one,"
            f" {', '.join(f'{name}_{part}' for part in CSR_PARTS)}",
        )
    word = arrays["format"].item() if not prefix and "format" in arrays else "csr"
    word = word.decode("ascii", "replace") if isinstance(word, bytes) else word
    if word not in ("csr", "csc"):
        raise fault(path, f"the sparse matrix has the format {word!r}; save it as CSR")
    kind = sparse.csr_array if word == "csr" else sparse.csc_array
    return sparse_of(path, kind, *parts)


def sparse_of(
    source: object, kind: Any, data: AnyArray, indices: AnyArray, indptr: AnyArray, shape: AnyArray
) -> sparse.csr_array[Any, tuple[int, int]]:
    """Build a sparse matrix from parts that may be damaged or made to do harm."""
    integers = all(part.dtype.kind in "iu" for part in (indices, indptr, shape))
    if not integers or shape.shape != (2,) or data.dtype.kind not in "biuf":
        raise fault(
            source,
            f"{', '.join(CSR_PARTS)} are not the parts of a sparse matrix; give numbers, integers,"
            " integers and (rows, columns)",
        )
    if (indptr[1:] < indptr[:-1]).any():  # SciPy's own check can overflow
        raise fault(source, "the starts of a sparse matrix (indptr) decrease; save it again")
    with explained(source, "the parts of a sparse matrix do not fit together; save it again"):
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
    is_small = kind.itemsize <= 2 or (kind.kind == "f" and kind.itemsize == 4)
    with np.errstate(over="ignore"):  # a too large long double becomes infinite, refused later
        return values.astype(np.float32 if is_small else np.float64, copy=False)


def as_texts(path: Path, name: str, values: AnyArray, count: int) -> list[str]:
    """Return the names in an archive as text; they may be numbers there."""
    if values.shape != (count,) or values.dtype.kind not in "iuU":
        raise fault(
            path,
            f"{name} has shape {values.shape} and type {str(values.dtype)[:60]}; give {count}"
            " names, as np.array(names, dtype=str)",
        )
    with explained(path, f"give {name} as text"):
        texts: list[str] = values.astype(np.str_).tolist()
        "".join(texts).encode()
    return [*map(tidy, texts)]


def read_svmlight_parts(
    paths: Sequence[Path], n_features: int | None = None, *, labelled: bool = True
) -> tuple[Any, list[tuple[float, ...]]]:
    """Return the features of all parts as CSR (n, d), float64, and the labels of each row.

    The labels are only checked if ``labelled``.
    """
    texts = [read_bytes(path) for path in paths]

    def parsed(texts: Sequence[bytes]) -> tuple[Any, list[tuple[float, ...]]]:
        with np.errstate(over="ignore"):
            return _parsed(texts, n_features, labelled)

    try:
        return parsed(texts)
    except (ValueError, OverflowError) as cause:
        form = "expected 'label,label index:value ...'"
        for path, text in zip(paths, texts, strict=True):
            if faulty_line := _first_fault(text.split(b"\n"), parsed):
                number, line, reason = faulty_line
                shown = line.decode("utf-8", "replace").strip()[:60]
                raise fault(path, f"{reason}; found {shown!r}, {form}", line=number) from cause
        raise fault(paths[0], f"{cause}; {form}") from cause


def _first_fault(
    lines: Sequence[bytes], parse: Callable[[Sequence[bytes]], object]
) -> tuple[int, bytes, str] | None:
    """Return the number, text and reason of a line that does not parse, found by halving."""

    def reason(start: int, stop: int) -> str:
        try:
            parse([b"\n".join(lines[start:stop])])
        except (ValueError, OverflowError) as cause:
            return str(cause)[:200]
        return ""

    start, stop = 0, len(lines)
    while stop - start > 1:
        middle = (start + stop) // 2
        start, stop = (start, middle) if reason(start, middle) else (middle, stop)
    problem = reason(start, stop)
    return (start + 1, lines[start], problem) if problem else None


def _parsed(
    texts: Sequence[bytes], n_features: int | None, labelled: bool
) -> tuple[Any, list[tuple[float, ...]]]:
    """Parse several texts together, since they share the number from which indices count."""
    from sklearn.datasets import load_svmlight_files  # takes over a second

    if any(_COMMENT.sub(b"", text).translate(None, _KNOWN) for text in texts):
        raise ValueError("there are characters that the format does not have")
    loaded = load_svmlight_files(
        [io.BytesIO(text) for text in texts], n_features=n_features, multilabel=True
    )
    widest = max(X.shape[1] for X in loaded[0::2])
    if n_features is None and widest > _MOST_FEATURES:
        raise ValueError(
            f"found index {widest:,}, above {_MOST_FEATURES:,}, the most features that are read; if"
            " it is right, give n_features in Python"
        )
    X = sparse.csr_array(sparse.vstack(loaded[0::2], format="csr"), dtype=np.float64)
    if not np.isfinite(X.data).all():
        raise ValueError("a number is infinite")
    rows = [row for part in loaded[1::2] for row in part]
    if labelled and not all(
        0 <= label < _LARGEST_LABEL and label.is_integer() for row in rows for label in row
    ):
        raise ValueError("a label is no whole number from 0 to 2**53 - 1")
    return X, rows
