"""The labels of a study: simulated answers about a dataset, or its real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from complabel.answers import Answers
from complabel.errors import InputError
from complabel.simulate import draw_answers, draw_propensities, draw_relevant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.datasets import MultiLabelDataset
    from complabel.studies._draw import Draw
    from complabel.studies._rows import ExpandedRow

GivenLabels: TypeAlias = "NDArray[np.uint8] | Answers"
"""What ``fit`` learns from: an indicator of complementary labels, or answers."""

# A copy from the catalog: if it were imported, every result would depend on the catalog's code.
_EXCLUDING = ("mirflickr", "yeastbp")
# Each kind of draw has its own stream of random numbers, so that draws do not depend on each other.
_KNOWN, _PROPENSITIES, _ITEMS = 1, 2, 3


def draw_labels(dataset: MultiLabelDataset, draw: Draw, *, seed: int) -> GivenLabels:
    """Draw people's labels or answers for the instances of a dataset.

    Parameters
    ----------
    dataset : MultiLabelDataset
    draw : Draw
    seed : int
        The same seed gives the same labels on every machine. Draws that differ in
        ``propensity_sd`` have the same z_k under one seed.

    Returns
    -------
    ndarray of shape (n_samples, K), uint8, or Answers
        Complementary labels if ``draw.is_plain``: named freely, one answer for each instance,
        without mistakes or an audit. Else answers about ``n_samples`` items. The answers of an
        audit are not included, because they depend on the fold.

    Raises
    ------
    InputError
        If this draw is not possible for the dataset.
    """
    refuse_impossible(dataset, draw)
    if draw.scheme == "own":
        return _own(dataset, draw.items_share, seed)
    if draw.question == "none":
        return Answers.from_complementary(np.zeros_like(dataset.Y))
    propensities = None
    if draw.propensity_sd:
        propensities = draw_propensities(
            dataset.n_labels, draw.propensity_sd, stream(seed, _PROPENSITIES)
        )
    answers = draw_answers(
        dataset.Y,
        question=draw.question,
        scheme=draw.scheme,
        sharpness=draw.sharpness,
        asked_for=draw.labels_per_row,
        answers_per_item=draw.answers_per_item,
        items_share=draw.items_share,
        error_rate=draw.mistakes,
        propensities=propensities,
        random_state=seed,
    )
    return answers.complementary if draw.is_plain else answers


def draw_known(
    dataset: MultiLabelDataset, row: ExpandedRow, *, seed: int
) -> NDArray[np.uint8] | None:
    """Draw the relevant labels (n, K) that a row's method is told; None if it is told none."""
    if not (row.relevant_per_row or row.relevant_share):
        return None
    known = stream(seed, _KNOWN)
    relevant = np.zeros_like(dataset.Y)
    if row.relevant_per_row:
        relevant |= draw_relevant(dataset.Y, asked_for=row.relevant_per_row, random_state=known)
    relevant |= dataset.Y & (known.random(dataset.Y.shape) < row.relevant_share)
    return relevant


def with_known(answers: Answers, relevant: NDArray[np.uint8]) -> Answers:
    """Add known relevant labels to answers, as a "yes" about each of them."""
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


def refuse_impossible(dataset: MultiLabelDataset, draw: Draw) -> None:
    """Refuse a draw that is not possible for a dataset."""
    if draw.scheme == "own" and dataset.answers is None and dataset.excluded is None:
        raise InputError(
            f"{dataset.name} has no labels own: no answers of people, and no labels that people"
            f" excluded; take labels uniform, or another dataset: {' and '.join(_EXCLUDING)} have"
            " some, and so may a file of yours with an array 'excluded', or tables of yours with"
            " answers"
        )
    if (draw.scheme != "own" or draw.audit) and dataset.known is not None:
        what = "an audit needs" if draw.scheme == "own" else "drawn labels need"
        raise InputError(
            f"{what} the true labels of all rows, but {dataset.name} has them for {dataset.n_known}"
            f" of its {dataset.n_samples} rows; take labels own, without an audit"
        )
    if draw.menu_size > dataset.n_labels:
        raise InputError(
            f"{dataset.name} has {dataset.n_labels} labels, too few for a {draw.question}; take a"
            " smaller menu"
        )
    n_relevant = dataset.Y.sum(axis=1, dtype=np.intp)
    silent = n_relevant == dataset.n_labels
    if draw.scheme == "biased":  # its probabilities depend on the labels that apply
        silent |= n_relevant == 0
    if draw.scheme != "own" and draw.question == "free" and silent.any():
        raise InputError(
            f"{dataset.name} has instances with {'none or ' * (draw.scheme == 'biased')}all of the"
            f" labels ({silent.sum()} of {dataset.n_samples}), for which no label can be named; ask"
            " another question, such as menu-4 or asked"
        )


def _own(dataset: MultiLabelDataset, items_share: float, seed: int) -> Answers:
    """Return people's answers, or else the excluded labels as one answer for each item.

    With ``items_share`` below 1, only that share of the items with answers is kept.
    """
    answers = dataset.answers
    asked = np.arange(dataset.n_samples) if answers is None else np.flatnonzero(answers.answered)
    if items_share < 1:
        count = max(1, round(items_share * len(asked)))
        asked = np.sort(stream(seed, _ITEMS).permutation(asked)[:count])
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


def stream(seed: int, *key: int) -> np.random.Generator:
    """Return a random generator that is independent of all other streams of this seed."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
