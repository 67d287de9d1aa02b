"""Read tables with a row for each answer of one person, such as crowdsourcing platforms give out.

The labels that somebody chose are in one cell. ``absent`` and ``present`` say what the column
means; tasks of ``complabel ask`` say it themselves, in the platform's copy of their fields.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from complabel._opening import fault
from complabel.importers._format import Format, Head, Options, Row, Tally, pieces, some
from complabel.importers._forms import Controls, Form, nothing_ticked, rows_of
from complabel.importers._json import parse, seconds_of, shown
from complabel.importers._questions import Travelled, question_in, question_of
from complabel.importers._tabular import Table, open_table


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
_SITES = (_MECHANICAL_TURK, _FIGURE_EIGHT, _Site(person="annotator", items=("item",)))
_TIMES = ("%m/%d/%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S")


def _recognizes(head: Head) -> bool:
    columns = {*head.columns()}
    return any({site.person, site.answer_id} <= columns for site in _SITES[:2])


def _read(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
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
    yield from pieces(_rows(table, site, item, controls, options, tally))


def _column(table: Table, site: _Site, name: str) -> str:
    """Return the column with answers that is called so, perhaps without its prefix."""
    for each in (name, f"{site.said}{name}"):
        if each in table.columns:
            return each
    told = f"has no column {shown(name)} with answers"
    raise fault(table.path, f"{told}; its columns are {some(map(shown, table.columns))}")


def _rows(
    table: Table, site: _Site, item: str, controls: Controls, options: Options, tally: Tally
) -> Iterator[Row]:
    travelled = Travelled()
    status, refused = site.refused
    for piece in table.frames(table.columns):
        for number, cells in piece.astype(object).to_dict("index").items():
            tally.counts["rows of the file"] += 1
            if status and cells.get(status, "").strip().casefold() == refused:
                tally.counts["refused answers"] += 1
                continue
            if not cells[item].strip():
                raise table.refuse(number, f"has no {item}; fill in the item that it is about")
            form = _form(table, site, cells, number, item, sum(controls, ()), options)
            if any(controls):
                rows = rows_of(form, controls, options, tally)
                rows = rows or nothing_ticked(form, controls, options, tally)
            else:
                rows = _answer(table, site, form, cells, travelled, tally)
            tally.counts["empty answers"] += not rows
            yield from rows


def _form(
    table: Table,
    site: _Site,
    cells: Mapping[str, str],
    number: int,
    item: str,
    columns: tuple[str, ...],
    options: Options,
) -> Form:
    place = f"{table.path}, row {number + 1}"
    return Form(
        place=place,
        answer_id=cells.get(site.answer_id) or str(number + 1),
        item=cells[item],
        chosen={name: _labels(cells[name], site, options.separator, place) for name in columns},
        annotator=cells[site.person].strip() or None,
        time=cells.get(site.time) or None,
        seconds=_seconds(cells, site),
        task={
            name.removeprefix(site.given): cell
            for name, cell in cells.items()
            if name.startswith(site.given)
        },
    )


def _labels(cell: str, site: _Site, told: str | None, place: str) -> list[str]:
    """Return the labels in a cell, which may be a list as JSON."""
    if cell.startswith('["'):
        return [str(label) for label in parse(cell, place)]
    separator = told or site.separator
    parts = [cell] if separator is None else cell.split(separator)
    return [part.strip() for part in parts if part.strip()]


def _seconds(cells: Mapping[str, str], site: _Site) -> float | None:
    if not site.begun:
        return seconds_of(cells.get(site.seconds))
    times = []
    for name in (site.begun, site.time):
        for written in _TIMES:
            with contextlib.suppress(ValueError):
                times.append(datetime.strptime(cells.get(name, ""), written))
    return seconds_of((times[1] - times[0]).total_seconds()) if len(times) == 2 else None


def _answer(
    table: Table,
    site: _Site,
    form: Form,
    cells: Mapping[str, str],
    travelled: Travelled,
    tally: Tally,
) -> list[Row]:
    """Return the rows of an answer to the question that a task of ``complabel ask`` carries."""
    kind = question_in(form.task)
    answers = [name for name in table.columns if site.said and name.startswith(site.said)]
    column = f"{site.said}answer"
    column = answers[0] if column not in cells and len(answers) == 1 else column
    if kind is None or column not in cells:
        raise fault(
            table.path,
            "say which columns hold labels, and what they mean: --absent COLUMN (labels do not"
            " apply), --present COLUMN (labels apply); its columns are"
            f" {some(map(shown, answers or table.columns))}",
        )
    question = question_of(form.task, form.place, item=form.item)
    tally.list_labels(question.offered)
    place = f"{form.place}, column {shown(column)}"
    cell = cells[column]
    chosen = [cell] * bool(cell.strip()) if kind == "asked" else _labels(cell, site, None, place)
    said = question.meaning(chosen, place)
    if said is None:
        return []
    return travelled.rows(
        question,
        said,
        place,
        answer_id=form.answer_id,
        annotator=form.annotator,
        time=form.time,
        seconds=form.seconds,
    )


BATCH = Format(
    name="batch",
    title="a row an answer: batches of Mechanical Turk, Figure Eight, or item, annotator, ...",
    recognizes=_recognizes,
    read=_read,
    takes_question=True,
)
