"""How data go through the package: the stations of some commands, and of one refit.

Each walk runs a command, or a function of this file, in a process of its own, and has milestones:
functions that data reach one after the other. The stations are the functions of the package on the
stacks of calls there, each once. The depth is the size of the deepest stack.

    python -m tests.walks
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import complabel

_PACKAGE = str(Path(complabel.__file__).parent)
_LABELS = ("sea", "city", "wood", "snow")


def prepare() -> None:
    """Write the files that the commands read, and learn the model that some of them read."""
    rng = np.random.default_rng(0)
    values = (f"{item},{a:.3f},{b:.3f}" for item, (a, b) in enumerate(rng.normal(size=(60, 2))))
    Path("X.csv").write_text("\n".join(["item,a,b", *values, ""]), encoding="utf-8")
    asked = (f"{i},{_LABELS[i % 4]},asked,{('yes', 'no')[rng.integers(2)]},.25" for i in range(60))
    header = "item,label,question,answer,probability"
    Path("answers.csv").write_text("\n".join([header, *asked, ""]), encoding="utf-8")
    result = {"from_name": "not_this", "to_name": "image", "type": "choices"}
    result["value"] = {"choices": ["city"]}
    task = {"id": 1, "data": {"image": "1.jpg"}, "annotations": [{"id": 1, "result": [result]}]}
    Path("export.json").write_text(json.dumps([task]), encoding="utf-8")
    run_command("fit answers.csv --features X.csv --folds 0 --out model.safetensors")


def run_command(command: str) -> None:
    """Run a command quietly."""
    from complabel.cli import main

    sys.argv = ["complabel", *command.split()]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            main()
        except SystemExit as stop:
            if stop.code:
                raise RuntimeError(f"{command!r} failed:\n{printed.getvalue()}") from stop


def refit() -> None:
    """Learn what `complabel annotate` learns after some answers."""
    from complabel.answers import Answers
    from complabel.live._learner import Refits

    rng = np.random.default_rng(0)
    applies, asked = rng.integers(2, size=(40, 1)), np.eye(4, dtype=int)[rng.integers(4, size=40)]
    answers = Answers.from_arrays(
        relevant=asked * applies,
        absent=asked * (1 - applies),
        question="asked",
        probability=0.25,
        label_names=_LABELS,
    )
    Refits(rng.normal(size=(40, 3))).update(answers, [6.0] * 40)


WALKS: dict[str, tuple[str | Callable[[], None], tuple[str, ...]]] = {
    "fit answers.csv, to the likelihood": (
        "fit answers.csv --features X.csv --out another.safetensors",
        ("Answers.from_table", "AnswersLikelihood.forward"),
    ),
    "benchmark, to MLCL's loss": (
        "benchmark synthetic --method mlcl --folds 2 --jobs 1",
        ("draw_complementary", "logit_gradient"),
    ),
    "Label Studio to CSV": (
        "import export.json --out imported.csv",
        ("_records", "_forms", "_rows", "AnswerWriter._finish"),
    ),
    "predict, to the first scores": (
        "predict model.safetensors X.csv --out predictions.csv",
        ("model_of", "iterate_features", "_decision"),
    ),
    "evaluate --answers, to the intervals": (
        "evaluate model.safetensors X.csv --answers answers.csv",
        ("read_answers", "evaluate_model"),
    ),
    "one refit of annotate, to the likelihood": (refit, ("AnswersLikelihood.forward",)),
}


def follow(title: str) -> tuple[list[str], int]:
    """Return the stations of a walk and its depth, from the stacks at its milestones."""
    what, wanted = WALKS[title]
    milestones, stations, depths = [*wanted], dict[str, None](), [0]

    def note(frame: FrameType | None, event: str, _: Any) -> None:
        code = frame and frame.f_code
        if event != "call" or not code or not code.co_filename.startswith(_PACKAGE):
            return
        reached = next((each for each in milestones if code.co_qualname.endswith(each)), None)
        if reached is None:
            return
        milestones.remove(reached)
        stack = []
        while frame is not None:
            if frame.f_code.co_filename.startswith(_PACKAGE) and "<" not in frame.f_code.co_name:
                place = Path(frame.f_code.co_filename).relative_to(_PACKAGE).with_suffix("")
                stack.append(f"{place.as_posix()}:{frame.f_code.co_qualname}")
            frame = frame.f_back
        depths.append(len(stack))
        stations.update(dict.fromkeys(reversed(stack)))

    sys.settrace(note)
    try:
        run_command(what) if isinstance(what, str) else what()
    finally:
        sys.settrace(None)
    if milestones:
        raise RuntimeError(f"{title}: did not reach {milestones}")
    return [*stations], max(depths)


def follow_all() -> dict[str, tuple[list[str], int]]:
    """Follow all walks, each in a process of its own, so that no cache shortens a later one."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        prepare()
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            return {title: pool.apply(follow, [title]) for title in WALKS}


def main() -> None:
    """Print the stations of the walks."""
    for title, (stations, depth) in follow_all().items():
        print(f"{title}: {len(stations)} stations, depth {depth}", *stations, sep="\n  ")


if __name__ == "__main__":
    main()
