"""What becomes of each command if one of its files is damaged?

The files of a small session are made. Then each command runs with each of its files in turn
emptied, cut in half, doubled, in another encoding and so on. Figures count runs:

- traceback: an error of Python reached the user; hangs: the command did not end
- half: the command failed, and an output is there
- silent: exit 0, and a result that differs from the sound one by numbers or names alone
- unnamed: the command refused, and its message does not name the damaged file
- told: exit 0, another result, and a line that the sound run did not print
- same, refused: as it should be

A flipped bit may turn a number into another one: nobody can see this in a table.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import pkgutil
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open

import complabel as package
from benchmarks._session import SESSION, make_files, run

CELLS = {"command": tuple(SESSION)}
QUICK = {"command": ("show", "consensus")}
VERDICTS = ("traceback", "hangs", "half", "silent", "unnamed", "told", "same", "refused")
# Times, addresses and tokens, which differ from run to run.
VARYING = re.compile(
    r'[0-9.]+ s\b|https?://\S+|"[a-z_]*(seconds|memory)[a-z_]*": [^,}\n]*|scoring .* folds.*'
)


def recoded(encoding: str, before: bytes = b"") -> Callable[[bytes], bytes | None]:
    """Make a change of the encoding of what is text."""

    def change(content: bytes) -> bytes | None:
        try:
            return before + content.decode().encode(encoding)
        except UnicodeDecodeError:
            return None  # this is no text

    return change


def flipped(content: bytes) -> bytes:
    """Flip a bit in the middle."""
    at = len(content) // 2
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def is_text(content: bytes) -> bool:
    """Say whether these are the bytes of a text."""
    return recoded("utf-8")(content) is not None


DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "empty": lambda _: b"",
    "half": lambda content: content[: len(content) // 2],
    "bit": flipped,
    "doubled": lambda content: content * 2,
    "utf-16": recoded("utf-16"),
    "latin-1": recoded("latin-1"),
    "crlf": lambda content: content.replace(b"\n", b"\r\n") if is_text(content) else None,
    "bom": recoded("utf-8", b"\xef\xbb\xbf"),
    "nul": lambda content: content[: len(content) // 2] + b"\0" + content[len(content) // 2 :],
    "random": lambda _: random.Random(0).randbytes(3000),
    "missing": lambda content: content,
    "folder": lambda content: content,
}


def damage(path: Path, way: str) -> bool:
    """Damage a file; return whether this makes sense for it."""
    content = path.read_bytes()
    new = DAMAGES[way](content)
    if new is None or (new == content and way not in ("missing", "folder")):
        return False
    path.unlink()
    if way == "folder":
        path.mkdir()
    elif way != "missing":
        path.write_bytes(new)
    return True


def results(folder: Path) -> dict[str, object]:
    """Return what a command wrote, so that equal results are equal."""
    found: dict[str, object] = {}
    for path in sorted([*folder.glob("out*"), *folder.glob("clicked*")]):
        if path.suffix == ".npz":
            with np.load(path) as file:
                found[path.name] = {name: file[name].tolist() for name in file.files}
        elif path.suffix == ".safetensors":
            with safe_open(path, framework="numpy") as file:
                found[path.name] = {
                    name: file.get_tensor(name).tolist() for name in sorted(file.keys())
                }
        elif path.is_dir():
            found[path.name] = sorted(each.name for each in path.iterdir())
        elif path.suffix == ".sqlite" or "sqlite" in path.name:
            found[path.name] = "a database"
        else:
            found[path.name] = VARYING.sub("", path.read_bytes().decode(errors="replace"))
    return found


def tried(source: Path, name: str, file: str, way: str) -> dict[str, Any] | None:
    """Run one command with one damaged file."""
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "session"
        shutil.copytree(source, folder)
        if way != "sound" and not damage(folder / file, way):
            return None
        code, said, errors = run(folder, SESSION[name].split())
        told = {"exit": code, "said": said, "errors": errors, "file": file}
        return {**told, "result": results(folder)}


def verdict(row: dict[str, Any], sound: dict[str, Any]) -> str:
    """Judge a run by what the same command did with sound files."""
    text = f"{row['said']}{row['errors']}"
    name = Path(str(row["file"])).name
    if row["exit"] == "hangs":
        return "hangs"
    if "Traceback" in text or (isinstance(row["exit"], int) and row["exit"] < 0):
        return "traceback"
    if row["exit"] not in (0, sound["exit"]):
        if row["result"]:
            return "half"
        return "refused" if name in text.replace("\n", "") else "unnamed"
    news = [line for line in lines(row) if line not in lines(sound)]
    without_times = [VARYING.sub("", str(each["said"])) for each in (row, sound)]
    if row["result"] == sound["result"] and len({*without_times}) == 1:
        return "same"
    return "told" if news else "silent"


def lines(row: dict[str, Any]) -> list[str]:
    """Return what a command said, without numbers and what is drawn around them."""
    text = VARYING.sub("", f"{row['errors']}\n{row['said']}")
    return [" ".join(re.sub(r"[-0-9.,:±─━]+", " ", line).split()) for line in text.splitlines()]


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
    words = ["photos/3.png" if word == "photos" else word for word in SESSION[command].split()]
    sound, counts = tried(source, command, "", "sound"), Counter(dict.fromkeys(VERDICTS, 0))
    if sound is None or sound["exit"] not in (0, 130):
        raise RuntimeError(f"{command} fails with sound files: {sound and sound['errors']}")
    for file in [word for word in words if (source / word).is_file()]:
        for way in DAMAGES:
            row = tried(source, command, file, way)
            if row is not None:
                counts[verdict(row, sound)] += 1
    return {"runs": counts.total(), **counts}
