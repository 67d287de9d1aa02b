"""How well are label frequencies estimated from few random answers, beside what each source gives?

All items are named one label each, with propensities exp(sd z), and some are asked yes or no about
a random label. Estimates are from what was asked alone, from both, and from what was "named" alone
(taken as a uniform choice, and told the true cardinality). Figures: the mean ``error`` of
frequencies, ``of_sum``, the error of their sum, and how many of 100 intervals of 95 % hold the
truth. "Drawn" labels are independent, and apply as often as the real ones.
A draw of the frame has four.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from complabel.answers import Answers
from complabel.experiments.datasets import load_dataset
from complabel.frequencies import LabelFrequencies, estimate_label_frequencies
from complabel.simulate import draw_answers, draw_propensities

CELLS = {
    "set": ("digits", "scene", "yeast", "corel5k"),
    "labels": ("real", "drawn"),
    "sd": (0.0, 0.5, 1.0),
    "asked": (50, 200, 600),
}
DRAWS, IN_A_DRAW, NEEDS = 3, 4, CELLS["set"][1:]
QUICK = {"set": ("digits",), "sd": (1.0,), "asked": (200,)}


def errors_of(found: LabelFrequencies, truth: Any) -> dict[str, Any]:
    """Return errors of an estimate, and whether its intervals hold the truth."""
    of_sum = abs(found.cardinality - truth.sum())
    low, high = found.intervals.T
    return {
        "error": abs(found.values - truth).mean(),
        "of_sum": of_sum,
        "held": 100 * ((low <= truth) & (truth <= high)).mean(),
        "sum_held": 100 * float(of_sum < 1.96 * found.cardinality_error),
    }


def once(draw: int, data: Any, cell: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the errors of each source."""
    labels: Any = load_dataset(cell["set"], data_dir=data).Y
    Y = np.asarray(labels.toarray() if hasattr(labels, "toarray") else labels, dtype=np.uint8)
    if cell["labels"] == "drawn":
        Y = (np.random.default_rng([draw, 0]).random(Y.shape) < Y.mean(axis=0)).astype(np.uint8)
        Y = Y[~Y.all(axis=1)]
    truth = Y.mean(axis=0)
    streams = [np.random.default_rng([draw, number]) for number in (1, 2, 3)]
    w = draw_propensities(Y.shape[1], cell["sd"], streams[0])
    named = draw_answers(Y, propensities=w, random_state=streams[1])
    share = cell["asked"] / len(Y)
    asked = draw_answers(Y, question="asked", items_share=share, random_state=streams[2])
    counts = named.complementary.sum(axis=0)
    uniform = np.clip(1 - counts / counts.sum() * (1 - truth).sum(), 0, 1)
    both = Answers.concatenate([named, asked])
    return {
        "asked": errors_of(estimate_label_frequencies(asked), truth),
        "both": errors_of(estimate_label_frequencies(both), truth),
        "named": {"error": abs(uniform - truth).mean()},
    }


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return the means of four draws, by source."""
    found = [once(IN_A_DRAW * draw + at, data, cell) for at in range(IN_A_DRAW)]
    return [
        ({"from": name}, pd.DataFrame([each[name] for each in found]).mean().to_dict())
        for name in found[0]
    ]
