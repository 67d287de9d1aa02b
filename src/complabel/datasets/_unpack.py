"""Reads files whole, unpacking .zip, .gz and .bz2 up to a limit."""

import bz2
import gzip
import io
import lzma
import struct
import zipfile
import zlib
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
    try:
        return path.read_bytes()
    except OSError as cause:
        raise _unreadable(path, cause) from cause


def read_compressed(path: Path, max_unpacked: int) -> bytes:
    """Read a file, unpacked where its name ends in .gz or .bz2."""
    if path.suffix not in {".gz", ".bz2"}:
        return read_plain(path)
    try:
        packed = path.open("rb")
    except OSError as cause:
        raise _unreadable(path, cause) from cause
    opener = gzip.open if path.suffix == ".gz" else bz2.open
    with packed:
        try:
            with opener(packed, "rb") as unpacked:
                return _read_limited(str(path), unpacked, max_unpacked)
        except ComplabelError:
            raise
        except _DAMAGE as cause:
            raise _damaged(str(path), cause) from cause


def read_member(path: Path, member: str | None, max_unpacked: int) -> tuple[str, bytes]:
    """Read the ARFF file inside a .zip; return what to call it in messages, and its bytes."""
    source = str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            inside = _choose_member(source, archive.namelist(), member)
            source = f"{path}!{inside}"
            with archive.open(inside) as unpacked:
                return source, _read_limited(source, unpacked, max_unpacked)
    except ComplabelError:
        raise
    except _DAMAGE as cause:
        raise _damaged(source, cause) from cause


def check_limit(max_unpacked: object) -> None:
    """Refuse a limit that is no positive number of bytes."""
    check_integer("max_unpacked", max_unpacked, at_least=1)


def _read_limited(
    source: str, unpacked: IO[bytes] | gzip.GzipFile | bz2.BZ2File, limit: int
) -> bytes:
    """Read to the end, but not past the limit."""
    content = io.BytesIO()
    while chunk := unpacked.read(_CHUNK):
        if content.tell() + len(chunk) > limit:
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


def _unreadable(path: Path, cause: OSError) -> DatasetNotFoundError:
    """Say that a file is there and does not open."""
    return DatasetNotFoundError(f"{path}: cannot be read ({cause.strerror or cause})")


def _damaged(source: str, cause: Exception) -> DatasetFormatError:
    """Say that an archive does not unpack."""
    encrypted = isinstance(cause, RuntimeError) and "encrypted" in str(cause)
    todo = "unpack it by hand" if encrypted else "download it again, or unpack it by hand"
    return DatasetFormatError(
        f"{source}: cannot be unpacked ({str(cause) or type(cause).__name__}); {todo}"
    )
