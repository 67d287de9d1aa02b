"""What labels that a rule excluded teach, alone, with some questions asked, and with its rates.

The dataset's own exclusions are what everything but the reference learns from. Printed are means
over the folds: criteria on true labels of the test fold, and how many labels the classifier takes
for relevant per item. Lines marked * know something of true labels: how often those that do not
apply are excluded in the training part, or all labels.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from complabel import metrics
from complabel._training import one_thread
from complabel.answers import Answers, AssumedUniformWarning
from complabel.datasets import MultiLabelDataset
from complabel.experiments.datasets import load_dataset
from complabel.experiments.methods import make_paper_classifier
from complabel.experiments.studies import split_folds
from complabel.methods import ComplementaryClassifier, make_classifier
from complabel.simulate import draw_answers

_SEED = 0
_CRITERIA = ("average_precision", "ranking_loss", "one_error")


def of_rules(dataset: MultiLabelDataset, train: NDArray[np.intp]) -> Answers:
    """Return what was excluded of the training items."""
    return Answers.from_arrays(excluded=_excluded(dataset)[train], question="excluded")


def with_questions(
    dataset: MultiLabelDataset, train: NDArray[np.intp], n_questions: int, seed: int
) -> Answers:
    """Return the exclusions, and whether a random label applies to each of some random items."""
    asked = draw_answers(
        dataset.Y[train],
        question="asked",
        items_share=n_questions / len(train),
        random_state=seed,
    )
    return Answers.concatenate([of_rules(dataset, train), asked])


def true_rates(dataset: MultiLabelDataset, train: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return how often labels that do not apply are excluded, (K,), by true labels."""
    share, frequency = _excluded(dataset)[train].mean(axis=0), dataset.Y[train].mean(axis=0)
    return np.asarray(share / (1 - frequency))


def _excluded(dataset: MultiLabelDataset) -> NDArray[np.uint8]:
    """Return the dataset's exclusions (n, K)."""
    if dataset.excluded is None:
        raise SystemExit(f"{dataset.name} has no exclusions of its own")
    return dataset.excluded


def lines(kernel: str) -> dict[str, Callable[..., tuple[ComplementaryClassifier, Any]]]:
    """Return for each line what makes its classifier, and what that learns from."""

    def flagship(**settings: Any) -> ComplementaryClassifier:
        return make_classifier(
            "selection-likelihood", kernel=kernel, random_state=_SEED, **settings
        )

    return {
        "constant ranking": lambda data, train, _: (
            make_classifier("prior"),
            of_rules(data, train).complementary,
        ),
        "ridge": lambda data, train, _: (
            make_classifier("ridge"),
            of_rules(data, train).complementary,
        ),
        "selection likelihood": lambda data, train, _: (flagship(), of_rules(data, train)),
        "selection likelihood, 50 yes/no answers": lambda data, train, fold: (
            flagship(),
            with_questions(data, train, 50, fold),
        ),
        "selection likelihood, 200 yes/no answers": lambda data, train, fold: (
            flagship(),
            with_questions(data, train, 200, fold),
        ),
        "selection likelihood, true rates *": lambda data, train, _: (
            flagship(exclusion_rates=true_rates(data, train)),
            of_rules(data, train),
        ),
        "supervised *": lambda data, train, _: (
            make_paper_classifier("supervised", data.name, random_state=_SEED),
            data.Y[train],
        ),
    }


def measure(
    dataset: MultiLabelDataset, title: str, *, kernel: str, fold: int, folds: int
) -> dict[str, Any]:
    """Fit to the training part of a fold, and measure on its test part."""
    train, test = split_folds(dataset, n_folds=folds, seed=_SEED)[fold]
    X: Any = dataset.X
    classifier, labels = lines(kernel)[title](dataset, train, fold)
    with one_thread(), warnings.catch_warnings():
        # Rules do not choose uniformly, as the warning says: what that costs is measured here.
        warnings.simplefilter("ignore", AssumedUniformWarning)
        classifier.fit(X[train], labels)
        predicted, probabilities = classifier.predict_with_proba(X[test])
    found: dict[str, Any] = dict(
        metrics.evaluate(dataset.Y[test], probabilities, predicted, skip_trivial_rows=True)
    )
    features = getattr(classifier, "kernel_", None)
    if features is not None:
        features = f"{features} {getattr(classifier, 'scaling_', '')}".strip()
    return found | {
        "cardinality": getattr(classifier, "mean_cardinality_", None),
        "features": features,
    }


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--kernel", choices=("linear", "auto"), default="auto")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    print(
        f"kernel={options.kernel!r}, {options.folds} folds, seed {_SEED}; * knows true labels:\n\n"
        "| dataset | learns from | average precision | ranking loss | one-error | cardinality |"
        " features |\n|---|---|---|---|---|---|---|"
    )
    for name in options.datasets:
        dataset = load_dataset(name, data_dir=options.data_dir)
        for title in lines(options.kernel):
            found = joblib.Parallel(options.jobs)(
                joblib.delayed(measure)(
                    dataset, title, kernel=options.kernel, fold=fold, folds=options.folds
                )
                for fold in range(options.folds)
            )
            criteria = " | ".join(
                f"{np.mean([each[key] for each in found]):.4f}" for key in _CRITERIA
            )
            cardinality, features = "", ""
            if found[0]["features"] is not None:
                cardinality = f"{np.mean([each['cardinality'] for each in found]):.2f}"
                features = ", ".join(sorted({each["features"] for each in found}))
            print(f"| {name} | {title} | {criteria} | {cardinality} | {features} |", flush=True)
        print(f"\n{name}: {dataset.label_cardinality:.2f} labels apply to an item.")


if __name__ == "__main__":
    main()
