"""How long automatic fits to few items take, and how good they are, beside another version.

Both versions fit to the same arrays, each in a process of its own on one thread. Printed are the
least processor seconds of a fit and, on 1,000 unseen items, average precision and the mean
log-likelihood of a label, with mean differences and their standard errors over the seeds. Then come
the processor seconds of the command `complabel fit`, its start and score included.

    python -m benchmarks.small_fits --beside PATH/src [--seeds 6] [--cases 3]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import commands
from complabel._training import one_thread
from complabel.answers import Answers
from complabel.datasets import make_digits
from complabel.methods import make_classifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

_N_TEST = 1000
# Items, features and labels; digits have their own.
_CASES = ((60, 8, 4), (60, 384, 6), (300, 30, 6), (300, 0, 0), (1000, 768, 10))
_FIT = "fit answers.csv --features X.npy --items items.txt --out model.safetensors --force"


def draw(case: tuple[int, int, int], question: str, seed: int) -> tuple[Any, Any, Answers]:
    """Return features and labels of items to fit to and, after them, of unseen ones; answers."""
    n, d, n_labels = case
    if not d:
        data = make_digits(n + _N_TEST, random_state=seed)
        X, Y = data.X.astype(np.float32), data.Y
    else:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n + _N_TEST, d)).astype(np.float32)
        logits = X @ rng.normal(size=(d, n_labels)) * (2.5 / d**0.5) - 1
        Y = (logits + rng.logistic(size=logits.shape) > 0).astype(np.uint8)
    return X, Y, draw_answers(Y[:n], question=question, random_state=seed)


def fit(case: tuple[int, int, int], question: str, seed: int) -> list[float]:
    """Return processor seconds, average precision and log-likelihood of a fit."""
    X, Y, answers = draw(case, question, seed)
    n = answers.n_items
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier: Any = make_classifier("selection-likelihood", random_state=0)
        started = time.process_time()
        classifier.fit(X[:n], answers)
        taken = time.process_time() - started
    p = np.clip(classifier.predict_proba(X[n:]), 1e-6, 1 - 1e-6)
    likelihood = np.where(Y[n:], np.log(p), np.log1p(-p)).mean()
    return [taken, float(average_precision(Y[n:], p)), float(likelihood)]


def write(case: tuple[int, int, int], question: str) -> None:
    """Write features and answers to files: one line for each judgement."""
    X, _, answers = draw(case, question, 0)
    said, n = answers.statements(), answers.n_items
    chance = 1 / answers.n_labels if question == "asked" else ""
    lines = ["item,label,answer,question,probability"]
    for item, label, applies in zip(said.item, said.label, said.applies, strict=True):
        lines.append(f"{item},{label},{'yes' if applies else 'no'},asked,{chance}")
    Path("answers.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    Path("items.txt").write_text("\n".join(map(str, [*range(n), ""])), encoding="utf-8")
    np.save("X.npy", X[:n])


def of_version(source: Path, unit: tuple[Any, ...], seeds: int) -> Any:
    """Return the figures (seeds, 3) of a version, fitted in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--unit", json.dumps(unit), "--seeds", str(seeds)],
        env={**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return np.array(json.loads(done.stdout))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path, help="the folder src of another version")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--cases", type=int, default=len(_CASES), help="only the first ones")
    parser.add_argument("--unit", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.unit:
        unit = json.loads(options.unit)
        print(json.dumps([fit(*unit, seed) for seed in range(options.seeds)]))
        return
    sources = [options.beside.resolve(), commands.HERE]
    columns = "fit, beside | now | average precision | log-likelihood | command, beside | now"
    print(f"| items x features x labels | answers | {columns} |", flush=True)
    print("|---|---|--:|--:|---|---|--:|--:|", flush=True)
    for case in _CASES[: options.cases]:
        for question in ("asked", "ticked"):
            found = [of_version(each, (case, question), options.seeds) for each in sources]
            gained, told = found[1] - found[0], []
            error = gained.std(axis=0, ddof=1) / len(gained) ** 0.5
            for at in (1, 2):
                first, now = (each[:, at].mean() for each in found)
                told.append(f"{first:.3f} → {now:.3f} ({now - first:+.4f} ± {error[at]:.4f})")
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                write(case, question)
                told += [f"{commands.seconds(each, _FIT):.1f}" for each in sources]
                os.chdir("/")
            least = " | ".join(f"{each[:, 0].min():.2f}" for each in found)
            shape = " x ".join(map(str, case)) if case[1] else f"{case[0]} digits"
            print(f"| {shape} | {question} | {least} | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    main()
