"""Read multi-label datasets in the svmlight format that LIBSVM uses."""

from itertools import chain

import numpy as np

from complabel._opening import StrPaths, existing_ones, fault
from complabel._parameters import check_integer
from complabel.datasets._dataset import MultiLabelDataset, numbered
from complabel.errors import InputError
from complabel.files import read_svmlight_parts

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
