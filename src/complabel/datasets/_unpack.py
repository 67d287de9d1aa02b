"""Reads files whole, unpacking .zip, .gz and .bz2 up to a limit."""

import bz2
import contextlib
import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from complabel._parameters import check_integer
from complabel.errors import ComplabelError, DatasetFormatError, DatasetNotFoundError

MAX_UNPACKED = 2**30
"""Bytes that an archive may unpack to where the caller sets no other limit: 1 GiB."""

_CHUNK = 1 << 20
# What the standard library raises for archives that are damaged, encrypted or of an unknown kind.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    MemoryError,  # an LZMA header may ask for gigabytes
)


def read_plain(path: Path) -> bytes:
    """Read a file as it is."""
    with _opened(path) as file:
        return file.read()


def read_compressed(path: Path, max_unpacked: int) -> bytes:
    """Read a file, unpacked where its name ends in .gz or .bz2."""
    ending = path.suffix.lower()
    if ending not in {".gz", ".bz2"}:
        return read_plain(path)
    opener = gzip.open if ending == ".gz" else bz2.open
    with _opened(path) as packed, _explained(str(path)), opener(packed, "rb") as unpacked:
        return _read_limited(str(path), unpacked, max_unpacked)


def read_member(path: Path, member: str | None, max_unpacked: int) -> tuple[str, bytes]:
    """Read the ARFF file inside a .zip; return what to call it in messages, and its bytes."""
    with _opened(path) as file:
        with _explained(str(path)):
            archive = zipfile.ZipFile(file)
        inside = _choose_member(str(path), archive.namelist(), member)
        source = f"{path}!{inside}"
        with _explained(source), archive.open(inside) as unpacked:
            return source, _read_limited(source, unpacked, max_unpacked)


def read_members(path: Path, wanted: Sequence[str], max_unpacked: int) -> dict[str, bytes]:
    """Read those of the wanted files that a .zip holds, all together up to the limit."""
    found: dict[str, bytes] = {}
    with _opened(path) as file, _explained(str(path)), zipfile.ZipFile(file) as archive:
        for inside in [name for name in wanted if name in archive.namelist()]:
            source, taken = f"{path}!{inside}", sum(map(len, found.values()))
            with _explained(source), archive.open(inside) as unpacked:
                found[inside] = _read_limited(source, unpacked, max_unpacked, taken)
    return found


def check_limit(max_unpacked: object) -> None:
    """Refuse a limit that is no positive number of bytes."""
    check_integer("max_unpacked", max_unpacked, at_least=1)


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


def _choose_member(source: str, names: list[str], member: str | None) -> str:
    """Pick the ARFF file inside a zip archive."""
    if member is not None:
        if member not in names:
            raise DatasetNotFoundError(f"{source}: holds no {member!r}; it holds {sorted(names)}")
        return member
    found = [name for name in names if name.lower().endswith(".arff") and not _of_macos(name)]
    if len(found) != 1:
        raise DatasetNotFoundError(
            f"{source}: holds {len(found)} ARFF files {sorted(found)}; "
            "name the wanted one with member=..."
        )
    return found[0]


def _of_macos(name: str) -> bool:
    """Tell whether macOS put a file into an archive beside the one it describes."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith("._")


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
    except _DAMAGE as cause:
        encrypted = isinstance(cause, RuntimeError) and "encrypted" in str(cause)
        todo = "unpack it by hand" if encrypted else "download it again, or unpack it by hand"
        raise DatasetFormatError(
            f"{source}: cannot be unpacked ({str(cause) or type(cause).__name__}); {todo}"
        ) from cause
