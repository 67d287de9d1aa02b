"""What simulated people say about a dataset, and what somebody really said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from complabel.annotations import Answers, draw_answers, draw_propensities, draw_relevant
from complabel.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.datasets import MultiLabelDataset
    from complabel.studies._draw import Draw
    from complabel.studies._rows import ExpandedRow

GivenLabels: TypeAlias = "NDArray[np.uint8] | Answers"
"""What ``fit`` learns from: an indicator where that says all, else answers."""

# Those of the catalog; looking there would make every result depend on the catalog's code.
_EXCLUDING = ("mirflickr", "yeastbp")
# Random numbers of their own: with the seed alone, one draw would follow another.
_KNOWN, _PROPENSITIES, _ITEMS = 1, 2, 3


def draw_labels(dataset: MultiLabelDataset, draw: Draw, *, seed: int) -> GivenLabels:
    """Draw what people say about every instance of a dataset, as a plan asks them.

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
        Complementary labels where they are named freely, one answer for each instance, without
        mistakes and an audit; answers about ``n_samples`` items for all other draws. Those of an
        audit are about the training part of a fold, and not among them.

    Raises
    ------
    InputError
        If the dataset cannot be asked about in this way.
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
        n_per_row=draw.labels_per_row,
        answers_per_item=draw.answers_per_item,
        items_share=draw.items_share,
        mistakes=draw.mistakes,
        propensities=propensities,
        random_state=seed,
    )
    return answers.complementary if draw.is_plain else answers


def draw_known(
    dataset: MultiLabelDataset, row: ExpandedRow, *, seed: int
) -> NDArray[np.uint8] | None:
    """Draw the relevant labels (n, K) that a row makes known; None if it makes none known."""
    if not (row.relevant_per_row or row.relevant_share):
        return None
    known = stream(seed, _KNOWN)
    relevant = np.zeros_like(dataset.Y)
    if row.relevant_per_row:
        relevant |= draw_relevant(dataset.Y, n_per_row=row.relevant_per_row, random_state=known)
    relevant |= dataset.Y & (known.random(dataset.Y.shape) < row.relevant_share)
    return relevant


def with_known(answers: Answers, relevant: NDArray[np.uint8]) -> Answers:
    """Add labels that are known to apply, as answers "yes" about them and nothing else."""
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
    """Refuse a draw that a dataset has no answers for."""
    if draw.scheme == "own" and dataset.answers is None and dataset.excluded is None:
        raise InputError(
            f"labels own are those that somebody excluded, or answers of people, and {dataset.name}"
            f" has none; {' and '.join(_EXCLUDING)} have some, and so may a file of yours, in an"
            " array 'excluded', and tables of yours with answers; for others take labels uniform"
        )
    if (draw.scheme != "own" or draw.audit) and dataset.known is not None:
        what = "an audit is" if draw.scheme == "own" else "such labels are"
        raise InputError(
            f"{what} drawn from true labels, and {dataset.name} has them for {dataset.n_known} of"
            f" its {dataset.n_samples} rows; take labels own, without an audit"
        )
    if draw.menu_size > dataset.n_labels:
        raise InputError(
            f"{dataset.name} has {dataset.n_labels} labels, too few for a {draw.question}; take a"
            " smaller menu"
        )
    n_relevant = dataset.Y.sum(axis=1, dtype=np.intp)
    silent = n_relevant == dataset.n_labels
    if draw.scheme == "biased":  # goes by the labels that apply
        silent |= n_relevant == 0
    if draw.scheme != "own" and draw.question == "free" and silent.any():
        raise InputError(
            f"{dataset.name} has instances with {'none or ' * (draw.scheme == 'biased')}all of the"
            f" labels ({silent.sum()} of {dataset.n_samples}), about which nobody can name one;"
            " ask another question, such as menu-4 or asked"
        )


def _own(dataset: MultiLabelDataset, items_share: float, seed: int) -> Answers:
    """Return what people answered or, without that, what was excluded, as an answer for each item.

    A share of the items is one of those that somebody was asked about.
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
    """Return random numbers that no other draw of this seed uses."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
