"""The things that people are asked about: pictures in a folder, or the rows of a table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from complabel._opening import StrPath, as_path, fault
from complabel.errors import InputError
from complabel.files import PICTURES, Table, list_pictures, may_show, refuse_repeated, some_of

_WEB = ("http://", "https://")


@dataclass(frozen=True)
class Things:
    """Items, and what is shown of each.

    Attributes
    ----------
    names : sequence of str
        The items, each once.
    kind : "text", "image" or "url"
    root : Path
        The folder of pictures, or that of the table. No file outside of it is ever given.
    """

    names: Sequence[str]
    kind: str
    root: Path
    values: Any = None  # an Arrow array: texts, addresses or paths; None if the names are the paths
    numbers: dict[str, int] = field(default_factory=dict, repr=False)  # by name, from 0

    def __post_init__(self) -> None:
        self.numbers.update((name, at) for at, name in enumerate(self.names))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def has_remote(self) -> bool:
        """Whether some pictures are on other machines."""
        return (
            self.kind == "image"
            and self.values is not None
            and any(each.lower().startswith(_WEB) for each in self.values.to_pylist())
        )

    def show(self, number: int) -> dict[str, str]:
        """Return what to show of an item: its text, or the address of its picture or page."""
        if self.values is None:
            return {"image": _address(self.names[number])}
        value = self.values[number].as_py()
        if self.kind == "image" and not value.lower().startswith(_WEB):
            value = _address(self.names[number])
        return {self.kind: value}

    def picture(self, name: str) -> Path | None:
        """Return the file of an item's picture; None if there is none inside the folder.

        Links are followed at each call: nobody gets a file that lies outside.
        """
        number = self.numbers.get(name)
        if number is None or self.kind != "image":
            return None
        path = self.root / (name if self.values is None else self.values[number].as_py())
        try:
            found = path.resolve(strict=True)
            is_file = found.is_file()
        except (OSError, ValueError, RuntimeError):
            return None
        return found if is_file and may_show(found, self.root) else None


def read_things(
    path: StrPath,
    *,
    text: str | None = None,
    image: str | None = None,
    url: str | None = None,
    item: str | None = None,
) -> Things:
    """Read what people are asked about.

    Parameters
    ----------
    path : path
        A folder: its pictures, also those in folders inside, are the items, and are named by their
        paths in it. Or a table, which ends in ``.csv``, ``.csv.gz``, ``.tsv``, ``.tsv.gz`` or
        ``.parquet``.
    text, image, url : str or None, default=None
        Of a table: the column that is shown. Exactly one is needed. ``image`` holds addresses in
        the web, or paths of pictures, relative to the folder of the table and inside it.
    item : str or None, default=None
        Of a table: the column with the name of each item. By default the column item if there is
        one, else the items are row numbers, from 0.

    Returns
    -------
    Things

    Raises
    ------
    InputError, DatasetNotFoundError, DatasetFormatError
        If there is nothing to show, a name occurs twice, or a picture is missing.
    """
    source = as_path("path", path)
    columns = {"text": text, "image": image, "url": url}
    given = {kind: name for kind, name in columns.items() if name is not None}
    if source.is_dir():
        if given or item is not None:
            raise InputError(
                f"{source} is a folder of pictures; --{next(iter(given), 'item')} is for tables,"
                " leave it out"
            )
        root = source.resolve()
        return Things(list_pictures(root), "image", root)
    table = Table.open(source, "tables of things to show")
    if len(given) != 1:
        raise InputError(
            f"{source}: say which column is shown, with one of --text, --image and --url; the"
            f" columns are {some_of(table.columns)}"
        )
    ((kind, column),) = given.items()
    return _of_table(table, kind, column, item)


def _address(name: str) -> str:
    return f"/picture/{quote(name)}"


def _of_table(table: Table, kind: str, column: str, item: str | None) -> Things:
    import pyarrow as pa  # type: ignore[import-untyped]

    by_name = item or ("item" if "item" in table.columns else None)
    for name in filter(None, (column, by_name)):
        if name not in table.columns:
            raise fault(table.path, f"there is no column {name!r}, only {some_of(table.columns)}")
    wanted = list(dict.fromkeys(filter(None, (column, by_name))))
    pieces = list(table.pieces(wanted))
    values = pa.chunked_array(
        [piece[column].cast("large_string") for piece in pieces], type="large_string"
    ).combine_chunks()
    if not len(values):
        raise fault(table.path, "there are no rows; add one for each item")
    names = list(map(str, range(len(values))))
    if by_name:
        names = [each or "" for piece in pieces for each in piece[by_name].to_pylist()]
        for row, each in enumerate(names):
            if not each.strip():
                raise table.refuse(row, f"{by_name!r} is blank; fill it in")
        refuse_repeated(table.path, names, table.place)
    root = table.path.resolve().parent
    _refuse_unshowable(table, kind, column, values, root)
    return Things(names, kind, root, values.fill_null(""))


def _refuse_unshowable(table: Table, kind: str, column: str, values: Any, root: Path) -> None:
    if kind == "text":
        return
    for row, value in enumerate(values.to_pylist()):
        if value and value.lower().startswith(_WEB):
            continue
        if not value or not value.strip():
            problem = f"{column!r} is blank; fill it in, or drop the row"
        elif kind == "url":
            problem = f"{column!r} is {value[:60]!r}; give an address with http:// or https://"
        elif "\0" in value or not may_show(Path(os.path.normpath(root / value)), root):
            problem = (
                f"{value[:60]!r} is not the path of a picture in {root}, the folder of the table;"
                f" others are not shown, nor hidden ones. Names end in {', '.join(PICTURES)}"
            )
        elif not (root / value).is_file():
            problem = f"there is no picture {value[:60]!r} in {root}, the folder of the table"
        else:
            continue
        raise table.refuse(row, problem)
