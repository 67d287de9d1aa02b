"""How well the held-out complementary likelihood tracks what true labels would say.

Models with a grid of settings are fitted to complementary labels of two folds of three, and scored
twice on the third: by the likelihood of its complementary labels, and by average precision on its
true labels, which choose nothing. Figures are how well the likelihood orders the settings
(``correlation`` of ranks), and the average precision of the setting of greatest likelihood, of the
best and of the worst one. "cardinality" is what the automatic choice of the selection likelihood
saw over the number of labels per item.
"""

from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.model_selection import ParameterGrid

from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import split_folds
from complabel.methods import make_classifier
from complabel.metrics import average_precision
from complabel.simulate import draw_complementary

SETS = ("synthetic", "scene", "yeast", "corel5k", "corel16k", "delicious")
GRIDS = {
    "selection-likelihood": {
        "kernel": ("linear",),
        "alpha": (3e-3, 1e-2, 3e-2, 1e-1, 3e-1),
        "cardinality": (1.0, 2.0, 4.0, 6.0),
        "scaling": ("global", "standardize"),
    },
    "mlcl": {
        "random_state": (0,),
        "learning_rate": (1e-1, 1e-2, 1e-3),
        "beta": (0.1, 1.0),
        "weight_decay": (1e-4, 1e-2),
    },
}
CELLS = {"set": SETS, "method": (*GRIDS, "cardinality")}
QUICK, NEEDS = {"set": ("synthetic",), "method": ("selection-likelihood",)}, SETS[1:]


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return what the likelihood chooses, beside the best and the worst setting."""
    dataset: Any = load_dataset(cell["set"], data_dir=data)
    X, Y = dataset.X, dataset.Y
    labels = draw_complementary(Y, random_state=draw)
    train, test = split_folds(dataset, n_folds=3, seed=0)[0]
    if cell["method"] == "cardinality":
        model = make_classifier("selection-likelihood", random_state=0)
        model.fit(X[train], labels[train])
        curve, taken = model.cardinality_curve_, float(model.cardinality_)
        points = zip(curve["cardinality"], curve["mean_log_likelihood"], strict=True)
        chosen = {"true": dataset.label_cardinality, "taken": taken}
        return [({"labels": f"{c:g}"}, {"likelihood": value, **chosen}) for c, value in points]
    told = []
    for how in ParameterGrid(GRIDS[cell["method"]]):
        c = how.get("cardinality", 1.0)
        if c >= dataset.n_labels or (c == 6.0 and how["scaling"] != "global"):
            continue
        model = make_classifier(cell["method"], **how).fit(X[train], labels[train])
        precision = average_precision(Y[test], model.predict_proba(X[test]))
        told.append((model.score(X[test], labels[test]), precision))
    likelihood, precision = np.array(told).T
    return {
        "correlation": spearmanr(likelihood, precision).statistic,
        "chosen": precision[likelihood.argmax()],
        "best": precision.max(),
        "worst": precision.min(),
    }
