"""An audit: yes/no questions about random pairs of an instance and a label of a training part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from complabel.annotations import Answers
from complabel.errors import InputError
from complabel.studies._labels import stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.datasets import MultiLabelDataset
    from complabel.studies._labels import GivenLabels

_AUDIT = 4  # beside the streams of _labels


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
        How many pairs, each drawn at most once.
    fold, seed : int
        Choose the pairs: the first ones of a larger audit are those of a smaller one.

    Returns
    -------
    Answers
        About all ``n_samples`` items; "asked", each with the probability 1 / K of its label.

    Raises
    ------
    InputError
        If there are fewer pairs.
    """
    refuse_large_audit(dataset, len(train), size)
    n_labels = dataset.n_labels
    # A stream for each fold: its pairs are no sample of another fold's.
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
    """Add an audit to what else people said, which may be an indicator of labels named freely."""
    if not isinstance(labels, Answers):
        labels = Answers.from_complementary(labels)
    return Answers.concatenate([labels, audit])


def refuse_large_audit(dataset: MultiLabelDataset, n_train: int, size: int) -> None:
    """Refuse an audit of more pairs than a training part has."""
    pairs = n_train * dataset.n_labels
    if size > pairs:
        raise InputError(
            f"{dataset.name} has {pairs} pairs of an instance and a label in a training part, too"
            f" few for an audit of {size}; take a smaller one"
        )
