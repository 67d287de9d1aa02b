"""Writing files so that an interruption leaves the old one or the new one, never half of one."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

__all__ = ["replacing", "write_text"]


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
    text : str
    """
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")
