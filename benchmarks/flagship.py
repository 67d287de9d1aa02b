"""How long does an automatic fit take, and how good is what it chooses?

One label that does not apply is named for each row, uniformly; mirflickr has exclusions of its own.
The case ``small`` has 200 rows of 8 features, ``text`` is simulated. Processor seconds of one
thread are the median of five fits if one takes less than five. The log-likelihood is that of the
named labels of held-out rows, average precision that of their true labels. What earlier versions
took is stored, too, and not measured again.
"""

import statistics
from typing import Any

import numpy as np

from benchmarks._fits import draw_text, timed
from complabel.datasets import make_digits, make_synthetic
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import split_folds
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_complementary

NEEDS = ("scene", "yeast", "mirflickr", "delicious", "corel5k", "corel16k")
CELLS = {"case": ("small", "digits", "text", *NEEDS), "version": ("now",)}
QUICK, TIMES = {"case": ("small", "digits")}, ("seconds",)


def case_of(name: str, data: Any) -> tuple[Any, Any, Any, int]:
    """Return features, named labels and true labels; so many of the rows are fitted to."""
    if name == "small":
        made = make_synthetic(1200, n_features=8, n_labels=4, random_state=0)
        return made.X, draw_complementary(made.Y, random_state=0), made.Y, 200
    if name == "text":
        X, Y = draw_text(4000, 1836, 20)
        return X, draw_complementary(Y, random_state=0), Y, 3200
    digits = name == "digits"
    items = make_digits(5000, random_state=0) if digits else load_dataset(name, data_dir=data)
    named = items.excluded if name == "mirflickr" else draw_complementary(items.Y, random_state=0)
    folds = 5 if name in ("digits", "mirflickr") else 3
    train, test = split_folds(items, n_folds=folds, seed=0)[0]
    rows = np.concatenate([train, test])
    return items.X[rows], named[rows], items.Y[rows], len(train)


def measure(*, draw: int, data: Any, case: str, version: str) -> dict[str, float]:
    """Return seconds, held-out log-likelihood and average precision of a fit."""
    X, named, Y, n = case_of(case, data)
    SelectionLikelihoodClassifier().fit(X[:50], named[:50])  # imports do not count
    classifier = SelectionLikelihoodClassifier(random_state=0)
    taken: list[float] = []
    while not taken or (taken[0] < 5.0 and len(taken) < 5):
        taken.append(timed(lambda: classifier.fit(X[:n], named[:n]))[2])
    return {
        "seconds": statistics.median(taken),
        "likelihood": classifier.score(X[n:], named[n:]),
        "precision": average_precision(Y[n:], classifier.predict_proba(X[n:])),
    }
