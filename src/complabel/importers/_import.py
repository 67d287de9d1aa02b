"""Import a file of answers: into a data frame, or piece by piece into a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from complabel.errors import DatasetFormatError, DatasetNotFoundError, InputError
from complabel.importers._detect import detect, format_named
from complabel.importers._format import Format, Options, Tally
from complabel.importers._reading import explained_reading
from complabel.importers._totals import Totals
from complabel.tables import AnswerWriter, answers_to_arrow


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
        The name of the format; by default it is recognized.
    options : Options or None, default=None
        What the file does not say itself.

    Returns
    -------
    table : pandas.DataFrame
        The neutral table, all :data:`complabel.tables.COLUMNS`, for
        :meth:`complabel.annotations.Answers.from_table`. Items and labels are text, as they would
        be in a file; columns without content are empty.
    tally : Tally
        What became of everything in the file, and what was assumed.

    Raises
    ------
    DatasetFormatError
        If the file does not parse, is of no known format, or holds no answer.
    DatasetNotFoundError
        If it is missing or cannot be read.
    InputError
        If an option does not fit, or pandas or pyarrow are missing.

    See Also
    --------
    import_file : The same into a file, for what is too large for the memory.

    Notes
    -----
    Nothing is dropped that contradicts something else: the tally counts such pairs of item and
    label, and what becomes of them is said where answers are used.

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
        Ends in ``.csv``, ``.csv.gz`` or ``.parquet``. It is written as a whole or not at all.
    format : str, Format or None, default=None
        The name of the format; by default it is recognized.
    options : Options or None, default=None
        What the file does not say itself.
    progress : callable or None, default=None
        Called after each piece with the number of rows so far.

    Returns
    -------
    Tally
        What became of everything in the file, and what was assumed.

    Raises
    ------
    DatasetFormatError, DatasetNotFoundError, InputError
        As :func:`import_answers`.
    OutputError
        If ``out`` cannot be written. What was there before is unchanged.

    Notes
    -----
    In memory are some pieces, and eight bytes for each row, by which contradictions are found, and
    for each item; formats that are one JSON document need more.
    """
    _need_pandas()
    source, target = Path(path), Path(out)
    writer = AnswerWriter(target)  # refuses a wrong ending before anything is read
    if target.exists() and source.exists() and target.samefile(source):
        raise InputError(f"{out} is the file that is imported; give another name to write to")
    tally = Tally()
    tables = _read(source, format, options, tally, progress)
    first = next(tables)  # what is refused at once leaves no trace
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
    """Give the pieces as Arrow tables, and count them."""
    chosen = detect(path) if format_ is None else format_
    chosen = format_named(chosen) if isinstance(chosen, str) else chosen
    totals, n_rows = Totals(), 0
    for table in _tables(path, chosen, options or Options(), tally):
        if table.num_rows:
            totals.add(table)
            n_rows += table.num_rows
            yield table
            if progress is not None:
                progress(n_rows)
    if not n_rows:
        counts = ", ".join(f"{count:,} {name}" for name, count in tally.counts.items() if count)
        raise DatasetFormatError(
            f"{path}: holds no answer as {chosen.name} ({counts or 'nothing in it'}); check that "
            "this is the file you mean, or say what else it is by --from NAME (format=NAME)"
        )
    totals.finish(tally)


def _tables(path: Path, chosen: Format, options: Options, tally: Tally) -> Iterator[Any]:
    """Read a file, with its name before what is wrong with it."""
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
    """Say how to install what is missing, before anything is read."""
    try:
        import pandas  # type: ignore[import-untyped]  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as cause:
        raise InputError(
            'importing needs pandas and pyarrow, which come with: pip install "complabel[tables]"'
        ) from cause
