"""Recognize a file of answers, and import it into a data frame, or piece by piece into a file."""

from __future__ import annotations

import contextlib
import difflib
import importlib.util
import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel._opening import existing, fault, open_binary
from complabel.answers import QUESTIONS
from complabel.errors import DatasetFormatError, InputError
from complabel.files import AnswerWriter, answers_to_arrow
from complabel.importers._format import Format, Head, Options, Tally
from complabel.importers._label_studio import LABEL_STUDIO
from complabel.importers._public import LVIS, OPEN_IMAGES, OPENMIC, PML
from complabel.importers._records import ARGILLA, PRODIGY, REPLIES
from complabel.importers._sheets import BATCH, CELLS, CODED
from complabel.importers._table import TABLE

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
        f"{path}: the format was not recognized; if it is one of these, give it as --from NAME"
        f" (format=NAME in Python):\n{_listed()}"
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
    >>> table, tally = import_answers(path)
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
            raise InputError(f"--from (format) is {chosen!r}; it must be one of\n{_listed()}")
        chosen = named[chosen]
    options, totals = options or Options(), _Totals()
    if not chosen.takes_question:
        tally.say_unused(options, chosen.name, "question")
    for piece in chosen.read(existing("path", path), options, tally):
        try:
            table = answers_to_arrow(piece)
        except InputError as cause:
            raise fault(path, str(cause)) from cause
        if table.num_rows:
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
            " or give another format as --from NAME (format=NAME)",
        )
    totals.finish(tally)


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
        f"{unknown[0]!r} is not among the {len(listed):,} labels of --label-names (label_names);"
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
            # A menu that is none is refused, with its place, when answers are made of the table.
            with contextlib.suppress(ValueError, TypeError, RecursionError):
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
    import pandas as pd  # type: ignore[import-untyped]

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
