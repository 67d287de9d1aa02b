"""What do rows of length 1 and a kernel add to the selection likelihood, by held-out labels?

Draw f holds out fold f of ten (seed 1, other folds than those of the tables) and fits to the rest,
everything else automatic. "gain" is how much likelier held-out named labels are than with linear
maps of features that are divided by one number, in nats; "error" is its standard error over rows.
"""

from typing import Any

import numpy as np
import torch

from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import split_folds
from complabel.losses import selection_log_likelihood
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_complementary

CELLS = {"set": ("digits", "scene", "yeast", "corel5k", "corel16k", "delicious")}
DRAWS, QUICK, NEEDS = 3, {"set": ("digits",)}, CELLS["set"][1:]
VARIANTS: dict[str, dict[str, str]] = {
    "one number": {"kernel": "linear", "scaling": "global"},
    "all scalings": {"kernel": "linear"},
    "or a kernel": {},
}


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return the figures of each variant."""
    items = load_dataset(cell["set"], data_dir=data)
    labels, found, first = draw_complementary(items.Y, random_state=0), [], None
    train, test = split_folds(items, n_folds=10, seed=1)[draw]
    for name, settings in VARIANTS.items():
        model = SelectionLikelihoodClassifier(random_state=draw, **settings)
        logits = model.fit(items.X[train], labels[train]).decision_function(items.X[test])
        named = torch.from_numpy(labels[test].astype(np.float64))
        by_row = selection_log_likelihood(torch.from_numpy(logits), named).numpy()
        first = first if found else by_row
        gain, precision = by_row - first, average_precision(items.Y[test], logits)
        told = {"gain": gain.mean(), "error": gain.std() / np.sqrt(len(gain))}
        found.append(({"choices": name}, {**told, "precision": precision}))
    return found
