"""Datasets as matrices: NumPy archives, svmlight text, and MATLAB files of versions 5 to 7.

SciPy's reader of MATLAB files is not used: it does not limit the unpacked size, and it crashes
Python on some damaged files (a segmentation fault within 20,000 mutants of tests/fuzz, SciPy 1.17).
"""

import itertools
import math
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from complabel._opening import (
    StrPath,
    StrPaths,
    as_path,
    existing_ones,
    fault,
    limit_of,
    read_bytes,
    refuse_large,
)
from complabel._parameters import AnyArray, Indicator, check_integer
from complabel._writing import explained, replacing
from complabel.answers import check_indicator
from complabel.datasets import Features, MultiLabelDataset
from complabel.errors import AnnotationError, InputError
from complabel.files import (
    CSR_PARTS,
    as_texts,
    matrix_of,
    read_arrays,
    read_svmlight_parts,
    sparse_of,
)

_OPTIONAL = ("label_names", "feature_names", "groups")
_KNOWN = [
    *(x for name in ("X", "Y", "excluded") for x in (name, *(f"{name}_{p}" for p in CSR_PARTS))),
    *_OPTIONAL,
]
_MOST_NAMES = 1 << 24  # a small file can declare any number of columns


def save_file(dataset: MultiLabelDataset, path: StrPath) -> None:
    """Save a dataset as a NumPy archive that ``load_file`` reads.

    Parameters
    ----------
    dataset : MultiLabelDataset
        Its name is not saved; ``load_file`` uses the name of the file.
    path : path
        Must end in ``.npz``. An existing file is replaced.

    Raises
    ------
    InputError
        If the dataset has answers of people, or rows whose true labels are not known: an archive
        cannot store these, tables can.
    OutputError
        If the file cannot be written. What was there before is unchanged.

    Examples
    --------
    >>> import tempfile
    >>> from complabel.datasets import make_synthetic
    >>> from complabel.experiments.datasets import load_file
    >>> path = Path(tempfile.mkdtemp()) / "mine.npz"
    >>> save_file(make_synthetic(50), path)
    >>> load_file(path).Y.shape
    (50, 6)
    """
    target = as_path("path", path)
    if target.suffix.lower() != ".npz":
        raise InputError(f"path is {str(target)!r}; give a name that ends in .npz")
    if dataset.answers is not None or dataset.known is not None:
        raise InputError(
            f"dataset {dataset.name!r} has answers of people, or rows whose true labels are not"
            " known; a .npz file cannot store these: keep its tables and read them with load_tables"
        )
    X = dataset.X
    arrays: dict[str, Any] = {"X": X}
    if not isinstance(X, np.ndarray):
        arrays = {f"X_{part}": getattr(X, part) for part in CSR_PARTS}
    stored = {key: getattr(dataset, key) for key in ("Y", *_OPTIONAL, "excluded")}
    arrays |= {key: np.asarray(part) for key, part in stored.items() if part is not None}
    with explained(target), replacing(target) as partial, partial.open("wb") as out:
        np.savez_compressed(out, **arrays)


def read_npz(path: Path, name: str) -> MultiLabelDataset:
    arrays = read_arrays(path, _KNOWN)
    for key in ("X", "Y"):
        if key in arrays and f"{key}_indptr" in arrays:
            raise fault(path, f"there are both {key} and {key}_indptr; give one of them")
    try:
        X = _features(path, matrix_of(path, arrays, "X"))
        Y = _labels(path, "Y", arrays)
        ruled_out = any(key.startswith("excluded") for key in arrays)
        return MultiLabelDataset(
            name=name,
            X=X,
            Y=Y,
            label_names=_names(path, "label", arrays, Y.shape[1]),
            feature_names=_names(path, "feature", arrays, X.shape[1]),
            groups=arrays.get("groups"),
            excluded=_labels(path, "excluded", arrays) if ruled_out else None,
        )
    except (AnnotationError, InputError) as cause:
        raise fault(path, str(cause)) from cause


def _features(path: Path, X: Any) -> Features:
    """Return X as float64; long doubles beyond its range become infinite, and are refused."""
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise InputError(f"X has shape {X.shape} and type {X.dtype}; give a matrix of numbers")
    refuse_large(path, "X as float64", 8 * X.size, 8 * limit_of(path))
    with np.errstate(over="ignore"):
        found: Features = X.astype(np.float64, copy=False)
    return found


