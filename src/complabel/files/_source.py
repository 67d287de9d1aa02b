"""Paths, endings and text files, and messages about damaged files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from complabel.errors import ComplabelError, DatasetFormatError, DatasetNotFoundError, InputError

StrPath: TypeAlias = str | os.PathLike[str]

CSV_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
PARQUET = ".parquet"
TABLE_ENDINGS = (*CSV_ENDINGS, PARQUET)


MAX_LISTED = 5
"""Most names that a message lists."""


NO_UTF8 = "found bytes that are not UTF-8; save the file as UTF-8"


def as_path(name: str, value: object) -> Path:
    """Return a value as a path; refuse anything else."""
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else value
    if not isinstance(text, str):
        raise InputError(
            f"{name} is {repr(value)[:60]} (of type {type(value).__name__}); give a path as a str "
            "or a pathlib.Path"
        )
    return Path(text)


def ending_of(path: Path, endings: Sequence[str]) -> str | None:
    """Return the first of some endings that a file has, or None."""
    return next((each for each in endings if path.name.lower().endswith(each)), None)


def source_of(name: str, value: object, endings: Sequence[str], what: str) -> tuple[Path, str]:
    """Return the path of an existing file, and its ending, which determines the format."""
    path = existing(name, value)
    ending = ending_of(path, endings)
    if ending is None:
        raise DatasetFormatError(
            f"{path}: {what} must end in {', '.join(endings)}; save the file in one of these"
            " formats"
        )
    return path, ending


def existing(name: str, value: object) -> Path:
    """Return the path of an existing file."""
    path = as_path(name, value)
    try:
        found = path.is_file()
    except (OSError, ValueError):  # the path is too long, or has a NUL
        found = False
    if not found:
        raise DatasetNotFoundError(f"{path}: no such file; check the path")
    return path


def some_of(names: Sequence[str]) -> str:
    """Join the first few names, in quotes."""
    return ", ".join(map(repr, names[:MAX_LISTED])) + ", ..." * (len(names) > MAX_LISTED)


def pyarrow() -> Any:
    """Return the module pyarrow, or raise an error that says how to install it."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
    except ImportError as error:
        raise InputError(
            "CSV and Parquet tables need pyarrow, which is not installed; run pip install"
            ' "complabel[tables]"'
        ) from error
    return pa


@contextmanager
def explained(path: Path, advice: str) -> Iterator[None]:
    """Turn a parser's error about a damaged file into one sentence with the file's name."""
    try:
        yield
    except ComplabelError:
        raise
    except UnicodeDecodeError as cause:
        raise DatasetFormatError(f"{path}: {NO_UTF8}") from cause
    except Exception as cause:  # parsers of these formats raise many types of exceptions
        lines = str(cause).splitlines() or [type(cause).__name__]
        raise DatasetFormatError(f"{path}: {lines[0][:200]}; {advice}") from cause


def read_lines(path: Path, what: str) -> list[str]:
    """Return the lines of a text file, without line ends and without blank lines at its end."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as cause:
        raise DatasetNotFoundError(f"{path}: cannot be read ({cause.strerror or cause})") from cause
    except UnicodeDecodeError as cause:
        line = cause.object.count(b"\n", 0, cause.start) + 1
        raise DatasetFormatError(f"{path}, line {line}: {NO_UTF8}") from cause
    lines = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")
    blank = next((at for at, line in enumerate(lines, start=1) if not line.strip()), None)
    if blank is not None:
        found = "the file is empty" if len(lines) == 1 else f"line {blank} is blank"
        raise DatasetFormatError(f"{path}: {found}; give {what}, one on each line")
    return lines
