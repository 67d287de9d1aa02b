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
import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from complabel._opening import fault
from complabel._settings import setting
from complabel.errors import DatasetFormatError, InputError
from complabel.files import Cells, left_over, meaning_of
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
    pieces,
    seconds_of,
    shown,
    some,
)
from complabel.importers._forms import Controls, Form, FormReader
from complabel.importers._questions import Travelled, question_in, question_of

_BLANK, _UNKNOWN = -1, -2
_BLANKS = {"", "nan", "na", "n/a", "<na>", "none", "null"}
_USUAL = {"0", "1", "-1"}
_MAX_NAMED = 3
_MOST_CODES = 6  # different values in a column of codes


def _recognizes(head: Head) -> bool:
    """Return whether most columns after the first hold only the usual codes and blanks."""
    rows = head.rows()
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return False
    columns = list(zip(*rows[1:], strict=True))[1:]
    held = [{_code(cell) for cell in column} - _BLANKS for column in columns]
    return sum(bool(cells) and cells <= _USUAL for cells in held) > len(columns) / 2


def _read_codes(path: Path, options: Options, tally: Tally) -> Iterator[Any]:
    """Read the cells of the columns that the user gave, else of those that hold only codes."""
    codes = _codes(options)
    if not options.yes and not options.no:
        raise _unexplained_codes(open_table(path))
    needed = [options.item] if options.item else []
    table = open_table(path, *needed, *options.column.values(), *(options.label_names or ()))
    item = options.item or ("item" if "item" in table.columns else table.columns[0])
    coded = _Coded(table, item, codes, options)
    tally.start("rows of the file", "rows without an answer")
    items, n_answered = set[str](), 0
    for piece in table.frames([item, *coded.roles.values(), *coded.columns]):
        table.check(piece[item], piece[item] == "", "has no item; fill it in, or leave it out")
        labels, codes_read = coded.read(piece)
        tally.counts["rows of the file"] += len(piece)
        tally.counts["rows without an answer"] += int((codes_read < 0).all(axis=1).sum())
        n_answered += int((codes_read >= 0).sum())
        items.update(piece[item])
        yield long_form(piece[item], labels, codes_read, "asked", coded.people(piece))
    n_rows = tally.counts["rows of the file"]
    coded.finish(tally, n_again=n_rows - len(items))
    tally.counts["blank cells"] = n_rows * len(coded.labels) - n_answered


def _unexplained_codes(table: Table) -> DatasetFormatError:
    """Return the error about a table of codes of which nobody says what they mean."""
    first = next(table.frames(table.columns[1:]), None)
    cells = {} if first is None else {name: {*map(_code, first[name])} for name in first}
    few = [values - _BLANKS for values in cells.values() if len(values) <= _MOST_CODES]
    codes = {*itertools.chain(*few)}
    if codes <= _USUAL:
        ways = [{"yes": "1", "no": "0"}, {"yes": "1", "unsure": "0"}, {"no": "1", "unsure": "0"}]
        advice = (
            f"{_settings(yes=1, no=0)} if 0 says that somebody judged that the label does not"
            f" apply, {_settings(yes=1, unsure=0)} if 0 says nothing,"
            f" {_settings(no=1, unsure=0)} if 1 marks what does not apply"
        )
    else:
        ways = [{word: code} for code in codes for word in ("yes", "no")] * (len(codes) == 1)
        listed = some(map(shown, sorted(codes)))
        advice = f"{setting('yes')}, {setting('no')} and {setting('unsure')}: it has {listed}"
    return fault(
        table.path,
        f"does not say what its codes mean, so nothing was read; give the codes as {advice}",
        proposes=[{name: (code,) for name, code in way.items()} for way in ways],
    )


