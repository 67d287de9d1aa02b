"""What people are asked about: pictures in a folder, or rows of a table."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from complabel._opening import StrPath, as_path, fault
from complabel.errors import InputError
from complabel.files import (
    ITEM_TABLES,
    PICTURES,
    READ_PICTURES,
    Table,
    may_show,
    read_folder,
    refuse_repeated,
    shown_pictures,
    some_of,
    to_install,
)

_WEB = ("http://", "https://")
# How files begin whose pictures browsers show, whatever the names end in.
_BEGINNINGS = re.compile(rb"\xff\xd8\xff|\x89PNG\r\n\x1a\n|GIF8|BM|RIFF....WEBP|....ftypavi", re.S)
_CONVERTED = re.compile(rb"II[*+]\0|MM\0[*+]|....ftyp(hei|hev|mif|msf)", re.S)  # TIFF and HEIC


@dataclass(frozen=True)
class Things:
    """Items, each with its own name, and what is shown of each: "text", "image" or "url".

    ``root`` is the folder of pictures, or that of the table. No file outside of it is ever given.
    """

    names: Sequence[str]
    kind: str
    root: Path
    values: Any = None  # an Arrow array: texts, addresses or paths; None if the names are the paths
    left_out: str = ""  # which files of the folder are not shown
    broken: Sequence[int] = ()  # items whose files are no pictures, or that are gone
    gone: Sequence[str] = ()  # items of before that are not there any more
    numbers: dict[str, int] = field(default_factory=dict, repr=False)  # by name, from 0

    def __post_init__(self) -> None:
        self.numbers.update((name, at) for at, name in enumerate(self.names))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The places in the web that pictures come from, such as ``https://example.org``."""
        is_table = self.kind == "image" and self.values is not None
        hosts = {_host(each) for each in (self.values.to_pylist() if is_table else ())}
        return tuple(sorted(hosts - {""}))

    def problems(self) -> list[str]:
        """Say which pictures nobody is asked about; refuse them if these are all."""
        if len(self.broken) == len(self):
            raise fault(self.root, f"no file holds a picture, for example {self.names[0]!r}")
        messages = []
        if self.gone:
            messages.append(
                f"{len(self.gone):,} items of before are gone: {some_of(self.gone)}; nobody is"
                " asked about them any more, and their answers are kept. If one has another name"
                " now, say so with --rename-item OLD=NEW"
            )
        if self.left_out:
            messages.append(f"{self.left_out}; save pictures as .jpg or .png to ask about them")
        if names := [self.names[at] for at in self.broken if self.names[at] not in self.gone]:
            counted = "1 picture is" if len(names) == 1 else f"{len(names):,} pictures are"
            messages.append(
                f"{counted} left out, because these files hold no picture:"
                f" {some_of(names)}; put whole ones in their place to ask about them"
            )
        return messages

    def after(self, before: Sequence[str]) -> Things:
        """Return the same things in the order of a sitting: those of before, then new ones.

        Those of before that are not there any more are ``gone``: nobody is asked about them.
        """
        known = {*before}
        names = [*before, *(name for name in self.names if name not in known)]
        if names == [*self.names]:
            return self
        gone = tuple(name for name in before if name not in self.numbers)
        rows = [self.numbers.get(name) for name in names]
        broken, now = {self.names[at] for at in self.broken} | {*gone}, None
        if self.values is not None:
            import pyarrow as pa  # type: ignore[import-untyped]

            now = self.values.take(pa.array(rows, type=pa.int64())).fill_null("")
        out = [at for at, name in enumerate(names) if name in broken]
        return replace(self, names=names, values=now, broken=out, gone=gone, numbers={})

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
            resolved = path.resolve(strict=True)
            is_file = resolved.is_file()
        except (OSError, ValueError, RuntimeError):
            return None
        return resolved if is_file and may_show(resolved, self.root, READ_PICTURES) else None


