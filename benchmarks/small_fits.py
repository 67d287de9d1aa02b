"""How long do automatic fits to few items take, and how good are they?

Processor seconds of a fit on one thread, average precision and the mean log-likelihood of a label
on 1,000 unseen items, and the processor seconds of the command ``complabel fit``, its start and
score included. What an earlier version took is stored, too, and not measured again.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._fits import timed
from complabel.answers import Answers
from complabel.datasets import make_digits
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

CELLS = {
    "shape": ("60x8x4", "60x384x6", "300x30x6", "300 digits", "1000x768x10"),
    "question": ("asked", "ticked"),
    "version": ("now",),
}
DRAWS, QUICK, TIMES = 6, {"shape": ("60x8x4", "300 digits")}, ("seconds", "command")
_N_TEST, _WORDS = 1000, "fit answers.csv --features X.npy --items items.txt --out m.safetensors"


def drawn(shape: str, question: str, seed: int) -> tuple[Any, Any, Answers]:
    """Return features and labels of items to fit to and, after them, of unseen ones; answers."""
    if shape.endswith("digits"):
        n = int(shape.split()[0])
        made = make_digits(n + _N_TEST, random_state=seed)
        X, Y = made.X.astype(np.float32), made.Y
    else:
        n, d, k = map(int, shape.split("x"))
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n + _N_TEST, d)).astype(np.float32)
        logits = X @ rng.normal(size=(d, k)) * (2.5 / d**0.5) - 1
        Y = (logits + rng.logistic(size=logits.shape) > 0).astype(np.uint8)
    return X, Y, draw_answers(Y[:n], question=question, random_state=seed)


def command(X: Any, answers: Answers, question: str) -> float:
    """Return the processor seconds of the command: one line for each judgement."""
    said, n = answers.statements(), answers.n_items
    chance = 1 / answers.n_labels if question == "asked" else ""
    answer = np.where(said.applies, "yes", "no")
    told = {"item": said.item, "label": said.label, "answer": answer, "question": "asked"}
    with tempfile.TemporaryDirectory() as folder:
        table = pd.DataFrame({**told, "probability": chance})
        table.to_csv(Path(folder, "answers.csv"), index=False)
        Path(folder, "items.txt").write_text("\n".join(map(str, [*range(n), ""])), "utf-8")
        np.save(Path(folder, "X.npy"), X[:n])
        words = [sys.executable, "-m", "complabel", *_WORDS.split()]
        run = {"cwd": folder, "check": True, "capture_output": True}
        return timed(lambda: subprocess.run(words, **run))[2]


def measure(*, draw: int, data: Any, shape: str, question: str, version: str) -> dict[str, float]:
    """Return the seconds of a fit and of the command, and how good the fit is."""
    X, Y, answers = drawn(shape, question, draw)
    n = answers.n_items
    SelectionLikelihoodClassifier().fit(X[:20], answers[:20])  # imports do not count
    model = SelectionLikelihoodClassifier(random_state=0)
    found = {"seconds": timed(lambda: model.fit(X[:n], answers))[2]}
    p = np.clip(model.predict_proba(X[n:]), 1e-6, 1 - 1e-6)
    found["precision"] = average_precision(Y[n:], p)
    found["likelihood"] = np.where(Y[n:], np.log(p), np.log1p(-p)).mean()
    if draw == 0:
        found["command"] = command(X, answers, question)
    return found
