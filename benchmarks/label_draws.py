"""Measure how much a figure varies between draws of complementary labels.

The script prints a method's average precision as a mean over ten folds, on the labels that the
paper's group released. It also prints the mean, standard deviation and range over simulated draws
of the same kind. The folds are the same for all draws.
"""

from __future__ import annotations

import argparse

import numpy as np

from complabel.experiments.datasets import load_dataset, load_released
from complabel.experiments.studies import Row, run_fold
from complabel.simulate import draw_complementary

FOLDS = 10


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=["scene", "yeast"])
    parser.add_argument("--data-dir")
    parser.add_argument("--methods", nargs="+", default=["ridge"])
    parser.add_argument("--draws", type=int, default=20)
    options = parser.parse_args()
    print("| dataset | method | released | simulated | lowest | highest | as low as released |")
    print("|---" * 7 + "|")
    for name in options.datasets:
        dataset = load_dataset(name, data_dir=options.data_dir)
        for method in options.methods:
            row = Row(method=method)

            def precision(labels, dataset=dataset, row=row):
                folds = (
                    run_fold(dataset, labels, row, fold=fold, folds=FOLDS, seed=0)
                    for fold in range(FOLDS)
                )
                return np.mean([outcome.metrics["average_precision"] for outcome in folds])

            released = precision(load_released(dataset, data_dir=options.data_dir))
            found = np.array(
                [
                    precision(draw_complementary(dataset.Y, random_state=seed))
                    for seed in range(options.draws)
                ]
            )
            simulated = f"{found.mean():.3f} ± {found.std(ddof=1):.3f}"
            print(
                f"| {name} | {method} | {released:.3f} | {simulated}"
                f" | {found.min():.3f} | {found.max():.3f}"
                f" | {(found <= released).sum()} of {len(found)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
