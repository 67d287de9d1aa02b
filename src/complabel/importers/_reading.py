"""Open files of answers, read them line by line, and explain damaged files."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from complabel.errors import DatasetFormatError, DatasetNotFoundError
from complabel.importers._format import Head
from complabel.importers._sheet import sheet_as_csv

_HEAD = 1 << 16  # bytes by which a format is recognized
_LONGEST = 1 << 24  # bytes of a line, so that a damaged file cannot fill the memory


def read_head(path: Path) -> Head:
    """Read the beginning of a file, by which its format is recognized."""
    if not path.is_file():
        raise DatasetNotFoundError(f"{path}: no such file; check the path")
    with explained_reading(path), open_binary(path) as file:
        return Head(path, file.read(_HEAD))


@contextlib.contextmanager
def open_binary(path: Path) -> Iterator[BinaryIO]:
    """Open a file, and unpack it if its name ends in ``.gz``.

    The sheet of an ``.xlsx`` file is given as CSV, and UTF-16, which spreadsheets call "Unicode
    text", as UTF-8.
    """
    with path.open("rb") as file:
        if path.suffix.lower() == ".gz":
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield cast(BinaryIO, io.BufferedReader(unpacked, _HEAD))
        elif path.suffix.lower() == ".xlsx":
            yield _buffered(sheet_as_csv(path))
        elif file.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            try:
                text = file.read().decode("utf-16")
            except UnicodeDecodeError as cause:
                raise not_utf8(path, 1) from cause
            yield _buffered(text)
        else:
            yield file


def _buffered(text: str) -> BinaryIO:
    """Return a text as an open file in UTF-8."""
    return cast(BinaryIO, io.BufferedReader(cast(Any, io.BytesIO(text.encode()))))


@contextlib.contextmanager
def explained_reading(path: Path) -> Iterator[None]:
    """Turn errors of the system while reading into errors that say what to do."""
    try:
        yield
    except DatasetFormatError as refusal:
        # Escape control characters: text from the file could otherwise control a terminal.
        shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(refusal))
        if shown == str(refusal):
            raise
        raise DatasetFormatError(shown) from refusal
    except (EOFError, zlib.error, gzip.BadGzipFile) as cause:
        raise DatasetFormatError(
            f"{path}: cannot be unpacked ({cause}); get the file again, or unpack it by hand"
        ) from cause
    except OSError as cause:
        raise DatasetNotFoundError(f"{path}: cannot be read ({cause.strerror or cause})") from cause


def text_lines(path: Path, file: BinaryIO) -> Iterator[str]:
    """Yield the lines of a UTF-8 file with their line ends; refuse other encodings."""
    number = 0
    while line := file.readline(_LONGEST):
        number += 1
        if len(line) == _LONGEST:
            raise DatasetFormatError(
                f"{path}, line {number}: is longer than {_LONGEST:,} bytes; check that this is "
                "the right file"
            )
        if number == 1:
            refuse_other_encodings(path, line)
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            yield line.decode()
        except UnicodeDecodeError as cause:
            raise not_utf8(path, number) from cause


def refuse_other_encodings(path: Path, start: bytes) -> None:
    """Refuse UTF-16 and UTF-32, which spreadsheets save as "Unicode text"."""
    if start.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in start[:1000]:
        raise not_utf8(path, 1)


def not_utf8(path: Path, number: int) -> DatasetFormatError:
    """Return the error about a line in another encoding."""
    return DatasetFormatError(
        f"{path}, line {number}: is not UTF-8 text; save the file as UTF-8 (in a spreadsheet: "
        '"CSV UTF-8"), or convert it: iconv -f ENCODING -t UTF-8'
    )
