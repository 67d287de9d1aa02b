"""What rows of length 1 and a kernel add to the selection likelihood, by held-out labels.

For each dataset, some folds of ten are held out (folds other than those of the tables), and the
classifier is fitted to the rest with fewer and with more kinds of features to choose from,
everything else automatic. Printed is the mean log-likelihood of the held-out complementary labels,
its paired difference to the first line, and average precision beside it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import joblib
import numpy as np
import torch
from numpy.typing import NDArray

from complabel import metrics
from complabel.datasets import MultiLabelDataset
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import split_folds
from complabel.losses import selection_log_likelihood
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_complementary

_SEED = 1
_VARIANTS: dict[str, dict[str, str]] = {
    "linear, one number for all features": {"kernel": "linear", "scaling": "global"},
    "linear, all scalings": {"kernel": "linear"},
    "all scalings or kernel": {},
}


def held_out(
    dataset: MultiLabelDataset, settings: dict[str, str], fold: int
) -> tuple[NDArray[np.float64], float, str]:
    """Return the log-likelihood of each held-out row, average precision, and what was chosen."""
    labels = draw_complementary(dataset.Y, random_state=0)
    train, test = split_folds(dataset, n_folds=10, seed=_SEED)[fold]
    classifier = SelectionLikelihoodClassifier(random_state=fold, **settings)
    classifier.fit(dataset.X[train], labels[train])
    logits = classifier.decision_function(dataset.X[test])
    likelihood = selection_log_likelihood(
        torch.from_numpy(logits), torch.from_numpy(labels[test].astype(np.float64))
    )
    chosen = classifier.scaling_ if classifier.kernel_ == "linear" else "kernel"
    return likelihood.numpy(), metrics.average_precision(dataset.Y[test], logits), chosen


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--folds", type=int, default=3, help="how many of the ten to hold out")
    parser.add_argument("--jobs", type=int, default=-1)
    options = parser.parse_args()
    print("| dataset | to choose from | chosen | held-out log-likelihood | gain | AP |")
    print("|---|---|---|---|---|---|")
    for name in options.datasets:
        dataset = load_dataset(name, data_dir=options.data_dir)
        first: NDArray[np.float64] | None = None
        for title, settings in _VARIANTS.items():
            folds = joblib.Parallel(options.jobs)(
                joblib.delayed(held_out)(dataset, settings, fold) for fold in range(options.folds)
            )
            by_row = np.concatenate([likelihood for likelihood, _, _ in folds])
            first = by_row if first is None else first
            gain = by_row - first
            error = gain.std() / np.sqrt(len(gain))
            precision = np.mean([value for _, value, _ in folds])
            chosen = ", ".join(sorted({choice for _, _, choice in folds}))
            print(
                f"| {name} | {title} | {chosen} | {by_row.mean():.4f} |"
                f" {gain.mean():+.4f} ± {error:.4f} | {precision:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
