"""Read tables in which people wrote: a row an item, or a row each answer of one person.

Of a wide table, a row is an item, and a column is that of a label or of a person. A column of a
label holds codes, as in CheXpert; a column of a person holds labels. ``absent`` and ``present``
name the latter, and say what their labels mean. ``COLUMN=PERSON`` says who filled in a column; by
default the person is called as the column. If there is only one person, a column ``seconds`` has
the time of each row. Codes may mean anything, and a blank cell may be a form in which nothing was
ticked, or no answer, so the user says what they mean.

Crowdsourcing platforms give out a row for each answer of one person, with the chosen labels in one
cell. There, ``absent`` and ``present`` say what the column means; tasks of ``complabel ask`` say it
themselves, in the platform's copy of their fields.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from complabel._opening import fault
from complabel._settings import setting
from complabel.errors import DatasetFormatError, InputError
from complabel.importers._format import (
    WORDS,
    Format,
    Head,
    Options,
    Row,
    Table,
    Tally,
    long_form,
    open_table,
    parse,
    pieces,
    seconds_of,
    shown,
    some,
)
from complabel.importers._questions import (
    Controls,
    Form,
    FormReader,
    Travelled,
    question_in,
    question_of,
)

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
    if not options.yes and not options.no:
        raise fault(
            path,
            "does not say what its codes mean, so nothing was read; give the codes as"
            f" {_settings(yes=1, no=0)} if 0 says that somebody judged that the label does not"
            f" apply, {_settings(yes=1, unsure=0)} if 0 says nothing, {_settings(no=1, unsure=0)}"
            " if 1 marks what does not apply",
        )
    needed = [options.item] if options.item else []
    table = open_table(path, *needed, *(options.label_names or ()))
    item = options.item or ("item" if "item" in table.columns else table.columns[0])
    columns = [name for name in options.label_names or table.columns if name != item]
    coded = set(options.label_names or ())  # columns with a code so far
    others: dict[str, tuple[int, str]] = {}  # the first value that is no code: row, value
    n_told = 0
    tally.start("rows of the file", "rows without an answer")
    meant = dict.fromkeys(_BLANKS, _BLANK) | codes
    for piece in table.frames([item, *columns]):
        table.check(piece[item], piece[item] == "", "has no item; fill it in, or leave it out")
        said = np.empty((len(piece), len(columns)), dtype=np.int8)
        for k, name in enumerate(columns):
            said[:, k] = (
                piece[name].map(lambda cell: meant.get(_plain(cell), _UNKNOWN)).astype(np.int8)
            )
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
        yield long_form(piece[item], labels, said, "asked")
    _remark(table, item, columns, coded, options, tally)
    tally.counts["blank cells"] = tally.counts["rows of the file"] * len(coded) - n_told


def _remark(
    table: Table, item: str, columns: list[str], coded: set[str], options: Options, tally: Tally
) -> None:
    if not coded:
        raise fault(
            table.path,
            "no column holds only codes; give the codes as"
            f" {setting('yes')}, {setting('no')} and {setting('unsure')}, or the columns as"
            f" {setting('label_names')}",
        )
    labels = [name for name in columns if name in coded]
    tally.list_labels(labels)
    tally.remark(f"Items are named by the column {item!r}; give another one with {setting('item')}")
    if options.label_names is None:
        left = [name for name in columns if name not in coded]
        besides = f"; left out: {some(left)}" if left else ""
        tally.remark(
            f"{len(labels):,} columns hold only codes, and were read as labels: "
            f"{some(labels)}{besides}; give others with {setting('label_names')}"
        )


def _unknown_code(
    table: Table, mixed: list[str], others: Mapping[str, tuple[int, str]]
) -> DatasetFormatError:
    row, value = others[mixed[0]]
    besides = ", ".join(f"{shown(n)} holds {shown(others[n][1])}" for n in mixed[1:][:_MAX_NAMED])
    more = f" (column {besides} as well)" if besides else ""
    return table.refuse(
        row,
        f"column {shown(mixed[0])} holds the code {shown(value)}, whose meaning is not known{more};"
        f" give its meaning with {setting('yes')}, {setting('no')} or {setting('unsure')}, such as"
        f" {setting('unsure', value if len(value) < 20 else 'CODE')}; or, if the column is not a"
        f" label, give the label columns with {setting('label_names')}",
    )


def _settings(**values: object) -> str:
    return " ".join(setting(name, value) for name, value in values.items())


def _which_columns() -> str:
    return (
        "say which columns hold labels, and what they mean:"
        f" {setting('absent', 'COLUMN')} (labels do not apply), {setting('present', 'COLUMN')}"
        " (labels apply)"
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
    readers = {person: FormReader(each, options, tally) for person, each in people.items()}
    for row, cells in table.rows([item, *columns, *times]):
        chosen = {each: _split(cells[each], options.separator) for each in columns}
        tally.counts["rows of the file"] += 1
        tally.counts["blank cells"] += sum(not labels for labels in chosen.values())
        if not cells[item].strip():
            if any(chosen.values()):
                raise table.refuse(row, "has no item; fill in the item that the row is about")
            tally.counts["blank rows"] += 1
            continue
        place = f"{table.path}, row {row + 1}"
        _refuse_signs(chosen, options, place)
        for person, reader in readers.items():
            seconds = seconds_of(cells[times[0]]) if times else None
            form = Form(
                place, f"{row + 1}-{person}", cells[item], chosen, annotator=person, seconds=seconds
            )
            if _is_answer(form, reader):
                yield from reader.rows(form)


def _split(cell: str, separator: str | None) -> list[str]:
    parts = [cell] if separator is None else cell.split(separator)
    return [part.strip() for part in parts if part.strip()]


def _refuse_signs(chosen: Mapping[str, list[str]], options: Options, place: str) -> None:
    """Refuse cells that may hold several labels, if neither a separator nor labels were told."""
    if options.separator is not None or options.label_names is not None:
        return
    for name, labels in chosen.items():
        sign = next((sign for sign in _SIGNS if any(sign in label for label in labels)), None)
        if sign is not None:
            raise fault(
                place,
                f"column {shown(name)} has {shown(labels[0])}; if these are several labels, give"
                f" {setting('separator')} {sign!r}, and if it is one label, all labels as"
                f" {setting('label_names')}",
            )


def _is_answer(form: Form, reader: FormReader) -> bool:
    """Return whether somebody filled in a form; a blank cell may be one without a tick."""
    names = sum(reader.controls, ())
    if reader.rest is None or any(form.chosen[name] for name in names):
        return True
    said = reader.options.unselected
    if said is None:
        raise fault(
            form.place,
            f"column {shown(names[0])} is blank; it is not known whether nothing was ticked there,"
            f" or nobody answered: give {setting('unselected', reader.rest)} if nothing was ticked,"
            f" so that {'all' if reader.rest == 'yes' else 'no'} labels apply, or"
            f" {setting('unselected', 'unknown')} if nobody answered",
        )
    return said != "unknown"


def _people(table: Table, item: str, options: Options) -> dict[str, Controls]:
    names = some(shown(name) for name in table.columns if name != item)
    told = [("absent", each) for each in options.absent]
    told += [("present", each) for each in options.present]
    if not told:
        raise fault(
            table.path,
            f"{_which_columns()}, or COLUMN=PERSON if the person is not called as the column;"
            f" its columns are {names}",
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


_TITLE = "a table of items x labels that holds codes (CheXpert); needs --yes, --no"
CODED = Format("coded", _TITLE, _recognizes, _read_codes)

CELLS = Format(
    name="columns",
    title="a wide table in which people wrote labels into cells; needs --absent, --present",
    recognizes=lambda _: False,  # what the columns mean must be told
    read=_read_cells,
    takes_question=True,
)


@dataclass(frozen=True)
class _Site:
    """What the columns of one platform are called."""

    person: str
    items: tuple[str, ...]  # the first that the table has names the item
    answer_id: str = "answer_id"
    time: str = "time"
    begun: str = ""  # when the person began, where nothing else tells the seconds
    seconds: str = "seconds"
    separator: str | None = None  # of several labels in a cell
    refused: tuple[str, str] = ("", "")  # a column, and what it says if an answer was refused
    given: str = ""  # what the names of the fields of a task begin with
    said: str = ""  # what the names of the columns with answers begin with


_MECHANICAL_TURK = _Site(
    person="WorkerId",
    items=("Input.item", "Input.id", "HITId"),
    answer_id="AssignmentId",
    time="SubmitTime",
    seconds="WorkTimeInSeconds",
    separator="|",
    refused=("AssignmentStatus", "rejected"),
    given="Input.",
    said="Answer.",
)
_FIGURE_EIGHT = _Site(
    person="_worker_id",
    items=("item", "_unit_id"),
    answer_id="_id",
    time="_created_at",
    begun="_started_at",
    separator="\n",
    refused=("_tainted", "true"),
)
_OTHER = _Site(person="annotator", items=("item",))
_SITES = (_MECHANICAL_TURK, _FIGURE_EIGHT, _OTHER)
_TIMES = ("%m/%d/%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S")


def _is_batch(head: Head) -> bool:
    columns = {*head.columns()}
    return any({site.person, site.answer_id} <= columns for site in _SITES[:2])


def _read_batch(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    tally.say_unused(options, "Batch", "random_questions")
    tally.start("rows of the file", "refused answers", "empty answers")
    table = open_table(path)
    site = next((each for each in _SITES if each.person in table.columns), None)
    if site is None:
        told = " or ".join(f"{each.person!r}" for each in _SITES)
        raise fault(path, f"has no column {told}, which says who answered; rename the column")
    item = options.item or next((each for each in site.items if each in table.columns), "")
    if item not in table.columns:
        told = f"has no column {shown(item or site.items[0])}, which should name the item"
        raise fault(path, f"{told}; give another with --item; it has {some(table.columns)}")
    controls = Controls(
        tuple(_column(table, site, name) for name in options.absent),
        tuple(_column(table, site, name) for name in options.present),
    )
    reader = FormReader(controls, options, tally)
    yield from pieces(_Batch(table, site, item, reader).rows())


def _column(table: Table, site: _Site, name: str) -> str:
    """Return the column with answers that is called so, perhaps without its prefix."""
    for each in (name, f"{site.said}{name}"):
        if each in table.columns:
            return each
    told = f"has no column {shown(name)} with answers"
    raise fault(table.path, f"{told}; its columns are {some(map(shown, table.columns))}")


@dataclass
class _Batch:
    """The answers of one platform; those to tasks of ``complabel ask`` say what was asked."""

    table: Table
    site: _Site
    item: str
    reader: FormReader
    travelled: Travelled = field(default_factory=Travelled)

    def rows(self) -> Iterator[Row]:
        status, refused = self.site.refused
        counts = self.reader.tally.counts
        for number, cells in self.table.rows(self.table.columns):
            counts["rows of the file"] += 1
            if status and cells.get(status, "").strip().casefold() == refused:
                counts["refused answers"] += 1
                continue
            if not cells[self.item].strip():
                told = f"has no {self.item}; fill in the item that it is about"
                raise self.table.refuse(number, told)
            form = self._form(cells, number)
            if not any(self.reader.controls):
                rows = self._answer(form, cells)
            else:
                if self.site.separator is None:
                    _refuse_signs(form.chosen, self.reader.options, form.place)
                # A platform has rows of answers only; in other files, people fill them in.
                is_answer = self.site is not _OTHER or _is_answer(form, self.reader)
                rows = self.reader.rows(form) if is_answer else []
            counts["empty answers"] += not rows
            yield from rows

    def _form(self, cells: Mapping[str, str], number: int) -> Form:
        site, place = self.site, f"{self.table.path}, row {number + 1}"
        separator = self.reader.options.separator
        return Form(
            place=place,
            answer_id=cells.get(site.answer_id) or str(number + 1),
            item=cells[self.item],
            chosen={
                name: _labels_in(cells[name], site, separator, place)
                for name in sum(self.reader.controls, ())
            },
            annotator=cells[site.person].strip() or None,
            time=cells.get(site.time) or None,
            seconds=_seconds(cells, site),
            task={
                name.removeprefix(site.given): cell
                for name, cell in cells.items()
                if name.startswith(site.given)
            },
        )

    def _answer(self, form: Form, cells: Mapping[str, str]) -> list[Row]:
        """Return the rows of an answer to the question that a task of ``complabel ask`` carries."""
        kind, said_in = question_in(form.task), self.site.said
        columns = self.table.columns
        answers = [name for name in columns if said_in and name.startswith(said_in)]
        column = f"{said_in}answer"
        column = answers[0] if column not in cells and len(answers) == 1 else column
        if kind is None or column not in cells:
            raise fault(
                self.table.path,
                f"{_which_columns()}; its columns are {some(map(shown, answers or columns))}",
            )
        question = question_of(form.task, form.place, item=form.item)
        self.reader.tally.list_labels(question.offered)
        place, cell = f"{form.place}, column {shown(column)}", cells[column]
        chosen = [cell] if kind == "asked" else _labels_in(cell, self.site, None, place)
        said = question.meaning(chosen if cell.strip() else [], place)
        who = {"annotator": form.annotator, "time": form.time, "seconds": form.seconds}
        if said is None:
            return []
        return self.travelled.rows(question, said, place, answer_id=form.answer_id, **who)


def _labels_in(cell: str, site: _Site, told: str | None, place: str) -> list[str]:
    """Return the labels in a cell, which may be a list as JSON."""
    if cell.startswith('["'):
        return [str(label) for label in parse(cell, place)]
    return _split(cell, told or site.separator)


def _seconds(cells: Mapping[str, str], site: _Site) -> float | None:
    if not site.begun:
        return seconds_of(cells.get(site.seconds))
    times = []
    for name in (site.begun, site.time):
        for written in _TIMES:
            with contextlib.suppress(ValueError):
                times.append(datetime.strptime(cells.get(name, ""), written))
    return seconds_of((times[1] - times[0]).total_seconds()) if len(times) == 2 else None


BATCH = Format(
    name="batch",
    title="a row an answer: batches of Mechanical Turk, Figure Eight, or item, annotator, ...",
    recognizes=_is_batch,
    read=_read_batch,
    takes_question=True,
)
