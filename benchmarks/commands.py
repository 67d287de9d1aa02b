"""How many processor seconds commands take, beside those of another version of the package.

Each command runs in a process of its own, and its seconds are those of the user and of the system.
The least of several runs is shown, and runs of both versions take turns. Files are small, so that
the time is that of a start.

    python -m benchmarks.commands [--beside PATH/src] [--runs 3]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parents[1] / "src"
PREPARE = "fit answers.csv --features X.csv --method {} --folds 0 --out {}.safetensors"
KERNEL = "selection-likelihood:kernel=rbf,alpha=0.1,gamma=0.1"
LINEAR = "selection-likelihood:kernel=linear,alpha=0.1,scaling=standardize"
COMMANDS = (
    *("--help", "methods", "datasets"),
    "import answers.csv --out imported.csv --force",
    "inspect answers.csv",
    "ask answers.csv --features X.csv -n 20 --out questions.csv --force",
    "predict linear.safetensors X.csv --out predictions.csv --force",
    "predict kernel.safetensors X.csv --out predictions.csv --force",
    "show linear.safetensors",
    "evaluate linear.safetensors X.csv --answers answers.csv",
)


def prepare(n_items: int = 600) -> None:
    """Write features and random yes/no answers, and fit two models to them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_items, 8))
    labels = ("sea", "city", "wood", "snow")
    lines = ["item,label,answer,question,probability"]
    for item, row in enumerate(X):
        label = rng.integers(len(labels))
        answer = "yes" if row[label] + rng.normal() > 0.5 else "no"
        lines.append(f"{item},{labels[label]},{answer},asked,0.25")
    Path("answers.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    header = ",".join(["item", *(f"x{column}" for column in range(X.shape[1]))])
    rows = [",".join([str(item), *map(str, row.round(4))]) for item, row in enumerate(X)]
    Path("X.csv").write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    for name, method in (("linear", LINEAR), ("kernel", KERNEL)):
        seconds(HERE, PREPARE.format(method, name))


def seconds(source: Path, command: str) -> float:
    """Run a command of complabel; return its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "complabel", *command.split()],
        env={**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a table with a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path, help="the folder src of another version")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    sources = [HERE, *([arguments.beside.resolve()] if arguments.beside else [])]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare()
        print("| command | seconds |" + " beside |" * (len(sources) - 1))
        print("|---|--:|" + "--:|" * (len(sources) - 1))
        for command in COMMANDS:
            runs = [[seconds(each, command) for each in sources] for _ in range(arguments.runs)]
            least = (f"{min(column):.2f}" for column in zip(*runs, strict=True))
            print(f"| {command.removesuffix(' --force')} | {' | '.join(least)} |", flush=True)


if __name__ == "__main__":
    main()