def _labels(path: Path, name: str, arrays: dict[str, AnyArray]) -> Indicator:
    matrix = matrix_of(path, arrays, name)
    refuse_large(path, f"{name} as a dense matrix", math.prod(matrix.shape), limit_of(path))
    return check_indicator(matrix, name=name)


def _names(path: Path, kind: str, arrays: dict[str, AnyArray], count: int) -> tuple[str, ...]:
    given = arrays.get(f"{kind}_names")
    if given is None:
        return numbered(kind, count)
    return tuple(as_texts(path, f"{kind}_names", given, count))


def numbered(kind: str, count: int, first: int = 0) -> tuple[str, ...]:
    """Return names of columns that have none; refuse so many that they would fill the memory."""
    if count > _MOST_NAMES:
        raise InputError(f"there are {count:,} {kind}s, more than {_MOST_NAMES:,}; give fewer")
    return tuple(f"{kind}_{at}" for at in range(first, count + first))


_MOST_COLUMNS = 2**31 - 1  # the largest 32-bit index


def read_svmlight(
    path: StrPaths, *, n_features: int | None = None, name: str | None = None
) -> MultiLabelDataset:
    """Read a multi-label dataset in svmlight format, plain, .bz2 or .gz, from one file or parts.

    The labels are the numbers that occur in the file, and these are their names. ``n_features`` is
    by default the largest index in the file, which must then be at most 2,000,000, so that one
    wrong index cannot fill the memory with names.
    """
    if n_features is not None:
        check_integer("n_features", n_features, at_least=1)
        if n_features > _MOST_COLUMNS:
            raise InputError(f"n_features is {n_features}; give {_MOST_COLUMNS:,} at most")
    paths = existing_ones("path", path)
    X, per_row = read_svmlight_parts(paths, n_features)
    if n_features is None and X.nnz == 0:
        raise fault(paths[0], "no row has a feature; expected 'label,label index:value ...'")
    rows = np.repeat(np.arange(len(per_row)), list(map(len, per_row)))
    labels = np.fromiter(chain.from_iterable(per_row), np.float64).astype(np.int64)
    if not labels.size:
        raise fault(paths[0], "no row has a label; expected 'label,label index:value ...'")
    numbers, columns = np.unique(labels, return_inverse=True)
    Y = np.zeros((X.shape[0], len(numbers)), dtype=np.uint8)
    Y[rows, columns] = 1
    return MultiLabelDataset(
        name=paths[0].name.partition(".")[0] if name is None else name,
        X=X,
        Y=Y,
        label_names=tuple(map(str, numbers.tolist())),
        feature_names=numbered("feature", X.shape[1], first=1),
    )


Matrix: TypeAlias = "AnyArray | sparse.csr_array[Any]"
_Elements: TypeAlias = Iterator[tuple[int, memoryview]]

_HEADER, _TAG = 128, 8
_ORDERS = {b"\0\1IM": "<", b"\1\0MI": ">"}  # version and byte order
_HDF5 = b"\x89HDF\r\n\x1a\n"
_NAME, _DIMENSIONS, _FLAGS, _MATRIX, _COMPRESSED = 1, 5, 6, 14, 15
_NUMBERS = ("", "i1", "u1", "i2", "u2", "i4", "u4", "f4", "", "f8", "", "", "i8", "u8")
_COMPLEX = 0x800
_CLASSES = ("", "cell array", "struct", "object", "text", "sparse matrix", *["matrix"] * 10)
# If at most this share of the values is not 0, computing with a sparse matrix is faster.
_MOST_NONZERO = 0.1


