"""One label named for each item, and 200 questions: do a fit's intervals of frequencies hold?

Draws and splits are those of `positives.py`, of 1,500 items: somebody names one label for each of
two thirds of them, because it applies ("positive") or does not ("free"), and 200 yes/no questions
are asked about random pairs. "labels" is how often intervals of 95 % hold the share of these items
to which a label applies, "width" is theirs, "sum" whether the number of labels per item lies within
1.96 standard errors. "alone" is the estimate from the 200 answers, "fit" what
SelectionLikelihoodClassifier shows; "off_shown" is how far its labels per item are from the true
number, in percent. Features and penalty are chosen in the first draw, so others take a second.
"""

import functools
from typing import Any

import numpy as np

from benchmarks.positives import asked, halves, named
from complabel.answers import Answers
from complabel.frequencies import estimate_label_frequencies
from complabel.methods import SelectionLikelihoodClassifier

SETS = ("made", "digits", "scene", "yeast")
CELLS = {"question": ("positive", "free"), "set": SETS, "bias": (0, 1)}
DRAWS, QUICK, NEEDS = 50, {"set": ("made",), "bias": (0,)}, SETS[2:]
ITEMS = 1500


def answered(data: Any, draw: int, question: str, data_set: str, bias: float) -> Any:
    """Return features, true labels, labels that were named, and answers to random questions."""
    X, Y, of, _ = halves(data_set, data, draw, ITEMS)
    return X[of], Y[of], named(Y[of], bias, draw, question), asked(Y[of], draw)


def fitted(X: Any, *answers: Answers, **chosen: Any) -> SelectionLikelihoodClassifier:
    """Fit to all answers."""
    how: dict[str, Any] = {"kernel": "linear", "rank": None, "random_state": 0, **chosen}
    return SelectionLikelihoodClassifier(**how).fit(X, Answers.concatenate(answers))


@functools.cache
def chosen(data: Any, *cell: Any) -> dict[str, Any]:
    """Return the features and the penalty that a fit chooses in the first draw."""
    X, _, *answers = answered(data, 0, *cell)
    model = fitted(X, *answers)
    return {"alpha": model.alpha_, "scaling": model.scaling_}


def measure(*, draw: int, data: Any, **cell: Any) -> dict[str, float]:
    """Return whether intervals hold, their widths, and how far labels per item are off."""
    X, Y, one, judged = answered(data, draw, *cell.values())
    model = fitted(X, one, judged, **chosen(data, *cell.values()))
    alone, true = estimate_label_frequencies(judged), Y.mean(axis=0)
    shown, covariance = model.label_frequencies_, model.label_frequencies_covariance_
    found = {"off_shown": 100 * (shown.sum() / true.sum() - 1)}
    for name, values, errors, intervals in (
        ("alone", alone.values, alone.covariance, alone.intervals),
        ("fit", shown, covariance, model.label_frequencies_intervals_),
    ):
        low, high = intervals.T
        found[f"labels_{name}"] = np.mean((low <= true) & (true <= high))
        found[f"width_{name}"] = np.mean(high - low)
        found[f"sum_{name}"] = abs(values.sum() - true.sum()) <= 1.96 * np.sqrt(errors.sum())
    return found
