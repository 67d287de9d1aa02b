"""A multi-label dataset in memory."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from scipy import sparse

from complabel._parameters import Array, Bools, Indicator, Ints
from complabel.answers import Answers
from complabel.errors import InputError

Features: TypeAlias = "Array | sparse.csr_array[np.float64, tuple[int, int]]"


@dataclass(frozen=True, eq=False)
class MultiLabelDataset:
    """Features and relevant labels of n instances, with the names of the columns.

    Parameters
    ----------
    name : str
    X : ndarray of float64 or scipy.sparse.csr_array of float64, shape (n, d)
        Finite features.
    Y : ndarray of uint8, shape (n, K)
        1 where the label is relevant, else 0. Rows whose true labels are not known are all 0.
    label_names : tuple of str, length K
        All different.
    feature_names : tuple of str, length d
    groups : ndarray of int, shape (n,), or None, default=None
        Rows of one group must not be split between training and test.
    excluded : ndarray of uint8, shape (n, K), or None, default=None
        1 where a real rule or person excluded the label, else 0. They make mistakes, so an
        excluded label may be relevant. None: complementary labels must be drawn.
    answers : Answers or None, default=None
        Real answers of people; the items are the instances, the labels are these labels.
    known : ndarray of bool, shape (n,), or None, default=None
        Rows whose true labels are known; the criteria use only these. None: all are known.

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
    Y: Indicator = field(repr=False)
    label_names: tuple[str, ...]
    feature_names: tuple[str, ...] = field(repr=False)
    groups: Ints | None = field(default=None, repr=False)
    excluded: Indicator | None = field(default=None, repr=False)
    answers: Answers | None = field(default=None, repr=False)
    known: Bools | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for problem in _problems(self):
            raise InputError(f"dataset {self.name!r}: {problem}")

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
        """Mean number of relevant labels per known instance; NaN if none is known."""
        return float(np.count_nonzero(self.Y) / self.n_known) if self.n_known else np.nan

    @property
    def n_known(self) -> int:
        """Number of instances whose true labels are known."""
        return self.n_samples if self.known is None else int(np.count_nonzero(self.known))


def _problems(dataset: MultiLabelDataset) -> Iterator[str]:
    """Yield messages about parts that do not fit together; later checks rely on earlier ones."""
    yield from _problems_of_features(dataset.X)
    yield from _problems_of_labels("Y", dataset.Y, dataset.n_samples)
    n_label_names, n_feature_names = len(dataset.label_names), len(dataset.feature_names)
    if n_label_names != dataset.n_labels or n_feature_names != dataset.n_features:
        yield (
            f"{n_label_names} label names for {dataset.n_labels} labels, {n_feature_names} feature "
            f"names for {dataset.n_features} features; give one name per column"
        )
    repeated, count = Counter(dataset.label_names).most_common(1)[0]
    if count > 1:
        yield f"label name {repeated!r} occurs more than once; rename one of the columns"
    groups, n = dataset.groups, dataset.n_samples
    if groups is not None and (groups.shape != (n,) or groups.dtype.kind not in "iu"):
        yield (
            f"groups has shape {groups.shape} and type {groups.dtype}; give one integer for each "
            f"of the {n} rows"
        )
    if dataset.excluded is not None:
        yield from _problems_of_labels("excluded", dataset.excluded, n)
        if dataset.excluded.shape != dataset.Y.shape:
            yield (
                f"excluded has shape {dataset.excluded.shape} but Y {dataset.Y.shape}; give both "
                "the same shape"
            )
    yield from _problems_of_answers(dataset)
    known = dataset.known
    if known is not None and (known.shape != (n,) or known.dtype != np.bool_):
        yield f"known has shape {known.shape} and type {known.dtype}; give one bool for each row"
    elif known is not None and dataset.Y[~known].any():
        row = int(np.flatnonzero(~known & dataset.Y.any(axis=1))[0])
        yield f"Y has a label in row {row}, but known is False there; set the row of Y to 0"


def _problems_of_answers(dataset: MultiLabelDataset) -> Iterator[str]:
    answers = dataset.answers
    if answers is None:
        return
    if not isinstance(answers, Answers):
        yield f"answers is a {type(answers).__name__}; give complabel.answers.Answers"
    elif answers.shape != dataset.Y.shape:
        yield (
            f"answers has shape {answers.shape} (items, labels) but Y {dataset.Y.shape}; give "
            "answers about these items and labels"
        )
    elif answers.label_names not in (None, dataset.label_names):
        yield "answers has other label names, or another order; give the same label names in both"


def _problems_of_features(X: object) -> Iterator[str]:
    if not isinstance(X, np.ndarray | sparse.csr_array) or X.ndim != 2 or X.dtype != np.float64:
        yield (
            f"X is a {type(X).__name__} of type {getattr(X, 'dtype', None)}; give a 2-D float64 "
            "ndarray or scipy.sparse.csr_array"
        )
        return
    if X.shape[0] == 0:
        yield "X has no rows; give at least one instance"
    if X.shape[1] == 0:
        yield "X has no column; give at least one feature"
    values = X if isinstance(X, np.ndarray) else X.data
    finite = np.isfinite(values)
    if not finite.all():
        at = np.unravel_index(np.argmin(finite), finite.shape)
        row, column = at if isinstance(X, np.ndarray) else (axis[at] for axis in X.tocoo().coords)
        yield f"X holds {values[at]} at row {row}, column {column}; impute or drop such rows"


def _problems_of_labels(name: str, labels: object, n_samples: int) -> Iterator[str]:
    if not isinstance(labels, np.ndarray) or labels.ndim != 2 or labels.dtype != np.uint8:
        yield f"{name} must be a 2-D uint8 ndarray of 0 and 1"
        return
    if labels.shape[0] != n_samples or labels.shape[1] == 0:
        yield (
            f"{name} has shape {labels.shape}; X has {n_samples} rows and {name} needs one row for "
            "each and at least one column"
        )
    if labels.max() > 1:
        yield f"{name} holds {labels.max()}; only 0 and 1 are allowed"
