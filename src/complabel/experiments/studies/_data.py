"""The datasets of a plan: loads them, and refuses what they cannot give."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain
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
    fewest_pairs = min(len(train) for train, _ in folds) * dataset.n_labels
    problems = (_lacks_of(dataset, draw, fewest_pairs) for draw in plan.draws)
    for problem in chain(_lacks_of_truth(dataset, plan, folds), *problems):
        raise InputError(f"{dataset.name} {problem}")


def _lacks_of(dataset: MultiLabelDataset, draw: Draw, fewest_pairs: int) -> Iterator[str]:
    own = draw.scheme == "own"
    if own and dataset.answers is None and dataset.excluded is None:
        yield (
            "has no labels own: no answers of people, and no labels that people excluded; take"
            " labels uniform, or another dataset: mirflickr and yeastbp have some, and so may a"
            " file of yours with an array 'excluded', or tables of yours with answers"
        )
    if (not own or draw.audit) and dataset.known is not None:
        yield (
            f"has true labels for {dataset.n_known} of its {dataset.n_samples} rows, but"
            f" {'an audit needs' if own else 'drawn labels need'} the true labels of all rows; take"
            " labels own, without an audit"
        )
    if draw.menu_size > dataset.n_labels:
        yield (f"has {dataset.n_labels} labels, too few for a {draw.question}; take a smaller menu")
    n_relevant = dataset.Y.sum(axis=1, dtype=np.intp)
    # The probabilities of a biased draw depend on the labels that apply.
    silent = (n_relevant == dataset.n_labels) | ((draw.scheme == "biased") & (n_relevant == 0))
    if not own and draw.question == "free" and silent.any():
        yield (
            f"has instances with {'none or ' * (draw.scheme == 'biased')}all of the labels"
            f" ({silent.sum()} of {dataset.n_samples}), for which no label can be named; ask"
            " another question, such as menu-4 or asked"
        )
    if draw.audit > fewest_pairs:
        yield (
            f"has {fewest_pairs} pairs of an instance and a label in a training part, too few for"
            f" an audit of {draw.audit}; reduce the audit"
        )


def _lacks_of_truth(dataset: MultiLabelDataset, plan: Plan, folds: Sequence[Any]) -> Iterator[str]:
    known = dataset.known
    if known is None:
        return
    has = f"has true labels of {dataset.n_known} of its {dataset.n_samples} rows"
    if plan.criteria and not all(known[test].any() for _, test in folds):
        yield (
            f"{has}, but of no row in one of the {len(folds)} folds, and the criteria need some;"
            " give truth, take fewer folds, or measure on held-out answers instead, with criteria"
            " = false and score = true in the plan"
        )
    for row in plan.expanded_rows():
        if row.relevant_per_row or row.relevant_share or row.label_frequencies:
            told = "how often labels truly apply" if row.label_frequencies else "relevant labels"
            yield f"{has}, but the row {row.title!r} is told {told}; leave that out"
        if get_method(row.method).learns_from == "relevant" and not known.any():
            yield f"{has}, but {row.method} learns from true labels; leave this method out"


# The parts of answers that the checksum covers.
_NUMBERS = ("item", "annotator", "asked_for", "probability")
_WORDS = ("question", "all_apply", "drawn")
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
    for name in _MASKS:
        mask = getattr(answers, name)
        yield mask.indices.astype(np.int64)
        yield mask.indptr.astype(np.int64)
