"""The labels of a study: simulated, released or real answers, an audit, and known labels."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from complabel.answers import Answers
from complabel.datasets import MultiLabelDataset
from complabel.errors import InputError
from complabel.experiments.datasets import load_released
from complabel.experiments.studies._draw import Draw
from complabel.experiments.studies._plan import Row
from complabel.simulate import draw_answers, draw_complementary, draw_propensities, draw_relevant

GivenLabels: TypeAlias = "NDArray[np.uint8] | Answers"
"""What ``fit`` learns from: an indicator of complementary labels, or answers."""

# Each kind of draw has its own stream of random numbers, so that draws do not depend on each other.
_KNOWN, _PROPENSITIES, _ITEMS, _AUDIT = 1, 2, 3, 4


def draw_labels(
    dataset: MultiLabelDataset,
    draw: Draw,
    *,
    seed: int,
    data_dir: str | Path | None = None,
    checksum: str = "",
) -> GivenLabels:
    """Get the labels (n_samples, K) or answers for a dataset that a draw describes.

    They are an indicator if ``draw.is_plain``. An audit depends on the fold and is not included.
    The same seed gives the same labels on every machine, and the same z_k for any
    ``propensity_sd``. Released labels with another ``checksum``, if one is given, are refused.
    """
    if checksum and released_checksum(dataset, draw, data_dir) != checksum:
        raise InputError(
            f"the released labels of {dataset.name} in {data_dir} have changed since the study was"
            " started; start it again"
        )
    if draw.labels == "released":
        released = _released(dataset, draw, data_dir)
        return released if draw.is_plain else Answers.from_complementary(released)
    if draw.scheme == "own":
        return _own(dataset, draw.items_share, seed)
    if draw.question == "none":
        return Answers.from_complementary(np.zeros_like(dataset.Y))
    asked = draw.how_people_answer()
    if draw.is_plain:
        chosen = {name: asked[name] for name in ("scheme", "sharpness", "asked_for")}
        return draw_complementary(dataset.Y, **chosen, random_state=seed)
    propensities = None
    if draw.propensity_sd:
        propensities = draw_propensities(
            dataset.n_labels, draw.propensity_sd, _stream(seed, _PROPENSITIES)
        )
    return draw_answers(dataset.Y, **asked, propensities=propensities, random_state=seed)


def released_checksum(
    dataset: MultiLabelDataset, draw: Draw, data_dir: str | Path | None = None
) -> str:
    """Return a checksum of the released labels, or an empty text for other draws."""
    if draw.labels != "released":
        return ""
    return hashlib.sha256(_released(dataset, draw, data_dir).tobytes()).hexdigest()


def draw_known(dataset: MultiLabelDataset, row: Row, *, seed: int) -> NDArray[np.uint8] | None:
    """Draw the relevant labels (n, K) that a row's method is told; None if it is told none."""
    if not (row.relevant_per_row or row.relevant_share):
        return None
    known = _stream(seed, _KNOWN)
    relevant = np.zeros_like(dataset.Y)
    if row.relevant_per_row:
        relevant |= draw_relevant(dataset.Y, asked_for=row.relevant_per_row, random_state=known)
    relevant |= dataset.Y & (known.random(dataset.Y.shape) < row.relevant_share)
    return relevant


def with_known(answers: Answers, relevant: NDArray[np.uint8]) -> Answers:
    """Add known relevant labels (n, K) to answers, as a "yes" about each of them."""
    items = np.flatnonzero(relevant.any(axis=1))
    known = Answers.from_arrays(
        relevant=relevant[items],
        offered=relevant[items],
        question="asked",
        item=items,
        n_items=len(relevant),
        label_names=answers.label_names,
    )
    return Answers.concatenate([answers, known])


def draw_audit(
    dataset: MultiLabelDataset, train: NDArray[np.intp], size: int, *, fold: int, seed: int
) -> Answers:
    """Answer ``size`` yes/no questions about random pairs of a training instance and a label.

    Each pair is drawn at most once, and a smaller audit is the start of a larger one.
    """
    n_labels = dataset.n_labels
    # Each fold has its own stream, so that its pairs do not depend on those of other folds.
    pairs = _stream(seed, _AUDIT, fold).permutation(len(train) * n_labels)[:size]
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
        drawn="random",
        n_items=dataset.n_samples,
    )


def _released(
    dataset: MultiLabelDataset, draw: Draw, data_dir: str | Path | None
) -> NDArray[np.uint8]:
    scheme: Any = draw.scheme  # a draw refuses "own" beside released labels
    return load_released(dataset, scheme=scheme, data_dir=data_dir)


def _own(dataset: MultiLabelDataset, items_share: float, seed: int) -> Answers:
    """Return people's answers, or else the excluded labels, about a share of the items with any."""
    answers = dataset.answers
    asked = np.arange(dataset.n_samples) if answers is None else np.flatnonzero(answers.answered)
    if items_share < 1:
        count = max(1, round(items_share * len(asked)))
        asked = np.sort(_stream(seed, _ITEMS).permutation(asked)[:count])
    if answers is not None:
        return answers if items_share == 1 else answers.only(np.isin(answers.item, asked))
    assert dataset.excluded is not None
    return Answers.from_arrays(
        excluded=dataset.excluded[asked],
        question="excluded",
        item=asked,
        n_items=dataset.n_samples,
        label_names=dataset.label_names,
    )


def _stream(seed: int, *key: int) -> np.random.Generator:
    """Return a random generator that is independent of all other streams of this seed."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
