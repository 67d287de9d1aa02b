"""From files to text: bytes up to a limit, decoded, line by line, complaints with their place."""

import bz2
import contextlib
import gzip
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from complabel.errors import (
    ComplabelError,
    DatasetFormatError,
    DatasetNotFoundError,
    InputError,
)

MAX_UNPACKED = 2**30
"""Bytes that an archive may unpack to where the caller sets no other limit: 1 GiB."""

# What a str takes at least: a shape of a few bytes could ask for names that fill the memory.
BYTES_PER_NAME = 64
# Bounds what is in memory at a time beyond the content: an archive's bytes, or blank lines.
_CHUNK = 1 << 20


def read_plain(path: Path) -> bytes:
    """Read a file as it is."""
    with _opened(path) as file:
        return file.read()


def read_compressed(path: Path, limit: int) -> bytes:
    """Read a file, unpacked where its name ends in .gz or .bz2."""
    ending = path.suffix.lower()
    if ending not in {".gz", ".bz2"}:
        return read_plain(path)
    unpack = gzip.open if ending == ".gz" else bz2.open
    with _opened(path) as packed, _explained(str(path)), unpack(packed, "rb") as unpacked:
        return _read_limited(str(path), unpacked, limit)


def read_zipped(
    path: Path, choose: Callable[[list[str]], Iterable[str]], limit: int
) -> dict[str, bytes]:
    """Read those files of a .zip that are chosen of its names, all together up to the limit."""
    found: dict[str, bytes] = {}
    with _opened(path) as file, _explained(str(path)), zipfile.ZipFile(file) as archive:
        for inside in choose(archive.namelist()):
            source, taken = f"{path}!{inside}", sum(map(len, found.values()))
            with _explained(source), archive.open(inside) as unpacked:
                found[inside] = _read_limited(source, unpacked, limit, taken)
    return found


def decode(raw: bytes, declared: str | None = None) -> str:
    """Decode a text file, and give it Unix line ends.

    UTF-8 is tried first, then the encoding that its companion declares. Older benchmark files name
    labels in Latin-1, which decodes any byte.
    """
    text = None
    for encoding in ("utf-8-sig", declared or "latin-1"):
        with contextlib.suppress(LookupError, ValueError):
            # ARFF's keywords are ASCII; in UTF-16 or EBCDIC these bytes are something else.
            if b"@data\n".decode(encoding) == "@data\n":
                text = raw.decode(encoding)
                break
    text = raw.decode("latin-1") if text is None else text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def numbered_lines(text: str, start: int, stop: int) -> Iterator[tuple[int, str]]:
    """Give number and stripped text of the lines of text[start:stop], without blank ones."""
    number = text.count("\n", 0, start) + 1
    while start < stop:
        end = text.find("\n", min(start + _CHUNK, stop), stop) + 1 or stop
        chunk = text[start:end]
        if not chunk.isspace():
            for offset, line in enumerate(chunk.split("\n")):
                if stripped := line.strip():
                    yield number + offset, stripped
        number += chunk.count("\n")
        start = end


@contextlib.contextmanager
def at_line(source: str | Path, number: int) -> Iterator[None]:
    """Put the place before what is wrong with a line."""
    try:
        yield
    except DatasetFormatError as problem:
        raise DatasetFormatError(f"{source}, line {number}: {problem}") from None


def refuse_large(what: str, n_bytes: int, limit: int) -> None:
    """Refuse what a small file would blow up to in memory."""
    if n_bytes > limit:
        raise InputError(
            f"{what} would take {n_bytes:,} bytes, more than {limit:,}, the limit that keeps a "
            "damaged or hostile file from filling the memory; if the file is sound, give a larger "
            "max_unpacked"
        )


def check_starts(starts: NDArray[np.integer[Any]]) -> None:
    """Refuse a sparse matrix's starts that fall: SciPy's check overflows, and skips empty ones."""
    if (starts[1:] < starts[:-1]).any():
        raise ValueError("indptr must be a non-decreasing sequence")


def _read_limited(
    source: str, unpacked: IO[bytes] | gzip.GzipFile | bz2.BZ2File, limit: int, taken: int = 0
) -> bytes:
    """Read to the end, but not past the limit, of which some may be taken."""
    content = io.BytesIO()
    while chunk := unpacked.read(_CHUNK):
        if taken + content.tell() + len(chunk) > limit:
            raise DatasetFormatError(
                f"{source}: unpacks to more than {limit:,} bytes, the limit that keeps a damaged "
                "or hostile archive from filling the memory; if the file is sound, give a larger "
                "max_unpacked"
            )
        content.write(chunk)
    return content.getvalue()


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, or say that it is there and cannot be read."""
    try:
        with path.open("rb") as file:
            yield file
    except OSError as cause:
        raise DatasetNotFoundError(f"{path}: cannot be read ({cause.strerror or cause})") from cause


@contextlib.contextmanager
def _explained(source: str) -> Iterator[None]:
    """Say that an archive does not unpack."""
    try:
        yield
    except ComplabelError:
        raise
    except Exception as cause:  # the standard library raises a dozen kinds for a damaged archive
        encrypted = isinstance(cause, RuntimeError) and "encrypted" in str(cause)
        todo = "unpack it by hand" if encrypted else "download it again, or unpack it by hand"
        raise DatasetFormatError(
            f"{source}: cannot be unpacked ({str(cause) or type(cause).__name__}); {todo}"
        ) from cause
