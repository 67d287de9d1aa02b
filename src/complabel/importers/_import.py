"""Recognize a file of answers, and import it into a data frame, or piece by piece into a file."""

from __future__ import annotations

import difflib
import importlib.util
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from complabel._drawn import RANDOM
from complabel._opening import StrPath, existing, fault, open_binary, tidy
from complabel._parameters import check_choice
from complabel._questions import BY_QUESTION
from complabel._settings import setting
from complabel.answers import (
    ANSWER_WORDS,
    QUESTIONS,
    merge_labels,
    refuse_odd_labels,
    sort_labels,
    table_of,
)
from complabel.errors import AnnotationError, ComplabelError, DatasetFormatError, InputError
from complabel.files import (
    COLUMNS,
    CONFIDENCE,
    SHOWN,
    TO_DO,
    AnswerSheet,
    AnswerWriter,
    about_open_questions,
    answers_to_arrow,
    combined,
    word_of,
)
from complabel.importers._batches import REPLIES, RESULTS
from complabel.importers._format import (
    ROWS_AT_ONCE,
    WORDS,
    FileNames,
    Format,
    Head,
    Options,
    Tally,
    chance,
    open_table,
    shown,
    some,
)
from complabel.importers._hints import hint
from complabel.importers._judges import JUDGES
from complabel.importers._label_studio import LABEL_STUDIO
from complabel.importers._public import EVENTS, FOLDERS, LVIS, OPEN_IMAGES
from complabel.importers._records import ARGILLA, DOCCANO, PRODIGY
from complabel.importers._sheets import BATCH, CELLS, CODED


def _is_table(head: Head) -> bool:
    if head.path.suffix.lower() != ".parquet":
        return {"item", "label"} <= set(head.columns())
    try:
        return {"item", "label"} <= set(open_table(head.path).columns)
    except (ImportError, ComplabelError):  # no pyarrow, or a damaged file
        return False


def _read_table(path: Path, options: Options, tally: Tally) -> Iterator[Any]:
    """Read a table as ``read_answers`` does, which refuses what is wrong with it."""
    tally.start(*TABLE.counts, "questions not answered")
    item, others = options.item or "item", options.column
    table = open_table(path, item, *others.values(), *["label"] * ("label" not in others))
    check_choice("answer", options.answer, (None, "yes", "no"))
    check_choice("question", options.question, (None, *BY_QUESTION))
    if options.answer is not None and ("answer" in table.columns or "answer" in others):
        raise InputError(
            f"{path} has a column answer, so {setting('answer')} would change what it says; leave"
            " it out, and fill in blank answers in the table",
            parameter="answer",
        )
    if options.answer is not None:
        _refuse_other_answers(table, options, {item, *others.values()})
    if options.merge and options.random_questions:
        raise InputError("labels are merged, or random questions told; do one after the other")
    read = {*COLUMNS, CONFIDENCE, *SHOWN, TO_DO, item, *others.values()}
    read -= {*["item"] * (item != "item"), *({*others} - {*others.values()})}
    tally.leave(path, table.columns, read, options, TABLE.may_read)
    question: Any = options.question
    if options.random_questions and question is None and "offered" not in table.columns:
        question = "asked"  # each question was about one label, the user says
    sheet = AnswerSheet.read(
        table,
        question,
        names=[name for name in (*COLUMNS, CONFIDENCE) if name not in options.drop],
        item=item,
        answer=options.answer,
        words=_words(options),
        label_names=options.label_names,
        renamed=options.column,
        unselected=options.unselected,
        none=options.none,
    )
    counted = ("n_rows", "n_blank_rows", "n_rows_without_label", "n_open_rows", "n_open_questions")
    for name, count in zip((*TABLE.counts, "questions not answered"), counted, strict=True):
        tally.counts[name] = sheet.counts[count]
    if options.label_names is None and (odd := combined(sheet.labels())):
        raise _several_labels(path, *odd)
    if n_random := sheet.counts["n_random_open_questions"]:
        tally.remark(about_open_questions(n_random))
    if options.merge and len(sheet.columns.rows):
        yield _merged(sheet, options, question, tally)
    elif len(sheet.columns.rows):
        sheet.check(options.label_names, question)
        yield from sheet.pieces(question, ROWS_AT_ONCE)


