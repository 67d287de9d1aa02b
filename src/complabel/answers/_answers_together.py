"""Join several sets of answers about the same items into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from complabel.answers._answers_arrays import COLUMNS, MASKS, AnswerArrays
from complabel.answers._answers_masks import as_mask
from complabel.errors import AnnotationError

A = TypeVar("A", bound=AnswerArrays)


def put_together(several: Sequence[A]) -> A:
    """Join answers, sorted by item; answers about one item keep the order given."""
    parts = list(several)
    if not parts:
        raise AnnotationError("there are no answers to join; give at least one Answers")
    for at, part in enumerate(parts):
        if part.shape != parts[0].shape:
            raise AnnotationError(
                f"answers 0 have shape {parts[0].shape} (items, labels) but answers {at} "
                f"{part.shape}; all must be about the same items and labels"
            )
    names = _same_names([part.label_names for part in parts], "labels")
    items = _same_names([part.item_names for part in parts], "items")
    people = list(dict.fromkeys(name for part in parts for name in part.annotator_names))
    code = {name: at for at, name in enumerate(people)}
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in ("item", *COLUMNS)
    }
    columns["annotator"] = np.concatenate(
        [  # code -1: last entry
            np.array([*map(code.get, part.annotator_names), -1], dtype=np.intp)[part.annotator]
            for part in parts
        ]
    )
    for name in MASKS:
        stacked = sparse.vstack([getattr(part, name) for part in parts], format="csr")
        columns[name] = as_mask(stacked)
    together = replace(
        parts[0],
        label_names=names,
        item_names=items,
        annotator_names=tuple(people),
        **columns,
    )
    return together._sorted()


def _same_names(several: Sequence[Any], noun: str) -> Any:
    """Return the names that all parts share; parts without names (None) are skipped."""
    known = [names for names in several if names is not None]
    for names in known:
        if not np.array_equal(names, known[0]):
            raise AnnotationError(
                f"the answers have different {noun}, or the same in another order; give all the "
                f"same {noun} in the same order"
            )
    return known[0] if known else None
