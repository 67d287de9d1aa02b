"""Recognize a file of answers, and import it into a data frame, or piece by piece into a file."""

from __future__ import annotations

import difflib
import importlib.util
import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel._opening import existing, fault, open_binary
from complabel._parameters import check_choice
from complabel._settings import setting
from complabel.answers import ANSWER_WORDS, QUESTIONS
from complabel.errors import ComplabelError, DatasetFormatError, InputError
from complabel.files import COLUMNS, SHOWN, AnswerWriter, answers_to_arrow
from complabel.importers._format import (
    WORDS,
    FileNames,
    Format,
    Head,
    Options,
    Table,
    Tally,
    open_table,
    some,
)
from complabel.importers._label_studio import LABEL_STUDIO
from complabel.importers._public import LVIS, OPEN_IMAGES, OPENMIC, PML
from complabel.importers._records import ARGILLA, PRODIGY, REPLIES
from complabel.importers._sheets import BATCH, CELLS, CODED
from complabel.importers._write_questions import TO_DO


def _is_table(head: Head) -> bool:
    if head.path.suffix.lower() != ".parquet":
        return {"item", "label"} <= set(head.columns())
    try:
        return {"item", "label"} <= set(open_table(head.path).columns)
    except (ImportError, ComplabelError):  # no pyarrow, or a damaged file
        return False


def _read_table(path: Path, options: Options, tally: Tally) -> Iterator[Any]:
    """Read the rows, without blank ones and without questions that are not answered yet."""
    unused = ("absent", "present", "unselected", "separator", "random_questions", "class_names")
    tally.say_unused(options, "Table", *unused)
    tally.start("rows of the file", "blank rows", "questions not answered")
    item = options.item or "item"
    table = open_table(path, item, "label")  # refuses without the time that pandas takes
    import pandas as pd  # type: ignore[import-untyped]

    there = [name for name in COLUMNS if name in table.columns and name != "item"]
    words: dict[str, Mapping[str, str]] = {"answer": _words(options)}
    words["question"] = {name: name for name in QUESTIONS}
    answered = _Answered(table, words["answer"])
    untold = _Untold()
    has_answers = "answer" in there
    check_choice("answer", options.answer, (None, "yes", "no"))
    if has_answers and options.answer is not None:
        raise InputError(
            f"{path} has a column answer, so {setting('answer')} would change what it says; leave"
            " it out, and fill in blank answers in the table",
            parameter="answer",
        )
    drawn_at_random = 0
    for piece in table.frames([*dict.fromkeys([item, *there])]):
        rows = piece.assign(item=piece[item])
        for name in set(COLUMNS).difference(rows):
            rows[name] = pd.Categorical.from_codes(np.zeros(len(rows), int), [""])
        empty = _blank(rows, "item") & _blank(rows, "label") & _blank(rows, "answer")
        rows = rows.loc[~empty, list(COLUMNS)].copy()
        tally.counts["rows of the file"] += len(piece)
        tally.counts["blank rows"] += len(piece) - len(rows)
        for name, meanings in words.items():
            rows[name] = _meant(table, name, rows[name], meanings)
        if options.question is not None:
            rows["question"] = rows["question"].where(rows["question"] != "", options.question)
        if options.answer is not None:
            rows["answer"] = options.answer
        open_ = _not_answered(rows, has_answers)
        _check_rows(table, rows, open_)
        if not has_answers:
            _refuse_without_answers(table, rows, options.answer)
        open_ = open_ | answered.not_ticked(rows)
        untold.look(rows, open_)
        again = rows["answer_id"].astype(object).duplicated() & ~_blank(rows, "answer_id")
        tally.counts["questions not answered"] += int((open_ & ~again).sum())
        drawn_at_random += int((open_ & ~again & ~_blank(rows, "probability")).sum())
        numbers = {name: rows[name].map(_number).astype(float) for name in _NUMBERS}
        yield rows.assign(**numbers)[~open_]
    untold.refuse(table)
    left = [name for name in table.columns if name not in (item, *there, *SHOWN, TO_DO)]
    if left:
        told = "Columns that do not belong to a table of answers were left out"
        tally.remark(f"{told}: {some(left)}")
    if drawn_at_random:
        tally.remark(
            f"{drawn_at_random:,} random questions are not answered. If somebody stopped early, "
            "delete all rows after the last one that was answered, also those with an answer that "
            "was known before: only then the rest is a random sample"
        )


