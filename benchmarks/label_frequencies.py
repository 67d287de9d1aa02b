"""How well label frequencies are estimated from few random answers, beside what each source gives.

For each dataset and spread of propensities, all items are named one label each, and some are asked
yes or no about a random label. Printed are means over draws, of the audit alone, of the named
labels alone (taken as a uniform choice, and told the true cardinality) and of both: the error of
frequencies in hundredths, that of their sum, and how often 95 % intervals hold the truth. "drawn"
datasets have the frequencies of the real ones, and independent labels.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from complabel.answers import Answers
from complabel.experiments.datasets import load_dataset
from complabel.frequencies import LabelFrequencies, estimate_label_frequencies
from complabel.simulate import draw_answers, draw_propensities

_SPREADS = (0.0, 0.5, 1.0)
_QUANTILE = 1.96


def label_matrix(name: str, data: str, draw: int) -> Any:
    """Return the labels (n, K) of a dataset, or independent ones that apply as often."""
    labels: Any = load_dataset(name.removesuffix(", drawn"), data_dir=data).Y
    Y = np.asarray(labels.toarray() if hasattr(labels, "toarray") else labels, dtype=np.uint8)
    if not name.endswith(", drawn"):
        return Y
    Y = (np.random.default_rng([draw, 0]).random(Y.shape) < Y.mean(axis=0)).astype(np.uint8)
    return Y[~Y.all(axis=1)]


def answers_about(Y: Any, sd: float, n_asked: int, draw: int) -> tuple[Answers, Answers]:
    """Return what is named of all items, and what is asked of some."""
    streams = [np.random.default_rng([draw, number]) for number in (1, 2, 3)]
    w = draw_propensities(Y.shape[1], sd, streams[0])
    share = n_asked / len(Y)
    return (
        draw_answers(Y, propensities=w, random_state=streams[1]),
        draw_answers(Y, question="asked", items_share=share, random_state=streams[2]),
    )


def errors_of(found: LabelFrequencies, truth: Any) -> tuple[float, ...]:
    """Return errors of an estimate, and whether its intervals hold the truth."""
    apart = abs(found.values - truth)
    of_sum = abs(found.cardinality - truth.sum())
    low, high = found.intervals.T
    return (
        100 * apart.mean(),
        of_sum,
        100 * ((low <= truth) & (truth <= high)).mean(),
        100 * (of_sum < _QUANTILE * found.cardinality_error),
    )


def error_of_named(named: Answers, truth: Any) -> float:
    """Return the error of frequencies (in hundredths) by a uniform choice, given their sum."""
    counts = named.complementary.sum(axis=0)
    found = np.clip(1 - counts / counts.sum() * (1 - truth).sum(), 0, 1)
    return float(100 * abs(found - truth).mean())


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with the files of the datasets")
    parser.add_argument("--datasets", nargs="+", default=["scene", "yeast", "corel5k"])
    parser.add_argument("--asked", nargs="+", type=int, default=[50, 200, 600])
    parser.add_argument("--draws", type=int, default=20)
    given = parser.parse_args(arguments)
    names = [name + end for name in given.datasets for end in ("", ", drawn")]
    print("| labels | sd | asked | named alone | audit alone | sum | both | sum "
          "| audit: held, % | sum | both: held, % | sum |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name, sd, n_asked in itertools.product(names, _SPREADS, given.asked):
        of_named, of_audit, of_both = [], [], []
        for draw in range(given.draws):
            Y = label_matrix(name, given.data, draw)
            truth = Y.mean(axis=0)
            named, asked = answers_about(Y, sd, n_asked, draw)
            of_named.append(error_of_named(named, truth))
            of_audit.append(errors_of(estimate_label_frequencies(asked), truth))
            both = Answers.concatenate([named, asked])
            of_both.append(errors_of(estimate_label_frequencies(both), truth))
        audit, both_ = np.mean(of_audit, axis=0), np.mean(of_both, axis=0)
        print(
            f"| {name} | {sd:g} | {n_asked} | {np.mean(of_named):.1f}"
            f" | {audit[0]:.1f} | {audit[1]:.2f} | {both_[0]:.1f} | {both_[1]:.2f}"
            f" | {audit[2]:.0f} | {audit[3]:.0f} | {both_[2]:.0f} | {both_[3]:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
