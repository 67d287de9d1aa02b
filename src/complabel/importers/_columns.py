"""Read wide tables in which people wrote labels into cells: a row an item, columns for people.

Nothing is guessed: ``absent`` and ``present`` name the columns with answers, and say what their
labels mean. ``COLUMN=PERSON`` says who filled in a column; by default the person is called as the
column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from complabel.errors import DatasetFormatError, InputError
from complabel.importers._controls import Controls, Form, rows_of
from complabel.importers._format import Format, Options, Tally
from complabel.importers._rows import Row, pieces, say_unused
from complabel.importers._tabular import Table, open_table

_SIGNS = (";", ",", "|", "/")  # what may separate labels, if nobody told it


def _read(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    """Read the cells, person by person."""
    say_unused(options, tally, "Wide", "random_questions")
    table = open_table(path)
    item = options.item or "item"
    if item not in table.names:
        raise table.fail(
            -1, f"has no column {item!r} that names the items; give another one with --item COLUMN"
        )
    if options.separator == "":
        raise InputError("separator is empty; give the sign between two labels, such as ';'")
    people = _people(table, item, options)
    yield from pieces(_rows(table, item, people, options, tally))


def _rows(
    table: Table, item: str, people: dict[str, Controls], options: Options, tally: Tally
) -> Iterator[Row]:
    """Yield the answers of all people about all items, and count rows and cells."""
    columns = [*dict.fromkeys(n for each in people.values() for n in each.absent + each.present)]
    for first, piece in table.pieces([item, *columns]):
        cells = {name: column.to_pylist() for name, column in piece.items()}
        for at, name in enumerate(cells[item]):
            chosen = {each: _labels(cells[each][at], options) for each in columns}
            tally.counts["rows of the file"] += 1
            tally.counts["blank cells"] += sum(not labels for labels in chosen.values())
            if not name.strip():
                if any(chosen.values()):
                    raise table.fail(
                        first + at, "has no item; fill in the item that the row is about"
                    )
                tally.counts["blank rows"] += 1
                continue
            _remark_on_signs(chosen, options, tally)
            for person, controls in people.items():
                read = {each: chosen[each] for each in controls.absent + controls.present}
                form = Form(
                    place=f"{table.path}, row {first + at + 1}",
                    answer_id=f"{first + at + 1}-{person}",
                    item=name,
                    chosen=read,
                    annotator=person,
                )
                yield from rows_of(form, controls, options, tally)


def _labels(cell: str, options: Options) -> list[str]:
    """Return the labels in a cell."""
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
    """Return the columns that each person filled in."""
    if not options.absent and not options.present:
        raise DatasetFormatError(
            f"{table.path}: say which columns hold labels, and what they mean: --absent COLUMN"
            " (labels do not apply), --present COLUMN (labels apply), or COLUMN=PERSON if the"
            f" person is not called as the column; its columns are {_some(table.names)}"
        )
    people: dict[str, Controls] = {}
    seen: set[str] = set()
    for at, told in enumerate([*options.absent, *options.present]):
        name, sign, person = (told, "", "") if told in table.names else told.rpartition("=")
        if name not in table.names or name == item or (sign and not person):
            raise DatasetFormatError(
                f"{table.path}: {told!r} is no column with labels; give one of"
                f" {_some([each for each in table.names if each != item])}, or COLUMN=PERSON"
            )
        if name in seen:
            raise DatasetFormatError(
                f"{table.path}: column {name!r} is given twice with --absent and --present; give it"
                " once"
            )
        seen.add(name)
        before = people.get(person or name, Controls((), ()))
        people[person or name] = (
            Controls((*before.absent, name), before.present)
            if at < len(options.absent)
            else Controls(before.absent, (*before.present, name))
        )
    return people


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:20])) + ", ..." * (len(names) > 20)


CELLS = Format(
    name="columns",
    title="a wide table in which people wrote labels into cells; needs --absent, --present",
    recognizes=lambda _: False,  # what the columns mean must be told
    read=_read,
    takes_question=True,
)
"""CSV, Parquet or .xlsx. A blank cell is no answer."""
