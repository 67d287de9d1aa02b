"""What commands for experiments write beside single files: a folder of a report, and a store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from complabel._writing import behind_links, explained
from complabel.cli import (
    has_written,
    is_own_page,
    may_replace,
    refuse_no_folder,
    refuse_odd,
    try_to_write,
    unused,
)
from complabel.errors import OutputError
from complabel.experiments.reports import FORMATS


def claim_report(name: str, folder: Path | None) -> Path:
    """Return the folder for a study's report, if it can be written there and nothing is lost."""
    folder = folder or Path(f"{name}-report")
    shown = f"--output {folder}"
    with explained(shown):
        nearest = next(p for p in (folder, *folder.absolute().parents) if os.path.lexists(p))
        if not nearest.is_dir():
            raise OutputError(f"{shown}: {nearest} is a file; give the name of a folder")
        there = [folder / name for name in FORMATS if os.path.lexists(folder / name)]
        for path in there:
            refuse_odd(path, f"--output {path}")
        if there and not may_replace() and not _is_own_report(there):
            other = unused(folder if folder.name.strip(".") else folder / "report")
            raise OutputError(
                f"{shown}: {there[0]} exists; give another folder, such as {other}, or --force to"
                " replace the files in it"
            )
        for path in there:
            has_written(path)
        try_to_write(nearest, folder)
    return folder


def claim_store(path: Path) -> None:
    """Refuse a store that cannot be made; a store that exists is continued."""
    shown = f"--store {path}"
    with explained(shown):
        if not path.exists():
            refuse_no_folder(path, shown)
            try_to_write(behind_links(path).parent, path)


def _is_own_report(paths: Sequence[Path]) -> bool:
    """Return whether complabel wrote these files, and nobody has changed one since."""
    pages = [path for path in paths if path.suffix == ".html"]
    times = {path.lstat().st_mtime_ns for path in paths}
    return bool(pages) and len(times) == 1 and all(map(is_own_page, pages))
