"""Multi-label datasets in the svmlight format, as LIBSVM offers them."""

import io
import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from complabel._parameters import check_integer
from complabel.datasets._dataset import CSR, MultiLabelDataset
from complabel.datasets._paths import StrPaths, as_files, check_text, wrong_type
from complabel.datasets._svmlight_lines import LARGEST_LABEL, explain, foreign_signs
from complabel.datasets._unpack import MAX_UNPACKED, check_limit, read_compressed
from complabel.errors import DatasetFormatError, InputError

# Each feature takes a name, so that one wrong index could fill the memory.
_MAX_FEATURES = 2_000_000
_MOST_COLUMNS = 2**31 - 1  # indices of 32 bits


def read_svmlight(
    path: StrPaths,
    *,
    label_names: Sequence[str] | None = None,
    n_features: int | None = None,
    name: str | None = None,
    max_unpacked: int = MAX_UNPACKED,
) -> MultiLabelDataset:
    """Read a multi-label dataset in svmlight format, plain, .bz2 or .gz.

    Parameters
    ----------
    path : path or sequence of paths
        The file, or several parts which are put below each other in the order given.
    label_names : sequence of str or None, default=None
        Names of labels 0, 1, ... as numbered in the file. By default the labels are those that
        occur, named by their numbers.
    n_features : int or None, default=None
        Number of features; by default the largest index that occurs, which must not be above
        2,000,000 then: one wrong index would fill the memory with names. Give it for more.
    name : str or None, default=None
        Name of the dataset; by default the first file's up to the first dot.
    max_unpacked : int, default=2**30
        The most bytes that a .bz2 or .gz may unpack to; the default is 1 GiB.

    Returns
    -------
    MultiLabelDataset
        X is a csr_array.

    Raises
    ------
    DatasetNotFoundError
        If a file is missing.
    DatasetFormatError
        If a line does not parse, a label has no name, no row has a feature, or a file does not
        unpack or unpacks to too much.
    InputError
        If an argument is of the wrong type.
    """
    names = _as_names(label_names)
    if n_features is not None:
        check_integer("n_features", n_features, at_least=1)
        if n_features > _MOST_COLUMNS:
            raise InputError(f"n_features is {n_features}; give {_MOST_COLUMNS:,} at most")
    check_text("name", name)
    check_limit(max_unpacked)
    paths = as_files("path", path)
    texts = [read_compressed(part, max_unpacked) for part in paths]
    X, per_row = _parse(paths, texts, n_features)
    Y, names = _indicator(str(paths[0]), per_row, names)
    return MultiLabelDataset(
        name=paths[0].name.partition(".")[0] if name is None else name,
        X=X,
        Y=Y,
        label_names=names,
        feature_names=tuple(f"feature_{i}" for i in range(1, X.shape[1] + 1)),
    )


def _as_names(label_names: object) -> tuple[str, ...] | None:
    """Refuse what is no list of names; a single str is none."""
    if label_names is None:
        return None
    if isinstance(label_names, Iterable) and not isinstance(label_names, str):
        names = tuple(label_names)
        if all(isinstance(name, str) for name in names):
            return names
    raise wrong_type("label_names", label_names, "a list of str, one name for each label")


def _parse(
    paths: Sequence[Path], texts: Sequence[bytes], n_features: int | None
) -> tuple[CSR, list[tuple[float, ...]]]:
    """Read the features, and the label numbers of each row."""
    from sklearn.datasets import load_svmlight_files  # takes over a second

    largest = _MAX_FEATURES if n_features is None else n_features
    if any(foreign_signs(text) for text in texts):
        raise explain(paths, texts, largest, "it holds signs that the format does not know")
    try:
        loaded = load_svmlight_files(
            [io.BytesIO(text) for text in texts], n_features=n_features, multilabel=True
        )
    except (ValueError, OverflowError) as cause:
        raise explain(paths, texts, largest, str(cause)) from cause
    X: CSR = sparse.csr_array(sparse.vstack(loaded[0::2], format="csr"), dtype=np.float64)
    per_row: list[tuple[float, ...]] = list(itertools.chain.from_iterable(loaded[1::2]))
    labels = np.fromiter(itertools.chain.from_iterable(per_row), np.float64)
    whole = (labels == np.floor(labels)) & (labels >= 0) & (labels < LARGEST_LABEL)
    if X.shape[1] > largest or not whole.all() or not np.isfinite(X.data).all():
        raise explain(paths, texts, largest, "it holds a number out of range")
    if n_features is None and X.nnz == 0:
        raise DatasetFormatError(
            f"{paths[0]}: no row has a feature; expected 'label,label index:value'"
        )
    return X, per_row


def _indicator(
    source: str, per_row: list[tuple[float, ...]], label_names: tuple[str, ...] | None
) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """Turn lists of label numbers into an indicator matrix (n, K), and name its columns."""
    from sklearn.preprocessing import MultiLabelBinarizer  # takes over a second

    numbers = {int(number) for labels in per_row for number in labels}
    if not numbers:
        raise DatasetFormatError(
            f"{source}: no row has a label; expected 'label,label index:value'"
        )
    if label_names is not None and max(numbers) >= len(label_names):
        raise DatasetFormatError(
            f"{source}: found label {max(numbers)}, but {len(label_names)} label names; "
            f"expected labels 0 to {len(label_names) - 1}"
        )
    classes = sorted(numbers) if label_names is None else list(range(len(label_names)))
    names = label_names or tuple(str(number) for number in classes)
    Y = MultiLabelBinarizer(classes=classes, sparse_output=True).fit_transform(per_row)
    return Y.astype(np.uint8).toarray(), names
