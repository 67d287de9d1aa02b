"""Run the ComRank paper's protocol on its own labels and folds, and compare printed figures.

The model is a linear map. SGD trains it for 200 epochs with momentum .9, weight decay 1e-3 and
batches of 256. The learning rate is multiplied by .1 after epochs 100 and 150. There are ten
contiguous folds of n // 10 rows each, in the released order, so the last rows are never tested.
The average precision of each method is measured after the last epoch. The learning rate is the
one with which held-out *complementary* labels of the first training rows rank lowest.

With ``--diagnostic``, a plain torch loop also minimizes the same loss. It does not shuffle, as in
the released code. Its average precision is shown after the last epoch, and after the epoch that is
best *on the test fold*, among every fifth epoch. The second figure is chosen by true labels of the
test fold, so it is not a result.

    python -m benchmarks.comrank_protocol RELEASED [--diagnostic] [--data-dir DIR]

RELEASED is a folder with scene.csv and yeast.csv: columns row, released_row, uniform, biased.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.model_selection import KFold

from complabel import metrics
from complabel.answers import indicator_from_indices
from complabel.experiments.datasets import load_dataset
from complabel.experiments.losses import ExponentialRankingLoss, GDFLoss, LUWLoss
from complabel.losses import LogitLoss
from complabel.methods import make_classifier

RATES = (1e-3, 1e-2, 1e-1)
EPOCHS, BATCH, MILESTONES = 200, 256, (100, 150)
PROTOCOL: dict[str, Any] = {
    "optimizer": "sgd",
    "momentum": 0.9,
    "weight_decay": 1e-3,
    "milestones": MILESTONES,
    "epochs": EPOCHS,
    "batch_size": BATCH,
}
LOSSES: dict[str, type[LogitLoss]] = {
    "comrank": ExponentialRankingLoss,
    "gdf": GDFLoss,
    "l-uw": LUWLoss,
}
PUBLISHED = {
    ("comrank", "scene"): (0.780, 0.751),
    ("comrank", "yeast"): (0.715, 0.717),
    ("gdf", "scene"): (0.759, 0.729),
    ("gdf", "yeast"): (0.712, 0.714),
    ("l-uw", "scene"): (0.395, 0.398),
    ("l-uw", "yeast"): (0.685, 0.691),
}


def main() -> None:
    """Print a line for each dataset, draw, method and learning rate."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("released", type=Path)
    parser.add_argument("--data-dir", help="folder with dataset files")
    parser.add_argument("--diagnostic", action="store_true", help="also the best epoch on test")
    parser.add_argument("--datasets", nargs="+", default=["scene", "yeast"])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print("dataset draw    method   rate   last epoch   printed  torch: last   best on test")
    for name in arguments.datasets:
        data = load_dataset(name, data_dir=arguments.data_dir)
        with (arguments.released / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        order = np.empty(len(rows), dtype=np.intp)  # our rows in the released order
        order[[int(row["released_row"]) for row in rows]] = [int(row["row"]) for row in rows]
        for at, draw in enumerate(("uniform", "biased")):
            named = np.empty(len(rows), dtype=np.intp)
            named[[int(row["row"]) for row in rows]] = [int(row[draw]) for row in rows]
            y = indicator_from_indices(named, data.n_labels)
            for method in LOSSES:
                printed = PUBLISHED[method, name][at]
                compare(
                    f"{name}   {draw:<7}",
                    method,
                    data.X[order],
                    y[order],
                    data.Y[order],
                    printed,
                    diagnostic=arguments.diagnostic,
                )


def compare(
    title: str, method: str, X: Any, y: Any, Y: Any, printed: float, *, diagnostic: bool
) -> None:
    """Print the line of a method."""
    started = time.perf_counter()
    folds = contiguous(len(X))
    first = folds[0][0]
    errors = [label_free_error(method, rate, X[first], y[first]) for rate in RATES]
    rate = RATES[int(np.argmin(errors))]
    ours = np.empty(10)
    for at, (train, test) in enumerate(folds):
        settings = {**PROTOCOL, "learning_rate": rate, "random_state": at}
        classifier = make_classifier(method, **settings).fit(X[train], y[train])
        ours[at] = metrics.average_precision(Y[test], classifier.predict_proba(X[test]))
    print(f"{title} {method:<8} {rate:<6g} {shown(ours)}  {printed:.3f}", end="")
    if diagnostic:
        curves = np.array(
            [plain_torch(method, rate, X, y, Y, *fold, seed=at) for at, fold in enumerate(folds)]
        )
        print(f"    {shown(curves[:, -1])}  {shown(curves.max(axis=1))}", end="")
    print(f"   {time.perf_counter() - started:.0f} s", flush=True)


def shown(values: Any) -> str:
    """Return mean and standard deviation over folds."""
    return f"{values.mean():.3f}±{values.std(ddof=1):.3f}"


def contiguous(n: int) -> list[tuple[Any, Any]]:
    """Return ten folds of n // 10 rows each, one after the other."""
    size, rows = n // 10, np.arange(n)
    blocks = [rows[fold * size : (fold + 1) * size] for fold in range(10)]
    return [(np.setdiff1d(rows, block), block) for block in blocks]


def label_free_error(method: str, rate: float, X: Any, y: Any) -> float:
    """Return the ranking error of held-out complementary labels, over three parts."""
    scores = np.empty(y.shape)
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            classifier = make_classifier(method, learning_rate=rate, random_state=0, **PROTOCOL)
            scores[test] = classifier.fit(X[train], y[train]).decision_function(X[test])
    return metrics.complementary_ranking_error(y, scores)


def plain_torch(
    method: str, rate: float, X: Any, y: Any, Y: Any, train: Any, test: Any, *, seed: int
) -> Any:
    """Train with torch's optimizer, and return the test average precision every fifth epoch."""
    torch.manual_seed(seed)
    inputs, labels = (torch.tensor(each, dtype=torch.float32) for each in (X, y))
    network = torch.nn.Linear(X.shape[1], y.shape[1])
    optimizer = torch.optim.SGD(network.parameters(), lr=rate, momentum=0.9, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=list(MILESTONES))
    loss, curve = LOSSES[method](), []
    for epoch in range(1, EPOCHS + 1):
        for batch in torch.as_tensor(train).split(BATCH):
            optimizer.zero_grad()
            loss(network(inputs[batch]), labels[batch]).backward()
            optimizer.step()
        schedule.step()
        if epoch % 5:
            continue
        with torch.no_grad():
            scores = torch.sigmoid(network(inputs[test])).double().numpy()
        curve.append(metrics.average_precision(Y[test], scores))
    return np.array(curve)


if __name__ == "__main__":
    main()
