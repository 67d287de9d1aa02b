"""What mistakes cost, and whether they are found: by all alike, or by one bad annotator of five.

For each dataset and question, answers are drawn of which a share is given at random, and the
classifier is fitted without an error rate, and with those that it finds. Printed are means over the
folds: criteria on true labels of the test fold, the log-likelihood of its answers, and the rates
found. Average precision is compared with the first line of its kind: without an error rate, or
without mistakes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.metrics import label_ranking_loss

from complabel import metrics
from complabel._training import one_thread
from complabel.answers import AssumedUniformWarning
from complabel.datasets import MultiLabelDataset
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import split_folds
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_answers

_SEED = 0
_QUESTIONS = ("free", "asked", "menu-2")
_BAD = 0.4


@dataclass(frozen=True)
class Situation:
    """How often answers are mistakes, by everybody or by each of several, and what is fitted."""

    title: str
    mistakes: float | Sequence[float]
    error_rate: str | float


# Those of one group are compared with its first.
_GROUPS = (
    (
        Situation("10 % of all", 0.1, 0.0),
        Situation("10 % of all", 0.1, "auto"),
    ),
    (
        Situation("none", [0.0] * 5, 0.0),
        Situation("40 % of one's in five", [*[0.0] * 4, _BAD], 0.0),
        Situation("40 % of one's in five", [*[0.0] * 4, _BAD], "per-annotator"),
    ),
)


def measure(
    dataset: MultiLabelDataset,
    question: str,
    situation: Situation,
    *,
    kernel: str,
    fold: int,
    folds: int,
) -> dict[str, Any]:
    """Fit to the training part of a fold, and measure on its test part."""
    answers = draw_answers(
        dataset.Y, question=question, error_rate=situation.mistakes, random_state=_SEED
    )
    train, test = split_folds(dataset, n_folds=folds, seed=_SEED)[fold]
    X: Any = dataset.X
    classifier = SelectionLikelihoodClassifier(
        kernel=kernel, error_rate=situation.error_rate, random_state=_SEED
    )
    with one_thread(), warnings.catch_warnings():
        # Labels were drawn uniformly, as the warning says that it is assumed.
        warnings.simplefilter("ignore", AssumedUniformWarning)
        classifier.fit(X[train], answers[train])
        probabilities = classifier.predict_proba(X[test])
        return {
            "precision": metrics.average_precision(dataset.Y[test], probabilities),
            "loss": label_ranking_loss(dataset.Y[test], probabilities),
            "likelihood": classifier.score(X[test], answers[test]),
            "rate": getattr(classifier, "error_rate_", None),
            "rates": getattr(classifier, "error_rates_", None),
        }


def rates_found(situation: Situation, found: Sequence[dict[str, Any]]) -> str:
    """Return the rates that were found, and whether the bad annotator has the greatest."""
    if situation.error_rate == "auto":
        return ", ".join(f"{each['rate']:.3f}" for each in found) + " by fold"
    if situation.error_rate != "per-annotator":
        return ""
    rates = np.array([each["rates"] for each in found])  # (folds, R)
    times = int((rates.argmax(axis=1) == np.argmax(situation.mistakes)).sum())
    off = np.abs(rates[:, -1] - _BAD).mean()
    means = ", ".join(f"{rate:.3f}" for rate in rates.mean(axis=0))
    return f"{means}; found in {times} of {len(found)} folds, off by {off:.3f}"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--questions", nargs="+", default=_QUESTIONS)
    parser.add_argument("--kernel", choices=("linear", "auto"), default="linear")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    print(
        f"kernel={options.kernel!r}, {options.folds} folds, seed {_SEED}, one answer per item:\n\n"
        "| dataset | question | mistakes | error_rate | average precision | against the first |"
        " ranking loss | held-out log-likelihood | rates found |\n"
        "|---|---|---|---|---|---|---|---|---|"
    )
    for name in options.datasets:
        dataset = load_dataset(name, data_dir=options.data_dir)
        for group in _GROUPS:
            for question in options.questions:
                first: float | None = None
                for situation in group:
                    found = joblib.Parallel(options.jobs)(
                        joblib.delayed(measure)(
                            dataset,
                            question,
                            situation,
                            kernel=options.kernel,
                            fold=fold,
                            folds=options.folds,
                        )
                        for fold in range(options.folds)
                    )
                    precision, loss, likelihood = (
                        float(np.mean([each[key] for each in found]))
                        for key in ("precision", "loss", "likelihood")
                    )
                    gain = "" if first is None else f"{precision - first:+.4f}"
                    first = precision if first is None else first
                    print(
                        f"| {name} | {question} | {situation.title} | {situation.error_rate} |"
                        f" {precision:.4f} | {gain} | {loss:.4f} | {likelihood:.4f} |"
                        f" {rates_found(situation, found)} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
