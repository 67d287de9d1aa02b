"""How fast is training by gradient descent, beside the plain way to write it?

The plain way is ``plain_mlcl``: MLCL with a Dataset, a DataLoader, autograd and torch's Adam. A
draw is a turn, in which all take turns on one thread, on one of ten folds of a set, both steps, 200
epochs; seconds are those of the processor. The plain loop runs a tenth of its epochs, as each costs
the same. "side_by_side" is the share of one of ten folds that are fitted together, "products" are
the two products with the features alone, and "equal" says that a fold is the same bit for bit as if
it was trained alone. ``rows`` compares sparse features with dense ones (5 % of 40,000 x 5,000, 15
labels, 20 epochs).
"""

from typing import Any

import numpy as np
import torch

from benchmarks import plain_mlcl
from benchmarks._fits import alone, timed, wide_rows
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import split_folds
from complabel.methods import MLCLClassifier, fit_side_by_side
from complabel.simulate import draw_complementary

CELLS = [
    *({"set": of, "method": "MLCL"} for of in ("synthetic", "yeast")),
    *({"rows": kind} for kind in ("sparse", "dense")),
]
DRAWS, NEEDS, QUICK = 7, ("yeast",), {"set": ("synthetic",)}
TIMES = ("plain", "alone", "side_by_side", "products", "seconds", "peak_gb")
MAP = ("coef_", "intercept_")
_EPOCHS, _FOLDS, _BATCH, _SHARE = 200, 10, 256, 10


def products(X: Any, n_labels: int) -> None:
    """Do the products with the features that both steps of a fit do, and nothing else."""
    with torch.inference_mode():
        rows = torch.ones((X.shape[0], X.shape[1] + 1))
        rows[:, :-1] = torch.from_numpy(X)
        weights = torch.zeros((n_labels, rows.shape[1]))
        gradient, batches = torch.empty_like(weights), torch.split(rows, _BATCH)
        for _ in range(2 * _EPOCHS):
            for batch in batches:
                logits = torch.mm(weights, batch.t())
                torch.addmm(weights, logits, batch, out=gradient)


def of_set(name: str, draw: int, data: Any) -> dict[str, float]:
    """Return the processor seconds of a fit in each way."""
    items = load_dataset(name, data_dir=data)
    named = draw_complementary(items.Y, random_state=0)
    folds = [train for train, _ in split_folds(items, n_folds=_FOLDS, seed=0)]
    parts = [(items.X[train], named[train], {}) for train in folds]

    def fresh(number: int) -> Any:
        return MLCLClassifier(learning_rate=0.1, epochs=_EPOCHS, random_state=number)

    def together() -> list[Any]:
        models = [fresh(number) for number in range(_FOLDS)]
        errors = fit_side_by_side(models, parts)
        assert errors == [None] * _FOLDS, errors
        return models

    together()  # warm up
    (X, y, _), number = parts[draw % _FOLDS], draw % _FOLDS
    single, _, one = timed(lambda: fresh(number).fit(X, y))
    models, _, all_ten = timed(together)
    same = models[number]
    equal = all(np.array_equal(getattr(same, of), getattr(single, of)) for of in MAP)
    rows = plain_mlcl.Rows(X, y)
    plain_mlcl.fit(rows, learning_rate=0.1, epochs=1)  # what is imported does not count
    how = {"learning_rate": 0.1, "epochs": _EPOCHS // _SHARE}
    plain = timed(lambda: plain_mlcl.fit(rows, **how))[2] * _SHARE
    found = {"alone": one, "side_by_side": all_ten / _FOLDS, "equal": int(equal), "plain": plain}
    return {**found, "products": timed(lambda: products(X, y.shape[1]))[2]}


def of_rows(*, dense: bool) -> dict[str, float]:
    """Fit to many wide rows."""
    X, named = wide_rows(40_000)
    X = X.toarray() if dense else X
    model = MLCLClassifier(learning_rate=0.01, epochs=20, random_state=0)
    return {"seconds": timed(lambda: model.fit(X, named))[2]}


def measure(*, draw: int, data: Any, **cell: str) -> dict[str, float]:
    """Return the processor seconds of each way to train."""
    if "rows" in cell:
        return alone(of_rows, dense=cell["rows"] == "dense")
    return of_set(cell["set"], draw, data)