class _Coded:
    """The columns of a table of codes; which of them are labels is known when all rows are read."""

    def __init__(self, table: Table, item: str, codes: dict[str, int], options: Options) -> None:
        self.table, self.item, self.options, self.codes = table, item, options, codes
        roles = {"annotator": "annotator"} if "annotator" in table.columns else {}
        self.roles = roles | dict(options.column)
        aside = {item, *self.roles.values(), *options.drop}
        self.columns = [n for n in options.label_names or table.columns if n not in aside]
        if options.label_names is None:  # a column of raters or of tests may also hold 0 and 1
            matter = [n for n in self.columns if meaning_of(n) not in (None, "answer", "seconds")]
            left_over(table.path, matter, (), may_read=CODED.may_read)
        self.blank = {"no": 0, "yes": 1}.get(options.unselected or "", _BLANK)
        self.coded = set(options.label_names or ())  # columns with a code so far
        self.others: dict[str, tuple[int, str]] = {}  # the first value that is no code
        self.first_blank: tuple[int, str] | None = None

    @property
    def labels(self) -> list[str]:
        return [name for name in self.columns if name in self.coded]

    def people(self, piece: Any) -> Any:
        return piece[self.roles["annotator"]].astype(object) if "annotator" in self.roles else None

    def read(self, piece: Any) -> tuple[list[str], Any]:
        """Return the labels, and what is said of them, as ``long_form`` takes it."""
        # If a blank is told to mean something, NA and its like do not mean the same.
        blanks = _BLANKS if self.blank == _BLANK else {""}
        meant = dict.fromkeys(blanks, _BLANK) | self.codes
        codes = np.empty((len(piece), len(self.columns)), dtype=np.int8)
        for k, name in enumerate(self.columns):
            marks = piece[name].map(lambda cell: meant.get(_code(cell), _UNKNOWN)).astype(np.int8)
            codes[:, k] = marks
            if (unknown := codes[:, k] == _UNKNOWN).any():
                row = int(piece.index[unknown.argmax()])
                self.others.setdefault(name, (row, piece[name][row]))
            is_blank = self.blank != _BLANK and name not in self.others
            if (codes[:, k] >= 0).any() or is_blank:  # of a label that nobody ticked, all are blank
                self.coded.add(name)
        mixed = [name for name in self.columns if name in self.coded and name in self.others]
        if mixed:
            raise _unknown_code(self.table, mixed, self.others)
        codes = codes[:, [name in self.coded for name in self.columns]]
        if self.first_blank is None and (codes == _BLANK).any():
            row, k = np.argwhere(codes == _BLANK)[0]
            self.first_blank = int(piece.index[row]), self.labels[k]
        codes[codes == _BLANK] = self.blank
        return self.labels, codes

    def finish(self, tally: Tally, n_again: int) -> None:
        """Refuse what is not clear in all rows, and say what was read as what."""
        table, labels, options = self.table, self.labels, self.options
        if not labels:
            raise fault(
                table.path,
                f"no column holds only codes; give the codes as {setting('yes')}, {setting('no')}"
                f" and {setting('unsure')}, or the columns as {setting('label_names')}",
            )
        if self.first_blank and options.unselected is None and len({*self.codes.values()}) == 1:
            raise self._blank_or_opposite()
        tally.list_labels(labels)
        left = [name for name in table.columns if name in self.columns and name not in labels]
        left_out = [name for name in table.columns if name not in self.columns]
        read = {self.item, *self.roles.values(), *labels}
        tally.leave(table.path, [*left, *left_out], read, options, CODED.may_read)
        tally.remark(
            f"Items are named by the column {self.item!r}; give another one with {setting('item')}"
        )
        if n_again and "annotator" not in self.roles:
            tally.remark(
                f"{n_again:,} rows are about an item of another row, and nothing says who answered;"
                f" a column that does is read with {setting('column', {'annotator': 'COLUMN'})}"
            )
        if options.label_names is None:
            tally.remark(
                f"{len(labels):,} columns hold only codes, and were read as labels: "
                f"{some(labels)}; give others with {setting('label_names')}"
            )

    def _blank_or_opposite(self) -> DatasetFormatError:
        """Return the error about blanks beside codes of which all mean the same."""
        (code,) = {*self.codes.values()}
        row, name = self.first_blank or (0, "")
        word, rest = WORDS[code], "no" if WORDS[code] == "yes" else "yes"
        return self.table.refuse(
            row,
            f"column {shown(name)} is blank, and all codes mean {word}: give"
            f" {setting('unselected', rest)} if a blank means {rest}, or"
            f" {setting('unselected', 'unknown')} if it says nothing",
            [{"unselected": rest}, {"unselected": "unknown"}],
        )


