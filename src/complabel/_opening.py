"""Opening files: what is packed, in which encoding, and what is wrong where."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import csv
import errno
import gzip
import io
import os
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

from complabel.errors import ComplabelError, DatasetFormatError, DatasetNotFoundError, InputError

StrPath: TypeAlias = str | os.PathLike[str]
StrPaths: TypeAlias = StrPath | Sequence[StrPath]

NOT_UTF8 = (
    'is not UTF-8 text; save the file as UTF-8 (in a spreadsheet: "CSV UTF-8"), or convert it:'
    " iconv -f ENCODING -t UTF-8"
)
_AGAIN = "get the file again, or unpack it by hand"
_UNPACK: dict[str, Callable[[Any], Any]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": bz2.BZ2File,
    ".xlsx": lambda file: io.BytesIO(_sheet_as_csv(file)),
}
_CHUNK = 1 << 20
_LEAST_LIMIT = 1 << 28  # bytes that any file may unpack to
# Sound archives of features shrink up to a hundredfold; a hostile one a thousandfold and more.
_MOST_SHRUNK = 100
_MOST_DEFLATED = 1032  # how much gzip shrinks at most
_MOST_CELLS = 10_000_000  # of the rectangle of a sheet, which may be nearly empty


def fault(
    source: object, problem: str, *, proposes: Sequence[Mapping[str, object]] = (), **place: int
) -> DatasetFormatError:
    """Return the error about a file: ``fault(path, "is blank", line=3)``.

    Control characters are escaped, as text from the file could otherwise control a terminal.
    ``proposes`` are the settings that the text proposes, as in :class:`ComplabelError`.
    """
    where = "".join(f", {noun} {number}" for noun, number in place.items())
    text = visible(f"{source}{where}: {problem}")
    return DatasetFormatError(text.replace("\n", "\\n").replace("\t", "\\t"), proposes=proposes)


def tidy(name: str) -> str:
    """Return a name as names are compared: without blanks at its ends, and composed (NFC).

    Examples
    --------
    >>> tidy(" Ka\u0308fer ") == "K\u00e4fer"
    True
    """
    name = name.strip()
    return name if name.isascii() else unicodedata.normalize("NFC", name)


# Control characters but tab and line feed, marks that turn the direction of a line, further ends of
# lines, invisible tags, and halves of characters, which no stream takes.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    r"""Return a text with what could steer a terminal, or hide what is written, spelled out.

    Examples
    --------
    >>> print(visible("red\x1b[31m"), visible("été 東京"))
    red\x1b[31m été 東京
    """
    return _STEERING.sub(lambda found: ascii(found[0])[1:-1], text)


@contextlib.contextmanager
def explained(
    source: object, advice: str, kinds: tuple[type[Exception], ...] = (Exception,)
) -> Iterator[None]:
    """Turn errors of the system and of parsers, which raise a dozen types, into one sentence."""
    try:
        yield
    except ComplabelError:
        raise
    except UnicodeDecodeError as cause:
        raise fault(source, NOT_UTF8) from cause
    except kinds as cause:
        # A damaged zip may ask for a place before its beginning, which is an invalid argument.
        if isinstance(cause, OSError) and cause.errno not in (None, errno.EINVAL):
            told = f"{source}: cannot be read ({cause.strerror})"
            raise DatasetNotFoundError(told) from cause
        reason = (str(cause).splitlines() or [type(cause).__name__])[0]
        raise fault(source, f"{reason[:200]}; {advice}") from cause


def as_path(argument: str, value: object) -> Path:
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else value
    if not isinstance(text, str):
        raise wrong_type(argument, value, "a path as a str or a pathlib.Path")
    return Path(text)


def wrong_type(argument: str, value: object, wanted: str) -> InputError:
    kind = type(value).__name__
    return InputError(f"{argument} is {repr(value)[:60]} (of type {kind}); give {wanted}")


def is_file(path: Path) -> bool:
    """Return whether a path is an existing file; False if it is too long or has a NUL."""
    with contextlib.suppress(OSError, ValueError):
        return path.is_file()
    return False


def existing(argument: str, value: object) -> Path:
    path = as_path(argument, value)
    if not is_file(path):
        with contextlib.suppress(OSError, ValueError):
            if path.is_dir():
                raise DatasetNotFoundError(f"{path}: is a folder; give a file in it")
        raise DatasetNotFoundError(f"{path}: no such file; check the path")
    return path


def existing_ones(argument: str, value: object) -> list[Path]:
    if isinstance(value, str | os.PathLike):
        return [existing(argument, value)]
    if not isinstance(value, Iterable) or isinstance(value, bytes | bytearray):
        raise wrong_type(argument, value, "one path (str or pathlib.Path) or a list of them")
    paths = [existing(f"{argument}[{at}]", each) for at, each in enumerate(value)]
    if not paths:
        raise DatasetNotFoundError(f"{argument} is empty; give a path")
    return paths


def ending_of(path: Path, endings: Iterable[str]) -> str:
    """Return the longest of some endings that a file's name has; empty if it has none."""
    name = path.name.lower()
    return max((each for each in endings if name.endswith(each)), key=len, default="")


@contextlib.contextmanager
def open_binary(path: Path) -> Iterator[BinaryIO]:
    """Open a file; unpack .gz and .bz2.

    UTF-16 with a byte order mark is given as UTF-8, and the sheet of an .xlsx file as CSV.
    """
    with explained(path, _AGAIN, (OSError, EOFError, zlib.error)), path.open("rb") as file:
        content: Any = file
        if unpack := _UNPACK.get(path.suffix.lower()):
            content = io.BufferedReader(_Limited(path, unpack(file)), _CHUNK)
        if content.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            text = _read(path, content, limit_of(path)).decode("utf-16")
            content = io.BufferedReader(cast(Any, io.BytesIO(text.encode())))
        yield content


class _Limited(io.RawIOBase):
    """What is unpacked from a file, up to the limit for its size."""

    def __init__(self, path: Path, content: Any) -> None:
        self._path, self._content = path, content
        self._done, self._limit = 0, limit_of(path)
        if path.suffix.lower() == ".gz":  # its last bytes tell the size, unless it is damaged
            size = path.stat().st_size
            with path.open("rb") as file:
                file.seek(max(size - 4, 0))
                told = int.from_bytes(file.read(4), "little")
            self._count(told if told <= _MOST_DEFLATED * size else 0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        number: int = self._content.readinto(buffer)
        self._done += number
        self._count(self._done)
        return number

    def _count(self, n_bytes: int) -> None:
        refuse_large(self._path, "its content", n_bytes, self._limit)


def read_bytes(path: Path) -> bytes:
    with open_binary(path) as file:
        packed = path.suffix.lower() in _UNPACK
        return _read(path, file, limit_of(path)) if packed else file.read()


def read_text(path: Path) -> str:
    """Read a text in UTF-8 or UTF-16, with the line ends of Unix."""
    raw = read_bytes(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        raise fault(path, NOT_UTF8, line=raw.count(b"\n", 0, cause.start) + 1) from cause
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_members(
    path: Path, choose: Callable[[list[str]], Iterable[str]]
) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of files in a .zip; ``choose`` picks them from all names."""
    with explained(path, _AGAIN), path.open("rb") as file, zipfile.ZipFile(file) as archive:
        left = limit_of(path)
        for name in choose(archive.namelist()):
            source = f"{path}!{name}"
            with explained(source, _AGAIN), archive.open(name) as member:
                content = _read(source, cast(BinaryIO, member), left)
            left -= len(content)
            yield name, content


def limit_of(path: Path) -> int:
    """Return how many bytes a file may become in memory."""
    return max(_LEAST_LIMIT, _MOST_SHRUNK * path.stat().st_size)


def refuse_large(source: object, what: str, n_bytes: int, limit: int) -> None:
    """Refuse what would need too much memory, as a damaged or hostile file may."""
    if n_bytes > limit:
        raise fault(
            source,
            f"{what} would take {n_bytes:,} bytes, more than {limit:,}, the limit that keeps a"
            " damaged or hostile file from filling the memory; store it unpacked, or split it",
        )


def _read(source: object, file: BinaryIO, limit: int) -> bytes:
    content = io.BytesIO()
    while chunk := file.read(_CHUNK):
        refuse_large(source, "its content", content.tell() + len(chunk), limit)
        content.write(chunk)
    return content.getvalue()


def _sheet_as_csv(file: BinaryIO) -> bytes:
    """Return the only sheet of an ``.xlsx`` file that is not empty, as CSV; a row is a line."""
    path = Path(file.name)
    try:
        import openpyxl  # type: ignore[import-untyped]
    except ModuleNotFoundError as cause:
        raise InputError(
            f"{path}: reading .xlsx needs openpyxl; install it with: pip install"
            ' "complabel[tables]", or save the sheet as CSV'
        ) from cause
    with explained(path, "this is not an .xlsx file, or damaged; save it again, or as CSV"):
        content = io.BytesIO(file.read())
        with zipfile.ZipFile(content) as parts:
            size = sum(part.file_size for part in parts.infolist())
            refuse_large(path, "its content", size, limit_of(path))
            has_formulas = any(b"<f" in parts.read(n) for n in parts.namelist() if "sheets/" in n)
        how: Any = {"read_only": True, "keep_links": False}
        book = openpyxl.load_workbook(content, data_only=True, **how)
        found = {sheet.title: _rows_of(path, sheet) for sheet in book.worksheets}
        if has_formulas:
            _refuse_formulas(path, openpyxl.load_workbook(content, **how), found)
    sheets = {name: rows for name, rows in found.items() if rows}
    if len(sheets) > 1:
        names = ", ".join(map(repr, sheets))
        problem = f"has {len(sheets)} sheets with content, {names}; keep one, or save one as CSV"
        raise fault(path, problem)
    text = io.StringIO()
    for rows in sheets.values():
        width = max(map(len, rows))
        write = csv.writer(text, lineterminator="\n").writerow
        for row in rows:
            write(row + [""] * (width - len(row)))
    return text.getvalue().encode()


def _refuse_formulas(path: Path, book: Any, found: Mapping[str, list[list[str]]]) -> None:
    """Refuse formulas that no program has computed yet: their cells would be read as blank."""
    for sheet in book.worksheets:
        sheet.reset_dimensions()
        rows = found[sheet.title]
        for at, cells in enumerate(sheet.iter_rows()):
            values = rows[at] if at < len(rows) else []
            for cell in cells:
                if cell.data_type == "f" and not any(values[cell.column - 1 : cell.column]):
                    place = f"{path}, sheet {sheet.title!r}, cell {cell.coordinate}"
                    told = "holds a formula without a value; open and save it in a spreadsheet"
                    raise fault(place, told)


def _rows_of(path: Path, sheet: Any) -> list[list[str]]:
    """Return the cells of a sheet as texts, without what is empty on the right and at the end.

    What the file says about its size is not believed, and no cell may lie far from the others: the
    rows between would fill the memory.
    """
    sheet.reset_dimensions()
    rows: list[list[str]] = []
    width = n_filled = empty = 0
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        row = [_text_of(cell) for cell in cells]
        while row and not row[-1]:
            row.pop()
        if not row:
            empty += 1
            continue
        width, n_filled = max(width, len(row)), n_filled + sum(map(bool, row))
        if number * width > max(_MOST_CELLS, _MOST_SHRUNK * n_filled):
            place = f"{path}, sheet {sheet.title!r}, cell {cells[len(row) - 1].coordinate}"
            raise fault(
                place,
                f"makes the sheet {number:,} rows long and {width:,} columns wide, though only"
                f" {n_filled:,} cells are filled so far; delete what lies far from the table",
            )
        rows += [[]] * empty
        rows.append(row)
        empty = 0
    return rows


def _text_of(cell: Any) -> str:
    """Return what is in a cell: whole numbers without a point, so that 7 is not 7.0."""
    value = cell.value
    if value is None or cell.data_type == "e":  # such as #N/A
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)
