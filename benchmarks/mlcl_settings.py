"""Which start and which learning rate let MLCL learn?

Starts have the rates of the paper: "random" is the paper's start, "prior" begins at scores of 1/K.
Rates are "auto", which ``fit`` chooses by held-out complementary labels, and the paper's three.
Labels are uniform; each draw has folds of its own. Figures are average precision on test rows
("worst" of a fold), the share of fits with a dead label (mean score below .01), the loss without
weight decay, and the log-likelihood of held-out complementary labels. A draw of "simulated" are two
problems, which differ in size, labels, signal and scale.
"""

from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.special import expit
from sklearn.model_selection import KFold

from complabel.datasets import make_synthetic
from complabel.experiments.datasets import load_dataset
from complabel.experiments.methods import make_paper_classifier
from complabel.losses import MLCLLoss
from complabel.methods import MLCLClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_complementary

OF_STARTS = [("scene", 10), ("scene", 3), ("yeast", 10), ("corel5k", 10)]
OF_RATES = [(name, 3) for name in ("scene", "yeast", "digits", "simulated")]
RATES = [f"rate {rate}" for rate in ("auto", 0.1, 0.01, 0.001)]
CELLS = [
    {"set": name, "folds": folds, "setting": setting}
    for sets, settings in ((OF_STARTS, ("random", "prior")), (OF_RATES, RATES))
    for name, folds in sets
    for setting in settings
]
DRAWS, NEEDS = 5, ("scene", "yeast", "corel5k")
QUICK = {"set": ("simulated",), "setting": ("rate auto", "rate 0.1")}
DEAD = 0.01


def problems(name: str, draw: int, data: Any) -> Any:
    """Yield the features and labels of a set, or of two simulated problems."""
    if name != "simulated":
        found = load_dataset(name, data_dir=data)
        yield found.X, found.Y
        return
    for seed in (2 * draw, 2 * draw + 1):
        rng = np.random.default_rng(seed)
        size, n_features = int(rng.choice([400, 1000, 2500])), int(rng.integers(5, 100))
        n_labels, signal = int(rng.integers(4, 13)), float(rng.choice([2.0, 4.0, 8.0]))
        how = {"n_features": n_features, "n_labels": n_labels, "signal": signal}
        made = make_synthetic(size, random_state=seed, **how)
        yield made.X * rng.choice([0.1, 1.0, 5.0]), made.Y


def classifier_of(name: str, setting: str, seed: int) -> Any:
    """Return a classifier with a start, or with a learning rate."""
    what, _, rate = setting.partition("rate ")
    if what:
        return make_paper_classifier("mlcl", name, random_state=seed, bias_init=what)
    return MLCLClassifier(learning_rate=rate if rate == "auto" else float(rate), random_state=0)


def measure(*, draw: int, data: Any, **cell: Any) -> dict[str, float]:
    """Return means over the folds."""
    found = []
    for X, Y in problems(cell["set"], draw, data):
        labels = draw_complementary(Y, random_state=draw)
        splits = KFold(cell["folds"], shuffle=True, random_state=draw).split(X)
        for fold, (train, test) in enumerate(splits):
            model = classifier_of(cell["set"], cell["setting"], 100 * draw + fold)
            model.fit(X[train], labels[train])
            scores = torch.from_numpy(model.decision_function(X[train]))
            loss = MLCLLoss(torch.from_numpy(model.transition_), beta=model.beta)
            told = {
                "precision": average_precision(Y[test], model.decision_function(X[test])),
                "dead": expit(scores.numpy()).mean(axis=0).min() < DEAD,
                "loss": loss(scores, torch.from_numpy(labels[train].astype(float))).item(),
                "held_out": model.score(X[test], labels[test]),
            }
            found.append(told)
    table = pd.DataFrame(found)
    return {**table.mean(), "worst": table["precision"].min()}
