"""The names and texts of items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from complabel.errors import DatasetFormatError
from complabel.files._csv import CsvTable
from complabel.files._matrices import open_table
from complabel.files._names import read_items, refuse_repeated
from complabel.files._parquet import ParquetTable
from complabel.files._source import (
    TABLE_ENDINGS,
    StrPath,
    ending_of,
    existing,
    some_of,
    source_of,
)


def read_item_names(path: StrPath) -> list[str]:
    r"""Read the names of items that have no features.

    Parameters
    ----------
    path : path
        A table with a column ``item``, which ends in ``.csv``, ``.csv.gz``, ``.tsv``, ``.tsv.gz``
        or ``.parquet``; other columns are ignored. Or any other text file, with one name on each
        line.

    Returns
    -------
    list of str
        In the order of the file.

    Raises
    ------
    DatasetNotFoundError
        If there is no such file.
    DatasetFormatError
        If it cannot be parsed, there is no column ``item``, or a name is blank or occurs twice.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "photos.csv"
    >>> _ = path.write_text("item,taken\n007.jpg,2024\n008.jpg,2025\n")
    >>> read_item_names(path)
    ['007.jpg', '008.jpg']
    """
    file = existing("path", path)
    ending = ending_of(file, TABLE_ENDINGS)
    if ending is None:
        ids = read_items(file)
        refuse_repeated(file, ids, lambda row: f"line {row + 1}")
        return ids
    table = open_table(file, ending)
    if "item" not in table.columns:
        raise DatasetFormatError(f"{file}: there is no column 'item'; give the names of the items")
    ids = [each or "" for (names,) in _pieces(table, ["item"]) for each in names.to_pylist()]
    if not ids:
        raise DatasetFormatError(f"{file}: there are no rows; add one for each item")
    for row, each in enumerate(ids):
        if not each.strip():
            raise DatasetFormatError(f"{file}, {table.place(row)}: 'item' is blank; fill it in")
    refuse_repeated(file, ids, table.place)
    return ids


def read_texts(
    path: StrPath,
    *,
    items: Iterable[Any] = (),
    name_column: str = "item",
    text_column: str = "text",
) -> dict[str, str]:
    r"""Read the text of each item.

    Parameters
    ----------
    path : path
        A table, which ends in ``.csv``, ``.csv.gz``, ``.tsv``, ``.tsv.gz`` or ``.parquet``.
    items : iterable, default=()
        Items that must have a text.
    name_column, text_column : str, default="item" and "text"
        The columns of ids and of texts.

    Returns
    -------
    dict of str to str
        Texts by item; empty if an item has none.

    Raises
    ------
    DatasetNotFoundError
        If there is no such file.
    DatasetFormatError
        If it cannot be parsed, a column or the text of one of ``items`` is missing, or two rows
        have the same id.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "texts.csv"
    >>> _ = path.write_text("item,text\n7,A puppy.\n")
    >>> read_texts(path)
    {'7': 'A puppy.'}
    """
    file, ending = source_of("path", path, TABLE_ENDINGS, "tables of texts")
    table = open_table(file, ending)
    names = [name_column, text_column]
    for name in names:
        if name not in table.columns:
            raise DatasetFormatError(
                f"{file}: there is no column {name!r}, only {some_of(table.columns)}; a table of"
                f" texts needs the column {name_column!r} with the names of the items, as in the"
                f" answers, and the column {text_column!r}; rename its columns"
            )
    ids: list[str] = []
    texts: list[str] = []
    for columns in _pieces(table, names):
        ids += [each or "" for each in columns[0].to_pylist()]
        texts += [each or "" for each in columns[1].to_pylist()]
    refuse_repeated(file, ids, table.place)
    found = dict(zip(ids, texts, strict=True))
    missing = [each for each in dict.fromkeys(map(str, items)) if not found.get(each, "").strip()]
    if missing:
        raise DatasetFormatError(
            f"{file}: has no text for item {missing[0]!r} ({len(missing):,} items in all); add the"
            " texts of all items that are asked about, with their names as in the answers"
        )
    return found


def _pieces(table: CsvTable | ParquetTable, names: Sequence[str]) -> Iterator[list[Any]]:
    """Yield columns as text, in pieces."""
    if isinstance(table, ParquetTable):
        for piece in table.pieces(names):
            yield [table.as_texts(name, piece[name]) for name in names]
    else:
        for piece in table.pieces(texts=names):
            yield [piece[name] for name in names]
