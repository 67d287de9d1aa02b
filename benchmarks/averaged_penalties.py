"""Fits to labels that are only named: maps of several penalties averaged, and the likeliest alone.

Prints average precision on other items, means and standard deviations between draws, and processor
seconds of a fit on one thread. One label that does not apply is named freely for each item.

    python -m benchmarks.averaged_penalties --data-dir DIR --reuters DIR

``--reuters`` is that of ``sparse_text.py``. Without one of the folders, its cases are left out.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_multilabel_classification

from benchmarks.flagship_cases import draw_text
from benchmarks.sparse_text import reuters_draws
from complabel._training import one_thread
from complabel.datasets import make_synthetic
from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier
from complabel.methods.selection import _search
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

Draw = tuple[Any, Any, int]  # features, labels, and the number of items that people name labels of
_MOST_TEST = 2000


def cases(options: Any) -> Iterator[tuple[str, int, Callable[[int], Draw]]]:
    """Yield the name of each case, its number of draws, and what draws it."""
    yield "simulated texts, 599 x 1,449, 15 labels", 4, texts
    if options.reuters:
        (drawn,) = [each for name, each in reuters_draws(options.reuters) if name[:3] == "600"]
        yield "Reuters, 600 x 1,449, 15 labels", 5, drawn
    for n, n_draws in ((300, 6), (600, 4)):
        yield f"synthetic, {n} x 20, 8 labels", n_draws, lambda seed, n=n: synthetic(n, seed)
    yield "scikit-learn's multilabel data, 600 x 30, 8 labels", 4, multilabel
    if options.data_dir:
        for name, n, n_draws in (
            *(("digits", 500, 4), ("yeast", 600, 3), ("scene", 600, 3)),
            *(("mirflickr", None, 2), ("scene", None, 3), ("yeast", None, 3), ("corel5k", None, 3)),
        ):
            how = f"{n} items" if n else "nine tenths of the items"
            yield (
                f"{name}, {how}",
                n_draws,
                lambda seed, name=name, n=n: part(name, n, seed, options.data_dir),
            )


def texts(seed: int) -> Draw:
    """Return texts of which words tell much."""
    told = {"cardinality": 1.35, "power": 0.7, "strength": 1.5}
    return *draw_text(599 + 1500, 1449, 15, **told, seed=seed), 599


def synthetic(n: int, seed: int) -> Draw:
    """Return labels that are logistic in the features."""
    data = make_synthetic(n + 1000, n_labels=8, random_state=seed)
    return data.X, data.Y, n


def multilabel(seed: int) -> Draw:
    """Return counts of words, of scikit-learn."""
    told = {"n_features": 30, "n_classes": 8, "n_labels": 2}
    X, Y = make_multilabel_classification(1600, **told, random_state=seed)
    proper = Y.sum(axis=1) < Y.shape[1]
    return X[proper], Y[proper].astype(np.uint8), 600


def part(name: str, n: int | None, seed: int, folder: Path) -> Draw:
    """Return random items of a dataset."""
    data = load_dataset(name, data_dir=folder)
    n_all = data.X.shape[0]
    n = n or int(0.9 * n_all)
    at = np.random.default_rng(seed).permutation(n_all)[: n + _MOST_TEST]
    return data.X[at], np.asarray(data.Y)[at], n


def measure(X: Any, Y: Any, n: int, seed: int) -> tuple[float, float]:
    """Return the average precision and the processor seconds of a fit."""
    answers = draw_answers(Y[:n], question="named", random_state=100 + seed)
    start = time.process_time()
    model = SelectionLikelihoodClassifier(random_state=seed).fit(X[:n], answers)
    seconds = time.process_time() - start
    return float(average_precision(Y[n:], model.predict_proba(X[n:]))), seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--reuters", type=Path, help="folder with the JSON files of Reuters-21578")
    options = parser.parse_args()
    print("| items | draws | the likeliest alone | averaged | seconds of a fit |")
    print("|---|--:|---|---|---|")
    averaged = _search._AVERAGED
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, n_draws, draw in cases(options):
            cells, seconds = [], []
            for penalties in ((), averaged):
                _search._AVERAGED = penalties
                found = np.array([measure(*draw(seed), seed) for seed in range(n_draws)])
                cells.append(f"{found[:, 0].mean():.3f} ± {found[:, 0].std():.3f}")
                seconds.append(f"{found[:, 1].mean():.1f}")
            line = " | ".join((name, str(n_draws), *cells, " → ".join(seconds)))
            print(f"| {line} |", flush=True)


if __name__ == "__main__":
    main()
