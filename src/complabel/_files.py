"""Writing files so that an interruption leaves the old one or the new one, never half of one."""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from complabel.errors import OutputError

__all__ = ["explained", "replacing", "write_text", "write_texts"]


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path in the folder of another, whose place it takes when the block ends.

    It is removed when the block fails, also by Ctrl-C.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with replacing(target) as partial:
    ...     _ = partial.write_text("42")
    >>> target.read_text()
    '42'
    """
    target = Path(path)
    partial = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        yield partial
        partial.replace(target)
    finally:
        # After the move there is nothing left to remove.
        partial.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 text file in one piece, or raise an OutputError and leave the old one."""
    target = Path(path)
    with explained(target), replacing(target) as partial:
        partial.write_text(text, encoding="utf-8")


def write_texts(folder: str | os.PathLike[str], texts: Mapping[str, str]) -> None:
    """Write UTF-8 text files by name into a folder: all of them, or none where the disk is full.

    The folder is made where it is not there. If a file cannot be written, the OutputError leaves
    everything as it was.
    """
    target = Path(folder)
    with explained(target):
        made = [path for path in (target, *target.parents) if not path.exists()]
        try:
            target.mkdir(parents=True, exist_ok=True)
            with contextlib.ExitStack() as files:
                for name, text in texts.items():
                    if (target / name).is_dir():  # seen before the first file is put in place
                        raise IsADirectoryError(errno.EISDIR, f"{name} is a folder")
                    partial = files.enter_context(replacing(target / name))
                    partial.write_text(text, encoding="utf-8")
        except BaseException:
            for path in made:
                with contextlib.suppress(OSError):
                    path.rmdir()
            raise


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the system's complaint about a file into an OutputError that says what to do."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {error.strerror or error}. What was there before is"
            " unchanged; free space, mend the permissions or name another place"
        ) from error
