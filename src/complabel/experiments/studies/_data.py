"""The datasets of a plan: loads them, and refuses what they cannot give."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.answers import Answers, UnlistedLabelsWarning
from complabel.datasets import MultiLabelDataset
from complabel.errors import InputError
from complabel.experiments import datasets as benchmarks
from complabel.experiments.datasets import load_file, load_tables
from complabel.experiments.studies._draw import Draw
from complabel.experiments.studies._plan import OwnData, Plan
from complabel.files import UnmatchedItemsWarning
from complabel.methods import get_method

_FEWEST_LABELS = 3


def fetch(
    name: str, own: OwnData | None = None, *, data_dir: str | Path | None = None
) -> MultiLabelDataset:
    """Load a dataset of a plan.

    Instances with none or all labels are left out, unless there are answers or excluded labels.
    """
    if own is None:
        return benchmarks.load_dataset(name, data_dir=data_dir)
    if own.file:
        dataset = load_file(own.file, name)
    else:
        with warnings.catch_warnings():  # commands say what is read
            warnings.simplefilter("ignore", UnlistedLabelsWarning)
            warnings.simplefilter("ignore", UnmatchedItemsWarning)
            given = {k: v for k, v in dict(own).items() if k != "file"}
            dataset = load_tables(**{**given, "answers": own.answers or None}, name=name)
    if dataset.answers is not None:
        return dataset  # answers are useful for any instance and any number of labels
    if dataset.n_labels < _FEWEST_LABELS:
        labels = ", ".join(dataset.label_names)
        raise InputError(
            f"{own.features or own.file[0]}: this dataset has only the labels {labels}; learning"
            f" from complementary labels needs at least {_FEWEST_LABELS}, because with two, 'not a'"
            " means 'b'"
        )
    if dataset.excluded is not None:
        return dataset
    return benchmarks.preprocess(dataset, max_labels=dataset.n_labels)


def refuse_what_it_lacks(
    dataset: MultiLabelDataset,
    plan: Plan,
    folds: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]],
) -> None:
    """Refuse draws, criteria and rows of a plan for which a dataset lacks labels."""
    if dataset.known is not None:
        _refuse_without_truth(dataset, plan, [test for _, test in folds])
    fewest_pairs = min(len(train) for train, _ in folds) * dataset.n_labels
    for draw in plan.draws:
        _refuse_draw(dataset, draw)
        if draw.audit > fewest_pairs:
            raise InputError(
                f"{dataset.name} has {fewest_pairs} pairs of an instance and a label in a training"
                f" part, too few for an audit of {draw.audit}; reduce the audit"
            )


def _refuse_draw(dataset: MultiLabelDataset, draw: Draw) -> None:
    if draw.scheme == "own" and dataset.answers is None and dataset.excluded is None:
        raise InputError(
            f"{dataset.name} has no labels own: no answers of people, and no labels that people"
            " excluded; take labels uniform, or another dataset: mirflickr and yeastbp have some,"
            " and so may a file of yours with an array 'excluded', or tables of yours with answers"
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


def _refuse_without_truth(
    dataset: MultiLabelDataset, plan: Plan, test_parts: Sequence[NDArray[np.intp]]
) -> None:
    known = dataset.known
    assert known is not None
    if plan.criteria and not known.any():
        raise InputError(
            f"{dataset.name} has no true labels, which the criteria need; give truth, or measure on"
            " held-out answers instead, with criteria = false and score = true in the plan"
        )
    if plan.criteria and not all(known[test].any() for test in test_parts):
        raise InputError(
            f"{dataset.name} has true labels of {dataset.n_known} of its {dataset.n_samples} rows,"
            f" but of no row in one of the {len(test_parts)} folds; take fewer folds, or leave the"
            " criteria out"
        )
    for row in plan.expanded_rows():
        told = "relevant labels" if row.relevant_per_row or row.relevant_share else ""
        if row.label_frequencies:
            told = "how often labels truly apply"
        if told:
            raise InputError(
                f"the row {row.title!r} is told {told}, but {dataset.name} has true labels of only"
                f" {dataset.n_known} of its {dataset.n_samples} rows; leave that out"
            )
        if get_method(row.method).learns_from == "relevant" and not known.any():
            raise InputError(
                f"{row.method} learns from true labels, but {dataset.name} has none; leave this"
                " method out"
            )


# The parts of answers that the checksum covers.
_NUMBERS = ("item", "annotator", "asked_for", "probability")
_WORDS = ("question", "all_apply")
_MASKS = ("offered", "named", "absent", "relevant", "excluded")


def dataset_fingerprint(dataset: MultiLabelDataset) -> str:
    """Return the SHA-256 of all data that a method or a results table uses.

    The names of features, items and annotators do not count.
    """
    X = dataset.X
    arrays: list[Any] = [X]
    if not isinstance(X, np.ndarray):
        X = X.copy()
        X.sum_duplicates()  # canonical form, so that equal matrices have equal arrays
        arrays = [np.array(X.shape), X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)]
    groups = None if dataset.groups is None else dataset.groups.astype(np.int64)
    said = () if dataset.answers is None else _arrays_of(dataset.answers)
    arrays += [dataset.Y, groups, dataset.excluded, *said, dataset.known]
    digest = hashlib.sha256()
    for array in (each for each in arrays if each is not None):
        digest.update(f"{array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update("\n".join(dataset.label_names).encode())
    return digest.hexdigest()


def _arrays_of(answers: Answers) -> Iterator[NDArray[Any]]:
    """Yield the arrays of answers, in types that do not depend on how they were made."""
    for column in _NUMBERS:
        yield getattr(answers, column).astype(np.float64)
    for column in _WORDS:
        yield getattr(answers, column).astype("U16")
    if (answers.drawn != "").any():  # else as before there was such a column
        yield answers.drawn
    for name in _MASKS:
        mask = getattr(answers, name)
        yield mask.indices.astype(np.int64)
        yield mask.indptr.astype(np.int64)