def _refuse_other_answers(table: Any, options: Options, used: set[str]) -> None:
    """Refuse a list with columns that may say which rows apply: with numbers, or yes and no."""
    if CONFIDENCE in {*table.columns, *options.column} - {*options.drop}:
        raise InputError(
            f"each row is to say {options.answer}, and has a confidence: a list of a machine's is"
            " read as it is by complabel audit --only-yes and the others, where .5 and more is"
            f" yes. Else give {setting('drop', options.column.get(CONFIDENCE, CONFIDENCE))}",
            parameter="answer",
            proposes=[{"drop": (options.column.get(CONFIDENCE, CONFIDENCE),)}],
        )
    left = [n for n in table.columns if n not in {*used, *options.drop, *COLUMNS, *SHOWN, TO_DO}]
    for name, cells in (next(table.frames(left), {}) if left else {}).items():
        filled = {str(cell).strip().casefold() for cell in cells.unique()} - {""}
        if filled and filled <= {*ANSWER_WORDS, *map(str, range(100))}:
            raise fault(
                table.path,
                f"has a column {name!r} with {some(map(shown, sorted(filled)))}, which may say what"
                f" applies, so not each row says {options.answer}: give"
                f" {setting('column', {'answer': name})}, or {setting('drop', name)}",
                proposes=[{"column": {"answer": name}}, {"drop": (name,)}],
            )


def _several_labels(path: Path, label: str, sign: str) -> DatasetFormatError:
    """Return the error about cells with several labels in the column ``label``."""
    way: dict[str, object] = {"format": "columns", "present": ("label",), "separator": sign}
    return fault(
        path,
        f"the label {label!r} is made of others, with {sign!r} between them; give all labels as"
        f" {setting('label_names')} if it is one label. If these are several that apply, read the"
        f" table with {setting('format', 'columns')} {setting('present', 'label')}"
        f" {setting('separator')} {sign!r}",
        proposes=[way],
    )


def _merged(sheet: AnswerSheet, options: Options, question: Any, tally: Tally) -> Any:
    known, merge = sort_labels(sheet.labels()), options.merge
    if new := sorted({*merge.values()} - {*known}):
        tally.remark(f"No answer is about {some(new)}, so that is taken for a new name")
    listed = [name for name in options.label_names or () if name not in new]  # may be that of now
    answers_read = sheet.answers(None, [*dict.fromkeys([*listed, *known])], question)
    tally.remark("Answers have new ids and no time; rows with unsure were left out")
    return table_of(merge_labels(answers_read.answers, merge))


def _words(options: Options) -> Mapping[str, str]:
    pairs = [(code.casefold(), word) for word in WORDS for code in getattr(options, word)]
    if len(dict(pairs)) < len(set(pairs)):
        raise InputError("a code is given twice, as --yes, --no or --unsure; give each one meaning")
    return ANSWER_WORDS | dict(pairs)


_TITLE = "the table of answers itself: CSV or Parquet with item, label, answer, ..."
TABLE = Format(
    name="table",
    title=_TITLE,
    recognizes=_is_table,
    read=_read_table,
    uses="item yes no unsure unselected none question answer random_questions merge column drop",
    reads="the columns of a [table of answers](#the-table-of-answers)",
    may_read=(*(name for name in COLUMNS if name != "item"), CONFIDENCE),
    counts=(
        *("rows of the file", "blank rows", "rows without a label"),
        "rows of questions not answered",
    ),
)


FORMATS: tuple[Format, ...] = (
    *(RESULTS, *JUDGES, PRODIGY, ARGILLA, DOCCANO, REPLIES, LVIS, OPEN_IMAGES, EVENTS, FOLDERS),
    # Questions may be answered in other tools, so these are tried before the neutral table.
    # Almost any CSV file can be a table of codes, so that is tried last.
    *(LABEL_STUDIO, BATCH, TABLE, CODED, CELLS),
)

_HEAD = 1 << 16  # bytes by which a format is recognized
_MOST_REMARKS = 4  # in the message about a file without an answer


