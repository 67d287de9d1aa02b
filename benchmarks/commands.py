"""How many processor seconds does each command take to start?

Each command runs in a process of its own, on small files, so that the time is the start. Seconds
are of the user and of the system, the least of three runs; ``-c`` is Python alone, as a measure.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._fits import timed

PREPARE = "fit answers.csv --features X.csv --method {} --folds 0 --out {}.safetensors"
MODELS = {
    "kernel": "selection-likelihood:kernel=rbf,alpha=0.1,gamma=0.1",
    "linear": "selection-likelihood:kernel=linear,alpha=0.1,scaling=standardize",
}
COMMANDS = (
    *("-c __import__('pandas')", "-c __import__('sklearn.svm')", "--help", "methods", "datasets"),
    "import answers.csv --out imported.csv --force",
    "inspect answers.csv",
    "ask answers.csv --features X.csv -n 20 --out questions.csv --force",
    "predict linear.safetensors X.csv --out predictions.csv --force",
    "predict kernel.safetensors X.csv --out predictions.csv --force",
    "show linear.safetensors",
    "evaluate linear.safetensors X.csv --answers answers.csv",
)
CELLS = {"command": tuple(command.removesuffix(" --force") for command in COMMANDS)}
QUICK, TIMES = {"command": ("--help", "methods", "inspect answers.csv")}, ("seconds",)


@functools.cache
def prepared(n_items: int = 600) -> tuple[tempfile.TemporaryDirectory[str], Path]:
    """Write features and random yes/no answers, and fit two models to them."""
    place = tempfile.TemporaryDirectory()
    folder, rng = Path(place.name), np.random.default_rng(0)
    X, labels = rng.normal(size=(n_items, 8)), ("sea", "city", "wood", "snow")
    lines = ["item,label,answer,question,probability"]
    for item, row in enumerate(X):
        label = rng.integers(len(labels))
        answer = "yes" if row[label] + rng.normal() > 0.5 else "no"
        lines.append(f"{item},{labels[label]},{answer},asked,0.25")
    (folder / "answers.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    features = pd.DataFrame(X.round(4)).add_prefix("x").rename_axis("item")
    features.to_csv(folder / "X.csv")
    for name, method in MODELS.items():
        run(folder, PREPARE.format(method, name))
    return place, folder


def run(folder: Path, command: str) -> None:
    """Run a command of complabel, or Python alone."""
    words = [sys.executable, *["-m", "complabel"] * (command[:2] != "-c"), *command.split()]
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(words, env=alone, cwd=folder, capture_output=True, check=True)


def measure(*, draw: int, data: Any, command: str) -> dict[str, float]:
    """Return the least processor seconds of three runs."""
    _, folder = prepared()
    whole = next(each for each in COMMANDS if each.removesuffix(" --force") == command)
    return {"seconds": min(timed(lambda: run(folder, whole))[2] for _ in range(3))}