def read_mat(file: Path, name: str, *, with_candidates: bool = False) -> MultiLabelDataset:
    """Read a file of MATLAB versions 5 to 7, with dense or sparse matrices, in one of two layouts.

    Files of partial multi-label data (M.-K. Xie and S.-J. Huang, "Partial Multi-Label Learning",
    AAAI 2018) have the features ``data`` (n, d); ``target`` (K, n), 1 where a label is truly
    relevant; ``partial_labels`` (K, n), 1 where it is a candidate. The rules and people that chose
    the candidates make mistakes, so a label may be both excluded and relevant. Other files have
    ``X`` (n, d), ``Y`` (n, K) and ``excluded`` (n, K). The last matrix may be missing, unless the
    file must be ``with_candidates``. X is a csr_array if it is sparse, or mostly zeros.
    """
    layouts: list[tuple[str, ...]] = [("data", "target"), ("X", "Y")]
    optional: tuple[str, ...] = ("partial_labels", "excluded")
    if with_candidates:
        layouts, optional = [("data", "partial_labels", "target")], ()
    try:
        found = _variables(memoryview(read_bytes(file)), file, layouts, optional)
        if "data" in found:
            _check_shapes(found)
            X = _features_of("data", found["data"], file)
            Y, candidates = (_labels_of(n, found, file, 1) for n in ("target", "partial_labels"))
            excluded = None if candidates is None else 1 - candidates
        else:
            X = _features_of("X", found["X"], file)
            Y, excluded = (_labels_of(key, found, file, 0) for key in ("Y", "excluded"))
        assert Y is not None  # every layout has it
        return MultiLabelDataset(
            name=name,
            X=X,
            Y=Y,
            label_names=numbered("label", Y.shape[1]),
            feature_names=numbered("feature", X.shape[1]),
            excluded=excluded,
        )
    except (AnnotationError, InputError) as cause:
        raise fault(file, str(cause)) from cause


def _check_shapes(found: Mapping[str, Matrix]) -> None:
    n_rows, n_labels = found["data"].shape[0], found["target"].shape[0]
    for name in ("partial_labels", "target"):
        if name in found and found[name].shape != (n_labels, n_rows):
            raise InputError(
                f"{name} has shape {found[name].shape}; data has {n_rows} rows and target "
                f"{n_labels} rows: give a row for each label and a column for each row of data"
            )


def _features_of(name: str, values: Matrix, file: Path) -> Features:
    """Return the features as float64; sparse if they are sparse already or mostly zeros."""
    if not isinstance(values, np.ndarray) or (
        np.count_nonzero(values) <= _MOST_NONZERO * values.size
    ):
        found: sparse.csr_array[np.float64, tuple[int, int]]
        found = sparse.csr_array(values).astype(np.float64)
        found.sum_duplicates()
        return found
    refuse_large(file, f"{name} as float64", 8 * values.size, limit_of(file))
    return np.ascontiguousarray(values, dtype=np.float64)


def _labels_of(name: str, found: Mapping[str, Matrix], file: Path, axis: int) -> Indicator | None:
    matrix = found.get(name)
    if matrix is None:
        return None
    refuse_large(file, f"{name} as a dense matrix", math.prod(matrix.shape), limit_of(file))
    if isinstance(matrix, np.ndarray) and matrix.size and np.isin(matrix, (-1, 1)).all():
        matrix = (matrix > 0).astype(np.uint8)  # many files have -1 instead of 0
    return np.ascontiguousarray(check_indicator(matrix.T if axis else matrix, name=name))


def _variables(
    raw: memoryview, file: Path, layouts: Sequence[Sequence[str]], optional: Sequence[str]
) -> dict[str, Matrix]:
    wanted = {*optional, *itertools.chain(*layouts)}
    if _HDF5 in (bytes(raw[:8]), bytes(raw[512:520])):
        raise InputError(
            "this is a file of MATLAB 7.3 (HDF5), which cannot be read; save it again in MATLAB "
            "with save(..., '-v7')"
        )
    order = _ORDERS.get(bytes(raw[_HEADER - 4 : _HEADER]))
    if order is None:
        raise InputError(
            "found no header of a MATLAB file of versions 5 to 7; download it again, or save it "
            "in MATLAB with save(..., '-v7')"
        )
    found: dict[str, Matrix] = {}
    others = []
    n_bytes = 0
    for kind, body in _elements(raw[_HEADER:], order):
        if kind == _COMPRESSED:
            unpacked = _unpack(body, limit_of(file) - n_bytes)
            n_bytes += len(unpacked)
            refuse_large(file, "the unpacked file", n_bytes, limit_of(file))
            kind, body = next(_elements(unpacked, order), (0, body))
        if kind == _MATRIX:
            parts = _elements(body, order, align=_TAG)
            flags, shape, name = _describe(parts, order)
            if name in found:
                raise InputError(f"variable {name} is there twice; save it again")
            if name in wanted:
                found[name] = _matrix(name, flags, shape, parts, order, file)
            else:
                others.append(name)
    complete = [layout for layout in layouts if found.keys() >= {*layout}]
    if len(complete) != 1:
        there = ", ".join([*found, *others])[:200] or "(none)"
        expected = ", or ".join(map(", ".join, layouts))
        raise InputError(f"found the variables {there}; expected {expected}")
    return {name: found[name] for name in (*complete[0], *optional) if name in found}


