"""Writing files completely or not at all: an interruption never leaves half a file."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import uuid
from collections.abc import Iterator, Set
from contextvars import ContextVar
from pathlib import Path

from complabel.errors import ComplabelError, OutputError

# None: any file may be replaced, as in Python. Else: only these files, as on the command line.
_replaceable: ContextVar[Set[Path] | None] = ContextVar("replaceable", default=None)


@contextlib.contextmanager
def keeping(replaceable: Set[Path]) -> Iterator[None]:
    """Inside the block, ``replacing`` replaces no file that exists, except these.

    That also holds for files that appear while the block runs. The paths are those that
    ``behind_links`` returns. The set may grow inside the block.
    """
    token = _replaceable.set(replaceable)
    try:
        yield
    finally:
        _replaceable.reset(token)


def behind_links(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path of a file; of a symbolic link, that of the file it leads to."""
    return Path(os.path.realpath(path))


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Provide a temporary path, which replaces ``path`` when the block ends without an error.

    The temporary file is in the same folder. It is removed if the block fails, also by Ctrl-C. A
    symbolic link stays, and the file that it leads to is replaced.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with replacing(target) as partial:
    ...     _ = partial.write_text("42")
    >>> target.read_text()
    '42'
    """
    target = behind_links(path)
    partial = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    replaceable = _replaceable.get()
    is_new = replaceable is not None and target not in replaceable
    if is_new and os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "there is a file of this name")
    try:
        yield partial
        if is_new:
            _move(partial, target)
        else:
            partial.replace(target)
    finally:
        # If it has moved, there is nothing to remove, nor if a file stands in a folder's place.
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            partial.unlink()


def _move(partial: Path, target: Path) -> None:
    """Give a file another name, and fail if there is a file of this name by now."""
    try:
        os.link(partial, target)
    except FileExistsError as error:
        raise FileExistsError(errno.EEXIST, "a file of this name has appeared") from error
    except OSError:  # this file system has no links
        with target.open("xb"):  # takes the name, or fails
            pass
        try:
            partial.replace(target)
        except BaseException:
            target.unlink()
            raise


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 text file completely, or raise an OutputError and keep the old file."""
    target = Path(path)
    with explained(target), replacing(target) as partial:
        partial.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def explained(path: object) -> Iterator[None]:
    """Turn an OSError about a file into an OutputError that says what to do."""
    try:
        yield
    except ComplabelError:
        raise
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {error.strerror or error}. An older file is unchanged; free"
            " space, correct the permissions, or choose another path"
        ) from error


def unused(path: Path) -> Path:
    """Return a path if there is no such file, else the next one with a number.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("answers.csv.gz", "answers-2.csv.gz"):
    ...     (folder / name).touch()
    >>> unused(folder / "answers.csv.gz").name, unused(folder / "others.csv").name
    ('answers-3.csv.gz', 'others.csv')
    """
    name, ending = path.name, ""
    for suffix in (".gz", Path(path.name.removesuffix(".gz")).suffix):
        if suffix and name.endswith(suffix):
            name, ending = name.removesuffix(suffix), suffix + ending
    numbered = re.fullmatch(r"(.+)-(\d\d?)", name)
    stem, number = (numbered[1], int(numbered[2])) if numbered else (name, 1)
    while os.path.lexists(path):
        number += 1
        path = path.with_name(f"{stem}-{number}{ending}")
    return path