def _host(address: str) -> str:
    """Return scheme, host and port as a policy for browsers may say them, "" if there is none."""
    match = re.match(r"(https?://)(?:[^/?#\\]*@)?([\w.-]+(?::\d+)?)(?=[/?#]|$)", address, re.I)
    with contextlib.suppress(UnicodeError):
        return match[1].lower() + match[2].lower().encode("idna").decode() if match else ""
    return ""


def read_things(
    path: StrPath,
    *,
    text: str | None = None,
    image: str | None = None,
    url: str | None = None,
    item: str | None = None,
) -> Things:
    """Read what people are asked about.

    In a folder, the pictures are the items, also those in folders inside; they are named by their
    paths in it. Of a table (``.csv``, ``.tsv``, both also ``.gz``, or ``.parquet``), exactly one of
    ``text``, ``image`` and ``url`` names the column that is shown. ``image`` holds addresses in the
    web, or paths inside the folder of the table. ``item`` names the column with the name of each
    item; by default it is item if there is one, else the items are row numbers, from 0.
    """
    source = as_path("path", path)
    columns = {"text": text, "image": image, "url": url}
    chosen = {kind: name for kind, name in columns.items() if name is not None}
    if source.is_dir():
        if chosen or item is not None:
            raise InputError(
                f"{source} is a folder of pictures; --{next(iter(chosen), 'item')} is for tables,"
                " leave it out"
            )
        root = source.resolve()
        folder = read_folder(root, shown_pictures())
        broken = _broken(folder.pictures, root)
        return Things(folder.pictures, "image", root, None, folder.left_out(), broken)
    table = Table.open(source, "tables of things to show", endings=ITEM_TABLES)
    if len(chosen) != 1:
        raise InputError(
            f"{source}: say which column is shown, with one of --text, --image and --url; the"
            f" columns are {some_of(table.columns)}"
        )
    ((kind, column),) = chosen.items()
    return _of_table(table, kind, column, item)


def _broken(paths: Sequence[str], root: Path) -> list[int]:
    """Return which files do not begin as pictures do; nothing else in them is looked at."""
    broken = []
    for number, name in enumerate(paths):
        with contextlib.suppress(OSError), (root / name).open("rb") as file:
            head, ending = file.read(16), Path(name).suffix.lower()
            if not (_BEGINNINGS.match(head) or (ending not in PICTURES and _CONVERTED.match(head))):
                broken.append(number)
    return broken


def _address(name: str) -> str:
    return f"/picture/{quote(name)}"


def _of_table(table: Table, kind: str, column: str, item: str | None) -> Things:
    import pyarrow as pa

    by_name = item or ("item" if "item" in table.columns else None)
    for name in filter(None, (column, by_name)):
        if name not in table.columns:
            raise fault(table.path, f"there is no column {name!r}, only {some_of(table.columns)}")
    needed = list(dict.fromkeys(filter(None, (column, by_name))))
    pieces = list(table.pieces(needed))
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
    paths = values.to_pylist() if kind == "image" else []
    local = [row for row, path in enumerate(paths) if not path.lower().startswith(_WEB)]
    broken = [local[at] for at in _broken([paths[row] for row in local], root)]
    return Things(names, kind, root, values.fill_null(""), "", broken)


def _refuse_unshowable(table: Table, kind: str, column: str, values: Any, root: Path) -> None:
    if kind == "text":
        return
    shown = shown_pictures()
    for row, value in enumerate(values.to_pylist()):
        if value and value.lower().startswith(_WEB):
            continue
        if not value or not value.strip():
            problem = f"{column!r} is blank; fill it in, or drop the row"
        elif kind == "url":
            problem = f"{column!r} is {value[:60]!r}; give an address with http:// or https://"
        elif "\0" in value or not may_show(Path(os.path.normpath(root / value)), root, shown):
            problem = (
                f"{value[:60]!r} is not the path of a picture in {root}, the folder of the table;"
                f" others are not shown, nor hidden ones. Names end in {', '.join(shown)}"
                f"{to_install([Path(value).suffix.lower()])}"
            )
        elif not (root / value).is_file():
            problem = f"there is no picture {value[:60]!r} in {root}, the folder of the table"
        else:
            continue
        raise table.refuse(row, problem)
