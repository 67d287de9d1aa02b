"""The selection likelihood beside its rivals on simulated sparse text with labels named freely.

Prints average precision on unseen texts: means over seeds. "Constant" ranks all texts alike, by how
often labels apply to the training texts, which nobody knows who has only named labels.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from complabel._training import one_thread
from complabel.methods import make_classifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers
from flagship_cases import draw_text

_METHODS = ("selection-likelihood", "comrank", "mlcl", "ridge", "prior")
_N_TEST = 1500


def measure(n_texts: int, n_words: int, strength: float, seed: int) -> list[float]:
    """Return the average precision of each method, and that of the constant order."""
    X, Y = draw_text(
        n_texts + _N_TEST, n_words, 15, cardinality=1.35, power=0.7, strength=strength, seed=seed
    )
    answers = draw_answers(Y[:n_texts], question="named", random_state=100 + seed)
    X_train, X_test, Y_test = X[:n_texts], X[n_texts:], Y[n_texts:]
    found = []
    for method in _METHODS:
        classifier: Any = make_classifier(method)
        if "random_state" in classifier.get_params():
            classifier.set_params(random_state=seed)
        classifier.fit(X_train, answers)
        found.append(average_precision(Y_test, classifier.predict_proba(X_test)))
    constant = np.tile(Y[:n_texts].mean(axis=0), (len(Y_test), 1))
    return [*map(float, found), float(average_precision(Y_test, constant))]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    print("| texts x words | strength | " + " | ".join((*_METHODS, "constant")) + " |")
    print("|---" * (len(_METHODS) + 3) + "|")
    for n_texts, n_words, strength in ((3026, 743, 0.7), (3026, 743, 1.0), (599, 1449, 1.5)):
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a method ignores is part of what is measured
            found = [measure(n_texts, n_words, strength, seed) for seed in range(options.seeds)]
        means = " | ".join(f"{mean:.3f}" for mean in np.mean(found, axis=0))
        print(f"| {n_texts:,} x {n_words:,} | {strength} | {means} |", flush=True)


if __name__ == "__main__":
    main()
