"""An audit: yes/no questions about random pairs of an instance and a label of a training part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from complabel.answers import Answers
from complabel.errors import InputError
from complabel.studies._labels import stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.datasets import MultiLabelDataset
    from complabel.studies._labels import GivenLabels

_AUDIT = 4  # a stream of random numbers that _labels does not use


def draw_audit(
    dataset: MultiLabelDataset, train: NDArray[np.intp], size: int, *, fold: int, seed: int
) -> Answers:
    """Answer yes/no questions about random pairs of a training instance and a label.

    Parameters
    ----------
    dataset : MultiLabelDataset
    train : ndarray of shape (n_train,), intp
        Row numbers of the training part.
    size : int
        Number of pairs; each is drawn at most once.
    fold, seed : int
        Choose the random pairs. With the same ones, a smaller audit is the start of a larger one.

    Returns
    -------
    Answers
        One "asked" answer for each pair, with the label's probability 1 / K. Items are numbered
        as the ``n_samples`` rows of the dataset.

    Raises
    ------
    InputError
        If the training part has fewer than ``size`` pairs.
    """
    refuse_large_audit(dataset, len(train), size)
    n_labels = dataset.n_labels
    # Each fold has its own stream, so that its pairs do not depend on those of other folds.
    pairs = stream(seed, _AUDIT, fold).permutation(len(train) * n_labels)[:size]
    item, label = train[pairs // n_labels], pairs % n_labels
    applies = dataset.Y[item, label]

    def at_label(marks: NDArray[np.uint8]) -> sparse.csr_array:
        return sparse.csr_array((marks, label, np.arange(size + 1)), shape=(size, n_labels))

    return Answers.from_arrays(
        relevant=at_label(applies),
        absent=at_label(1 - applies),
        offered=at_label(np.ones_like(applies)),
        question="asked",
        item=item,
        probability=1 / n_labels,
        n_items=dataset.n_samples,
    )


def with_audit(labels: GivenLabels, audit: Answers) -> Answers:
    """Add an audit to the other answers; an indicator of complementary labels becomes answers."""
    if not isinstance(labels, Answers):
        labels = Answers.from_complementary(labels)
    return Answers.concatenate([labels, audit])


def refuse_large_audit(dataset: MultiLabelDataset, n_train: int, size: int) -> None:
    """Refuse an audit of more pairs than a training part has."""
    pairs = n_train * dataset.n_labels
    if size > pairs:
        raise InputError(
            f"{dataset.name} has {pairs} pairs of an instance and a label in a training part, too"
            f" few for an audit of {size}; reduce the audit"
        )