def _unknown_code(
    table: Table, mixed: list[str], others: Mapping[str, tuple[int, str]]
) -> DatasetFormatError:
    row, value = others[mixed[0]]
    besides = ", ".join(f"{shown(n)} holds {shown(others[n][1])}" for n in mixed[1:][:_MAX_NAMED])
    more = f" (column {besides} as well)" if besides else ""
    code = value if len(value) < 20 else "CODE"
    ways = " or ".join(setting(word, code) for word in ("yes", "no", "unsure"))
    return table.refuse(
        row,
        f"column {shown(mixed[0])} holds the code {shown(value)}, whose meaning is not known{more};"
        f" give it as {ways}; or, if the column is not a label, give {setting('drop', mixed[0])},"
        f" or the label columns with {setting('label_names')}",
        [*({word: (value,)} for word in ("yes", "no", "unsure")), {"drop": (mixed[0],)}],
    )


def _settings(**values: object) -> str:
    return " ".join(setting(name, value) for name, value in values.items())


def _which_columns() -> str:
    return (
        f"say which columns hold labels, and what they mean: {setting('absent', 'COLUMN')} (labels"
        f" do not apply), {setting('present', 'COLUMN')} (labels apply)"
    )


def _codes(options: Options) -> dict[str, int]:
    codes: dict[str, int] = {}
    for at, word in enumerate(WORDS):
        for code in getattr(options, word):
            if codes.setdefault(_code(code), at) != at:
                raise InputError(f"code {code!r} was given two meanings; give it only one")
    return codes


def _code(text: str) -> str:
    """Return a code in the form in which codes are compared: 1.0 as 1, text in lower case."""
    text = text.strip().casefold()
    try:
        number = float(text)
    except ValueError:
        return text
    return f"{number + 0.0:g}" if math.isfinite(number) else text  # + 0 turns -0 into 0


