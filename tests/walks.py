"""How data go through the package: the functions on the way of some commands, and of one refit.

Each walk runs a command, or a function of this file, in a process of its own, so that what an
earlier walk left in a cache shortens no other walk. All calls are followed until the goal of the
walk, or until its end. A walk may have milestones, of which the last is its goal. The functions of
the package on the stacks of calls there, each counted once, are the functions on the way. The
functions entered are what somebody steps over who follows with a debugger. Comprehensions, lambdas
and the bodies of classes and modules do not count, nor does what runs while modules are imported.

    python -m tests.walks [--list]
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import io
import json
import multiprocessing
import os
import pkgutil
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import complabel

_PACKAGE = str(Path(complabel.__file__).parent)
_LABELS = ("sea", "city", "wood", "snow")


@dataclass
class Followed:
    """The functions of a walk until its goal, in the order of their first calls."""

    milestones: list[str]
    on_the_way: dict[str, None] = field(default_factory=dict)
    entered: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._has_goal = bool(self.milestones)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Take note of a call; the signature is that of ``sys.settrace``."""
        name = _name_of(frame) if event == "call" else None
        if name is None:
            return
        self.entered[name] = None
        reached = next((each for each in self.milestones if name.endswith(each)), None)
        if reached is not None:
            self.milestones.remove(reached)
            self._note_stack(frame)
        if self._has_goal and not self.milestones:
            sys.settrace(None)
            raise _ReachedError

    def _note_stack(self, frame: FrameType | None) -> None:
        stack = []
        while frame is not None:
            stack.append(_name_of(frame))
            frame = frame.f_back
        self.on_the_way |= dict.fromkeys(name for name in reversed(stack) if name)


class _ReachedError(BaseException):
    """Ends a walk when its goal is reached."""


@functools.cache
def _name_of_code(code: CodeType) -> str | None:
    odd = code.co_name.startswith("<") or code.co_name == "__getattr__"
    if odd or not code.co_filename.startswith(_PACKAGE) or not code.co_flags & 1:
        return None
    place = Path(code.co_filename).relative_to(_PACKAGE).with_suffix("").as_posix()
    return f"{place}:{code.co_qualname}"


def _name_of(frame: FrameType) -> str | None:
    """Return file and qualified name of a function of the package; else None."""
    return _name_of_code(frame.f_code)


