"""How data go through the package: the functions on the way of four commands.

Each walk runs a command in this process and looks at the stack of calls at two or three milestones.
The functions of the package on these stacks, each counted once, are the hops. The functions entered
before the last milestone are what somebody steps over who follows with a debugger. Comprehensions,
lambdas and the bodies of classes and modules do not count.

    python benchmarks/walks.py [--list]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import complabel
from complabel.cli import main as complabel_command

_PACKAGE = str(Path(complabel.__file__).parent)

# The functions that are milestones, by the end of their qualified names; the last is the goal.
WALKS = {
    "fit answers.csv, to the first likelihood": (
        "fit answers.csv --features X.csv --out model.safetensors",
        ("Answers.from_table", "AnswersLikelihood.__call__"),
    ),
    "benchmark, to MLCL's loss": (
        "benchmark synthetic --method mlcl --folds 2 --jobs 1",
        ("draw_complementary", "logit_gradient"),
    ),
    "Label Studio to CSV": (
        "import export.json --out imported.csv",
        (
            "_label_studio:_records",
            "_label_studio:_forms",
            "_label_studio:_rows",
            "AnswerWriter._finish",
        ),
    ),
    "predict, to the first scores": (
        "predict model.safetensors X.csv --out predictions.csv",
        ("model_of", "iterate_features", "_decision"),
    ),
}


class _ReachedError(BaseException):
    """Ends a command when its goal is reached."""


class Walk:
    """Follows the calls of a command until its goal."""

    def __init__(self, milestones: tuple[str, ...]) -> None:
        self._left = list(milestones)
        self.hops: dict[str, None] = {}
        self.entered: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Take note of a call; the signature is that of ``sys.setprofile``."""
        if event != "call" or not self._left:
            return
        name = _name_of(frame)
        if name is None:
            return
        self.entered.add(name)
        for milestone in self._left:
            if name.endswith(milestone):
                self._left.remove(milestone)
                self._note(frame)
                break
        if not self._left:
            sys.setprofile(None)
            raise _ReachedError

    def _note(self, frame: FrameType | None) -> None:
        stack = []
        while frame is not None:
            stack.append(_name_of(frame))
            frame = frame.f_back
        self.hops |= dict.fromkeys(name for name in reversed(stack) if name)


def _name_of(frame: FrameType) -> str | None:
    """Return file and qualified name of a function of the package; else None."""
    code = frame.f_code
    odd = code.co_name.startswith("<") or code.co_name == "__getattr__"
    if odd or not code.co_filename.startswith(_PACKAGE) or not code.co_flags & 1:
        return None
    place = Path(code.co_filename).relative_to(_PACKAGE).with_suffix("").as_posix()
    return f"{place}:{code.co_qualname}"


def prepare() -> None:
    """Write the files that the commands read."""
    rng = np.random.default_rng(0)
    labels = ("sea", "city", "wood", "snow")
    with open("X.csv", "w", encoding="utf-8") as file:
        file.write("item,a,b,c\n")
        for item, row in enumerate(rng.normal(size=(60, 3))):
            file.write(f"{item},{row[0]:.3f},{row[1]:.3f},{row[2]:.3f}\n")
    with open("answers.csv", "w", encoding="utf-8") as file:
        file.write("item,label,question,answer\n")
        for item in range(60):
            chosen = labels[rng.integers(4)]
            file.write(f"{item},{chosen},asked,{('yes', 'no')[rng.integers(2)]}\n")
    value = {"choices": ["city"]}
    result = {"from_name": "not_this", "to_name": "image", "type": "choices", "value": value}
    tasks = []
    for number in range(5):
        annotation = {"id": number, "result": [result]}
        data = {"image": f"{number}.jpg"}
        tasks.append({"id": number, "data": data, "annotations": [annotation]})
    Path("export.json").write_text(json.dumps(tasks), encoding="utf-8")


def run(command: str, walk: Walk | None) -> str:
    """Run a command, and follow it until its goal; return what it printed."""
    sys.argv = ["complabel", *command.split()]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            sys.setprofile(walk)
            complabel_command()
        except (_ReachedError, SystemExit):
            pass
        finally:
            sys.setprofile(None)
    return said.getvalue()


def main() -> None:
    """Print a table of the walks, or the functions of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name the functions of each walk")
    listed = parser.parse_args().list
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare()
        lines = []
        for title, (command, milestones) in WALKS.items():
            walk = Walk(milestones)
            said = run(command, walk)
            if walk._left:
                sys.exit(f"{command!r} did not reach {walk._left}:\n{said}")
            lines.append(f"| {title} | {len(walk.entered)} | {len(walk.hops)} |")
            if listed:
                print(f"{title}: " + " → ".join(walk.hops), end="\n\n")
            if command.startswith("fit"):
                run(command, None)
        os.chdir("/")
    print("| walk | functions entered before the goal | hops |", "|---|--:|--:|", *lines, sep="\n")


if __name__ == "__main__":
    main()
