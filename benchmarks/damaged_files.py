"""What becomes of each command if one of its files is damaged?

The files of a small session are made. Then each command runs with each of its files in turn
emptied, cut in half, doubled, in another encoding and so on. Figures count runs:

- traceback: an error of Python reached the user; hangs: the command did not end
- half: the command failed, and an output is there
- unnamed: the command refused, and its message does not name the damaged file
- refused: as it should be; all other runs gave a result
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import os
import pkgutil
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import complabel as package
from benchmarks._session import SESSION, make_files, run

CELLS = {"command": tuple(SESSION)}
QUICK = {"command": ("show", "consensus")}
FIGURES = ("runs", "traceback", "hangs", "half", "unnamed", "refused")
DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "empty": lambda _: b"",
    "half": lambda content: content[: len(content) // 2],
    "bit": lambda content: changed_within(content, 1, bytes([content[len(content) // 2] ^ 1])),
    "doubled": lambda content: content * 2,
    "utf-16": lambda content: content.decode().encode("utf-16"),
    "latin-1": lambda content: content.decode().encode("latin-1"),
    "crlf": lambda content: content.decode().replace("\n", "\r\n").encode(),
    "bom": lambda content: content.decode().encode("utf-8-sig"),
    "nul": lambda content: changed_within(content, 0, b"\0"),
    "random": lambda _: random.Random(0).randbytes(3000),
    "missing": lambda _: None,
    "folder": lambda _: None,
}


def changed_within(content: bytes, n: int, new: bytes) -> bytes:
    """Put something else in the place of n bytes in the middle."""
    at = len(content) // 2
    return content[:at] + new + content[at + n :]


def damage(path: Path, way: str) -> bool:
    """Damage a file; return whether this makes sense for it."""
    content = path.read_bytes()
    try:
        new = DAMAGES[way](content)
    except UnicodeDecodeError:
        return False  # this is no text
    if new == content:
        return False
    path.unlink()
    if way == "folder":
        path.mkdir()
    elif new is not None:
        path.write_bytes(new)
    return True


@contextlib.contextmanager
def copied(source: Path) -> Iterator[Path]:
    """Yield a copy of the files."""
    with tempfile.TemporaryDirectory() as top:
        yield Path(shutil.copytree(source, Path(top) / "session"))


def verdict(folder: Path, command: str, name: str, usual: Any) -> str:
    """Run a command with a damaged file, and judge what became of it."""
    code, text = run(folder, SESSION[command])
    if code == "hangs":
        return "hangs"
    if "Traceback" in text or int(code) < 0:
        return "traceback"
    if code in (0, usual):
        return "result"
    if any(folder.glob("out*")) or any(folder.glob("clicked*")):
        return "half"
    return "refused" if name in text.replace("\n", "") else "unnamed"


@functools.cache
def session() -> tuple[tempfile.TemporaryDirectory[str], Path]:
    """Make the files, once; the folder goes with the process."""
    for module in pkgutil.walk_packages(package.__path__, "complabel."):
        if "__main__" not in module.name:
            importlib.import_module(module.name)  # here once, not in each run
    os.environ |= {"COLUMNS": "300", "TERM": "dumb", "NO_COLOR": "1"}
    place = tempfile.TemporaryDirectory()
    source = Path(place.name) / "session"
    source.mkdir()
    with contextlib.chdir(source):
        make_files()
    return place, source


def measure(*, draw: int, data: Any, command: str) -> dict[str, int]:
    """Count what became of one command."""
    _, source = session()
    with copied(source) as folder:
        usual, text = run(folder, SESSION[command])
    if usual not in (0, 130):
        raise RuntimeError(f"{command} fails with sound files: {text}")
    words = ["photos/3.png" if word == "photos" else word for word in SESSION[command].split()]
    files, counts = [word for word in words if (source / word).is_file()], Counter[str]()
    for file, way in itertools.product(files, DAMAGES):
        with copied(source) as folder:
            if damage(folder / file, way):
                counts.update(["runs", verdict(folder, command, Path(file).name, usual)])
    return {name: counts[name] for name in FIGURES}