def detect(path: StrPath) -> Format:
    """Return the first format that recognizes a file of answers by its beginning."""
    if os.path.isdir(path):  # a Path refuses long names
        return FOLDERS
    path = existing("path", path)
    with open_binary(path) as file:
        head = Head(path, file.read(_HEAD))
    for each in FORMATS:
        if each.recognizes(head):
            return each
    raise DatasetFormatError(
        f"{path}: the format was not recognized; {hint(head)}\nIf it is one of these, give it as"
        f" {setting('format', 'NAME')}:\n{_listed()}"
    )


def _listed() -> str:
    width = max(len(each.name) for each in FORMATS)
    return "\n".join(f"  {each.name:{width}}  {each.title}" for each in FORMATS)


def import_answers(
    path: StrPath,
    *,
    format: str | Format | None = None,  # noqa: A002  # what users call it; --from in the shell
    options: Options | None = None,
) -> tuple[Any, Tally]:
    r"""Import a file of answers as a data frame.

    Parameters
    ----------
    path : path
        A file in one of the formats that ``complabel import`` knows.
    format : str, Format or None, default=None
        The format or its name, of your own ``"package.module:NAME"``; None: it is recognized.
    options : Options or None, default=None
        What the file does not say itself.

    Returns
    -------
    table : pandas.DataFrame
        The neutral table for :meth:`complabel.answers.Answers.from_table`, with all
        :data:`complabel.files.COLUMNS`, and ``confidence`` if the file has some. Items and labels
        are text. Contradictions stay in it.
    tally : Tally
        Counts of what was read and left out, and remarks on what was assumed.

    Raises
    ------
    DatasetFormatError
        If the file cannot be parsed, has no known format, or holds no answer.
    DatasetNotFoundError
        If the file is missing or cannot be read.
    InputError
        If an option does not fit, if a format of your own cannot be imported or is no Format, or
        if pandas or pyarrow are missing.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "codes.csv"
    >>> _ = path.write_text("item,sea,sky\na,1,0\nb,,0\n")
    >>> table, tally = import_answers(path, options=Options(yes=("1",), no=("0",)))
    >>> print(table[["item", "label", "answer", "question"]].to_string(index=False))
    item label answer question
       a   sea    yes    asked
       a   sky     no    asked
       b   sky     no    asked
    >>> tally.counts["items"], tally.counts["labels"]
    (2, 2)
    """
    _need_pandas()
    import pyarrow as pa  # type: ignore[import-untyped]

    tally = Tally()
    tables = list(_read(Path(path), format, options, tally, None))
    return pa.concat_tables(tables).to_pandas(), tally


def import_file(
    path: StrPath,
    out: StrPath,
    *,
    format: str | Format | None = None,  # noqa: A002
    options: Options | None = None,
    progress: Callable[[int], None] | None = None,
) -> Tally:
    """Import a file of answers into a file, piece by piece.

    The memory holds some pieces, and the names of all items. Formats that are one JSON document,
    and the table of answers itself, need more.

    Parameters
    ----------
    path, format, options
        As in :func:`import_answers`.
    out : path
        The ``.csv``, ``.csv.gz`` or ``.parquet`` file to write, as a whole or not at all.
    progress : callable or None, default=None
        Called after each piece with the number of rows so far.

    Returns
    -------
    Tally
        Counts of what was read and left out, and remarks on what was assumed.

    Raises
    ------
    OutputError
        If ``out`` cannot be written. Other errors are those of :func:`import_answers`; InputError
        also if ``out`` has another ending, or is the imported file itself.
    """
    _need_pandas()
    source, target = Path(path), Path(out)
    writer = AnswerWriter(target)  # refuses a wrong ending before anything is read
    if target.exists() and source.exists() and target.samefile(source):
        raise InputError(f"{out} is the imported file itself; give another name to write to")
    tally = Tally()
    tables = _read(source, format, options, tally, progress)
    first = next(tables)  # before the file is opened, so that an early error leaves no file
    with writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)
    return tally


