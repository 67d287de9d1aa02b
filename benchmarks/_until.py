"""What simulated sittings share: people, sets and predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MaxAbsScaler

from complabel.datasets import make_digits
from complabel.experiments.datasets import load_dataset, load_file

PEOPLE = {"right": (0.0, 0.0), "err": (0.23, 0.028)}  # missed, invented: as on relations
NEEDS = ("scene", "yeast", "corel5k", "corel5k-all", "mirflickr")


def rates_of(people: Any) -> tuple[float, float]:
    """Return what people miss and invent; a number is what people invent who miss .2."""
    return PEOPLE[people] if people in PEOPLE else (0.2, float(people))


def load(name: str, data: Path | None) -> tuple[Any, Any]:
    """Return features and true labels of all rows."""
    if name == "made":
        made: Any = {"n_features": 40, "n_classes": 12, "n_labels": 2, "random_state": 5}
        return make_multilabel_classification(3000, **made)
    if name == "mirflickr":
        found = loadmat(Path(data or ".") / "pml" / "mirflickr.mat")
        return found["data"], np.asarray(found["target"]).T
    if name == "digits":
        loaded: Any = make_digits(3000, random_state=0)
    elif name == "corel5k-all":
        loaded = load_file(Path(data or ".") / "corel5k" / "Corel5k-sparse.arff")
    else:
        loaded = load_dataset(name, data_dir=data)
    return loaded.X, loaded.Y


def predictions(X: Any, Y: Any) -> tuple[Any, Any]:
    """Return chances by a model of half of the rows about the other half, and their labels."""
    X = MaxAbsScaler().fit_transform(X)
    train, test = np.split(np.random.default_rng(0).permutation(len(Y)), [len(Y) // 2])
    model = OneVsRestClassifier(LogisticRegression(C=1.0, max_iter=200))
    return model.fit(X[train], Y[train] > 0).predict_proba(X[test]), Y[test] > 0


def held_left(looks: Any, n: int) -> bool | None:
    """Return whether n answers came as a look after at most 40 % of them said, if there was one."""
    at, low, _, high = max((each for each in looks if each[0] <= n / 2.5), default=[np.nan] * 4)
    return low <= n - at <= high if np.isfinite(low) else None


def shares(**counts: Any) -> dict[str, float]:
    """Return how many of 100 are true, of each list that is not empty."""
    return {name: 100 * float(np.mean(each)) for name, each in counts.items() if len(each)}
