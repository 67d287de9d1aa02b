"""The preparation every published comparison of this field applies first."""

from dataclasses import replace

import numpy as np

from complabel._parameters import check_integer
from complabel.datasets._dataset import MultiLabelDataset
from complabel.errors import InputError


def preprocess(dataset: MultiLabelDataset, *, max_labels: int = 15) -> MultiLabelDataset:
    """Keep the most frequent labels, then the instances that have some but not all of them.

    Parameters
    ----------
    dataset : MultiLabelDataset
        The dataset as read.
    max_labels : int, default=15
        The ``max_labels`` labels with most positives are kept where there are more; among equally
        frequent labels the earlier column wins. The order of the columns stays.

    Returns
    -------
    MultiLabelDataset
        With sparse features still sparse; ``dataset`` itself where nothing had to change.

    Raises
    ------
    InputError
        If ``max_labels`` is below 2, or no instance is left; or if ``dataset`` has answers of
        people or rows whose true labels are not known.

    Notes
    -----
    Source: Gao, Xu and Zhang, "Complementary to Multiple Labels", section "Datasets", after Xie
    and Huang, "Partial Multi-Label Learning", AAAI 2018.

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
            " known; it is used as it is"
        )
    Y, excluded = dataset.Y, dataset.excluded
    label_names = dataset.label_names
    if dataset.n_labels > max_labels:
        positives = Y.sum(axis=0, dtype=np.intp)
        kept = np.sort(np.argsort(-positives, kind="stable")[:max_labels])
        Y = np.ascontiguousarray(Y[:, kept])
        excluded = None if excluded is None else np.ascontiguousarray(excluded[:, kept])
        label_names = tuple(label_names[column] for column in kept)
    n_relevant = Y.sum(axis=1, dtype=np.intp)
    rows = np.flatnonzero((n_relevant > 0) & (n_relevant < Y.shape[1]))
    if rows.size == 0:
        raise InputError(
            f"dataset {dataset.name!r}: every instance has none or all of the {Y.shape[1]} labels; "
            "nothing can be learned from it"
        )
    if rows.size == dataset.n_samples:
        if Y is dataset.Y:
            return dataset
        return replace(dataset, Y=Y, label_names=label_names, excluded=excluded)
    return replace(
        dataset,
        X=dataset.X[rows],
        Y=Y[rows],
        label_names=label_names,
        groups=None if dataset.groups is None else dataset.groups[rows],
        excluded=None if excluded is None else excluded[rows],
    )
