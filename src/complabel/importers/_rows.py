"""Collect the rows of an importer into pieces of the neutral table."""

from __future__ import annotations

import functools
import itertools
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from complabel.importers._format import Options, Tally

ROWS_AT_ONCE = 50_000


class Row(NamedTuple):
    """One row of the table; the fields are :data:`complabel.files.COLUMNS`, in this order."""

    answer_id: str
    item: str
    label: str
    answer: str
    question: str
    offered: str | None = None
    asked_for: int | None = None
    annotator: str | None = None
    time: str | None = None
    probability: float | None = None


def pieces(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yield pieces of many rows as columns; columns without content are left out."""
    rows = iter(rows)
    while some := list(itertools.islice(rows, ROWS_AT_ONCE)):
        columns = zip(Row._fields, zip(*some, strict=True), strict=True)
        yield {name: list(values) for name, values in columns if values.count(None) < len(some)}


@functools.lru_cache(maxsize=4096)
def as_json(labels: tuple[str, ...]) -> str:
    """Return the offered labels as a JSON list; cached, because menus repeat."""
    return json.dumps(labels, ensure_ascii=False)


def chance(n_labels: int, size: int) -> float:
    """Return the probability of a menu of this size, drawn at random from all labels.

    Only ratios between menus of the same size matter, so a tiny probability may be replaced by the
    smallest normal float.
    """
    return max(1 / math.comb(n_labels, size), sys.float_info.min)


def note(tally: Tally, counts: Counter[str], order: Iterable[str]) -> None:
    """Add counts to the tally, in the order in which they are shown."""
    for word in order:
        if counts[word]:
            tally.counts[word] += counts[word]


def say_unused(options: Options, tally: Tally, title: str, *names: str) -> None:
    """Add a remark about each given option that the format does not use."""
    for name in names:
        if getattr(options, name) != getattr(Options(), name):
            flag = name.replace("_", "-")
            tally.remark(f"{title} files do not need --{flag}; it was not used.")
