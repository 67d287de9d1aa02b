"""One label named because it applies for each item: do intervals of label frequencies hold?

Draws and splits are those of `positives.py`, of 1,500 items: somebody names one label for each of
two thirds of them, and 200 yes/no questions are asked about random pairs besides. "labels" is how
often intervals of 95 % hold the share of these items to which a label applies, "sum" whether the
number of labels per item lies within 1.96 standard errors, and widths are those of both. "alone" is
the estimate from the 200 answers, "fit" what SelectionLikelihoodClassifier shows. "off" is how far
its labels per item are from the true number, in percent: as shown, and as its probabilities add up.
Features and penalty are chosen in the first draw, so that each of the others takes a second.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from benchmarks._sets import of_set
from benchmarks.positives import asked, named
from complabel.answers import Answers
from complabel.frequencies import estimate_label_frequencies
from complabel.methods import SelectionLikelihoodClassifier

SETS = ("made", "digits", "scene", "yeast")
CELLS = {"set": SETS, "bias": (0, 1)}
DRAWS, QUICK, NEEDS = 100, {"set": ("made",), "bias": (0,)}, SETS[2:]
ITEMS = 1500


def answered(data_set: str, bias: float, data: Any, draw: int) -> tuple[Any, Any, Answers, Answers]:
    """Return features, true labels, labels that were named, and answers to random questions."""
    X, Y = of_set(data_set, data)
    some = np.random.default_rng(0).permutation(len(Y))[:ITEMS]
    of = some[np.random.default_rng(draw).permutation(len(some))[: 2 * len(some) // 3]]
    return X[of], Y[of], named(Y[of], bias, draw), asked(Y[of], draw)


@functools.cache
def chosen(data_set: str, bias: float, data: Any) -> dict[str, Any]:
    """Return the features and the penalty that a fit chooses in the first draw."""
    X, _, positive, judged = answered(data_set, bias, data, 0)
    model = SelectionLikelihoodClassifier(kernel="linear", rank=None, random_state=0)
    model.fit(X, Answers.concatenate([positive, judged]))
    return {"alpha": model.alpha_, "scaling": model.scaling_}


def measure(*, draw: int, data: Any, **cell: Any) -> dict[str, float]:
    """Return whether intervals hold, their widths, and how far labels per item are off."""
    X, Y, positive, judged = answered(cell["set"], cell["bias"], data, draw)
    how = chosen(cell["set"], cell["bias"], data)
    model = SelectionLikelihoodClassifier(kernel="linear", rank=None, random_state=0, **how)
    model.fit(X, Answers.concatenate([positive, judged]))
    of_fit = [getattr(model, f"label_frequencies_{name}") for name in ("", "covariance_")]
    alone, true, found = estimate_label_frequencies(judged), Y.mean(axis=0), {}
    for name, values, covariance, intervals in (
        ("alone", alone.values, alone.covariance, alone.intervals),
        ("fit", *of_fit, model.label_frequencies_intervals_),
    ):
        (low, high), reach = intervals.T, 1.96 * float(np.sqrt(covariance.sum()))
        found[f"labels_{name}"] = float(np.mean((low <= true) & (true <= high)))
        found[f"sum_{name}"] = float(abs(values.sum() - true.sum()) <= reach)
        found[f"width_{name}"], found[f"of_sum_{name}"] = float(np.mean(high - low)), 2 * reach
    numbers = {"shown": of_fit[0].sum(), "fit": model.mean_cardinality_}
    off = {f"off_{key}": float(100 * (n / true.sum() - 1)) for key, n in numbers.items()}
    return {**found, **off}
