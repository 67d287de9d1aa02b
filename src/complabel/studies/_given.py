"""Get the labels of a study, which are simulated, given by people, or released by the group.

No module that computes a result imports this one, so results do not depend on the code that looks
for files. Instead, the key of a unit contains a checksum of the released labels.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel.answers import Answers
from complabel.datasets import load_released
from complabel.studies._labels import draw_labels as draw_simulated
from complabel.studies._labels import refuse_impossible

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from complabel.datasets import MultiLabelDataset
    from complabel.studies._draw import Draw
    from complabel.studies._labels import GivenLabels


def draw_labels(
    dataset: MultiLabelDataset,
    draw: Draw,
    *,
    seed: int,
    data_dir: str | Path | None = None,
) -> GivenLabels:
    """Get the complementary labels or answers for a dataset that a draw describes.

    Parameters
    ----------
    dataset : MultiLabelDataset
    draw : Draw
    seed : int
        The same seed gives the same labels on every machine. Draws that differ in
        ``propensity_sd`` have the same z_k under one seed. Released labels are the same under
        every seed.
    data_dir : path or None, default=None
        Folder with released labels. It is only used if the draw takes released labels.

    Returns
    -------
    ndarray of shape (n_samples, K), uint8, or Answers
        Complementary labels, if each instance has one answer that is named freely, without
        mistakes and an audit. For all other draws, answers about ``n_samples`` items. They do not
        include the answers of an audit, which are about the training part of a fold.

    Raises
    ------
    InputError
        If the dataset does not allow this draw.
    DatasetNotFoundError, DatasetFormatError
        If released labels are not found, or do not fit the dataset.
    """
    if draw.labels != "released":
        return draw_simulated(dataset, draw, seed=seed)
    refuse_impossible(dataset, draw)
    released = _released(dataset, draw, data_dir)
    return released if draw.is_plain else Answers.from_complementary(released)


def released_checksum(
    dataset: MultiLabelDataset, draw: Draw, data_dir: str | Path | None = None
) -> str:
    """Return a checksum of the released labels, or an empty text for other draws."""
    if draw.labels != "released":
        return ""
    return hashlib.sha256(_released(dataset, draw, data_dir).tobytes()).hexdigest()


def _released(
    dataset: MultiLabelDataset, draw: Draw, data_dir: str | Path | None
) -> NDArray[np.uint8]:
    """Return the labels that were released for a dataset."""
    scheme: Any = draw.scheme  # a draw refuses "own" beside released labels
    return load_released(dataset, scheme=scheme, data_dir=data_dir)
