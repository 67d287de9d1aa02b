"""How well the held-out complementary likelihood tracks what true labels would say.

One of three folds is held out, models with a grid of settings are fitted to complementary labels of
the rest, and each is scored twice on the held-out part: by the likelihood of its complementary
labels, and by average precision on its true labels. Nothing is chosen by the second. Figures are
how well the likelihood orders the settings (``correlation`` of ranks), and the average precision of
the setting of greatest likelihood, of the best and of the worst one. "cardinality" is what the
automatic choice of the selection likelihood saw over the number of labels per item.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import split_folds
from complabel.methods import ComplementaryClassifier, make_classifier
from complabel.metrics import average_precision
from complabel.simulate import draw_complementary

CELLS = {
    "set": ("synthetic", "scene", "yeast", "corel5k", "corel16k", "delicious"),
    "method": ("selection-likelihood", "mlcl", "cardinality"),
}
QUICK = {"set": ("synthetic",), "method": ("selection-likelihood",)}
NEEDS = CELLS["set"][1:]


def models(method: str, n_labels: int) -> Iterator[ComplementaryClassifier]:
    """Yield a method with each of its settings."""
    if method == "mlcl":
        for rate, beta, decay in itertools.product((1e-1, 1e-2, 1e-3), (0.1, 1.0), (1e-4, 1e-2)):
            how = {"learning_rate": rate, "beta": beta, "weight_decay": decay}
            yield make_classifier("mlcl", random_state=0, **how)
        return
    for alpha, c, scaling in itertools.product(
        (3e-3, 1e-2, 3e-2, 1e-1, 3e-1), (1.0, 2.0, 4.0, 6.0), ("global", "standardize")
    ):
        if c < n_labels and (c != 6.0 or scaling == "global"):
            how = {"alpha": alpha, "cardinality": c, "scaling": scaling}
            yield make_classifier("selection-likelihood:kernel=linear", **how)


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return what the likelihood chooses, beside the best and the worst setting."""
    dataset: Any = load_dataset(cell["set"], data_dir=data)
    X, Y = dataset.X, dataset.Y
    labels = draw_complementary(Y, random_state=draw)
    train, test = split_folds(dataset, n_folds=3, seed=0)[0]
    if cell["method"] == "cardinality":
        model: Any = make_classifier("selection-likelihood", random_state=0)
        model.fit(X[train], labels[train])
        curve = model.cardinality_curve_
        points = zip(curve["cardinality"], curve["mean_log_likelihood"], strict=True)
        chosen = {"true": dataset.label_cardinality, "taken": float(model.cardinality_)}
        return [({"labels": f"{c:g}"}, {"likelihood": value} | chosen) for c, value in points]
    told = []
    for model in models(cell["method"], dataset.n_labels):
        model.fit(X[train], labels[train])
        precision = average_precision(Y[test], model.predict_proba(X[test]))
        told.append((model.score(X[test], labels[test]), precision))
    likelihood, precision = np.array(told).T
    return {
        "settings": len(told),
        "correlation": float(spearmanr(likelihood, precision).statistic),
        "chosen": float(precision[likelihood.argmax()]),
        "best": float(precision.max()),
        "worst": float(precision.min()),
    }
