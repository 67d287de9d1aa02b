"""Reading tables of answers, with a report of what could be used."""

from __future__ import annotations

import contextlib
import itertools
import re
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from complabel._opening import StrPaths, existing_ones, explained
from complabel._parameters import AnyArray, Bools, check_choice
from complabel._questions import JUDGING
from complabel._settings import setting
from complabel.answers import (
    ANSWER_WORDS,
    CONTRADICTION_POLICIES,
    QUESTIONS,
    USED_COLUMNS,
    Answers,
    CodedTable,
    Column,
    ContradictionPolicy,
    Question,
    UnlistedLabelsWarning,
    contradictions_table,
    refuse_odd_labels,
    resolve_contradictions,
    sort_labels,
)
from complabel.errors import AnnotationError
from complabel.files._cells import may_mean_none, none_or_label
from complabel.files._columns import OWN_COLUMNS, left_over
from complabel.files._names import refuse_strangers
from complabel.files._table import ITEM_TABLES, Table, is_list, pyarrow, some_of
from complabel.files._write import CONFIDENCE

_NUMBERS = ("asked_for", "probability", "seconds", CONFIDENCE)
_WHAT = "tables of answers, which complabel import makes from other files,"
_MOST_SHOWN = 5
_WHOLE = re.compile(r"^([01])\.0+$")  # as pandas writes codes in a column with gaps
_TEXTS = ("answer_id", "label", "question", "annotator", "drawn")


class UnmatchedItemsWarning(UserWarning):
    """Some answers were left out, because their items have no features."""


@dataclass(frozen=True, eq=False)
class AnswerFile:
    """Answers from one or several files, and what was left out.

    ``contradictions`` are those before the policy was applied; they are only searched among all
    files together, not within ``parts``. ``n_rows`` counts blank rows, too. ``n_repeated_rows`` are
    rows without an ``answer_id`` that are the same as a row before; they count as other answers.
    ``n_open_questions`` are questions that nobody answered; they are left out.
    """

    answers: Answers
    unmatched_items: tuple[str, ...]
    n_unmatched_answers: int
    n_rows: int
    n_blank_rows: int
    contradictions: dict[str, list[Any]] = field(default_factory=lambda: {"item": []})
    n_dropped_answers: int = 0
    n_repeated_rows: int = 0
    n_open_questions: int = 0
    n_random_open_questions: int = 0
    n_rows_without_label: int = 0
    n_open_rows: int = 0
    unread_columns: tuple[str, ...] = ()
    parts: tuple[AnswerFile, ...] = ()
    paths: tuple[Path, ...] = ()

    @property
    def n_contradictions(self) -> int:
        """Number of pairs of an item and a label with contradicting answers."""
        return len(self.contradictions["item"])

    @property
    def n_answered_items(self) -> int:
        return int(np.count_nonzero(self.answers.answered))

    def reconciliation(self) -> list[str]:
        """Say how much of the files could be used, in lines."""
        answers = self.answers
        lines = [f"answers for {self.n_answered_items:,} of {_count(answers.n_items, 'item')}"]
        if self.n_blank_rows:
            lines.append(f"{_count(self.n_blank_rows, 'blank row')} left out")
        if self.n_rows_without_label:
            lines.append(f"{_count(self.n_rows_without_label, 'row')} without a label left out")
        if self.unread_columns:
            lines.append(f"columns that are not read: {some_of(self.unread_columns)}")
        if self.n_open_questions:
            lines.append(f"{_count(self.n_open_questions, 'question')} without an answer left out")
        if self.n_random_open_questions:
            lines.append(about_open_questions(self.n_random_open_questions))
        if self.n_repeated_rows:
            lines.append(
                f"{_count(self.n_repeated_rows, 'row')} without an answer_id: the same as a row"
                " before, and counted as another answer; if it is the same answer, take it out"
            )
        if self.unmatched_items:
            lines.append(_unmatched(self.unmatched_items, self.n_unmatched_answers))
        if self.n_contradictions:
            lines.append(
                f"{_count(self.n_contradictions, 'contradiction')} about a label of an item; "
                f"{_count(self.n_dropped_answers, 'answer')} dropped"
            )
        return lines

    def lines(self) -> list[str]:
        """Say of each file what it holds, and how much of it could be used, in lines."""
        lines = []
        for part in self.parts or (self,):
            held = f"{part.answers.n_answers:,} answers, {part.answers.n_labels} labels"
            lines.append(f"{' and '.join(map(str, part.paths))}: {held}")
            lines += [f"  {line}" for line in part.reconciliation()]
        return lines

    def settled(self) -> list[str]:
        """Say which contradictions were settled, the first of them, in lines; none if none was."""
        if not self.n_dropped_answers:
            return []
        columns = (self.contradictions[of] for of in ("item", "label", "applies_by", "denied_by"))
        lines = [
            f"  {item}: {label} applies, says {', '.join(yes) or 'somebody'}; does not, says"
            f" {', '.join(no) or 'somebody'}"
            for item, label, yes, no in itertools.islice(zip(*columns, strict=True), _MOST_SHOWN)
        ]
        more = self.n_contradictions - len(lines)
        counted = _count(self.n_contradictions, "contradiction")
        n_answers = self.answers.n_answers + self.n_dropped_answers
        return [
            f"{counted} about whether a label applies to an item; {self.n_dropped_answers:,} of"
            f" {n_answers:,} answers were dropped",
            *lines,
            *[f"  and {more:,} more"] * (more > 0),
        ]


