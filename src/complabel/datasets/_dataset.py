"""What a multi-label dataset is in memory."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from complabel.errors import InputError

CSR: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"
Features: TypeAlias = "NDArray[np.float64] | sparse.csr_array[np.float64, tuple[int, int]]"


@dataclass(frozen=True, eq=False)
class MultiLabelDataset:
    """Features and relevant labels of n instances, with the names of the columns.

    Parameters
    ----------
    name : str
        What the dataset is called in reports.
    X : ndarray of float64 or scipy.sparse.csr_array of float64, shape (n, d)
        Features, finite. Sparse files stay sparse.
    Y : ndarray of uint8, shape (n, K)
        1 where the label is relevant, else 0.
    label_names : tuple of str, length K
        Names of the labels, all different.
    feature_names : tuple of str, length d
        Names of the features.
    groups : ndarray of int, shape (n,), or None, default=None
        Rows of one group must not be split between training and test. None: rows are independent.

    Raises
    ------
    InputError
        If shapes, types, values or names do not fit together.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0, 1], [0, 1, 0]], dtype=np.uint8)
    >>> data = MultiLabelDataset("toy", np.eye(2), Y, ("a", "b", "c"), ("x", "y"))
    >>> data.n_samples, data.n_features, data.n_labels, data.label_cardinality
    (2, 2, 3, 1.5)
    """

    name: str
    X: Features = field(repr=False)
    Y: NDArray[np.uint8] = field(repr=False)
    label_names: tuple[str, ...]
    feature_names: tuple[str, ...] = field(repr=False)
    groups: NDArray[np.intp] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        try:
            _check_features(self.X)
            _check_labels(self.Y, self.n_samples)
            _check_names(self)
            _check_groups(self.groups, self.n_samples)
        except InputError as problem:
            raise InputError(f"dataset {self.name!r}: {problem}") from None

    @property
    def n_samples(self) -> int:
        """Number of instances n."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.X.shape[1])

    @property
    def n_labels(self) -> int:
        """Number of labels K."""
        return int(self.Y.shape[1])

    @property
    def label_cardinality(self) -> float:
        """Mean number of relevant labels of an instance."""
        return float(np.count_nonzero(self.Y) / self.n_samples)


def _check_features(X: object) -> None:
    """Refuse features that are no finite float64 matrix."""
    if not isinstance(X, np.ndarray | sparse.csr_array) or X.ndim != 2 or X.dtype != np.float64:
        raise InputError(
            f"X is a {type(X).__name__} of type {getattr(X, 'dtype', None)}; give a 2-D float64 "
            "ndarray or scipy.sparse.csr_array"
        )
    if X.shape[0] == 0:
        raise InputError("X has no rows; at least one instance is needed")
    if X.shape[1] == 0:
        raise InputError("X has no column; at least one feature is needed")
    values = X if isinstance(X, np.ndarray) else X.data
    finite = np.isfinite(values)
    if not finite.all():
        at = np.unravel_index(np.argmin(finite), finite.shape)
        row, column = at if isinstance(X, np.ndarray) else (axis[at] for axis in X.tocoo().coords)
        raise InputError(
            f"X holds {values[at]} at row {row}, column {column}; impute or drop such rows"
        )


def _check_labels(Y: object, n_samples: int) -> None:
    """Refuse a label matrix that is no 0/1 indicator with one row per instance."""
    if not isinstance(Y, np.ndarray) or Y.ndim != 2 or Y.dtype != np.uint8:
        raise InputError("Y must be a 2-D uint8 ndarray of 0 and 1")
    if Y.shape[0] != n_samples or Y.shape[1] == 0:
        raise InputError(
            f"Y has shape {Y.shape}; X has {n_samples} rows and Y needs one row for each and at "
            "least one column"
        )
    if Y.max() > 1:
        raise InputError(f"Y holds {Y.max()}; only 0 and 1 are allowed")


def _check_names(dataset: MultiLabelDataset) -> None:
    """Refuse names that do not match the columns, and labels that share a name."""
    n_label_names, n_feature_names = len(dataset.label_names), len(dataset.feature_names)
    if n_label_names != dataset.n_labels or n_feature_names != dataset.n_features:
        raise InputError(
            f"{n_label_names} label names for {dataset.n_labels} labels, {n_feature_names} feature "
            f"names for {dataset.n_features} features; give one per column"
        )
    repeated, count = Counter(dataset.label_names).most_common(1)[0]
    if count > 1:
        raise InputError(
            f"label name {repeated!r} occurs more than once; rename one of the columns"
        )


def _check_groups(groups: NDArray[np.intp] | None, n_samples: int) -> None:
    """Refuse groups that are not one integer per instance."""
    if groups is not None and (groups.shape != (n_samples,) or groups.dtype.kind not in "iu"):
        raise InputError(
            f"groups has shape {groups.shape} and type {groups.dtype}; give one integer for each "
            f"of the {n_samples} rows"
        )
