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
    """Give a temporary path that takes the place of another once all has been written.

    Parameters
    ----------
    path : path
        The file to make or replace; its folder must exist.

    Yields
    ------
    Path
        In the same folder. Moved to ``path`` when the block ends, removed when it fails, also by
        Ctrl-C.

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
    """Write a UTF-8 text file in one piece.

    Parameters
    ----------
    path : path
        Its folder must exist.
    text : str

    Raises
    ------
    OutputError
        If it cannot be written; what was there before is unchanged.
    """
    target = Path(path)
    with explained(target), replacing(target) as partial:
        partial.write_text(text, encoding="utf-8")


def write_texts(folder: str | os.PathLike[str], texts: Mapping[str, str]) -> None:
    """Write UTF-8 text files into a folder: all of them, or none where the disk is full.

    Parameters
    ----------
    folder : path
        Made where it is not there.
    texts : mapping of str to str
        Names of the files, and what they hold.

    Raises
    ------
    OutputError
        If one cannot be written; what was there before is unchanged.
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