def prepare() -> None:
    """Write the files that the commands read, and learn the model that some of them read."""
    rng = np.random.default_rng(0)
    rows = ["item,a,b,c"]
    for item, (a, b, c) in enumerate(rng.normal(size=(60, 3))):
        rows.append(f"{item},{a:.3f},{b:.3f},{c:.3f}")
    Path("X.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    for name, head, chance in (("answers", "", ""), ("questions", ",probability", ",0.25")):
        rows = [f"item,label,question,answer{head}"]
        for item in range(60):
            chosen, said = _LABELS[rng.integers(4)], ("yes", "no")[rng.integers(2)]
            rows.append(f"{item},{chosen},asked,{said}{chance}")
        Path(f"{name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    value = {"choices": ["city"]}
    result = {"from_name": "not_this", "to_name": "image", "type": "choices", "value": value}
    tasks = []
    for number in range(5):
        annotation = {"id": number, "result": [result]}
        data = {"image": f"{number}.jpg"}
        tasks.append({"id": number, "data": data, "annotations": [annotation]})
    Path("export.json").write_text(json.dumps(tasks), encoding="utf-8")
    run_command("fit answers.csv --features X.csv --out model.safetensors", None)


def run_command(command: str, followed: Followed | None) -> str:
    """Run a command, and follow it until its goal; return what it printed."""
    from complabel.cli import main

    sys.argv = ["complabel", *command.split()]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            sys.settrace(followed)
            main()
        except SystemExit as stop:
            if stop.code:
                sys.settrace(None)
                report = f"{command!r} ended with {stop.code}:\n{printed.getvalue()}"
                raise RuntimeError(report) from stop
        except _ReachedError:
            pass
        finally:
            sys.settrace(None)
    return printed.getvalue()


def refit(followed: Followed) -> None:
    """Refit the model of `complabel annotate` to more answers, and follow this second fit."""
    from complabel.answers import Answers
    from complabel.live._learner import Refits

    rng = np.random.default_rng(0)
    X, applies = rng.normal(size=(60, 3)), rng.integers(2, size=60)
    asked = np.eye(4, dtype=int)[rng.integers(4, size=60)]
    answers = Answers.from_arrays(
        relevant=asked * applies[:, np.newaxis],
        absent=asked * (1 - applies)[:, np.newaxis],
        question="asked",
        probability=0.25,
        seconds=6.0,
        label_names=_LABELS,
    )
    refits = Refits(X)
    refits.update(answers.only(answers.item < 40), [6.0] * 40)
    try:
        sys.settrace(followed)
        state = refits.update(answers, [6.0] * 60)
    finally:
        sys.settrace(None)
    assert len(state["curve"]) == 2, state


@dataclass(frozen=True)
class Walk:
    """A walk through the package.

    ``what`` is a command, or a function that takes a `Followed`. ``milestones`` are the ends of the
    qualified names of functions; without any, the walk goes to its end.
    """

    what: str | Callable[[Followed], None]
    milestones: tuple[str, ...] = ()

    def follow(self) -> Followed:
        """Walk in this process."""
        followed = Followed([*self.milestones])
        if isinstance(self.what, str):
            printed = run_command(self.what, followed)
        else:
            printed = ""
            self.what(followed)
        if followed.milestones:
            raise RuntimeError(f"{self.what!r} did not reach {followed.milestones}:\n{printed}")
        return followed


WALKS = {
    "fit answers.csv, to the first likelihood": Walk(
        "fit answers.csv --features X.csv --out another.safetensors",
        ("Answers.from_table", "AnswersLikelihood.forward"),
    ),
    "benchmark, to MLCL's loss": Walk(
        "benchmark synthetic --method mlcl --folds 2 --jobs 1",
        ("draw_complementary", "logit_gradient"),
    ),
    "Label Studio to CSV": Walk(
        "import export.json --out imported.csv",
        (
            "_label_studio:_records",
            "_label_studio:_forms",
            "_label_studio:_rows",
            "AnswerWriter._finish",
        ),
    ),
    "predict, to the first scores": Walk(
        "predict model.safetensors X.csv --out predictions.csv",
        ("model_of", "iterate_features", "_decision"),
    ),
    "evaluate --answers, to its end": Walk(
        "evaluate model.safetensors X.csv --answers questions.csv"
    ),
    "one refit of annotate, to its end": Walk(refit),
}


def _load_all() -> None:
    """Import all modules of the package whose dependencies are installed."""
    for module in pkgutil.walk_packages(complabel.__path__, "complabel."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)


def _follow(title: str) -> Followed:
    _load_all()
    return WALKS[title].follow()


def _in_its_own_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a process that does nothing else; modules that are loaded stay loaded."""
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


def follow_all() -> dict[str, Followed]:
    """Follow all walks; they begin in an empty folder, with the files that they need."""
    _load_all()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            _in_its_own_process(prepare)
            return {title: _in_its_own_process(_follow, title) for title in WALKS}
        finally:
            os.chdir(before)


def table(walks: dict[str, Followed]) -> str:
    """Return the table of the walks, as CONTRIBUTING has it."""
    lines = ["| walk | functions entered before the goal | functions on the way |", "|---|--:|--:|"]
    for title, followed in walks.items():
        on_the_way = len(followed.on_the_way) or "-"
        lines.append(f"| {title} | {len(followed.entered)} | {on_the_way} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table of the walks, with ``--list`` after the functions of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name the functions of each walk")
    listed = parser.parse_args().list
    walks = follow_all()
    if listed:
        for title, followed in walks.items():
            print(f"{title}, on the way: " + " → ".join(followed.on_the_way or "-"), end="\n\n")
            print(f"{title}, entered:", *followed.entered, sep="\n  ", end="\n\n")
    print(table(walks))


if __name__ == "__main__":
    main()
