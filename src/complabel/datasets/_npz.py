"""Save and read the user's own datasets as NumPy archives, with one array for each part."""

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from complabel._writing import explained, replacing
from complabel.answers import check_indicator
from complabel.datasets._dataset import CSR, Features, MultiLabelDataset
from complabel.datasets._paths import StrPath, as_path
from complabel.datasets._reading import BYTES_PER_NAME, check_starts, read_zipped, refuse_large
from complabel.errors import AnnotationError, DatasetFormatError, InputError

_CSR_PARTS = ("data", "indices", "indptr", "shape")
_SPARSE = {name: tuple(f"{name}_{part}" for part in _CSR_PARTS) for name in ("X", "Y", "excluded")}
_MATRICES = [key for name, parts in _SPARSE.items() for key in (name, *parts)]
_KNOWN = (*_MATRICES, "label_names", "feature_names", "groups")
_READ_HEADER = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def save_file(dataset: MultiLabelDataset, path: StrPath) -> None:
    """Save a dataset as a NumPy archive that ``load_file`` reads.

    Parameters
    ----------
    dataset : MultiLabelDataset
    path : path
        Must end in ``.npz``. The folder must exist. An existing file is replaced.

    Raises
    ------
    InputError
        If ``path`` has another ending. Also if the dataset has answers of people, or rows whose
        true labels are not known: an archive cannot store these, tables can.
    OutputError
        If the file cannot be written. What was there before is unchanged.

    Notes
    -----
    The name of the dataset is not saved; ``load_file`` uses the name of the file.

    Examples
    --------
    >>> import tempfile
    >>> from complabel.datasets import load_file, make_synthetic
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
    if isinstance(X, np.ndarray):
        arrays: dict[str, Any] = {"X": X}
    else:
        arrays = dict(zip(_SPARSE["X"], (X.data, X.indices, X.indptr, X.shape), strict=True))
    arrays |= {"Y": dataset.Y, "label_names": np.array(dataset.label_names)}
    arrays["feature_names"] = np.array(dataset.feature_names)
    if dataset.groups is not None:
        arrays["groups"] = dataset.groups
    if dataset.excluded is not None:
        arrays["excluded"] = dataset.excluded
    with explained(target), replacing(target) as partial, partial.open("wb") as out:
        np.savez_compressed(out, **arrays)


def read_npz(path: Path, name: str, max_unpacked: int) -> MultiLabelDataset:
    """Read an archive in the layout that ``load_file`` describes."""
    files = [f"{member}.npy" for member in _KNOWN]
    raw = read_zipped(path, lambda names: [file for file in files if file in names], max_unpacked)
    # pop() frees the bytes of each array once it is parsed, so only one array is held twice.
    arrays = {file.removesuffix(".npy"): _parse(f"{path}!{file}", raw.pop(file)) for file in [*raw]}
    archive = _Archive(arrays, max_unpacked)
    try:
        X, Y = archive.features(), archive.labels("Y")
        ruled_out = any(key in arrays for key in ("excluded", *_SPARSE["excluded"]))
        return MultiLabelDataset(
            name=name,
            X=X,
            Y=Y,
            label_names=archive.names("label", Y.shape[1]),
            feature_names=archive.names("feature", X.shape[1]),
            groups=arrays.get("groups"),
            excluded=archive.labels("excluded") if ruled_out else None,
        )
    except (AnnotationError, InputError) as cause:
        raise DatasetFormatError(f"{path}: {cause}") from cause


@dataclass(frozen=True)
class _Archive:
    """The arrays of a file, and the maximum number of bytes of each in memory."""

    arrays: Mapping[str, NDArray[Any]]
    limit: int

    def features(self) -> Features:
        """Return X as float64."""
        given = self._matrix("X")
        if given.dtype.kind == "U":
            raise InputError("X holds text; give numbers")
        # The size of a CSR array is the number of its stored values.
        refuse_large("X as float64", 8 * given.size, self.limit)
        X: Features = _as_float(given)
        return X

    def labels(self, name: str) -> NDArray[np.uint8]:
        """Return Y or the excluded labels as a dense indicator."""
        matrix = self._matrix(name)
        refuse_large(f"{name} as a dense matrix", math.prod(matrix.shape), self.limit)
        return check_indicator(matrix, name=name)

    def names(self, kind: str, count: int) -> tuple[str, ...]:
        """Return the names of the columns; numbered names if the file has none."""
        refuse_large(f"{count:,} {kind} names", BYTES_PER_NAME * count, self.limit)
        given = self.arrays.get(f"{kind}_names")
        if given is None:
            return tuple(f"{kind}_{i}" for i in range(count))
        if given.dtype.kind != "U" or given.shape != (count,):
            raise InputError(
                f"{kind}_names has shape {given.shape} and type {given.dtype}; give one name for "
                f"each of the {count} columns, as np.array(names, dtype=str)"
            )
        try:
            names = given.tolist()
            "".join(names).encode()
        except ValueError as cause:
            raise InputError(
                f"{kind}_names holds text that is not valid Unicode ({cause}); save valid names"
            ) from cause
        return tuple(names)

    def _matrix(self, name: str) -> Any:
        """Return a matrix as it was saved, dense or sparse."""
        parts = _SPARSE[name]
        given = {key for key in (name, *parts) if key in self.arrays}
        if given not in ({name}, set(parts)):
            found = ", ".join(self.arrays) or "(none)"
            raise InputError(
                f"found the arrays {found}; expected either {name}, or all of {', '.join(parts)}"
            )
        matrix = self.arrays[name] if given == {name} else self._csr(name, parts)
        if matrix.ndim != 2:
            raise InputError(
                f"{name} has shape {matrix.shape}; give a matrix with a row for each instance"
            )
        return matrix

    def _csr(self, name: str, parts: Sequence[str]) -> CSR:
        """Build a CSR matrix from its parts, which may be damaged or made to do harm."""
        data, indices, indptr, shape = (self.arrays[part] for part in parts)
        whole = all(part.dtype.kind in "iu" for part in (indices, indptr, shape))
        if not whole or shape.shape != (2,) or data.dtype.kind not in "biuf":
            raise InputError(
                f"{', '.join(parts)} are not the parts of a CSR matrix; expected numbers, "
                "integers, integers and (rows, columns)"
            )
        refuse_large(f"{name} in CSR form", 16 * data.size, self.limit)
        try:
            check_starts(indptr)
            matrix: CSR = sparse.csr_array(
                (_as_float(data), indices.astype(np.int64), indptr.astype(np.int64)),
                shape=tuple(shape.tolist()),
            )
            matrix.check_format(full_check=True)
        except ValueError as cause:
            raise InputError(f"{', '.join(parts)} do not fit together: {cause}") from cause
        matrix.sort_indices()
        if not matrix.has_canonical_format:
            raise InputError(f"{name} has one cell twice; call sum_duplicates() before saving")
        return matrix


def _parse(source: str, raw: bytes) -> NDArray[Any]:
    """Read an array without pickle, and without allocating more than the file contains."""
    stream = io.BytesIO(raw)
    try:
        shape, fortran, dtype = _READ_HEADER[npy.read_magic(stream)](stream)
    except Exception as cause:  # the parsers raise a dozen kinds of exceptions
        raise DatasetFormatError(
            f"{source}: found no header of a NumPy array ({str(cause)[:60]}); save it again with "
            "numpy.savez"
        ) from cause
    if dtype.kind not in "biufU":
        raise DatasetFormatError(
            f"{source}: found values of type {str(dtype)[:60]}; save numbers as numbers and names "
            "as np.array(names, dtype=str), since Python objects are not read"
        )
    if dtype.kind == "b":
        dtype = np.dtype(np.uint8)  # keeps bytes other than 0 and 1, so that they are refused
    found = len(raw) - stream.tell()
    sized = dtype.itemsize and min(shape, default=1) >= 0
    if not sized or math.prod(shape) * dtype.itemsize != found:
        raise DatasetFormatError(
            f"{source}: found {found:,} bytes of values, which does not fit the shape "
            f"{str(shape)[:60]} and type {dtype} in its header; save it again"
        )
    try:
        flat = np.frombuffer(raw, dtype, offset=stream.tell())
        shaped = flat.reshape(shape, order="F" if fortran else "C")
        return np.array(shaped, dtype=dtype.newbyteorder("="), order="C")
    except (ValueError, OverflowError) as cause:  # too many axes, or an axis too long
        raise DatasetFormatError(f"{source}: found shape {str(shape)[:60]} ({cause})") from cause


def _as_float(values: Any) -> Any:
    """Convert to float64; long doubles beyond its range become infinite."""
    with np.errstate(over="ignore"):
        return values.astype(np.float64, copy=False)