def read_answers(
    path: StrPaths,
    *,
    items: Sequence[Any] | None = None,
    label_names: Sequence[str] | None = None,
    question: Question | None = None,
    contradictions: ContradictionPolicy | Literal["keep"] = "error",
    trusted: Sequence[str] = (),
    answer: Literal["yes", "no"] | None = None,
    unselected: Literal["no", "yes", "unknown"] | None = None,
) -> AnswerFile:
    r"""Read tables of answers, one row for each label of an answer.

    Parameters
    ----------
    path : path or sequence of paths
        Files that end in ``.csv``, ``.csv.gz``, ``.tsv``, ``.tsv.gz`` or ``.parquet``. They must
        have the columns ``item`` and ``label``; :meth:`complabel.answers.Answers.from_table`
        explains the others. Items, labels and annotators are text, even if they look like numbers.
    items : sequence of length n_items, or None, default=None
        Names of the rows of X in their order. Answers about other items are left out, with a
        warning. By default all items of the files, sorted.
    label_names : sequence of str, or None, default=None
        All labels, in the order of the columns. By default those of the files, sorted.
    question : {"named", "asked", "ticked", "excluded", "positive", "tagged"} or None, default=None
        The question of all rows that have none in the column ``question``.
    contradictions : {"error", "drop", "majority", "trust-relevant", "keep"}, default="error"
        Contradictions are settled over all files: a majority in one may be a minority in all.
    trusted : sequence of str, default=()
        See :func:`complabel.answers.resolve_contradictions` for both.
    answer : {"yes", "no"} or None, default=None
        What each row says of a file that has no column ``answer``.
    unselected : {"no", "yes", "unknown"} or None, default=None
        What a row without a label says of its item: no label applies, all do, or nothing is known.

    Returns
    -------
    AnswerFile
        Its ``answers`` can be passed to ``fit``.

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError
        If a file is missing or cannot be parsed, or none of its items is among the wanted ones; if
        it has a column that is not read and may change what the others say, such as ``worker``.
    AnnotationError
        If an answer contradicts itself; if nothing tells what was asked; if answers contradict each
        other and the policy is "error"; if a word or a label is unknown; if a row has no label, and
        nothing says what that means. The message names the line of a CSV file (the header is line
        1) or the row of a Parquet file (from 0).

    Warns
    -----
    UnmatchedItemsWarning
        If there are answers about items that are not among the wanted ones.
    UnlistedLabelsWarning
        If answers are about all labels, but ``label_names`` does not list them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "answers.csv"
    >>> _ = path.write_text("item,label,answer\n007.jpg,sea,yes\n007.jpg,sky,no\nb.jpg,sea,no\n")
    >>> found = read_answers(path, items=["a.jpg", "b.jpg", "007.jpg"])
    >>> found.answers.complementary
    array([[0, 0],
           [1, 0],
           [0, 1]], dtype=uint8)
    >>> found.reconciliation()
    ['answers for 2 of 3 items']
    """
    check_choice("contradictions", contradictions, (*CONTRADICTION_POLICIES, "keep"))
    paths = existing_ones("path", path)
    opened = [Table.open(each, _WHAT, ("item", "label"), endings=ITEM_TABLES) for each in paths]
    answer_of_all = [None if "answer" in table.columns else answer for table in opened]
    pairs = zip(opened, answer_of_all, strict=True)
    blanks: Any = {"unselected": unselected, "label_names": label_names}
    left = [left_over(t.path, t.columns, OWN_COLUMNS, command=True) for t in opened]
    sheets = [AnswerSheet.read(table, question, answer=each, **blanks) for table, each in pairs]
    items = None if items is None else [str(each) for each in items]
    if len(sheets) > 1:
        if label_names is None:
            label_names = sort_labels(set().union(*(sheet.labels() for sheet in sheets)))
        if items is None:
            items = sorted({name for sheet in sheets for name in sheet.columns["item"].values})
    parts = tuple(
        replace(
            sheet.answers(items, label_names, question),
            unread_columns=tuple(names),
            paths=(sheet.table.path,),
        )
        for sheet, names in zip(sheets, left, strict=True)
    )
    for sheet, part in zip(sheets, parts, strict=True):
        if part.unmatched_items:
            text = _unmatched(part.unmatched_items, part.n_unmatched_answers)
            text = f"{sheet.table.path}: {text}; they are left out"
            warnings.warn(text, UnmatchedItemsWarning, stacklevel=2)
    answers = parts[0].answers
    if parts[1:]:
        answers = Answers.concatenate([part.answers for part in parts])
    resolved = answers
    if contradictions != "keep" or trusted:
        with _in_file(*paths):
            resolved = resolve_contradictions(answers, contradictions, trusted=trusted)
    counts = {name: sum(sheet.counts[name] for sheet in sheets) for name in sheets[0].counts}
    return AnswerFile(
        answers=resolved,
        unmatched_items=tuple(sorted({name for part in parts for name in part.unmatched_items})),
        n_unmatched_answers=sum(part.n_unmatched_answers for part in parts),
        contradictions=contradictions_table(answers),
        n_dropped_answers=answers.n_answers - resolved.n_answers,
        unread_columns=tuple(dict.fromkeys(itertools.chain(*left))),
        parts=parts,
        paths=tuple(paths),
        **counts,
    )


