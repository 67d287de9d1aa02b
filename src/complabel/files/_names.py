"""The names of labels and items, what people see of items, and the pictures in a folder."""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from complabel._opening import (
    StrPath,
    as_path,
    ending_of,
    existing,
    explained,
    fault,
    read_text,
    tidy,
)
from complabel._parameters import AnyArray, Ints
from complabel._settings import setting
from complabel.errors import DatasetNotFoundError, InputError
from complabel.files._table import TABLE_ENDINGS, Table, refuse_repeated, some_of

SHOWN = ("text", "image", "url")  # columns with what people see of an item


def read_label_names(path: StrPath) -> tuple[str, ...]:
    r"""Read the names of all labels, one on each line, in the order of the file.

    Parameters
    ----------
    path : path
        A text file in UTF-8. Blank lines at its end do not count.

    Returns
    -------
    tuple of str

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError
        If the file is missing or empty, a line is blank, a name occurs twice, or has a control
        character, such as a tab.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "labels.txt"
    >>> _ = path.write_text("city\nsea\nsky\n")
    >>> read_label_names(path)
    ('city', 'sea', 'sky')
    """
    return tuple(read_lines("path", path, "label"))


def read_lines(argument: str, path: StrPath, noun: str) -> list[str]:
    """Return the different lines of a text file; only at its end there may be blank ones."""
    file = existing(argument, path)
    lines = [tidy(line) for line in read_text(file).rstrip("\n").split("\n")]
    blank = next((at for at, line in enumerate(lines, start=1) if not line.strip()), None)
    if blank is not None:
        text = "the file is empty" if len(lines) == 1 else f"line {blank} is blank"
        raise fault(file, f"{text}; give the names of the {noun}s, one on each line")
    for at, line in enumerate(lines, start=1):
        if any(unicodedata.category(sign) == "Cc" for sign in line):
            named = f"the {noun} {line[:60]!a} has control characters; rename it"
            raise fault(file, named, line=at)
    refuse_repeated(file, lines, lambda row: f"line {row + 1}", noun)
    return lines


def read_item_names(path: StrPath) -> list[str]:
    """Read the column ``item`` of a table, or the lines of any other text file."""
    file = existing("path", path)
    if not ending_of(file, TABLE_ENDINGS):
        return read_lines("path", file, "item")
    table = Table.open(file, "tables of items", ["item"])
    (ids,) = _texts(table, ["item"])
    if not ids:
        raise fault(file, "there are no rows; add one for each item")
    for row, each in enumerate(ids):
        if not each.strip():
            raise table.refuse(row, "'item' is blank; fill it in")
    refuse_repeated(file, ids, table.place)
    return ids


def has_shown(path: Path) -> bool:
    """Return whether a table of items says what people see; refuse one of which nobody knows it."""
    if not ending_of(path, TABLE_ENDINGS):
        return False
    others = [name for name in Table.open(path, "tables of items").columns if name != "item"]
    is_shown = not {*SHOWN}.isdisjoint(others)
    if others and not is_shown:
        raise fault(
            path,
            f"there is no column {', '.join(SHOWN)}, only {some_of(others)}; say which column"
            f" people see with {' or '.join(map(setting, SHOWN))}, or that they see nothing but the"
            f" names of items with {setting('names_only')}",
        )
    return is_shown


def read_shown(
    path: StrPath, *, items: Iterable[Any] = (), columns: Mapping[str, str] | None = None
) -> dict[str, dict[str, str]]:
    r"""Read what people see of each item.

    Parameters
    ----------
    path : path
        A table with the column ``item`` and at least one of ``text``, ``image`` (an address, or a
        path) and ``url`` (of a page). It ends in ``.csv``, ``.csv.gz``, ``.tsv``, ``.tsv.gz`` or
        ``.parquet``. Other columns are left out.
    items : iterable, default=()
        Items that people are asked about.
    columns : mapping of str to str or None, default=None
        The columns that hold ``text``, ``image`` or ``url``, such as ``{"text": "body"}``. None:
        those of these names.

    Returns
    -------
    dict of str to dict of str to str
        The filled fields of each item; a row may be blank, and have none.

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError
        If the file or the columns are missing, one of ``items`` has no row, the file cannot be
        parsed, or two rows have the same id.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "texts.csv"
    >>> _ = path.write_text("item,text\n7,A puppy.\n")
    >>> read_shown(path)
    {'7': {'text': 'A puppy.'}}
    """
    table = Table.open(path, "tables of what is shown", ["item"])
    names = columns or {name: name for name in SHOWN if name in table.columns}
    if not names or not {*names.values()} <= {*table.columns}:
        raise fault(
            table.path,
            f"there is no column {', '.join([*names.values()] or SHOWN)}, only"
            f" {some_of(table.columns)}; say which column people see with"
            f" {' or '.join(map(setting, SHOWN))}",
        )
    ids, *texts = _texts(table, ["item", *names.values()])
    refuse_repeated(table.path, ids, table.place)
    shown = {
        each: {name: cell for name, cell in zip(names, cells, strict=True) if cell.strip()}
        for each, cells in zip(ids, zip(*texts, strict=True), strict=True)
    }
    missing = [each for each in dict.fromkeys(map(str, items)) if each not in shown]
    if missing:
        raise fault(
            table.path,
            f"has no row for item {missing[0]!r} ({len(missing):,} items in all);"
            " add a row for each item that is asked about, with its name as in the answers",
        )
    return shown