def _read_cells(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    item = options.item or "item"
    table = open_table(path, item, *options.column.values())
    if "annotator" in {*options.column, *table.columns} - {*options.absent, *options.present}:
        yield from _read_batch(path, options, tally)
        return
    tally.start("rows of the file", "forms", "blank cells", *CELLS.counts[1:])
    cells = _cells(options)
    yield from pieces(_rows(table, item, _people(table, item, options), cells, options, tally))
    cells.finish()


def _cells(options: Options, usual: str | None = None) -> Cells:
    if options.separator == "":
        raise InputError("separator is empty; give the sign between two labels, such as ';'")
    return Cells(options.separator, usual, options.none, options.label_names)


def _rows(
    table: Table,
    item: str,
    people: dict[str, Controls],
    cells: Cells,
    options: Options,
    tally: Tally,
) -> Iterator[Row]:
    columns = [*dict.fromkeys(name for each in people.values() for name in sum(each, ()))]
    # Of several people, nobody knows whose time it is.
    seconds = options.column.get("seconds", "seconds")
    is_timed = len(people) == 1 and seconds in {*table.columns}.difference([item, *columns])
    times, counts = [seconds] if is_timed else [], tally.counts
    tally.leave(table.path, table.columns, {item, *columns, *times}, options, CELLS.may_read)
    readers = {person: FormReader(each, options, tally) for person, each in people.items()}
    for row, texts in table.rows([item, *columns, *times]):
        place = f"{table.path}, row {row + 1}"
        read = {each: cells.read(texts[each], f"{place}, column {shown(each)}") for each in columns}
        counts["rows of the file"] += 1
        counts["forms"] += len(readers)
        counts["blank cells"] += sum(cell.is_blank for cell in read.values())
        if not texts[item].strip():
            if not all(cell.is_blank for cell in read.values()):
                raise table.refuse(row, "has no item; fill in the item that the row is about")
            counts["forms of blank rows"] += len(readers)
            continue
        for person, reader in readers.items():
            time = seconds_of(texts[times[0]]) if times else None
            form = Form.of_cells(
                place, f"{row + 1}-{person}", texts[item], read, annotator=person, seconds=time
            )
            rows = reader.rows(form)
            counts["forms without an answer"] += not rows
            yield from rows


def _people(table: Table, item: str, options: Options) -> dict[str, Controls]:
    names = some(shown(name) for name in table.columns if name != item)
    meanings = [("absent", each) for each in options.absent]
    meanings += [("present", each) for each in options.present]
    if not meanings:
        raise fault(
            table.path,
            f"{_which_columns()}, or COLUMN=PERSON if the person is not called as the column;"
            f" its columns are {names}",
        )
    people: dict[str, Controls] = {}
    seen: set[str] = set()
    for meaning, text in meanings:
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


CODED = Format(
    name="coded",
    title="a table of items x labels that holds codes (CheXpert); needs --yes, --no",
    recognizes=_recognizes,
    read=_read_codes,
    uses="item yes no unsure unselected random_questions column drop",
    reads="the item, `annotator`, and the columns that hold only codes",
    may_read=("annotator",),
    counts=("rows of the file", "rows without an answer"),
)
_OF_CELLS = "absent present item unselected none question separator column drop"
CELLS = Format(
    name="columns",
    title="a wide table in which people wrote labels into cells; needs --absent, --present",
    recognizes=lambda _: False,  # what the columns mean must be told
    read=_read_cells,
    uses=_OF_CELLS,
    reads="the item, the columns of `--absent` and `--present`, `seconds` of one person",
    may_read=("annotator", "answer_id", "time", "seconds"),
    counts=("forms", "forms of blank rows", "forms without an answer"),
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
    task_prefix: str = ""  # what the names of the fields of a task begin with
    answer_prefix: str = ""  # what the names of the columns with answers begin with
    others: str = "$^"  # a pattern of names of the platform that are not read


_MECHANICAL_TURK = _Site(
    person="WorkerId",
    items=("Input.item", "Input.id", "HITId"),
    answer_id="AssignmentId",
    time="SubmitTime",
    seconds="WorkTimeInSeconds",
    separator="|",
    refused=("AssignmentStatus", "rejected"),
    task_prefix="Input.",
    answer_prefix="Answer.",
    others=r"(HIT|Title$|Description$|Keywords$|Reward$|.*(Time|InSeconds|Rate)$|MaxAssign"
    r"|Requester|Expiration$|NumberOf|Approve$|Reject$)",
)
_FIGURE_EIGHT = _Site(
    person="_worker_id",
    items=("item", "_unit_id"),
    answer_id="_id",
    time="_created_at",
    begun="_started_at",
    separator="\n",
    refused=("_tainted", "true"),
    others="_",
)
_OTHER = _Site(person="annotator", items=("item",))
_SITES = (_MECHANICAL_TURK, _FIGURE_EIGHT)
_TIMES = ("%m/%d/%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S")


def _is_batch(head: Head) -> bool:
    columns = {*head.columns()}
    return any({site.person, site.answer_id} <= columns for site in _SITES)


def _read_batch(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    tally.start(*BATCH.counts)
    table = open_table(path, *options.column.values())
    site = next((each for each in _SITES if each.person in table.columns), _OTHER)
    columns: Any = dict(options.column)
    columns["person"] = columns.pop("annotator", site.person)
    site = replace(site, **columns)
    if site.person not in table.columns:
        listed = " or ".join(f"{each.person!r}" for each in (*_SITES, _OTHER))
        way = setting("column", {"annotator": "COLUMN"})
        raise fault(path, f"has no column {listed}, which says who answered; give it as {way}")
    item = options.item or next((each for each in site.items if each in table.columns), "")
    if item not in table.columns:
        text = f"has no column {shown(item or site.items[0])}, which should name the item"
        raise fault(path, f"{text}; give another with --item; it has {some(table.columns)}")
    controls = Controls(
        tuple(_column(table, site, name) for name in options.absent),
        tuple(_column(table, site, name) for name in options.present),
    )
    reader = FormReader(controls, options, tally)
    cells = _cells(options, site.separator)
    read = {site.person, item, site.answer_id, site.time, site.begun, site.seconds, site.refused[0]}
    starts = (site.task_prefix or "\0", site.answer_prefix or "\0")
    rest = (n for n in table.columns if not n.startswith(starts) and not re.match(site.others, n))
    tally.leave(path, rest, read.union(*controls), options, BATCH.may_read)
    yield from pieces(_Batch(table, site, item, reader, cells).rows())
    cells.finish()


def _column(table: Table, site: _Site, name: str) -> str:
    for each in (name, f"{site.answer_prefix}{name}"):
        if each in table.columns:
            return each
    text = f"has no column {shown(name)} with answers"
    raise fault(table.path, f"{text}; its columns are {some(map(shown, table.columns))}")


@dataclass
class _Batch:
    """The answers of one platform; those to tasks of ``complabel ask`` say what was asked."""

    table: Table
    site: _Site
    item: str
    reader: FormReader
    cells: Cells
    travelled: Travelled = field(default_factory=Travelled)

    def rows(self) -> Iterator[Row]:
        status, refused = self.site.refused
        counts = self.reader.tally.counts
        for number, cells in self.table.rows(self.table.columns):
            counts["rows of the file"] += 1
            if status and cells.get(status, "").strip().casefold() in refused.split():
                counts["refused answers"] += 1
                continue
            if not cells[self.item].strip():
                text = f"has no {self.item}; fill in the item that it is about"
                raise self.table.refuse(number, text)
            form = self._form(cells, number)
            if not any(self.reader.controls):
                rows = self._answer(form, cells)
            else:
                if self.site.refused[0]:  # a platform has rows of answers only
                    form = replace(form, blank=frozenset())
                rows = self.reader.rows(form)
            counts["empty answers"] += not rows
            yield from rows

    def _form(self, cells: Mapping[str, str], number: int) -> Form:
        site, place = self.site, f"{self.table.path}, row {number + 1}"
        controls = sum(self.reader.controls, ())
        return Form.of_cells(
            place=place,
            answer_id=cells.get(site.answer_id) or str(number + 1),
            item=cells[self.item],
            cells={n: self.cells.read(cells[n], f"{place}, column {shown(n)}") for n in controls},
            annotator=cells[site.person].strip() or None,
            time=cells.get(site.time) or None,
            seconds=_seconds(cells, site),
            task={
                name.removeprefix(site.task_prefix): cell
                for name, cell in cells.items()
                if name.startswith(site.task_prefix)
            },
        )

    def _answer(self, form: Form, cells: Mapping[str, str]) -> list[Row]:
        """Return the rows of an answer to the question that a task of ``complabel ask`` carries."""
        kind, prefix = question_in(form.task), self.site.answer_prefix
        columns = self.table.columns
        answers = [name for name in columns if prefix and name.startswith(prefix)]
        column = f"{prefix}answer"
        column = answers[0] if column not in cells and len(answers) == 1 else column
        if kind is None or column not in cells:
            raise fault(
                self.table.path,
                f"{_which_columns()}; its columns are {some(map(shown, answers or columns))}",
            )
        question = question_of(form.task, form.place, item=form.item)
        self.reader.tally.list_labels(question.offered)
        place, cell = f"{form.place}, column {shown(column)}", cells[column]
        listed = Cells(usual=self.site.separator, listed=question.offered)
        chosen = [cell] if kind == "asked" else listed.read(cell, place).labels
        answer = question.meaning(chosen if cell.strip() else [], place)
        who = {"annotator": form.annotator, "time": form.time, "seconds": form.seconds}
        if answer is None:
            return []
        return self.travelled.rows(question, answer, place, answer_id=form.answer_id, **who)


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
    uses=_OF_CELLS,
    reads="who answered, the item, the columns of `--absent` and `--present`, times, the status",
    may_read=("annotator", "answer_id", "time", "seconds"),
    counts=("rows of the file", "refused answers", "empty answers"),
)
