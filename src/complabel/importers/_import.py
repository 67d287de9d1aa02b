"""Import a file of answers into a data frame, or piece by piece into another file."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from complabel.errors import DatasetFormatError, DatasetNotFoundError, InputError
from complabel.files import AnswerWriter, answers_to_arrow
from complabel.importers._detect import detect, format_named
from complabel.importers._format import Format, Options, Tally
from complabel.importers._reading import explained_reading
from complabel.importers._rows import say_unused
from complabel.importers._totals import Totals


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
        A file in one of :data:`FORMATS`.
    format : str, Format or None, default=None
        The format or its name; by default it is recognized.
    options : Options or None, default=None
        What the file does not say itself.

    Returns
    -------
    table : pandas.DataFrame
        The neutral table for :meth:`complabel.answers.Answers.from_table`, with all
        :data:`complabel.files.COLUMNS`. Items and labels are text, as they would be in a file.
        Columns without content are empty.
    tally : Tally
        Counts of what was read and left out, and remarks on what was assumed.

    Raises
    ------
    DatasetFormatError
        If the file cannot be parsed, has no known format, or holds no answer.
    DatasetNotFoundError
        If the file is missing or cannot be read.
    InputError
        If an option does not fit, or if pandas or pyarrow are missing.

    See Also
    --------
    import_file : Import into a file; for files that are too large for the memory.

    Notes
    -----
    Contradictions stay in the table. The tally counts the pairs of item and label that have both a
    yes and a no; a policy for them is chosen when the table is read.

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

    Parameters
    ----------
    path : path
        A file in one of :data:`FORMATS`.
    out : path
        The file to write; it ends in ``.csv``, ``.csv.gz`` or ``.parquet``. It is written as a
        whole or not at all.
    format : str, Format or None, default=None
        The format or its name; by default it is recognized.
    options : Options or None, default=None
        What the file does not say itself.
    progress : callable or None, default=None
        Called after each piece with the number of rows so far.

    Returns
    -------
    Tally
        Counts of what was read and left out, and remarks on what was assumed.

    Raises
    ------
    DatasetFormatError, DatasetNotFoundError, InputError
        As :func:`import_answers`; also if ``out`` has another ending or is the same file.
    OutputError
        If ``out`` cannot be written. What was there before is unchanged.

    Notes
    -----
    The memory holds some pieces, and eight bytes for each row and item, to find contradictions.
    Formats that are one JSON document need more.
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
    chosen = format_named(chosen) if isinstance(chosen, str) else chosen
    options, totals, n_rows = options or Options(), Totals(), 0
    if not chosen.takes_question:
        say_unused(options, tally, f"{chosen.name}", "question")
    for table in _tables(path, chosen, options, tally):
        if table.num_rows:
            totals.add(table)
            if options.label_names is not None:
                _refuse_unlisted(path, table, totals.labels, options.label_names)
            n_rows += table.num_rows
            yield table
            if progress is not None:
                progress(n_rows)
    if not n_rows:
        counts = ", ".join(f"{count:,} {name}" for name, count in tally.counts.items() if count)
        raise DatasetFormatError(
            f"{path}: holds no answer, read as {chosen.name} ({counts or 'it is empty'}); check "
            "the file, or give another format as --from NAME (format=NAME)"
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
    raise DatasetFormatError(
        f"{path}{where}: {unknown[0]!r} is not among the {len(listed):,} labels of --label-names"
        f" (label_names); {hint} add it to that list"
    )


def _tables(path: Path, chosen: Format, options: Options, tally: Tally) -> Iterator[Any]:
    """Read a file and convert its pieces to Arrow tables; errors name the file."""
    if not path.is_file():
        raise DatasetNotFoundError(f"{path}: no such file; check the path")
    pieces = chosen.read(path, options, tally)
    while True:
        with explained_reading(path):
            piece = next(pieces, None)
        if piece is None:
            return
        with explained_reading(path):
            try:
                table = answers_to_arrow(piece)
            except InputError as cause:
                raise DatasetFormatError(f"{path}: {cause}") from cause
        yield table


def _need_pandas() -> None:
    """Refuse to start without pandas and pyarrow, and say how to install them."""
    try:
        import pandas  # type: ignore[import-untyped]  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as cause:
        raise InputError(
            'importing needs pandas and pyarrow; install them with: pip install "complabel[tables]"'
        ) from cause
