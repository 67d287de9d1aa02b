"""Read wide tables: a row an item, and a column for each label, or for each person.

A column of a label holds codes, as in CheXpert; a column of a person holds labels. ``absent`` and
``present`` name the latter, and say what their labels mean. ``COLUMN=PERSON`` says who filled in a
column; by default the person is called as the column. If there is only one person, a column
``seconds`` has the time of each row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from complabel._opening import fault
from complabel.errors import DatasetFormatError, InputError
from complabel.importers._format import Format, Head, Options, Row, Tally, pieces, some
from complabel.importers._forms import Controls, Form, rows_of
from complabel.importers._json import seconds_of, shown
from complabel.importers._tabular import WORDS, Table, long_form, open_table

_BLANK, _UNKNOWN = -1, -2
_BLANKS = {"", "nan", "na", "n/a", "<na>", "none", "null"}
_USUAL = {"0", "1", "-1"}
_MAX_NAMED = 3
_SIGNS = (";", ",", "|", "/")  # what may separate labels, if nobody told it
_SECONDS = "seconds"


def _recognizes(head: Head) -> bool:
    """Return whether most columns after the first hold only the usual codes and blanks."""
    rows = head.rows()
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return False
    columns = list(zip(*rows[1:], strict=True))[1:]
    held = [{_plain(cell) for cell in column} - _BLANKS for column in columns]
    return sum(bool(cells) and cells <= _USUAL for cells in held) > len(columns) / 2


def _read_codes(path: Path, options: Options, tally: Tally) -> Iterator[Any]:
    """Read the cells of the columns that the user gave, else of those that hold only codes."""
    codes = _codes(options)
    needed = [options.item] if options.item else []
    table = open_table(path, *needed, *(options.label_names or ()))
    item = options.item or ("item" if "item" in table.columns else table.columns[0])
    columns = [name for name in options.label_names or table.columns if name != item]
    coded = set(options.label_names or ())  # columns with a code so far
    others: dict[str, tuple[int, str]] = {}  # the first value that is no code: row, value
    n_told, probability = 0, None
    tally.start("rows of the file", "rows without an answer")
    for piece in table.frames([item, *columns]):
        table.check(piece[item], piece[item] == "", "has no item; fill it in, or leave it out")
        said = np.empty((len(piece), len(columns)), dtype=np.int8)
        for k, name in enumerate(columns):
            said[:, k] = piece[name].map(lambda cell: _meaning(cell, codes)).astype(np.int8)
            unknown = said[:, k] == _UNKNOWN
            if unknown.any():
                row = int(piece.index[unknown.argmax()])
                others.setdefault(name, (row, piece[name][row]))
            if (said[:, k] >= 0).any():
                coded.add(name)
        mixed = [name for name in columns if name in coded and name in others]
        if mixed:
            raise _unknown_code(table, mixed, others)
        said = said[:, [name in coded for name in columns]]
        labels = [name for name in columns if name in coded]
        tally.counts["rows of the file"] += len(piece)
        tally.counts["rows without an answer"] += int((said < 0).all(axis=1).sum())
        n_told += int((said >= 0).sum())
        found = long_form(piece[item], labels, said, "asked")
        if options.random_questions and labels:
            probability = probability or 1 / len(labels)
            found["probability"] = probability
        yield found
    _remark(table, item, columns, coded, options, tally)
    tally.counts["blank cells"] = tally.counts["rows of the file"] * len(coded) - n_told


def _remark(
    table: Table, item: str, columns: list[str], coded: set[str], options: Options, tally: Tally
) -> None:
    if not coded:
        told = "no column holds only codes; give the codes as --yes, --no and --unsure"
        raise fault(table.path, f"{told}, or the columns as --label-names")
    labels = [name for name in columns if name in coded]
    tally.list_labels(labels)
    tally.remark(f"Items are named by the column {item!r}; give another one with --item (item=)")
    if options.label_names is None:
        left = [name for name in columns if name not in coded]
        besides = f"; left out: {some(left)}" if left else ""
        tally.remark(
            f"{len(labels):,} columns hold only codes, and were read as labels: "
            f"{some(labels)}{besides}; give others with --label-names (label_names)"
        )


def _unknown_code(
    table: Table, mixed: list[str], others: Mapping[str, tuple[int, str]]
) -> DatasetFormatError:
    row, value = others[mixed[0]]
    besides = ", ".join(f"{n!r} holds {others[n][1]!r}" for n in mixed[1 : _MAX_NAMED + 1])
    more = f" (column {besides} as well)" if besides else ""
    return table.refuse(
        row,
        f"column {mixed[0]!r} holds the code {value!r}, whose meaning is not known{more}; give its"
        f" meaning with --yes, --no or --unsure (yes, no, unsure), such as --unsure {value}; or, if"
        " the column is not a label, give the label columns with --label-names (label_names)",
    )


def _codes(options: Options) -> dict[str, int]:
    """Return the meaning of each code, as a position in ``WORDS``."""
    codes: dict[str, int] = {}
    for at, word in enumerate(WORDS):
        for code in getattr(options, word):
            if codes.setdefault(_plain(code), at) != at:
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


def _meaning(cell: str, codes: Mapping[str, int]) -> int:
    plain = _plain(cell)
    return codes.get(plain, _BLANK if plain in _BLANKS else _UNKNOWN)


def _read_cells(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    tally.say_unused(options, "Wide", "random_questions")
    tally.start("rows of the file", "blank cells", "blank rows")
    item = options.item or "item"
    table = open_table(path, item)
    if options.separator == "":
        raise InputError("separator is empty; give the sign between two labels, such as ';'")
    yield from pieces(_rows(table, item, _people(table, item, options), options, tally))


def _rows(
    table: Table, item: str, people: dict[str, Controls], options: Options, tally: Tally
) -> Iterator[Row]:
    columns = [*dict.fromkeys(name for each in people.values() for name in sum(each, ()))]
    # Of several people, nobody knows whose time it is.
    is_timed = len(people) == 1 and _SECONDS in {*table.columns}.difference([item, *columns])
    times = [_SECONDS] if is_timed else []
    for piece in table.frames([item, *columns, *times]):
        for row, cells in piece.astype(object).to_dict("index").items():
            chosen = {each: _labels(cells[each], options) for each in columns}
            tally.counts["rows of the file"] += 1
            tally.counts["blank cells"] += sum(not labels for labels in chosen.values())
            if not cells[item].strip():
                if any(chosen.values()):
                    raise table.refuse(row, "has no item; fill in the item that the row is about")
                tally.counts["blank rows"] += 1
                continue
            _remark_on_signs(chosen, options, tally)
            for person, controls in people.items():
                place, answer_id = f"{table.path}, row {row + 1}", f"{row + 1}-{person}"
                seconds = seconds_of(cells[times[0]]) if times else None
                form = Form(
                    place, answer_id, cells[item], chosen, annotator=person, seconds=seconds
                )
                yield from rows_of(form, controls, options, tally)


def _labels(cell: str, options: Options) -> list[str]:
    parts = [cell] if options.separator is None else cell.split(options.separator)
    return [part.strip() for part in parts if part.strip()]


def _remark_on_signs(chosen: dict[str, list[str]], options: Options, tally: Tally) -> None:
    """Say that cells may hold several labels, if no separator was told."""
    if options.separator is not None or options.label_names is not None:
        return
    for name, labels in chosen.items():
        for sign in _SIGNS:
            if any(sign in label for label in labels):
                tally.remark(
                    f"Column {name!r} has cells with {sign!r}, such as {labels[0][:40]!r}; each is"
                    f" read as one label. If it is several, give --separator {sign!r}."
                )
                return


def _people(table: Table, item: str, options: Options) -> dict[str, Controls]:
    names = some(shown(name) for name in table.columns if name != item)
    told = [("absent", each) for each in options.absent]
    told += [("present", each) for each in options.present]
    if not told:
        raise fault(
            table.path,
            "say which columns hold labels, and what they mean: --absent COLUMN (labels do not"
            " apply), --present COLUMN (labels apply), or COLUMN=PERSON if the person is not called"
            f" as the column; its columns are {names}",
        )
    people: dict[str, Controls] = {}
    seen: set[str] = set()
    for meaning, text in told:
        name, sign, person = (text, "", "") if text in table.columns else text.rpartition("=")
        if name not in table.columns or name == item or (sign and not person):
            wrong = f"{text!r} is no column with labels"
            raise fault(table.path, f"{wrong}; give one of {names}, or COLUMN=PERSON")
        if name in seen:
            raise fault(table.path, f"column {name!r} is given twice; give it once")
        seen.add(name)
        before = people.get(person or name, Controls())
        columns = (*getattr(before, meaning), name)
        people[person or name] = before._replace(**{meaning: columns})
    return people


_TITLE = "a table of items x labels that holds codes (CheXpert, any wide table)"
CODED = Format("coded", _TITLE, _recognizes, _read_codes)

CELLS = Format(
    name="columns",
    title="a wide table in which people wrote labels into cells; needs --absent, --present",
    recognizes=lambda _: False,  # what the columns mean must be told
    read=_read_cells,
    takes_question=True,
)
