"""The items that features are made of: the pictures of a folder, or the rows of a table."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from complabel._opening import StrPath, as_path
from complabel.errors import InputError
from complabel.features._encoder import Kind
from complabel.files import Table, list_pictures, refuse_repeated


@dataclass(frozen=True)
class Source:
    """Items of a kind: texts, or files of pictures. ``n_items`` is None before a table is read."""

    kind: Kind
    path: Path
    table: Table | None = None
    column: str = ""
    item: str | None = None
    pictures: tuple[str, ...] = ()

    @property
    def n_items(self) -> int | None:
        return None if self.table is not None else len(self.pictures)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the name of each item, and its text or the path of its picture."""
        if self.table is None:
            yield from ((name, str(self.path / name)) for name in self.pictures)
            return
        folder = self.path.parent if self.kind == "pictures" else None
        names: list[str] = []
        wanted = [self.column] if self.item is None else [self.item, self.column]
        for piece in self.table.pieces(wanted):
            values = [each or "" for each in piece[self.column].to_pylist()]
            if self.item is None:
                own = [str(len(names) + at) for at in range(len(values))]
            else:
                own = [each or "" for each in piece[self.item].to_pylist()]
            for at, (name, value) in enumerate(zip(own, values, strict=True), start=len(names)):
                blank = self.item if not name.strip() else self.column if folder else None
                if blank is not None and not (name.strip() and value.strip()):
                    problem = f"{blank!r} is blank; fill it in, or leave the row out"
                    raise self.table.refuse(at, problem)
                yield name, value if folder is None else os.path.join(folder, value)
            names += own
        refuse_repeated(self.path, names, self.table.place)
        if not names:
            raise InputError(f"{self.path}: there are no rows; add one for each item")


def open_source(
    path: StrPath, *, text: str | None = None, image: str | None = None, item: str | None = None
) -> Source:
    """Open a folder of pictures, or a table with a column of texts or of paths of pictures.

    Paths are seen from the folder of the table. Without a column ``item``, or that of another
    name, items are called by the numbers of their rows.
    """
    file = as_path("path", path)
    if file.is_dir():
        given = {"--text": text, "--image": image, "--item": item}
        wrong = next((option for option, value in given.items() if value is not None), None)
        if wrong is not None:
            raise InputError(
                f"{file} is a folder, so all its pictures are read; leave {wrong} out, or give a"
                " table"
            )
        return Source("pictures", file, pictures=tuple(list_pictures(file)))
    column = text if text is not None else image
    if column is None or (text is not None and image is not None):
        raise InputError(
            f"{file}: give the column of the texts with --text, or that of the paths of pictures"
            " with --image, and only one of them"
        )
    needed = [column] if item is None else [column, item]
    table = Table.open(file, "tables of items", needed)
    called = item if item is not None else "item" if "item" in table.columns else None
    if called == column:
        raise InputError(f"{file}: the column {column!r} cannot also name the items")
    return Source("text" if text is not None else "pictures", file, table, column, called)
