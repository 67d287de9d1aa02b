"""The table of answers: written from the store again and again, while people may edit it."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from complabel._writing import explained, replacing
from complabel.answers import COLUMNS
from complabel.errors import ComplabelError
from complabel.files import CONFIDENCE, AnswerWriter, Table
from complabel.live._store import AnswerStore

_STANDARD = (*COLUMNS, CONFIDENCE)
_KEY = ("answer_id", "item", "label")
# Chances change with what is asked later, and offers are spelled out once labels are added.
_CHANGES = ("probability", "offered")
_COMPARED = (*_KEY, *(name for name in _STANDARD if name not in (*_KEY, *_CHANGES)), "offered")
_TIME = _COMPARED.index("time")
_NUMBERS = ("asked_for", "seconds", CONFIDENCE)
_Row = tuple[str, ...]  # the cells of _COMPARED
_Names = Mapping[str, Mapping[str, str]]  # by column: names of now by those of before

_logger = logging.getLogger(__name__)


class AnswerTable:
    """A file with all answers, which people may edit whenever it is not being written.

    Columns of their own stay. If they changed anything else, the file that they saved is kept under
    another name before it is replaced: the answers are those of the store.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: object = ()  # what tells the file as it was last read or written
        self._others: dict[str, dict[_Row, str]] = {}  # columns of people's own, without blanks

    def write(self, columns: Mapping[str, list[Any]], store: AnswerStore) -> None:
        """Write all answers, as columns of a table."""
        now, is_first = _state(self.path), self._seen == ()
        if now != self._seen:
            # What an earlier start wrote has the names of then.
            if self._is_edited(columns, store.taken_back(), store.renamed if is_first else {}):
                aside = kept_path(self.path)
                with explained(aside), replacing(aside) as partial:
                    shutil.copy2(self.path, partial)
                message = "%s was edited, or has answers that %s does not have; it is kept as %s"
                if is_first and store.has_merged:
                    message = "%s is of before labels of %s were merged; it is kept as %s"
                _logger.warning(message, self.path, store.path, aside)
            self._seen = now
        write_table(self.path, columns, self._others)
        self._seen = _state(self.path)

    def _is_edited(
        self, columns: Mapping[str, list[Any]], taken_back: set[str], renamed: _Names
    ) -> bool:
        """Return whether writing would lose something of the file; take columns of people's own.

        ``taken_back`` are the ids of answers that may be missing now, and ``renamed`` has the names
        of now of labels and items in the file.
        """
        self._others = {}
        if not self.path.exists():
            return False
        written, keys, is_edited = _hashes(columns), set[_Row](), False
        try:
            for row, others in self._rows(renamed):
                if not any((*row, *others)):
                    continue
                keys.add(_key(row))
                if hash(row) not in written:
                    is_edited |= row[0] not in taken_back or any(others)
                for cells, cell in zip(self._others.values(), others, strict=True):
                    if cell:
                        cells[_key(row)] = cell
        except ComplabelError:  # it is no table of answers any more, so it is somebody's
            return True
        return is_edited or (len(keys) < len(columns["item"]) and _has_deleted(columns, keys))

    def _rows(self, renamed: _Names) -> Iterator[tuple[_Row, _Row]]:
        """Yield the rows of the file, and their cells in columns of people's own."""
        table = Table.open(self.path, "tables of answers", [*_KEY])
        self._others = {name: {} for name in table.columns if name not in _STANDARD}
        names = [*table.columns]
        for piece in table.pieces(names) if table.delimiter else table.pieces(others=names):
            columns = {name: values.to_pylist() for name, values in piece.items()}
            for name, now in renamed.items():
                columns[name] = [now.get(each, each) for each in columns[name]]
            if renamed.get("label") and "offered" in columns:
                columns["offered"] = [_offer(each, renamed["label"]) for each in columns["offered"]]
            rows, cells = [*_rows(columns)], [map(_text, columns[name]) for name in self._others]
            yield from zip(
                rows, zip(*cells, strict=True) if cells else [()] * len(rows), strict=True
            )


def _offer(listed: str | None, names: Mapping[str, str]) -> str | None:
    """Return labels on offer, a list in JSON, with their names of now."""
    with contextlib.suppress(ValueError, TypeError):
        offered = [names.get(each, each) for each in json.loads(listed or "")]
        return json.dumps(offered, ensure_ascii=False)
    return listed


def _hashes(columns: Mapping[str, list[Any]]) -> set[int]:
    """Return hashes of all rows, also as they were before their offers were spelled out."""
    hashes = set()
    for row in _rows(columns):
        hashes.add(hash(row))
        if row[-1]:
            hashes.add(hash((*row[:-1], "")))
    return hashes


def _has_deleted(columns: Mapping[str, list[Any]], keys: set[_Row]) -> bool:
    """Return whether the rows of these keys lack an answer from before their latest one."""
    latest, gone = "", "~"  # times
    for row in _rows(columns):
        if row[0].isdigit():  # those of a file of questions are not in the order of time
            if _key(row) in keys:
                latest = max(latest, row[_TIME])
            else:
                gone = min(gone, row[_TIME])
    return gone < latest


def write_table(
    path: Path, columns: Mapping[str, list[Any]], others: Mapping[str, Mapping[_Row, str]]
) -> None:
    """Write answers, and the cells of other columns by the keys of their rows."""
    keys = [*map(_key, _rows(columns))] if others else []
    more = {name: [cells.get(key) for key in keys] for name, cells in others.items()}
    with AnswerWriter(path, more=[*more]) as writer:
        writer.write({**columns, **more})


def describe_table(path: Path) -> str:
    """Say how many answers the table beside a store has."""
    try:
        table = Table.open(path, "tables of answers", [*_KEY])
        pieces = [piece["answer_id"].to_pylist() for piece in table.pieces(["answer_id"])]
    except (ComplabelError, OSError):
        return "there is no table of answers beside it"
    return (
        f"{path} has {len({each for ids in pieces for each in ids}):,} answers, and stays as it is"
    )


def kept_path(path: Path) -> Path:
    """Return a name that no file has: answers.kept-1.csv."""
    ending = "".join(path.suffixes[-2:] if path.suffix in (".gz", ".sqlite") else [path.suffix])
    stem, number = path.name.removesuffix(ending), 1
    while (copy := path.with_name(f"{stem}.kept-{number}{ending}")).exists():
        number += 1
    return copy


def _state(path: Path) -> tuple[int, ...] | None:
    """Return what changes when somebody saves a file; None if there is none."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns, stat.st_ino


def _rows(columns: Mapping[str, list[Any]]) -> Iterator[_Row]:
    """Yield the cells of rows that are compared, as text."""
    blank = [""] * len(columns["item"])
    return zip(
        *(
            map(_number if name in _NUMBERS else _text, columns.get(name, blank))
            for name in _COMPARED
        ),
        strict=True,
    )


def _key(row: _Row) -> _Row:
    return row[:3] if row[0] else row


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _number(value: Any) -> str:
    if value is None or value == "":
        return ""
    try:
        return f"{float(str(value).replace(',', '.')):.12g}"
    except ValueError:
        return _text(value)
