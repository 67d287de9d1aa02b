"""How often intervals hold where a large part of all pairs of few items is judged.

169 items that a model did not learn from, others in each draw, and questions that are drawn without
replacement, at random or with the chances of a sitting that is aimed at a figure. A share of all
pairs is judged. Compared are the figures by these answers with the figures of all labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._draws import block, means_of, told_by
from benchmarks._models import linear_half, true_figures
from benchmarks._sets import answers_to
from complabel.trust import estimate_metrics
from complabel.trust._metrics import _chances

CELLS = {
    "set": ("digits", "yeast", "mirflickr"),
    "aim": ("random", "average_precision", "f1"),
    "judged": (0.25, 0.5, 0.75, 1.0),
}
BLOCK, N_ITEMS, NEEDS = 100, 169, ("yeast", "mirflickr")
QUICK = {"set": ("digits",), "judged": (0.75, 1.0), "aim": ("f1",)}


def of_draws(draw: int, data: Any, cell: Any) -> Any:
    """Yield the bias, its square, and whether the interval holds, of each figure."""
    Y, probabilities = linear_half(cell["set"], data)
    for each in block(draw, BLOCK):
        rng = np.random.default_rng([each, 1])
        rows = rng.permutation(len(Y))[:N_ITEMS]
        P, truth = probabilities[rows], Y[rows]
        chance = np.full(P.size, 1 / P.shape[1])
        if cell["aim"] != "random":
            chance = _chances(P.ravel(), P.ravel() >= 0.5, cell["aim"], len(P))
        pair = np.argsort(rng.random(P.size) / chance)[: round(cell["judged"] * P.size)]
        answers = answers_to(truth, *np.divmod(pair, P.shape[1]), chance[pair])
        ours = estimate_metrics(answers, P, new_items=False)
        for of, value in true_figures(truth, P).items():
            figure = getattr(ours, of)
            off = figure.value - value
            told = told_by(figure.low, figure.high, value)
            yield {"figure": of}, {"bias": off, "error": off**2, **told}


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return bias, error, share of intervals that hold, and length, of each figure."""
    rows = means_of(of_draws(draw, data, cell))
    return [(of, figures | {"error": figures["error"] ** 0.5}) for of, figures in rows]
