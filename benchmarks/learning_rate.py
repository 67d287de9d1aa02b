"""What MLCL's automatic learning rate reaches, beside each fixed one.

Average precision on true labels of held-out rows, three folds, uniform complementary labels. The
last columns are simulated problems, which differ in size, labels, signal and scale of features.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.model_selection import KFold

from complabel import metrics
from complabel.datasets import make_synthetic
from complabel.experiments.datasets import load_dataset
from complabel.methods import MLCLClassifier
from complabel.simulate import draw_complementary

RATES = ("auto", 0.1, 0.01, 0.001)
N_SIMULATED = 10


def simulated(seed):
    """Draw a problem and its properties."""
    rng = np.random.default_rng(seed)
    data = make_synthetic(
        int(rng.choice([400, 1000, 2500])),
        n_features=int(rng.integers(5, 100)),
        n_labels=int(rng.integers(4, 13)),
        signal=float(rng.choice([2.0, 4.0, 8.0])),
        random_state=seed,
    )
    return data.X * rng.choice([0.1, 1.0, 5.0]), data.Y


def precision(X, Y, rate, *, n_splits=3):
    """Return the mean average precision, and the rates that were chosen."""
    complementary = draw_complementary(Y, random_state=0)
    found, chosen = [], []
    for train, test in KFold(n_splits, shuffle=True, random_state=0).split(X):
        classifier = MLCLClassifier(learning_rate=rate, random_state=0)
        classifier.fit(X[train], complementary[train])
        found.append(metrics.average_precision(Y[test], classifier.decision_function(X[test])))
        chosen.append(classifier.learning_rate_)
    return np.mean(found), chosen


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", help="folder with dataset files")
    parser.add_argument("--datasets", nargs="*", default=["scene", "yeast", "digits"])
    arguments = parser.parse_args()
    problems = {}
    for name in arguments.datasets:
        data = load_dataset(name, data_dir=arguments.data_dir)
        problems[name] = [(data.X, data.Y)]
    problems[f"{N_SIMULATED} simulated"] = [simulated(seed) for seed in range(N_SIMULATED)]
    print("learning rate", *problems, sep=" | ")
    for rate in RATES:
        cells = [rate]
        for drawn in problems.values():
            results = [precision(X, Y, rate) for X, Y in drawn]
            cell = f"{np.mean([found for found, _ in results]):.3f}"
            if rate == "auto" and len(results) == 1:
                cell += f" (chose {', '.join(map(str, results[0][1]))})"
            cells.append(cell)
        print(*cells, sep=" | ", flush=True)


if __name__ == "__main__":
    main()