def _elements(raw: memoryview, order: str, align: int = 1) -> _Elements:
    """Yield the type and content of each data element; small elements are inside their tags."""
    at = 0
    while at < len(raw):
        tag = raw[at : at + _TAG]
        kind, length = struct.unpack(f"{order}II", tag) if len(tag) == _TAG else (0, _TAG)
        if kind >> 16:
            kind, length, body = kind & 0xFFFF, kind >> 16, tag[4:]
            body, after = body[:length], at + _TAG
        else:
            body = raw[at + _TAG : at + _TAG + length]
            after = at + _TAG + math.ceil(length / align) * align
        if len(body) < length:
            raise InputError("a variable is cut off or damaged; download it again")
        yield kind, body
        at = after


def _unpack(body: memoryview, left: int) -> memoryview:
    """Unpack a variable, up to one byte more than the ``left`` bytes of the limit."""
    packed = zlib.decompressobj()
    try:
        content = packed.decompress(body, max(left, 0) + 1)
    except zlib.error as cause:
        raise InputError(f"a variable does not unpack ({cause}); download it again") from cause
    if not packed.eof and len(content) <= left:
        raise InputError("a variable is cut off; download it again")
    return memoryview(content)


def _describe(parts: _Elements, order: str) -> tuple[int, tuple[int, ...], str]:
    """Return flags, shape and name of a variable; they precede its values."""
    found = [next(parts, (0, memoryview(b""))) for _ in range(3)]
    (_, flags), (_, dimensions), (_, name) = found
    kinds = [kind for kind, _ in found]
    if len(flags) < 4 or kinds[0] != _FLAGS:
        raise InputError("a variable has no flags; download the file again")
    (word,) = struct.unpack(f"{order}I", flags[:4])
    if kinds != [_FLAGS, _DIMENSIONS, _NAME] or len(dimensions) % 4:
        return word, (), ""  # an object of a MATLAB class; its format is not published
    shape = tuple(np.frombuffer(dimensions, f"{order}i4").tolist())
    return word, shape, bytes(name).decode("latin-1")


def _matrix(
    name: str, flags: int, shape: tuple[int, ...], parts: _Elements, order: str, file: Path
) -> Matrix:
    number = flags & 0xFF
    kind = _CLASSES[number] if number < len(_CLASSES) else "variable of unknown type"
    if not kind.endswith("matrix") or flags & _COMPLEX or len(shape) != 2:
        what = f"complex {kind}" if flags & _COMPLEX else kind
        raise InputError(f"{name} is a {what} of shape {shape}; give a matrix of real numbers")
    if kind == "matrix":
        values = _numbers(name, parts, order)
        if min(shape) < 0 or values.size != math.prod(shape):
            raise InputError(f"{name} has {values.size} values for shape {shape}; save it again")
        return values.reshape(shape, order="F")
    rows, starts, values = (_numbers(name, parts, order) for _ in range(3))
    # A small file can declare a huge shape, so it counts as well as the values.
    refuse_large(file, f"{name} in sparse form", 16 * values.size + 8 * sum(shape), limit_of(file))
    return sparse_of(f"{file}!{name}", sparse.csc_array, values, rows, starts, np.array(shape))


def _numbers(name: str, parts: _Elements, order: str) -> AnyArray:
    """Return the numbers of one data element, in this machine's byte order."""
    kind, body = next(parts, (0, memoryview(b"")))
    code = _NUMBERS[kind] if kind < len(_NUMBERS) else ""
    if not code or len(body) % int(code[1]):
        raise InputError(f"{name} has no numbers where its values should be; download it again")
    return np.frombuffer(body, order + code).astype(code)
