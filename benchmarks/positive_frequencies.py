"""How often the intervals of label frequencies hold, beside labels named because they apply.

Draws and splits are those of `positives.py`: somebody names one label that applies for each of two
thirds of the items, and 200 yes/no questions are asked about random pairs besides. Printed is how
often intervals of 95 % hold the share of these items to which a label applies, means over labels,
and how often the number of labels per item lies within 1.96 standard errors; "alone" is the
estimate from the 200 answers, "fit" that which SelectionLikelihoodClassifier shows. Then the mean
widths of these intervals, and how far the fit's numbers of labels per item are from the true one,
in percent: what it shows, and what its probabilities add up to. Features and penalty are chosen in
the first draw and kept in the others, so that each takes a second.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from complabel._training import one_thread
from complabel.answers import Answers
from complabel.frequencies import estimate_label_frequencies
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_answers, draw_propensities
from positives import ASKED, of_set


def held_and_width(values: Any, covariance: Any, intervals: Any, true: Any) -> list[float]:
    """Return how often labels' intervals hold, and that of their sum, and both widths."""
    low, high = intervals.T
    reach = 1.96 * float(np.sqrt(covariance.sum()))
    held = np.mean((low <= true) & (true <= high)), abs(values.sum() - true.sum()) <= reach
    return [*held, np.mean(high - low), 2 * reach]


def measure(X: Any, Y: Any, bias: float, seed: int, kept: dict[str, Any]) -> list[float]:
    """Return what is printed, of one draw; keep what its fit chooses."""
    of = np.random.default_rng(seed).permutation(len(Y))[: 2 * len(Y) // 3]
    w = draw_propensities(Y.shape[1], bias, random_state=seed)
    answers = draw_answers(Y[of], question="positive", propensities=w, random_state=seed)
    asked = draw_answers(Y[of], question="asked", items_share=ASKED / len(of), random_state=seed)
    model = SelectionLikelihoodClassifier(kernel="linear", rank=None, random_state=0, **kept)
    model.fit(X[of], Answers.concatenate([answers, asked]))
    kept.update(alpha=model.alpha_, scaling=model.scaling_)
    shown = (getattr(model, f"label_frequencies_{name}_") for name in ("covariance", "intervals"))
    alone, true = estimate_label_frequencies(asked), Y[of].mean(axis=0)
    both = (
        held_and_width(alone.values, alone.covariance, alone.intervals, true),
        held_and_width(model.label_frequencies_, *shown, true),
    )
    numbers = model.label_frequencies_.sum(), model.mean_cardinality_
    off = [100 * (number / true.sum() - 1) for number in numbers]
    return [*np.transpose(both).ravel(), *off]


def main() -> None:
    """Print a row for each set and bias."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["made", "digits", "scene", "yeast"])
    parser.add_argument("--biases", type=float, nargs="+", default=[0.0, 1.0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--items", type=int)
    parser.add_argument("--data-dir")
    given = parser.parse_args()
    each = " | ".join(f"{what}: alone | fit" for what in ("held", "sum held", "width", "of sum"))
    print(f"| set | bias | {each} | off, %: shown | fit |\n|---|{'--:|' * 11}")
    for name in given.sets:
        X, Y = of_set(name, given.data_dir, given.items)
        for bias in given.biases:
            kept: dict[str, Any] = {}
            with one_thread(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = [measure(X, Y, bias, seed, kept) for seed in range(given.draws)]
            values = [f"{each:.3f}" for each in np.mean(found, axis=0)]
            print(f"| {name} | {bias:g} | {' | '.join(values)} |", flush=True)


if __name__ == "__main__":
    main()