def _blank(rows: Any, name: str) -> Any:
    """Return which rows have nothing in a column, (R,)."""
    return rows[name].map(lambda text: not text.strip()).astype(bool)


def _words(options: Options) -> Mapping[str, str]:
    """Return the words for an answer, with the codes that the user gave."""
    told = [(code.casefold(), word) for word in WORDS for code in getattr(options, word)]
    if len(dict(told)) < len(set(told)):
        raise InputError("a code is given twice, as --yes, --no or --unsure; give each one meaning")
    return ANSWER_WORDS | dict(told)


def _meant(table: Table, name: str, column: Any, words: Mapping[str, str]) -> Any:
    allowed = {"": "", **words}
    meant = column.map(lambda text: allowed.get(text.strip().casefold()))
    told = f"has {name} {{}}; it must be one of {', '.join(words)}, or empty"
    table.check(column, meant.isna(), told)
    return meant.astype(object)


def _not_answered(rows: Any, has_answers: bool) -> Any:
    """Return which rows are open questions about one label, or open namings, (R,).

    Without a column of answers, no row is asked: ``_refuse_without_answers`` sees to it.
    """
    waits = rows["answer"] == ""
    to_name = (rows["question"] == "named") & _blank(rows, "label") & ~_blank(rows, "probability")
    return waits & ((_asked(rows) & has_answers) | to_name)


def _asked(rows: Any) -> Any:
    """Return which rows are yes/no questions, or may be, (R,)."""
    named = ~_blank(rows, "offered") | ~_blank(rows, "asked_for")
    return (rows["question"] == "asked") | ((rows["question"] == "") & ~named)


def _refuse_without_answers(table: Table, rows: Any, answer: str | None) -> None:
    """Refuse rows that need an answer if the table has no such column; ``answer`` is the user's."""
    needs = (rows["question"] != "") | ~_blank(rows, "probability")
    needs &= _asked(rows) | (rows["question"] == "ticked")
    table.check(
        rows["question"],
        needs & (answer is None),
        "asks whether a label applies, but the table has no column answer; add it, with yes or no"
        f" in each row, or give {setting('answer', 'yes')} or {setting('answer', 'no')} if all rows"
        " say the same",
    )
    table.check(
        rows["question"],
        rows["question"].isin(("named", "excluded")) & (answer == "yes"),
        "has question {}, whose labels do not apply, so --answer"
        " yes does not fit; leave the option out, or correct the question",
    )


class _Answered:
    """Finds lists to tick of which no row says yes or no; their rows may be far apart."""

    def __init__(self, table: Table, words: Mapping[str, str]) -> None:
        self._table, self._words = table, words

    @cached_property
    def _ids(self) -> set[str]:
        found: set[str] = set()
        if {"answer_id", "answer"} <= set(self._table.columns):
            for piece in self._table.frames(["answer_id", "answer"]):
                said = piece["answer"].map(lambda word: self._words.get(word.strip().casefold()))
                found.update(piece["answer_id"][said.isin(("yes", "no"))])
        return found

    def not_ticked(self, rows: Any) -> Any:
        """Return which rows are of such a question, (R,)."""
        waits = (rows["question"] == "ticked") & (rows["answer"] == "")
        return waits & ~rows["answer_id"].isin(self._ids) if waits.any() else waits