def _texts(table: Table, names: Sequence[str]) -> list[list[str]]:
    pieces = list(table.pieces(names))
    columns = [[each or "" for part in pieces for each in part[n].to_pylist()] for n in names]
    return [[*map(tidy, columns[0])], *columns[1:]]


def rows_of(
    wanted: Sequence[str] | AnyArray, items: Sequence[str] | AnyArray, source: object
) -> Ints:
    """Return the row numbers (len(wanted),) of some items; an item without a row is refused.

    ``items`` are the names of the rows, such as ``Features.items``; ``source`` is what messages
    call the other table.
    """
    place = {item: row for row, item in enumerate(items)}
    missing = [item for item in wanted if item not in place]
    if missing:
        if len(missing) == len(wanted):
            refuse_strangers(source, wanted, items)
        raise InputError(
            f"{source}: {len(missing):,} of its {len(wanted):,} items have no features:"
            f" {some_of(missing)}; give features of all of them, or leave these rows out"
        )
    return np.array([place[item] for item in wanted], dtype=np.intp)


def refuse_strangers(
    source: object, named: Sequence[str] | AnyArray, items: Sequence[str] | AnyArray
) -> None:
    """Refuse a file if none of the items that were found in it has features."""
    raise fault(
        source,
        f"none of its {len(named):,} item{'s' * (len(named) != 1)} has features. They are called"
        f" {some_of(named)}, but the items with features {some_of(items)}; use the same names in"
        " both files, or name the rows of the features with --items",
    )


PICTURES = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
}
"""Types of pictures by the ending of their names; all browsers show them, and none runs them."""

HEIC = (".heic", ".heif")
READ_PICTURES = (*PICTURES, ".tif", ".tiff", *HEIC)
"""Endings of the pictures of which features are made; not all browsers show them."""


def shown_pictures() -> list[str]:
    """Return the endings of pictures that browsers show, or that can be converted for them."""
    return [ending for ending in READ_PICTURES if not to_install([ending])]


def to_install(endings: Iterable[str]) -> str:
    """Return what to install to show pictures with these endings, as the rest of a sentence."""
    advice = ""
    for each in endings:
        package, extra = ("pillow_heif", "heic") if each in HEIC else ("PIL", "pictures")
        if each in READ_PICTURES and each not in PICTURES and find_spec(package) is None:
            advice += f' ({each} can be shown after pip install "complabel[{extra}]")'
    return advice


class PictureFolder(NamedTuple):
    """The pictures in a folder, and how many other files it has, by the ending of their names."""

    pictures: list[str]
    others: Counter[str]

    def left_out(self) -> str:
        """Return a sentence about the other files; empty if there are none."""
        if not self.others:
            return ""
        number = self.others.total()
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.others.most_common(_MOST))
        more = ", ..." * (len(self.others) > _MOST)
        sentence = f"{number:,} {'file is' if number == 1 else 'files are'} left out: {kinds}{more}"
        return f"{sentence}{to_install(self.others)}"


_MOST = 12  # endings in a sentence


def read_folder(folder: StrPath, endings: Iterable[str] = tuple(PICTURES)) -> PictureFolder:
    """Find the pictures in a folder and in its folders: paths from there, with ``/``, sorted.

    Names that begin with a dot do not count. Links to folders are not followed, nor links to files
    that lie outside the folder, or are hidden in it.
    """
    top, endings = as_path("folder", folder), tuple(endings)
    if not top.is_dir():
        raise DatasetNotFoundError(f"{top}: there is no such folder; check the path")
    inside = top.resolve()
    pictures: list[str] = []
    others: Counter[str] = Counter()
    with explained(top, "correct the permissions of the folder"):
        for path in _files_in(top):
            if not _is_picture(path, endings):
                others[path.suffix.lower() or "without an ending"] += 1
            elif may_show(path.resolve(), inside, endings) and path.is_file():
                pictures.append(path.relative_to(top).as_posix())
            else:
                others["by links that lead nowhere, or out of the folder"] += 1
    content = PictureFolder(sorted(pictures), others)
    if not pictures:
        besides = f"; {content.left_out()}" if others else ""
        raise fault(top, f"there are no pictures; their names end in {', '.join(endings)}{besides}")
    for name in pictures:
        if not name.isprintable():  # bytes that are no UTF-8 are not printable, either
            raise fault(top, f"the name of the file {name!a} is no plain text; rename it")
    return content


def _files_in(top: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise error

    for place, folders, names in os.walk(top, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(place, name) for name in names if not name.startswith("."))


def _is_picture(path: Path, endings: Container[str]) -> bool:
    return path.suffix.lower() in endings and not path.name.startswith(".")


def may_show(path: Path, folder: Path, endings: Container[str] = PICTURES) -> bool:
    """Return whether a path is that of a picture in a folder, and nothing on the way is hidden."""
    if not (path.is_relative_to(folder) and _is_picture(path, endings)):
        return False
    return not any(part.startswith(".") for part in path.relative_to(folder).parts)
