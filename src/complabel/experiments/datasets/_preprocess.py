"""The preprocessing of the paper's datasets."""

from dataclasses import replace

import numpy as np

from complabel._parameters import check_integer
from complabel.datasets import MultiLabelDataset
from complabel.errors import InputError


def preprocess(dataset: MultiLabelDataset, *, max_labels: int = 15) -> MultiLabelDataset:
    """Keep the most frequent labels, then the instances that have some but not all of them.

    Parameters
    ----------
    dataset : MultiLabelDataset
    max_labels : int, default=15
        At least 2. Of equally frequent labels, those in earlier columns are kept. The order of the
        columns does not change.

    Returns
    -------
    MultiLabelDataset
        ``dataset`` itself if nothing changes.

    Raises
    ------
    InputError
        If no instance is left, or if ``dataset`` has answers of people, or rows whose true labels
        are not known.

    Notes
    -----
    This is the preprocessing of Gao, Xu and Zhang, section "Datasets", after Xie and Huang.

    References
    ----------
    Gao, Xu and Zhang, "Complementary to Multiple Labels".

    M.-K. Xie and S.-J. Huang, "Partial Multi-Label Learning", AAAI 2018.

    Examples
    --------
    >>> from complabel.datasets import make_synthetic
    >>> data = make_synthetic(50, n_labels=6)
    >>> preprocess(data, max_labels=4).n_labels
    4
    """
    check_integer("max_labels", max_labels, at_least=2)
    if dataset.answers is not None or dataset.known is not None:
        raise InputError(
            f"dataset {dataset.name!r} has answers of people, or rows whose true labels are not"
            " known, and is not preprocessed; use it as it is"
        )
    Y, excluded = dataset.Y, dataset.excluded
    if dataset.n_labels > max_labels:
        positives = Y.sum(axis=0, dtype=np.intp)
        kept = np.sort(np.argsort(-positives, kind="stable")[:max_labels])
        Y = np.ascontiguousarray(Y[:, kept])
        excluded = None if excluded is None else np.ascontiguousarray(excluded[:, kept])
        label_names = tuple(dataset.label_names[column] for column in kept)
        dataset = replace(dataset, Y=Y, label_names=label_names, excluded=excluded)
    n_relevant = Y.sum(axis=1, dtype=np.intp)
    rows = np.flatnonzero((n_relevant > 0) & (n_relevant < Y.shape[1]))
    if rows.size == 0:
        raise InputError(
            f"dataset {dataset.name!r}: every instance has none or all of the {Y.shape[1]} labels, "
            "so nothing can be learned from it; check the labels"
        )
    if rows.size == dataset.n_samples:
        return dataset
    return replace(
        dataset,
        X=dataset.X[rows],
        Y=Y[rows],
        groups=None if dataset.groups is None else dataset.groups[rows],
        excluded=None if excluded is None else excluded[rows],
    )
