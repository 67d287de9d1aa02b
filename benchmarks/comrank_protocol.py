"""Does the protocol of the ComRank paper give what it printed, on its own labels and folds?

A linear map; SGD with momentum .9, weight decay 1e-3, batches of 256 and 200 epochs; the rate times
.1 after 100 and 150. Ten contiguous folds of n // 10 rows in the released order, so the last rows
are never tested. The rate is the one of .001, .01 and .1 with which held-out *complementary* labels
of the first training rows rank lowest. ``released/NAME.csv`` has the columns row, released_row,
uniform and biased.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from complabel.answers import indicator_from_indices
from complabel.experiments.datasets import load_dataset
from complabel.methods import make_classifier
from complabel.metrics import average_precision, complementary_ranking_error

RATES = (1e-3, 1e-2, 1e-1)
PROTOCOL = {"optimizer": "sgd", "momentum": 0.9, "weight_decay": 1e-3, "milestones": (100, 150)}
PROTOCOL |= {"epochs": 200, "batch_size": 256}
PRINTED = {
    ("comrank", "scene"): (0.780, 0.751),
    ("comrank", "yeast"): (0.715, 0.717),
    ("gdf", "scene"): (0.759, 0.729),
    ("gdf", "yeast"): (0.712, 0.714),
    ("l-uw", "scene"): (0.395, 0.398),
    ("l-uw", "yeast"): (0.685, 0.691),
}
NEEDS, SCHEMES = ("scene", "yeast"), ("uniform", "biased")
CELLS = {"set": NEEDS, "labels": SCHEMES, "method": ("comrank", "gdf", "l-uw")}
QUICK = {"set": ("yeast",), "labels": ("uniform",), "method": ("gdf",)}


def in_released_order(name: str, labels: str, data: Any) -> tuple[Any, Any, Any]:
    """Return features, complementary and true labels."""
    found = load_dataset(name, data_dir=data)
    rows = pd.read_csv(Path(data, "released", f"{name}.csv")).sort_values("released_row")
    named = indicator_from_indices(rows[labels].to_numpy(), found.n_labels)
    return found.X[rows["row"]], named, found.Y[rows["row"]]


def label_free_error(method: str, rate: float, X: Any, y: Any) -> float:
    """Return the ranking error of held-out complementary labels, over three parts."""
    scores = np.empty(y.shape)
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        classifier = make_classifier(method, learning_rate=rate, random_state=0, **PROTOCOL)
        scores[test] = classifier.fit(X[train], y[train]).decision_function(X[test])
    return complementary_ranking_error(y, scores)


def measure(*, draw: int, data: Any, **cell: str) -> dict[str, float]:
    """Return the average precision after the last epoch, and the chosen rate."""
    method, (X, y, Y) = cell["method"], in_released_order(cell["set"], cell["labels"], data)
    size, rows = len(X) // 10, np.arange(len(X))
    blocks = np.split(rows[: 10 * size], 10)
    others = [np.setdiff1d(rows, block) for block in blocks]
    rate = min(RATES, key=lambda rate: label_free_error(method, rate, X[others[0]], y[others[0]]))
    found = []
    for at, (train, test) in enumerate(zip(others, blocks, strict=True)):
        classifier = make_classifier(method, learning_rate=rate, random_state=at, **PROTOCOL)
        scores = classifier.fit(X[train], y[train]).predict_proba(X[test])
        found.append(average_precision(Y[test], scores))
    printed = PRINTED[method, cell["set"]][SCHEMES.index(cell["labels"])]
    return {"precision": np.mean(found), "printed": printed, "rate": rate}
