"""Multi-label datasets in the svmlight format, as LIBSVM offers them."""

import bz2
import gzip
import itertools
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from complabel.datasets._dataset import MultiLabelDataset
from complabel.datasets._tables import StrPaths, as_paths
from complabel.errors import DatasetFormatError, DatasetNotFoundError

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_LINE = re.compile(rf"\s*(?:\d+(?:,\d+)*)?(?:(?:^|\s+)\d+:{_NUMBER})*\s*(?:#.*)?")


def read_svmlight(
    path: StrPaths,
    *,
    label_names: Sequence[str] | None = None,
    n_features: int | None = None,
    name: str | None = None,
) -> MultiLabelDataset:
    """Read a multi-label dataset in svmlight format, plain, .bz2 or .gz.

    Parameters
    ----------
    path : path or sequence of paths
        The file, or several parts which are put below each other in the order given.
    label_names : sequence of str, optional
        Names of labels 0, 1, ... as numbered in the file. By default the labels are those that
        occur, named by their numbers.
    n_features : int, optional
        Number of features; by default the largest index that occurs.
    name : str, optional
        Name of the dataset; by default the first file's up to the first dot.

    Returns
    -------
    MultiLabelDataset
        X is a csr_array.

    Raises
    ------
    DatasetNotFoundError
        When a file is missing.
    DatasetFormatError
        When a line does not parse, or a label has no name.
    """
    from sklearn.datasets import load_svmlight_files  # takes over a second

    paths = as_paths(path)
    missing = [str(part) for part in paths if not part.is_file()]
    if missing or not paths:
        raise DatasetNotFoundError(f"{', '.join(missing) or 'no path given'}: no such file")
    try:
        loaded = load_svmlight_files(
            [str(p) for p in paths], n_features=n_features, multilabel=True
        )
    except (ValueError, OSError, EOFError) as cause:
        raise _explain(paths, cause) from cause
    X = sparse.csr_array(sparse.vstack(loaded[0::2], format="csr"), dtype=np.float64)
    per_row: list[tuple[float, ...]] = list(itertools.chain.from_iterable(loaded[1::2]))
    Y, names = _indicator(str(paths[0]), per_row, label_names)
    return MultiLabelDataset(
        name=paths[0].name.partition(".")[0] if name is None else name,
        X=X,
        Y=Y,
        label_names=names,
        feature_names=tuple(f"feature_{i}" for i in range(1, X.shape[1] + 1)),
    )


def _indicator(
    source: str, per_row: list[tuple[float, ...]], label_names: Sequence[str] | None
) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """Turn lists of label numbers into an indicator matrix (n, K), and name its columns."""
    counts = np.array([len(labels) for labels in per_row], dtype=np.intp)
    rows = np.repeat(np.arange(len(per_row)), counts)
    flat = np.fromiter(itertools.chain.from_iterable(per_row), np.float64, int(counts.sum()))
    if flat.size == 0:
        raise DatasetFormatError(
            f"{source}: no row has a label; expected 'label,label index:value'"
        )
    if (flat != np.floor(flat)).any() or flat.min() < 0:
        raise DatasetFormatError(f"{source}: found a label that is no whole number from 0 on")
    if label_names is None:
        numbers, columns = np.unique(flat.astype(np.intp), return_inverse=True)
        names = tuple(str(number) for number in numbers)
    else:
        columns, names = flat.astype(np.intp), tuple(label_names)
        if columns.max() >= len(names):
            raise DatasetFormatError(
                f"{source}: found label {columns.max()}, but {len(names)} label names; "
                f"expected labels 0 to {len(names) - 1}"
            )
    Y = np.zeros((len(per_row), len(names)), dtype=np.uint8)
    Y[rows, columns] = 1
    return Y, names


def _explain(paths: Sequence[Path], cause: Exception) -> DatasetFormatError:
    """Find the first line that does not parse; only runs once parsing has failed."""
    openers = {".bz2": bz2.open, ".gz": gzip.open}
    for path in paths:
        opener = openers.get(path.suffix, open)
        try:
            with opener(path, "rt", encoding="utf-8", errors="replace") as lines:
                for number, line in enumerate(lines, start=1):
                    if _LINE.fullmatch(line) is None:
                        return DatasetFormatError(
                            f"{path}, line {number}: found {line.strip()[:60]!r}, "
                            "expected 'label,label index:value ...'"
                        )
        except (OSError, EOFError) as broken:
            return DatasetFormatError(f"{path}: cannot be unpacked ({broken}); download it again")
    return DatasetFormatError(f"{', '.join(map(str, paths))}: not in svmlight format ({cause})")
