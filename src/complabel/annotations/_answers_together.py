"""Put answers about the same items together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from complabel.annotations._answers_arrays import COLUMNS, MASKS, AnswerArrays
from complabel.annotations._answers_masks import as_mask
from complabel.errors import AnnotationError

A = TypeVar("A", bound=AnswerArrays)


def put_together(several: Sequence[A]) -> A:
    """Return the answers of all, those about one item in the order given."""
    parts = list(several)
    if not parts:
        raise AnnotationError("there are no answers to put together; give at least one")
    for at, part in enumerate(parts):
        if part.shape != parts[0].shape:
            raise AnnotationError(
                f"answers 0 have shape {parts[0].shape} (items, labels) but answers {at} "
                f"{part.shape}; all must be about the same"
            )
    names = _same_names([part.label_names for part in parts], "labels")
    items = _same_names([part.item_names for part in parts], "items")
    people = list(dict.fromkeys(name for part in parts for name in part.annotator_names))
    code = {name: at for at, name in enumerate(people)}
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in ("item", *COLUMNS)
    }
    columns["annotator"] = np.concatenate(
        [  # -1 is the last
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
    """Return the names that all have, or None; those that have none do not count."""
    known = [names for names in several if names is not None]
    for names in known:
        if not np.array_equal(names, known[0]):
            raise AnnotationError(
                f"the answers name different {noun}, or in another order; give all the same"
            )
    return known[0] if known else None