class _Untold:
    """Finds rows for which nothing says what was asked, by the rules of ``Answers.from_table``.

    Other rows of the answer may say it; or a row without a question says "yes": all were asked.
    """

    def __init__(self) -> None:
        self._first: dict[str, int] = {}  # by answer_id; "" has the first of rows without an id
        self._told: set[str] = set()
        self._is_yes = False

    def look(self, rows: Any, open_: Any) -> None:
        plain = (rows["question"] == "") & ~open_ & ~_blank(rows, "label")
        self._is_yes |= bool((plain & (rows["answer"] == "yes")).any())
        if self._is_yes:
            return
        doubtful = plain & (rows["answer"] != "unsure")
        for name in ("asked_for", "offered", "probability"):
            doubtful &= _blank(rows, name)
        ids = rows["answer_id"].astype(object)
        for row, name in ids[doubtful].drop_duplicates().items():
            self._first.setdefault(name.strip() and name, row)
        self._told.update(ids[~doubtful & ~open_ & ~_blank(rows, "answer_id")])

    def refuse(self, table: Table) -> None:
        found = [row for name, row in self._first.items() if name not in self._told]
        if found and not self._is_yes:
            raise table.refuse(
                min(found),
                "says that a label does not apply, but nothing says what was asked; say it in the"
                f" column question, or give {setting('question')} for all such rows: named if"
                " somebody named a label that does not apply, asked if somebody was asked about"
                " this label, ticked if all that do not apply were ticked in a list, excluded if a"
                " rule says it",
            )


def _check_rows(table: Table, rows: Any, open_: Any) -> None:
    says_no = rows["answer"].isin(("no", ""))
    no_label = _blank(rows, "label") & (says_no | (rows["question"] == "asked"))
    no_label &= ~open_ | (rows["question"] == "asked")
    for faulty, name in ((_blank(rows, "item"), "item"), (no_label, "label")):
        told = f"has no {name}; fill in the {name} that the row is about, or leave the row out"
        table.check(rows[name], faulty, told)
    menus = rows["offered"].astype(object)
    told = "has offered {}; it must be a JSON list of labels, or empty"
    table.check(menus, ~menus.map({each: _is_menu(each) for each in menus.unique()}), told)
    for name, (allows, advice) in _NUMBERS.items():
        numbers = rows[name].map(_number).astype(float)
        fits = _blank(rows, name) | numbers.map(allows)
        table.check(rows[name], ~fits, f"has {name} {{}}; it must be {advice}, or empty")


_NUMBERS: dict[str, tuple[Callable[[float], bool], str]] = {
    "asked_for": (lambda x: 1 <= x <= 2**31 and x.is_integer(), "a whole number of at least 1"),
    "probability": (lambda x: 0 < x <= 1, "above 0 and at most 1"),
    "seconds": (lambda x: 0 <= x < math.inf, "a number from 0"),
}


def _is_menu(text: str) -> bool:
    try:
        labels = json.loads(text) if text.strip() else []
    except (ValueError, RecursionError):
        return False
    return isinstance(labels, list) and not any(
        each is None or each == "" or isinstance(each, list | dict) for each in labels
    )


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "."))  # a decimal comma
    except ValueError:
        return float("nan")


_TITLE = "the table of answers itself: CSV or Parquet with item, label, answer, ..."
TABLE = Format("table", _TITLE, _is_table, _read_table, takes_question=True)


FORMATS: tuple[Format, ...] = (
    *(REPLIES, PRODIGY, ARGILLA, LVIS, OPEN_IMAGES, PML, OPENMIC),
    # Questions may be answered in other tools, so these are tried before the neutral table.
    # Almost any CSV file can be a table of codes, so that is tried last.
    *(LABEL_STUDIO, BATCH, TABLE, CODED, CELLS),
)

Hashes = NDArray[np.uint64]
_HEAD = 1 << 16  # bytes by which a format is recognized
_MAX_NAMED = 3  # contradictions in a remark


