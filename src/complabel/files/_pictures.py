"""The pictures in a folder: which files count, and what they are called."""

from __future__ import annotations

import os
from pathlib import Path

from complabel._opening import StrPath, as_path, explained, fault
from complabel.errors import DatasetNotFoundError

PICTURES = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
}
"""Types of pictures by the ending of their names; all browsers show them, and none runs them."""


def list_pictures(folder: StrPath) -> list[str]:
    """Return the pictures in a folder and in its folders: paths from there, with ``/``, sorted.

    Names that begin with a dot do not count. Links to folders are not followed, nor links to files
    that lie outside the folder, or are hidden in it.
    """
    top = as_path("folder", folder)
    if not top.is_dir():
        raise DatasetNotFoundError(f"{top}: there is no such folder; check the path")
    inside = top.resolve()
    found = []

    def refuse(error: OSError) -> None:
        raise error

    with explained(top, "correct the permissions of the folder"):
        for place, folders, names in os.walk(top, onerror=refuse):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                path = Path(place, name)
                if _is_picture(path) and may_show(path.resolve(), inside) and path.is_file():
                    found.append(path.relative_to(top).as_posix())
    if not found:
        raise fault(top, f"there are no pictures; their names end in {', '.join(PICTURES)}")
    for name in found:
        if not name.isprintable():  # bytes that are no UTF-8 are not printable, either
            raise fault(top, f"the name of the file {name!a} is no plain text; rename it")
    return sorted(found)


def _is_picture(path: Path) -> bool:
    return path.suffix.lower() in PICTURES and not path.name.startswith(".")


def may_show(path: Path, folder: Path) -> bool:
    """Return whether a path is that of a picture in a folder, and nothing on the way is hidden."""
    if not (path.is_relative_to(folder) and _is_picture(path)):
        return False
    return not any(part.startswith(".") for part in path.relative_to(folder).parts)
