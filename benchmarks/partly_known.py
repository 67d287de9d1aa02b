"""What partly known true labels say of a model, by which pairs of item and label are known.

A model learns from one yes/no about a random label of each item of one half. Its figures on the
other half are computed from all true labels, and from those that are left after others were made
blank:

- random: a fifth of all pairs, drawn at random.
- applies + tenth: all pairs that apply, and a tenth of the others, as where people mark what they
  see and a few labels that are absent.
- another model: pairs that another model proposes, with a probability of at least .2. It is a
  logistic regression that learned from all labels of 200 items of the first half.
- this model: the same, proposed by the measured model itself.
- only applies: only pairs that apply.

Printed are means over the draws: figures of labels, averaged over those that have them, and the
mean probability of known pairs beside that of all pairs with the same labels.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import CRITERIA, evaluate, evaluate_labels
from complabel.simulate import draw_answers

Array: TypeAlias = NDArray[np.float64]
DATASETS = ("scene", "yeast", "digits")
_PROPOSED = 0.2
_FIGURES = ("average_precision", "precision", "recall", "f1")


def halves(name: str, data_dir: Path | None) -> tuple[Any, ...]:
    """Return features and labels of two random halves: X, Y, X, Y."""
    data = load_dataset(name, data_dir=data_dir)
    X = np.asarray(data.X.toarray() if sparse.issparse(data.X) else data.X)
    Y = np.asarray(data.Y, dtype=np.uint8)
    order = np.random.default_rng(0).permutation(len(Y))
    first, second = np.array_split(order, 2)
    return X[first], Y[first], X[second], Y[second]


def fitted(X: Any, Y: NDArray[np.uint8]) -> SelectionLikelihoodClassifier:
    """Return a model that learned from one yes/no for each item."""
    answers = draw_answers(Y, question="asked", random_state=0)
    return SelectionLikelihoodClassifier(random_state=0).fit(X, answers)


def proposals(X: Any, Y: NDArray[np.uint8], X_held: Any) -> Array:
    """Return probabilities of another model, which learned from all labels of 200 items."""
    one = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=1000))
    return np.asarray(OneVsRestClassifier(one).fit(X[:200], Y[:200]).predict_proba(X_held))


def figures(Y: NDArray[np.uint8], p: Array, known: NDArray[np.bool_]) -> dict[str, float]:
    """Return the figures of a model with probabilities ``p`` on the known pairs, all (n, K)."""
    predicted = (p > 0.5).astype(np.uint8)
    labels = evaluate_labels(Y, p, predicted, known=known)
    values = {}
    for name in _FIGURES:
        found = [each[name] for each in labels if each[name] is not None]
        values[name] = float(np.mean(np.asarray(found, dtype=float))) if found else np.nan
    contrast = known & (Y == 1)
    ranked = (contrast.any(axis=1) & (known & (Y == 0)).any(axis=1)).any()
    criteria = [each for each in CRITERIA if each.name == "ranking_loss"] if ranked else []
    values |= {"ranking_loss": np.nan, **evaluate(Y, p, predicted, criteria=criteria, known=known)}
    counts = np.count_nonzero(known, axis=0)
    values["of_known"] = float(p[known].mean())
    values["of_all"] = float(counts @ p.mean(axis=0) / counts.sum())
    return values


def main() -> None:
    """Print a table for each dataset."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--draws", type=int, default=20)
    options = parser.parse_args()
    for name in options.datasets:
        X, Y, X_held, Y_held = halves(name, options.data_dir)
        p = fitted(X, Y).predict_proba(X_held)
        other = proposals(X, Y, X_held)
        applies = Y_held == 1
        ways: dict[str, list[NDArray[np.bool_]]] = {"all": [np.ones(p.shape, dtype=bool)]}
        for draw in range(options.draws):
            u = np.random.default_rng([draw, 1]).random(p.shape)
            ways.setdefault("random", []).append(u < 0.2)
            ways.setdefault("applies + tenth", []).append(applies | (u < 0.1))
        ways["another model"], ways["this model"] = [other >= _PROPOSED], [p >= _PROPOSED]
        ways["only applies"] = [applies]
        print(f"\n**{name}**, {len(p):,} items, {p.shape[1]} labels\n")
        print(
            "| known pairs | share | average precision | precision | recall | F1 | ranking loss"
            " | mean probability, known | all |\n|" + "---|" * 9
        )
        for way, masks in ways.items():
            draws = [figures(Y_held, p, known) for known in masks]
            share = np.mean([known.mean() for known in masks])
            means = [np.mean([each[key] for each in draws]) for key in draws[0]]
            cells = ("-" if np.isnan(value) else f"{value:.3f}" for value in means)
            print(f"| {way} | {100 * share:.0f} % | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