def _read(
    path: Path,
    format_: str | Format | None,
    options: Options | None,
    tally: Tally,
    progress: Callable[[int], None] | None,
) -> Iterator[Any]:
    """Yield the pieces as Arrow tables, and count their rows, answers, items and labels."""
    options, chosen = options or Options(), _chosen(path, format_)
    chosen.refuse_unused(options)
    options = replace(options, none=tuple(map(word_of, options.none)))
    if options.label_names is not None:
        options = replace(options, label_names=tuple(map(tidy, options.label_names)))
    (options, rename), totals = _named_by(options, path), _Totals()
    waits = options.random_questions and not options.merge
    waiting: list[Any] = []
    source = path if chosen is FOLDERS else existing("path", path)
    for piece in chosen.read(source, options, tally):
        table = _as_arrow(path, piece)
        if not table.num_rows:
            continue
        table = rename(table)
        totals.add(table)
        if options.label_names is not None:
            _refuse_unlisted(path, table, totals.labels, options.label_names)
        if waits:  # the number of labels is known only at the end
            waiting.append(table)
        else:
            yield table
        if progress is not None:
            progress(totals.rows.total())
    labels = options.label_names or {*tally.label_names, *totals.labels}
    yield from (_drawn_at_random(path, table, len(labels)) for table in waiting)
    if not totals.rows:
        counts = ", ".join(f"{count:,} {name}" for name, count in tally.counts.items() if count)
        remarks = "".join(f" {each.rstrip('.')}." for each in tally.remarks[:_MOST_REMARKS])
        raise fault(
            path,
            f"holds no answer, read as {chosen.name} ({counts or 'it is empty'}); check the file,"
            f" or give another format as {setting('format', 'NAME')}.{remarks}",
        )
    if options.label_names is None and "present" in chosen.uses:  # labels are what people wrote
        try:
            refuse_odd_labels(totals.labels, are_answered=False)
        except AnnotationError as cause:
            raise fault(path, str(cause)) from cause
    totals.finish(tally)


def _chosen(path: Path, format_: str | Format | None) -> Format:
    if isinstance(format_, Format):
        return format_
    named = {each.name: each for each in FORMATS}
    if format_ is None:
        return detect(path)
    return named[format_] if format_ in named else _of_somebody(format_)


def _of_somebody(name: str) -> Format:
    """Return a format of the user's own, by its module and its name there."""
    text = f"{setting('format')} is {name!r}"
    if ":" not in name:
        text = f"{text}; it must be one of\n{_listed()}\nor package.module:NAME, a Format of yours"
        raise InputError(text, parameter="format")
    try:
        value = resolve_name(name)
    except Exception as error:
        text = f"{text}, which cannot be imported: {type(error).__name__}: {error}"
        raise InputError(text, parameter="format") from error
    if not isinstance(value, Format):
        text = f"{text}, which is {value!r}; it must be a complabel.importers.Format"
        raise InputError(text, parameter="format")
    return value


def _as_arrow(path: Path, piece: Any) -> Any:
    try:
        return answers_to_arrow(piece)
    except InputError as cause:
        raise fault(path, str(cause)) from cause


def _named_by(options: Options, path: Path) -> tuple[Options, Callable[[Any], Any]]:
    """Return the options with the field that names the items, and what renames them."""
    if options.item_file is None:
        return options, lambda table: table
    if options.item is not None:
        raise InputError(
            f"{setting('item')} and {setting('item_file')} are given; give one of them",
            parameter="item_file",
        )
    return replace(options, item=options.item_file), FileNames(path).rename


def _drawn_at_random(path: Path, table: Any, n_labels: int) -> Any:
    """Give questions their chance if all labels were equally likely; refuse what says otherwise.

    A label that was chosen among several, and no word about the others, was volunteered.
    """
    import pyarrow as pa

    columns = {name: table[name].to_pylist() for name in _OF_QUESTIONS}
    for at, row in enumerate(zip(*columns.values(), strict=True)):
        item, label, question, offered, probability, drawn = row
        size = 1 if question == "asked" else n_labels
        size = size if offered is None else min(n_labels, len(json.loads(offered)))
        if question == "asked" and size > 1:
            continue
        expected, odd = chance(n_labels, size), drawn not in (None, RANDOM)
        if odd or not math.isclose(probability or expected, expected):
            what = f"drawn as {shown(drawn)}" if odd else f"drawn with the chance {probability:g}"
            raise fault(
                f"{path}, item {shown(item)}, label {shown(label)}",
                f"its question was {what}, so {setting('random_questions')} does not fit; leave it"
                " out: the file says how its questions were drawn",
            )
        columns["probability"][at], columns["drawn"][at] = expected, RANDOM
    for name in ("probability", "drawn"):
        at = table.schema.get_field_index(name)
        column = table.schema.field(at)
        table = table.set_column(at, column, pa.array(columns[name], column.type))
    return table


