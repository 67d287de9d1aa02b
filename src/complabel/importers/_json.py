"""Read JSON from files that may be damaged, whole or by line, and check the types of values."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from complabel.errors import DatasetFormatError, DatasetNotFoundError
from complabel.importers._reading import open_binary

MAX_LINE = 2**28
"""Maximum length of a line in bytes: 256 MiB, far more than a task with an image needs."""
MAX_UNPACKED = 2**32
"""Maximum unpacked size in bytes of a packed file that is read as a whole: 4 GiB."""
_SHOWN = 60  # characters of a value in a message
_BOM = b"\xef\xbb\xbf"


class _RepeatedKeyError(ValueError):
    """An object has a key twice, so it is unclear which value is meant."""


@contextlib.contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, and unpack it if its name ends in ``.gz``; explain errors of the system."""
    try:
        with open_binary(path) as file:
            yield file
    except FileNotFoundError as error:
        raise DatasetNotFoundError(f"{path} does not exist; check the path") from error
    except (OSError, EOFError, zlib.error) as error:
        text = getattr(error, "strerror", None) or error
        raise DatasetFormatError(f"{path} cannot be read: {text}") from error
    except MemoryError as error:
        raise DatasetFormatError(f"{path} does not fit into memory; split it") from error


def read_bytes(path: Path) -> bytes:
    """Read a whole file, and remove a byte order mark."""
    with opened(path) as file:
        return _whole(file, path)


def read_json(path: Path) -> Any:
    """Read a file that is one JSON value."""
    return parse(read_bytes(path), str(path))


def read_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the JSON value of each line that is not blank, with its place in words."""
    with opened(path) as file:
        yield from _lines(file, path)


def read_records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a JSON list or of JSON lines, with their places in words."""
    with opened(path) as file:
        start = file.peek(2**16).removeprefix(_BOM).lstrip()  # type: ignore[attr-defined]
        if start[:1] != b"[":
            for place, record in _lines(file, path):
                yield place, object_of(record, place, "it")
            return
        records = parse(_whole(file, path), str(path))
    for number, record in enumerate(records, 1):
        place = f"{path}, record {number}"
        yield place, object_of(record, place, "it")


def _whole(file: IO[bytes], path: Path) -> bytes:
    """Read the rest of a file, up to a limit if it is packed."""
    if path.suffix.lower() != ".gz":
        return file.read().removeprefix(_BOM)
    parts, total = [], 0
    while part := file.read(2**24):
        parts.append(part)
        total += len(part)
        if total > MAX_UNPACKED:
            raise DatasetFormatError(
                f"{path} unpacks to more than {MAX_UNPACKED:,} bytes; unpack and split it"
            )
    return b"".join(parts).removeprefix(_BOM)


def _lines(file: IO[bytes], path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the JSON values of an open file of JSON lines, with their places."""
    for number in itertools.count(1):
        line = file.readline(MAX_LINE + 1)
        place = f"{path}, line {number}"
        if not line:
            return
        if len(line) > MAX_LINE:
            raise DatasetFormatError(
                f"{place} is longer than {MAX_LINE:,} bytes; give a file of JSON lines"
            )
        line = line.removeprefix(_BOM)
        if line.strip():
            yield place, parse(line, place)


def parse(raw: bytes | str, place: str) -> Any:
    """Parse JSON; an error says where it is not valid."""
    try:
        return json.loads(raw, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        where = "" if ", line " in place else f", line {error.lineno}"
        raise DatasetFormatError(
            f"{place}{where}, column {error.colno} is not valid JSON: {error.msg}; export it again"
        ) from error
    except UnicodeDecodeError as error:
        raise DatasetFormatError(f"{place} is not valid UTF-8: {error.reason}") from error
    except RecursionError as error:
        raise DatasetFormatError(f"{place} has lists or objects nested too deeply") from error
    except MemoryError as error:
        raise DatasetFormatError(f"{place} does not fit into memory; split the file") from error
    except ValueError as error:  # such as a number with thousands of digits
        raise DatasetFormatError(f"{place} is not valid JSON: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object as a dict; refuse repeated keys."""
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise _RepeatedKeyError(f"an object has the key {shown(twice)} twice")
    return made


def shown(value: Any) -> str:
    """Return a value for a message: short, on one line, with printable characters only."""
    if isinstance(value, list | dict):
        return f"a list of {len(value)}" if isinstance(value, list) else "an object"
    if isinstance(value, str):
        return repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "...")
    if isinstance(value, int) and abs(value) >= 2**64:
        return "a huge number"
    return json.dumps(value)


def object_of(value: Any, place: str, what: str) -> dict[str, Any]:
    """Return the value if it is an object; else raise an error that says what it is."""
    if not isinstance(value, dict):
        raise DatasetFormatError(f"{place}: {what} is {shown(value)}; it must be an object")
    return value


def list_of(value: Any, place: str, what: str) -> list[Any]:
    """Return the value if it is a list; else raise an error that says what it is."""
    if not isinstance(value, list):
        raise DatasetFormatError(f"{place}: {what} is {shown(value)}; it must be a list")
    return value


def text_of(value: Any, place: str, what: str) -> str:
    """Return the value as text if it is a text or a whole number; else raise an error."""
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**300:
        return str(value)
    if not isinstance(value, str):
        raise DatasetFormatError(
            f"{place}: {what} is {shown(value)}; it must be a text or a whole number"
        )
    if not value.strip():
        raise DatasetFormatError(f"{place}: {what} is empty; it must be a text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise DatasetFormatError(
            f"{place}: {what} is {shown(value)}, which is not valid Unicode; correct the text"
        ) from error
    return value


def optional_text(value: Any, place: str, what: str) -> str | None:
    """Return the value as text, or None if it is null or empty."""
    return None if value is None or value == "" else text_of(value, place, what)


def texts_of(value: Any, place: str, what: str) -> list[str]:
    """Return a list of texts, each once, in their order."""
    each = f"an entry of {what}"
    return list(dict.fromkeys(text_of(one, place, each) for one in list_of(value, place, what)))
