"""The selection likelihood beside its rivals where items are few, on synthetic data.

Prints a Markdown table of average precision on 1,000 unseen items: means over seeds, with labels
named freely (one for each item, all come to mind alike) and with one yes or no for each item.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from complabel._training import one_thread
from complabel.datasets import make_synthetic
from complabel.methods import make_classifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

_METHODS = ("selection-likelihood", "mlcl", "comrank", "ridge")
_N_LABELS, _N_TEST = 8, 1000


def measure(n_items: int, question: str, method: str, seed: int) -> float:
    """Return the average precision of one fit."""
    data = make_synthetic(n_items + _N_TEST, n_labels=_N_LABELS, random_state=seed)
    X, Y = data.X, data.Y
    answers = draw_answers(Y[:n_items], question=question, random_state=seed)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a method ignores is part of what is measured
        classifier: Any = make_classifier(method, random_state=seed)
        classifier.fit(X[:n_items], answers)
    return float(average_precision(Y[n_items:], classifier.predict_proba(X[n_items:])))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    print("| items | question | " + " | ".join(_METHODS) + " |")
    print("|---|---|" + "---|" * len(_METHODS))
    for n_items in (300, 600, 1200, 2400):
        for question in ("free", "asked"):
            units = [(method, seed) for method in _METHODS for seed in range(options.seeds)]
            found = Parallel(n_jobs=options.jobs)(
                delayed(measure)(n_items, question, *unit) for unit in units
            )
            means = np.reshape(found, (len(_METHODS), -1)).mean(axis=1)
            print(f"| {n_items} | {question} | " + " | ".join(f"{m:.3f}" for m in means) + " |")


if __name__ == "__main__":
    main()
