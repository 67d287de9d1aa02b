"""The picture in README: one answer about each picture of scene, asked in different ways.

Each way has the same number of answers but the fourth, which has 200 more in all. The selection
likelihood, everything automatic, learns from them; the last bar learns from all true labels.
Printed are mean average precision over the folds; ``--svg`` draws them.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import KFold

from audits import audit_of
from complabel.annotations import Answers, draw_answers, draw_propensities
from complabel.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier, make_classifier
from complabel.metrics import average_precision

WAYS = (
    "name a label that it is not\n(some come to mind more easily)",
    "... and all labels come to mind alike",
    "... or: some do, and 200 yes/no questions in all",
    "yes or no about one random label",
    "for comparison: all true labels",
)
_INK, _ACCENT = "#57606a", "#2f6fb0"


def measure(name: str, fold: int, options: argparse.Namespace) -> list[float]:
    """Return the average precision of each way on one fold."""
    warnings.simplefilter("ignore")
    data = load_dataset(name, data_dir=options.data_dir)
    X, Y = data.X, np.asarray(data.Y)
    folds = KFold(options.folds, shuffle=True, random_state=0)
    train, test = [*folds.split(X)][fold]
    w = draw_propensities(Y.shape[1], 1.0, np.random.default_rng(1))

    def score(classifier: Any, labels: Any) -> float:
        return average_precision(Y[test], classifier.fit(X[train], labels).predict_proba(X[test]))

    def likelihood(answers: Answers) -> float:
        return score(SelectionLikelihoodClassifier(random_state=0), answers)

    biased = draw_answers(Y[train], propensities=w, random_state=(2, fold))
    audit = audit_of(Y[train], 200, (3, fold))
    return [
        likelihood(biased),
        likelihood(draw_answers(Y[train], random_state=(2, fold))),
        likelihood(Answers.concatenate([biased, audit])),
        likelihood(draw_answers(Y[train], question="asked", random_state=(4, fold))),
        score(make_classifier("supervised", dataset=name, random_state=0), Y[train]),
    ]


def draw(values: Any, path: Path) -> None:
    """Draw the bars, readable on light and dark pages."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    with mpl.rc_context({"svg.hashsalt": "complabel", "font.size": 10}):
        figure, axes = plt.subplots(figsize=(7.2, 2.7), layout="constrained")
        colours = [_INK, _INK, _ACCENT, _ACCENT, "none"]
        edges = [*colours[:-1], _INK]
        bars = axes.barh(range(len(WAYS)), values, color=colours, edgecolor=edges, height=0.62)
        axes.bar_label(bars, labels=[f"{value:.2f}" for value in values], padding=4, color=_INK)
        axes.set_yticks(range(len(WAYS)), WAYS, color=_INK)
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_xticks([])
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        figure.savefig(path, transparent=True, metadata={"Date": None})


def main() -> None:
    """Print the figures, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--svg", type=Path)
    options = parser.parse_args()
    units = [delayed(measure)("scene", fold, options) for fold in range(options.folds)]
    values = np.mean(Parallel(n_jobs=options.jobs)(units), axis=0)
    for way, value in zip(WAYS, values, strict=True):
        print(f"{value:.3f}  {' '.join(way.split())}")
    if options.svg:
        draw(values, options.svg)


if __name__ == "__main__":
    main()