def read_quietly(path: StrPaths, **options: Any) -> AnswerFile:
    """Read answers as :func:`read_answers`, for those who print its ``lines()``, not warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnmatchedItemsWarning)
        warnings.simplefilter("ignore", UnlistedLabelsWarning)
        return read_answers(path, **options)


@dataclass(frozen=True)
class AnswerSheet:
    """The rows of a file of answers, without blank ones and without questions that wait.

    ``counts`` are those of :class:`AnswerFile` that need no items and no labels.
    """

    table: Table
    columns: CodedTable
    counts: Mapping[str, Any]

    @classmethod
    def read(
        cls,
        table: Table,
        question: Question | None = None,
        *,
        names: Sequence[str] = USED_COLUMNS,
        item: str = "item",
        answer: str | None = None,
        words: Mapping[str, str] = ANSWER_WORDS,
        renamed: Mapping[str, str] = MappingProxyType({}),
        unselected: str | None = None,
        none: Collection[str] = (),
        label_names: Sequence[str] | None = None,
    ) -> AnswerSheet:
        """Read the columns ``names`` of a file, and ``item`` with the names of the items.

        ``renamed`` has the names of columns in the file, where these are others; ``question`` is
        that of rows which have none. Without a column ``answer``, each row says ``answer``, which
        is "yes" or "no"; ``words`` are what may stand there, and what it means. In the place of a
        label, a blank says by ``unselected`` that no label applies ("no"), that all do ("yes"), or
        nothing ("unknown"), and the words ``none``, as ``word_of`` has them, that no label applies.
        ``label_names`` are all labels, for rows about all of them; None: those of the file.
        """
        calls = {name: name for name in names if name in table.columns}
        calls |= {**renamed, "item": item}
        columns = _coded(table, calls)
        read = CodedTable(columns, np.arange(len(columns["item"].codes)), table.place)
        with _in_file(table.path):
            if answer is not None:
                columns["answer"] = Column("answer", np.zeros(len(read.rows), np.intp), [answer])
            elif "answer" in columns:
                ways = f"{setting('yes')}, {setting('no')} and {setting('unsure')}"
                advice = (
                    f"it must be one of {', '.join(words)}, or empty; {ways} of complabel import"
                )
                advice += " say what other words mean"
                columns["answer"] = read.read(
                    "answer", lambda value: words[_WHOLE.sub(r"\1", _folded(value))], advice
                )
            columns |= {name: read.numbers(name) for name in _NUMBERS if name in columns}
            if "drawn" in columns:
                columns["drawn"] = read.drawn()
            filled = [columns[n].codes for n in ("item", "label", "answer") if n in columns]
            kept = read.only(np.max(filled, axis=0) != -1)
            if label_names is None:
                _refuse_none_words(table.path, kept, question, none)
            if "probability" in columns and not {"answer", "question", "drawn"} & {*calls}:
                raise AnnotationError(
                    "a list has a column probability: it is the chance with which a question was"
                    " drawn. If it says how sure a machine is, call it confidence"
                )
            blank, says_none, says_some = kept.rows_of_whole_lists(question, none)
            n_without = int(says_some.sum() + (blank.sum() if unselected == "unknown" else 0))
            whole = blank[~says_some], says_none[~says_some]
            kept = _spread(kept.only(~says_some), whole, unselected, none, label_names, question)
            waits = kept.open_questions(question)
        _, first = np.unique(kept.answer_of_row()[waits], return_index=True)
        chances = kept["probability"].codes[waits][first]
        answered = kept.only(~waits)
        counts = {
            "n_rows": len(read.rows),
            "n_blank_rows": int(np.count_nonzero(np.max(filled, axis=0) == -1)),
            "n_rows_without_label": n_without,
            "n_open_rows": int(waits.sum()),
            "n_repeated_rows": _n_repeated(answered),
            "n_open_questions": len(first),
            "n_random_open_questions": int(np.count_nonzero(chances != -1)),
        }
        return cls(table, answered, counts)

    def answers(
        self,
        items: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        question: Question | None = None,
    ) -> AnswerFile:
        mentioned = self.columns["item"].values
        unmatched = tuple(sorted(set(mentioned).difference(mentioned if items is None else items)))
        if items is not None and 0 < len(mentioned) == len(unmatched):
            refuse_strangers(self.table.path, unmatched, items)
        with _in_file(self.table.path):
            everything = Answers.from_table(
                self.columns,
                items=None if items is None else [*items, *unmatched],
                label_names=label_names,
                question=question,
                contradictions="keep",
            )
        answers = everything[: len(items)] if items is not None and unmatched else everything
        n_unmatched = everything.n_answers - answers.n_answers
        return AnswerFile(answers, unmatched, n_unmatched, **self.counts)

    def check(self, label_names: Sequence[str] | None, question: Question | None) -> None:
        """Refuse what ``read_answers`` refuses, whichever other labels it is told of."""
        sheet = self
        if label_names is None:
            names = sort_labels(self.labels())
            label_names = names if len(names) != 1 else [*names, "\0"]  # no text has a byte 0
            counts = self.columns["asked_for"]
            few = [min(count, len(label_names)) for count in counts.values]
            columns = {**self.columns.columns, "asked_for": replace(counts, values=few)}
            sheet = replace(self, columns=replace(self.columns, columns=columns))
        sheet.answers(None, label_names, question)

    def pieces(self, question: Question | None, n_rows: int) -> Iterator[dict[str, Any]]:
        """Yield the rows, at most so many at a time, as columns of :data:`COLUMNS`."""
        kinds, piece_of = self.columns.kinds(question), np.arange(len(self.columns.rows)) // n_rows
        words = replace(kinds, values=[kind.question for kind in kinds.values])
        rows = replace(self.columns, columns={**self.columns.columns, "question": words})
        for piece in np.unique(piece_of):
            yield dict(rows.only(piece_of == piece).columns)

    def labels(self) -> set[str]:
        """Return the names of all labels that the file mentions."""
        with _in_file(self.table.path):
            names = self.columns.labels()
            refuse_odd_labels(names, are_answered=bool(self.columns["answer"].values))
        return names


def read_judgments(
    path: StrPaths,
    about: Answers,
    question: Question | None = None,
    *,
    needed: str = "item",
    **listed: Any,
) -> dict[str, AnyArray]:
    """Return the rows of tables that judge one label of an item each, among those of ``about``.

    ``item``, ``label`` and ``annotator`` are positions, (R,); -1: an unknown person. ``answer`` is
    0 (no), 1 (yes) or 2 (unsure), and ``confidence`` is NaN where there is none. Tables without the
    column ``needed`` are left out. ``listed`` says what a list means, as ``AnswerSheet.read`` does.
    """
    names = {
        "item": about.item_names,
        "label": about.label_names,
        "answer": ("no", "yes", "unsure"),
        "annotator": about.annotator_names,
    }
    judgments: dict[str, list[AnyArray]] = {name: [] for name in (*names, CONFIDENCE)}
    for each in existing_ones("path", path):
        table = Table.open(each, _WHAT, ("item", "label"), endings=ITEM_TABLES)
        if needed not in table.columns:
            continue
        columns = (*USED_COLUMNS, CONFIDENCE)
        rows = AnswerSheet.read(table, question, names=columns, **listed).columns
        sure = np.array([*rows[CONFIDENCE].values, np.nan])[rows[CONFIDENCE].codes]
        with _in_file(each):
            if (wrong := (sure < 0) | (sure > 1)).any():
                text = f"has confidence {sure[wrong][0]:g}; it must be from 0 to 1"
                raise rows.refusal(int(wrong.argmax()), text)
            chosen = [QUESTIONS.index(word) for word in QUESTIONS if word not in JUDGING]
            judges = ~np.isin(rows.held_as(question), chosen)
        codes = []
        for name, values in names.items():
            at = {value: code for code, value in enumerate(() if values is None else values)}
            known = [at.get(value, -1) for value in rows[name].values]
            codes.append(replace(rows[name], values=known).numbers())
        kept = judges & (np.min(codes[:3], axis=0) >= 0)
        for parts, column in zip(judgments.values(), [*codes, sure], strict=True):
            parts.append(column[kept])
    none = np.zeros(0, dtype=np.intp)
    return {name: np.concatenate(parts) if parts else none for name, parts in judgments.items()}


def read_unsure(
    path: StrPaths, about: Answers, question: Question | None = None
) -> tuple[Any, ...]:
    """Return where people were unsure: the positions of items, labels and people."""
    rows = read_judgments(path, about, question)
    return tuple(rows[name][rows["answer"] == 2] for name in ("item", "label", "annotator"))


def _folded(value: object) -> str:
    return str(value).strip().casefold()


def _n_repeated(table: CodedTable) -> int:
    """Count the rows without an ``answer_id`` that say all that a row before says."""
    alone = table["answer_id"].codes == -1
    row = np.zeros(np.count_nonzero(alone), dtype=np.intp)
    for column in table.columns.values():
        pairs = row * (len(column.values) + 1) + column.codes[alone]
        _, row = np.unique(pairs, return_inverse=True)
    return len(row) - int(row.max(initial=-1)) - 1


def _refuse_none_words(
    path: Path, rows: CodedTable, question: Question | None, none: Collection[str]
) -> None:
    """Refuse a word that may say that no label applies, if it is not asked about as a label."""
    words, labels = rows.words(), rows["label"]
    not_yes = np.append(np.isin(words.values, ("no", "unsure")), False)[words.codes]
    is_label = not_yes | (rows.held_as(question) == QUESTIONS.index("asked"))
    for code, label in enumerate(map(str, labels.values)):
        if not may_mean_none(label) or label.casefold() in none:
            continue
        here = labels.codes == code
        if not is_label[here].any():
            raise none_or_label(label, f"{path}, {rows.place(int(rows.rows[here.argmax()]))}")


def _spread(
    rows: CodedTable,
    whole: tuple[Bools, Bools],
    unselected: str | None,
    none: Collection[str],
    label_names: Sequence[str] | None,
    question: Question | None,
) -> CodedTable:
    """Return rows in which blanks and words for *none* are rows about each label, or no tags."""
    blank, says_none = whole
    if blank.any() and unselected is None:
        ways = {"no": "no label applies", "yes": "all do", "unknown": "nobody answered"}
        text = ", ".join(f"{setting('unselected', word)} if {of}" for word, of in ways.items())
        raise AnnotationError(
            f"{rows.place(int(rows.rows[blank.argmax()]))} has no label ({int(blank.sum())} in"
            f" all); it is not known what a blank says there. In complabel import, give {text}",
            row=int(rows.rows[blank.argmax()]),
            proposes=[{"unselected": word} for word in ways],
        )
    if unselected == "unknown":
        rows, says_none, blank = rows.only(~blank), says_none[~blank], blank[~blank]
    if "answer" not in rows.columns or not (blank | says_none).any():
        return rows  # without answers, all rows are refused
    applies = blank & (unselected == "yes")
    empty = (blank | says_none) & ~applies & (rows.held_as(question) == QUESTIONS.index("tagged"))
    if empty.any():
        rows, blank, says_none = rows.with_empty_lists(empty), blank & ~empty, says_none & ~empty
        if not (blank | says_none).any():
            return rows
    names = label_names or sort_labels({x for x in rows.labels() if x.casefold() not in none})
    if len(names) < 2:
        text = "no label applies somewhere, but at most one label is known"
        raise AnnotationError(f"{text}; give all labels as {setting('label_names')}")
    return rows.about_all(blank | says_none, applies, names)


def _coded(table: Table, calls: Mapping[str, str]) -> dict[str, Column]:
    """Return columns of a file in codes; names are text, also those that look like numbers."""
    texts = [each for name, each in calls.items() if table.delimiter or name in ("item", *_TEXTS)]
    others = [each for each in calls.values() if each not in texts]
    parts: dict[str, list[Any]] = {name: [] for name in calls.values()}
    for piece in table.pieces(texts, others=others):
        with explained(table.path, "write the table again"):  # the text may not be UTF-8
            for name, values in piece.items():
                parts[name].append(values if is_list(values.type) else values.dictionary_encode())
    return {
        name: Column.of(name, pyarrow().chunked_array(parts[each]) if parts[each] else [])
        for name, each in calls.items()
    }


@contextlib.contextmanager
def _in_file(*paths: Path) -> Iterator[None]:
    """Begin the messages about answers with the names of their files."""
    try:
        yield
    except AnnotationError as error:
        named = " and ".join(map(str, paths))
        message = f"{named}: {error}"
        raise AnnotationError(message, row=error.row, proposes=error.proposes) from error


def about_open_questions(count: int) -> str:
    """Say what random questions without an answer mean."""
    return (
        f"{count:,} random questions are not answered. If somebody stopped early, delete all rows"
        " after the last one that was answered, also those with an answer that was known before:"
        " only then the rest is a random sample"
    )


def _unmatched(items: Sequence[str], n_answers: int) -> str:
    return (
        f"{_count(n_answers, 'answer')} about {_count(len(items), 'item')} without features: "
        f"{some_of(items)}"
    )


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + "s" * (count != 1)