def detect(path: str | os.PathLike[str]) -> Format:
    """Return the first format that recognizes a file of answers by its beginning."""
    path = existing("path", path)
    with open_binary(path) as file:
        head = Head(path, file.read(_HEAD))
    for each in FORMATS:
        if each.recognizes(head):
            return each
    raise DatasetFormatError(
        f"{path}: the format was not recognized; if it is one of these, give it as"
        f" {setting('format', 'NAME')}:\n{_listed()}"
    )


def _listed() -> str:
    width = max(len(each.name) for each in FORMATS)
    return "\n".join(f"  {each.name:{width}}  {each.title}" for each in FORMATS)


def import_answers(
    path: str | os.PathLike[str],
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
        The format or its name; None: it is recognized.
    options : Options or None, default=None
        What the file does not say itself.

    Returns
    -------
    table : pandas.DataFrame
        The neutral table for :meth:`complabel.answers.Answers.from_table`, with all
        :data:`complabel.files.COLUMNS`. Items and labels are text. Contradictions stay in it.
    tally : Tally
        Counts of what was read and left out, also of contradictory pairs of item and label, and
        remarks on what was assumed.

    Raises
    ------
    DatasetFormatError
        If the file cannot be parsed, has no known format, or holds no answer.
    DatasetNotFoundError
        If the file is missing or cannot be read.
    InputError
        If an option does not fit, or if pandas or pyarrow are missing.

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
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    format: str | Format | None = None,  # noqa: A002
    options: Options | None = None,
    progress: Callable[[int], None] | None = None,
) -> Tally:
    """Import a file of answers into a file, piece by piece.

    The memory holds some pieces, and about 16 bytes for each row, to find contradictions. Formats
    that are one JSON document need more.

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
    chosen = detect(path) if format_ is None else format_
    if isinstance(chosen, str):
        named = {each.name: each for each in FORMATS}
        if chosen not in named:
            raise InputError(
                f"{setting('format')} is {chosen!r}; it must be one of\n{_listed()}",
                parameter="format",
            )
        chosen = named[chosen]
    (options, rename), totals = _named_by(options or Options(), path), _Totals()
    needless = {"question": not chosen.takes_question, "answer": chosen is not TABLE}
    tally.say_unused(options, chosen.name, *(name for name in needless if needless[name]))
    for piece in chosen.read(existing("path", path), options, tally):
        try:
            table = answers_to_arrow(piece)
        except InputError as cause:
            raise fault(path, str(cause)) from cause
        if table.num_rows:
            table = rename(table)
            totals.add(table)
            if options.label_names is not None:
                _refuse_unlisted(path, table, totals.labels, options.label_names)
            yield table
            if progress is not None:
                progress(totals.rows.total())
    if not totals.rows:
        counts = ", ".join(f"{count:,} {name}" for name, count in tally.counts.items() if count)
        raise fault(
            path,
            f"holds no answer, read as {chosen.name} ({counts or 'it is empty'}); check the file,"
            f" or give another format as {setting('format', 'NAME')}",
        )
    totals.finish(tally)


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


def _refuse_unlisted(path: Path, table: Any, found: set[str], listed: Sequence[str]) -> None:
    """Refuse labels that the user did not list, which may be words that are no labels."""
    unknown = sorted(found.difference(listed))
    if not unknown:
        return
    items = dict(zip(table["label"].to_pylist(), table["item"].to_pylist(), strict=True))
    where = f", item {items[unknown[0]]!r}" if unknown[0] in items else ""
    near = difflib.get_close_matches(unknown[0].casefold(), listed, n=1)
    hint = f"did you mean {near[0]!r}? Else" if near else "correct it, or"
    raise fault(
        f"{path}{where}",
        f"{unknown[0]!r} is not among the {len(listed):,} labels of {setting('label_names')};"
        f" {hint} add it to that list",
    )


class _Totals:
    """Counts what was read, and finds pairs with a yes and a no by hashes, as pieces are gone."""

    def __init__(self) -> None:
        self.rows: Counter[str] = Counter()  # by answer
        self.labels: set[str] = set()
        self._single: Counter[str] = Counter()  # by question: answers without an id (one row)
        self._ids: dict[str, list[Hashes]] = defaultdict(list)  # by question
        self._items: list[Hashes] = []
        self._pairs: dict[str, list[Hashes]] = {"yes": [], "no": []}
        self._examples: list[str] = []

    def add(self, table: Any) -> None:
        """Count a piece, which is a pyarrow.Table made by ``answers_to_arrow``."""
        names = ["answer_id", "item", "label", "answer", "question", "offered"]
        rows = table.select(names).to_pandas(strings_to_categorical=True)
        self.labels.update(rows["label"].cat.categories)
        for menu in rows["offered"].cat.categories:
            self.labels.update(map(str, json.loads(menu)))
        answer = rows["answer"].astype(object).fillna("no")  # a blank answer is read as "no"
        question = rows["question"].astype(object).fillna("")
        self.rows.update(answer.value_counts().to_dict())
        alone = rows["answer_id"].isna()
        self._single.update(question[alone].value_counts().to_dict())
        for name, ids in rows["answer_id"][~alone].groupby(question[~alone]):
            self._ids[str(name)].append(_hashes(ids))
        self._items.append(_hashes(rows["item"]))
        pairs = rows[["item", "label"]][rows["label"].notna()]
        said = {word: pairs[answer.loc[pairs.index] == word] for word in self._pairs}
        for word, found in said.items():
            self._pairs[word].append(_hashes(found))
        if len(self._examples) < _MAX_NAMED:
            both = said["yes"].merge(said["no"]).drop_duplicates()[:_MAX_NAMED]
            named = (f"label {each.label!r} of item {each.item!r}" for each in both.itertuples())
            self._examples = [*dict.fromkeys([*self._examples, *named])][:_MAX_NAMED]

    def finish(self, tally: Tally) -> None:
        """Add the counts to a tally, and a remark on contradictions."""
        by_id = {name: len(_distinct(parts)) for name, parts in self._ids.items()}
        answers = self._single + Counter(by_id)
        counts = tally.counts
        counts["rows"] = self.rows.total()
        counts["answers"] = answers.total()
        for name in QUESTIONS:
            if answers[name]:
                counts[f"{name} answers"] = answers[name]
        if answers[""]:
            counts["answers without a question"] = answers[""]
        counts["items"] = len(_distinct(self._items))
        counts["labels"] = len(self.labels)
        for word in ("yes", "no", "unsure"):
            counts[f"rows that say {word}"] = self.rows[word]
        yes, no = (_distinct(parts) for parts in self._pairs.values())
        n_pairs = len(yes) + len(no) - len(_distinct([yes, no]))
        counts["contradictory pairs"] = n_pairs
        if n_pairs:
            named = f", such as {', '.join(self._examples)}" if self._examples else ""
            tally.remark(
                f"{n_pairs:,} pairs of item and label have both a yes and a no{named}; all are "
                "kept. Choose what to do with them when you use the answers: "
                "--contradictions (contradictions= of read_answers)"
            )


def _hashes(rows: Any) -> Hashes:
    import pandas as pd

    return _distinct([pd.util.hash_pandas_object(rows, index=False).to_numpy()])


def _distinct(parts: Sequence[Hashes]) -> Hashes:
    """Return the distinct hashes in ascending order; np.unique takes five times as long."""
    ordered = np.concatenate([np.empty(0, np.uint64), *parts])
    ordered.sort()
    found: Hashes = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return found


def _need_pandas() -> None:
    if any(importlib.util.find_spec(name) is None for name in ("pandas", "pyarrow")):
        raise InputError(
            'importing needs pandas and pyarrow; install them with: pip install "complabel[tables]"'
        )
