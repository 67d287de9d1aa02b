"""Read tables of codes (such as CheXpert's): a row for each item, a column for each label."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.errors import DatasetFormatError, InputError
from complabel.importers._format import Format, Head, Options, Tally
from complabel.importers._tabular import Table, head_rows, open_table

_WORDS = ("no", "yes", "unsure")
_BLANK, _UNKNOWN = -1, -2
_BLANKS = {"", "nan", "na", "n/a", "<na>", "none", "null"}
_USUAL = {"0", "1", "-1"}
_MAX_NAMED = 3


def _recognizes(head: Head) -> bool:
    """Return whether most columns after the first hold only the usual codes and blanks."""
    rows = head_rows(head.start)
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return False
    columns = list(zip(*rows[1:], strict=True))[1:]
    held = [{_plain(cell) for cell in column} - _BLANKS for column in columns]
    return sum(bool(cells) and cells <= _USUAL for cells in held) > len(columns) / 2


def _read(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    """Read the cells of the label columns, item by item."""
    codes = _codes(options)
    table = open_table(path)
    item = _item_column(table, options)
    columns = _Columns.of(table, item, options)
    chance, n_told = None, 0
    for first, piece in table.pieces(table.names if columns.by_content else [item, *columns.kinds]):
        cells = {name: _said(piece[name], codes) for name in columns.kinds}
        columns.look(first, piece, cells)
        labels = columns.labels
        _check_items(table, first, piece[item])
        tally.counts["rows of the file"] += len(piece[item])
        tally.counts["rows without an answer"] += len(piece[item])
        if not labels:
            continue
        if chance is None and options.random_questions:
            chance = 1 / len(labels)
        said = np.column_stack([cells[name] for name in labels])  # (rows, labels)
        row, column = np.nonzero(said != _BLANK)
        n_told += len(row)
        tally.counts["rows without an answer"] -= len(np.unique(row))
        yield _piece(piece[item], labels, said, row, column, chance)
    columns.finish(tally)
    n_cells = tally.counts["rows of the file"] * len(columns.labels)
    tally.counts["blank cells"] = n_cells - n_told


def _piece(
    item: Any,
    labels: list[str],
    said: NDArray[np.int8],
    row: NDArray[np.intp],
    column: NDArray[np.intp],
    chance: float | None,
) -> dict[str, Any]:
    """Return a row for each cell that is not blank."""
    import pyarrow as pa  # type: ignore[import-untyped]

    found = {
        "item": item.take(pa.array(row)),
        "label": pa.DictionaryArray.from_arrays(column.astype(np.int32), pa.array(labels)),
        "answer": pa.DictionaryArray.from_arrays(said[row, column], pa.array(_WORDS)),
        "question": pa.repeat("asked", len(row)),
    }
    return found if chance is None else {**found, "probability": np.full(len(row), chance)}


@dataclass
class _Columns:
    """Which columns are labels: those that the user gave, else those that hold only codes."""

    table: Table
    by_content: bool
    kinds: dict[str, bool | None]  # True: a label; False: another column; None: only blanks so far
    others: dict[str, tuple[int, str]] = field(
        default_factory=dict
    )  # first value that is not a code
    item: str = ""

    @classmethod
    def of(cls, table: Table, item: str, options: Options) -> _Columns:
        """Start with what is known before any row is read."""
        if options.label_names is None:
            kinds: dict[str, bool | None] = {name: None for name in table.names if name != item}
            return cls(table, True, kinds, item=item)
        for name in options.label_names:
            if name not in table.names or name == item:
                raise InputError(
                    f"--label-names (label_names) has {name!r}, which is not a label"
                    f" column of {table.path}; its columns are {', '.join(table.names)},"
                    f" and {item!r} names the items"
                )
        return cls(table, False, dict.fromkeys(options.label_names, True), item=item)

    @property
    def labels(self) -> list[str]:
        return [name for name, is_label in self.kinds.items() if is_label]

    def look(
        self, first: int, piece: Mapping[str, Any], cells: Mapping[str, NDArray[np.int8]]
    ) -> None:
        """Update the kinds of columns with a piece; refuse columns with codes and other values."""
        mixed = []
        for name, said in cells.items():
            unknown = said == _UNKNOWN
            if unknown.any() and name not in self.others:
                at = int(np.argmax(unknown))
                self.others[name] = (first + at, piece[name][at].as_py())
            has_codes = bool((said >= 0).any()) or bool(self.kinds[name])
            if has_codes and name in self.others:
                mixed.append(name)
            elif self.kinds[name] is None and (has_codes or name in self.others):
                self.kinds[name] = has_codes
            elif has_codes:
                self.kinds[name] = True
        if mixed:
            raise self._refusal(mixed)

    def finish(self, tally: Tally) -> None:
        """Remark on which columns were read as labels, and which were not."""
        labels = self.labels
        if not labels:
            raise DatasetFormatError(
                f"{self.table.path}: no column holds only codes; give the codes as "
                "--yes, --no and --unsure (yes, no, unsure), or the columns as --label-names"
            )
        tally.label_names |= dict.fromkeys(labels)
        tally.remark(
            f"Items are named by the column {self.item!r}; give another one with --item (item=)"
        )
        if self.by_content:
            left = [name for name in self.kinds if name not in labels]
            besides = f"; left out: {_some(left)}" if left else ""
            tally.remark(
                f"{len(labels):,} columns hold only codes, and were read as labels: "
                f"{_some(labels)}{besides}; give others with --label-names (label_names)"
            )

    def _refusal(self, mixed: list[str]) -> DatasetFormatError:
        """Return the error about a code without a meaning."""
        row, value = self.others[mixed[0]]
        besides = ", ".join(
            f"{name!r} holds {self.others[name][1]!r}" for name in mixed[1 : _MAX_NAMED + 1]
        )
        more = f" (column {besides} as well)" if besides else ""
        return self.table.fail(
            row,
            f"column {mixed[0]!r} holds the code {value!r}, whose meaning is not known{more}; "
            "give its meaning with --yes, --no or --unsure (yes, no, unsure), such as "
            f"--unsure {value}; or, if the column is not a label, give the label columns with "
            "--label-names (label_names)",
        )


def _codes(options: Options) -> dict[str, int]:
    """Return the meaning of each code, as a position in ``_WORDS``."""
    codes: dict[str, int] = {}
    for word, told in zip(_WORDS, (options.no, options.yes, options.unsure), strict=True):
        for code in told:
            if codes.setdefault(_plain(code), _WORDS.index(word)) != _WORDS.index(word):
                raise InputError(f"code {code!r} was given two meanings; give it only one")
    return codes


def _plain(text: str) -> str:
    """Return a code in the form in which codes are compared: 1.0 as 1, text in lower case."""
    text = text.strip().casefold()
    try:
        number = float(text)
    except ValueError:
        return text
    return f"{number + 0.0:g}" if math.isfinite(number) else text  # + 0 turns -0 into 0


def _said(column: Any, codes: Mapping[str, int]) -> NDArray[np.int8]:
    """Return the meaning of each cell: a position in ``_WORDS``, ``_BLANK`` or ``_UNKNOWN``."""
    encoded = column.dictionary_encode()
    meanings = []
    for value in encoded.dictionary.to_pylist():
        plain = _plain(value)
        meanings.append(codes.get(plain, _BLANK if plain in _BLANKS else _UNKNOWN))
    said: NDArray[np.int8] = np.array(meanings, dtype=np.int8)[encoded.indices.to_numpy()]
    return said


def _item_column(table: Table, options: Options) -> str:
    """Return the column that names the items."""
    if options.item is None:
        return "item" if "item" in table.names else table.names[0]
    if options.item not in table.names:
        raise InputError(
            f"--item (item) is {options.item!r}, which is not a column of {table.path}; its"
            f" columns are {', '.join(table.names)}"
        )
    return options.item


def _check_items(table: Table, first: int, item: Any) -> None:
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    at = pc.index(item, "").as_py()
    if at != -1:
        raise table.fail(first + at, "has no item; fill it in or leave the row out")


def _some(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


CODED = Format(
    name="coded",
    title="a table of items x labels that holds codes (CheXpert, any wide table)",
    recognizes=_recognizes,
    read=_read,
)
"""CSV or Parquet. ``yes``, ``no`` and ``unsure`` give the codes; a blank is no answer."""
