"""Read multi-label datasets in the svmlight format that LIBSVM uses."""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from complabel._opening import StrPaths, existing_ones, fault, wrong_type
from complabel._parameters import check_integer
from complabel.datasets._dataset import MultiLabelDataset, numbered
from complabel.errors import InputError
from complabel.files import read_svmlight_parts

_MOST_COLUMNS = 2**31 - 1  # the largest 32-bit index


def read_svmlight(
    path: StrPaths,
    *,
    label_names: Sequence[str] | None = None,
    n_features: int | None = None,
    name: str | None = None,
) -> MultiLabelDataset:
    """Read a multi-label dataset in svmlight format, plain, .bz2 or .gz, from one file or parts.

    ``label_names`` are those of the labels 0, 1, ...; by default the labels are the numbers that
    occur in the file, and these are their names. ``n_features`` is by default the largest index in
    the file, which must then be at most 2,000,000, so that one wrong index cannot fill the memory
    with names.
    """
    names = _as_names(label_names)
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
    if names is None:
        numbers, labels = np.unique(labels, return_inverse=True)
        names = tuple(map(str, numbers.tolist()))
    elif labels.max() >= len(names):
        raise fault(
            paths[0],
            f"found label {labels.max()}, but {len(names)} label names; expected labels 0 to"
            f" {len(names) - 1}",
        )
    Y = np.zeros((X.shape[0], len(names)), dtype=np.uint8)
    Y[rows, labels] = 1
    return MultiLabelDataset(
        name=paths[0].name.partition(".")[0] if name is None else name,
        X=X,
        Y=Y,
        label_names=names,
        feature_names=numbered("feature", X.shape[1], first=1),
    )


def _as_names(label_names: object) -> tuple[str, ...] | None:
    if label_names is None:
        return None
    if isinstance(label_names, Iterable) and not isinstance(label_names, str):
        names = tuple(label_names)
        if all(isinstance(name, str) for name in names):
            return names
    raise wrong_type("label_names", label_names, "a list of str, one name for each label")
