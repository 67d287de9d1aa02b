"""How many processor seconds `complabel fit` takes where items are few, and how good its models are.

The same files are given to the command of the working tree and to that of another version, in turn,
each in a process of its own on one thread. Printed are the least processor seconds over the seeds,
means of average precision and of the log-likelihood of true labels on 1,000 unseen items, and the
mean differences with their standard errors.

    python benchmarks/small_fits.py --beside PATH/src [--seeds 4]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from commands import HERE, seconds

import complabel
from complabel.datasets import make_digits
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

_N_TEST = 1000
# Items, features and labels; of canvases of digits, the first two follow.
_CASES = ((60, 8, 4), (60, 384, 6), (300, 30, 6), (1000, 768, 10), ("digits", 300))
_FIT = "fit {0}/answers.csv --features {0}/X.npy --items {0}/items.txt --out {1} --force"


def draw(case: Any, seed: int) -> tuple[Any, Any]:
    """Return features and labels of items to fit to and, after them, of unseen ones."""
    if case[0] == "digits":
        data = make_digits(case[1] + _N_TEST, random_state=seed)
        return data.X.astype(np.float32), data.Y
    n, d, n_labels = case
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + _N_TEST, d)).astype(np.float32)
    logits = X @ rng.normal(size=(d, n_labels)) * (2.5 / d**0.5) - 1
    return X, (logits + rng.logistic(size=logits.shape) > 0).astype(np.uint8)


def write(folder: Path, X: Any, Y: Any, question: str, seed: int) -> None:
    """Write features and answers as people have them: one line for each judgement."""
    said = draw_answers(Y, question=question, random_state=seed).statements()
    chance = f"{1 / Y.shape[1]}" if question == "asked" else ""
    lines = ["item,label,answer,question,probability"]
    for item, label, applies in zip(said.item, said.label, said.applies, strict=True):
        lines.append(f"{item},{label},{'yes' if applies else 'no'},asked,{chance}")
    (folder / "answers.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    (folder / "items.txt").write_text("\n".join(map(str, range(len(X)))) + "\n", encoding="utf-8")
    np.save(folder / "X.npy", X)


def measure(case: Any, question: str, seed: int, sources: list[Path]) -> list[list[float]]:
    """Return seconds, average precision and log-likelihood, for each version."""
    X, Y = draw(case, seed)
    n, found = len(X) - _N_TEST, []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder, X[:n], Y[:n], question, seed)
        for source in sources:
            model = folder / "model.safetensors"
            taken = seconds(source, _FIT.format(folder, model))
            fitted: Any = complabel.load(model)
            order = [int(name) for name in fitted.classes_]
            p = np.clip(fitted.predict_proba(X[n:]), 1e-6, 1 - 1e-6)
            true = Y[n:][:, order]
            likelihood = np.where(true, np.log(p), np.log1p(-p)).mean()
            found.append([taken, float(average_precision(true, p)), float(likelihood)])
    return found


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path, required=True, help="src of another version")
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args()
    sources = [options.beside.resolve(), HERE]
    print("| items | answers | seconds, beside | now | average precision | log-likelihood |")
    print("|---|---|--:|--:|---|---|")
    for case in _CASES:
        for question in ("asked", "ticked"):
            runs = [measure(case, question, seed, sources) for seed in range(options.seeds)]
            table = np.array(runs)  # seeds, versions, figures
            least, means = table[:, :, 0].min(axis=0), table.mean(axis=0)
            gained = table[:, 1] - table[:, 0]
            error = gained.std(axis=0, ddof=1) / len(gained) ** 0.5
            told = (
                f"{means[0, at]:.3f} → {means[1, at]:.3f} ({gained.mean(axis=0)[at]:+.4f} ±"
                f" {error[at]:.4f})"
                for at in (1, 2)
            )
            shape = " x ".join(map(str, case))
            print(f"| {shape} | {question} | {least[0]:.1f} | {least[1]:.1f} |", end=" ")
            print(" | ".join(told), "|", flush=True)


if __name__ == "__main__":
    main()
