"""Rows of the neutral table on their way out of an importer."""

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
    """One row; its fields are :data:`complabel.tables.COLUMNS`, in their order."""

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
    """Put rows together to columns, some at a time; columns without content are left out."""
    rows = iter(rows)
    while some := list(itertools.islice(rows, ROWS_AT_ONCE)):
        columns = zip(Row._fields, zip(*some, strict=True), strict=True)
        yield {name: list(values) for name, values in columns if values.count(None) < len(some)}


@functools.lru_cache(maxsize=4096)
def as_json(labels: tuple[str, ...]) -> str:
    """Return the labels on offer as the table holds them; menus repeat."""
    return json.dumps(labels, ensure_ascii=False)


def chance(n_labels: int, size: int) -> float:
    """Return the chance of a menu of this size that was drawn among all labels.

    Only ratios between menus of one size matter, so it may be cut off where a float ends.
    """
    return max(1 / math.comb(n_labels, size), sys.float_info.min)


def note(tally: Tally, counts: Counter[str], order: Iterable[str]) -> None:
    """Add what was counted of a file, in the order in which it is to be shown."""
    for word in order:
        if counts[word]:
            tally.counts[word] += counts[word]


def say_unused(options: Options, tally: Tally, title: str, *names: str) -> None:
    """Say which options a format has no use for, where they were given."""
    for name in names:
        if getattr(options, name) != getattr(Options(), name):
            flag = name.replace("_", "-")
            tally.remark(f"{title} files do not need --{flag}; it was not used.")