_OF_QUESTIONS = ("item", "label", "question", "offered", "probability", "drawn")


def _refuse_unlisted(path: Path, table: Any, labels: set[str], listed: Sequence[str]) -> None:
    """Refuse labels that the user did not list, which may be words that are no labels."""
    unknown = sorted(labels.difference(listed))
    if not unknown:
        return
    items = dict(zip(table["label"].to_pylist(), table["item"].to_pylist(), strict=True))
    where = f", item {shown(items[unknown[0]])}" if unknown[0] in items else ""
    if odd := combined(unknown, listed):
        raise fault(
            path,
            f"{odd[0]!r} is not among the {len(listed):,} labels of {setting('label_names')}, but"
            f" its parts are; give {setting('separator')} {odd[1]!r}",
            proposes=[{"separator": odd[1]}],
        )
    near = difflib.get_close_matches(unknown[0].casefold(), listed, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "correct it, or complete that list"
    raise fault(
        f"{path}{where}",
        f"{unknown[0]!r} is not among the {len(listed):,} labels of {setting('label_names')};"
        f" {hint}",
    )


@dataclass
class _Totals:
    """Counts what was read, as pieces are gone; ``alone`` are the answers of one row each."""

    rows: Counter[str] = field(default_factory=Counter)  # by what they say
    labels: set[str] = field(default_factory=set)
    alone: Counter[str | None] = field(default_factory=Counter)  # by question
    joined: list[Any] = field(default_factory=list)  # tables of the other answers
    items: list[Any] = field(default_factory=list)  # Arrow arrays

    def add(self, table: Any) -> None:
        """Count a piece, which is a pyarrow.Table made by ``answers_to_arrow``."""
        import pyarrow.compute as pc  # type: ignore[import-untyped]

        self.labels.update(pc.unique(table["label"].drop_null()).to_pylist())
        for menu in pc.unique(table["offered"].drop_null()).to_pylist():
            self.labels.update(map(str, json.loads(menu)))
        answers = pc.fill_null(table["answer"], "no")  # a blank answer is read as "no"
        self.rows.update(_value_counts(answers))
        alone = table["answer_id"].is_null()
        self.alone.update(_value_counts(table["question"].filter(alone)))
        self.joined.append(_different(table.filter(pc.invert(alone))))
        self.items.append(pc.unique(table["item"]))

    def finish(self, tally: Tally) -> None:
        """Add the counts to a tally."""
        import pyarrow as pa
        import pyarrow.compute as pc

        joined = _different(pa.concat_tables(self.joined))
        answers = self.alone + Counter(_value_counts(joined["question"]))
        counts = tally.counts
        counts["rows"] = self.rows.total()
        counts["answers"] = answers.total()
        for name in QUESTIONS:
            if answers[name]:
                counts[f"{name} answers"] = answers[name]
        if answers[None]:
            counts["answers without a question"] = answers[None]
        counts["items"] = pc.count_distinct(pa.chunked_array(self.items)).as_py()
        counts["labels"] = len(self.labels)
        for word in WORDS:
            counts[f"rows that say {word}"] = self.rows[word]


def _value_counts(column: Any) -> dict[Any, int]:
    return {each["values"]: each["counts"] for each in column.value_counts().to_pylist()}


def _different(table: Any) -> Any:
    return table.group_by(["question", "answer_id"]).aggregate([])


def _need_pandas() -> None:
    if any(importlib.util.find_spec(name) is None for name in ("pandas", "pyarrow")):
        raise InputError('importing needs pandas and pyarrow; run pip install "complabel[tables]"')
