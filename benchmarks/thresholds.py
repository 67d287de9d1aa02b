"""How often promised precision and recall are kept, and what the promises cost.

A model learned from one random yes or no for each of half of the items. Random questions ("asked"),
as many forms about all labels ("ticked"), or questions that are drawn for the figure ("to
evaluate") are about the other items, 50 times anew in each block. Figures are how often thresholds
were found, how often the promise was kept (it is, too, where none was found), the other figure on
average and at best, and the share of labels that apply that are not predicted: over all pairs
(``missed``), and as the mean over items with a label. "conformal" is the rule of conformal risk
control, which bounds that mean only.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from sklearn.metrics import precision_recall_curve

from benchmarks._draws import block, means
from benchmarks._models import Array, Labels, asked, fitted, parts
from benchmarks.questions_to_evaluate import answered, nothing_said
from complabel.answers import Answers
from complabel.trust import choose_thresholds, suggest_evaluation_questions

CELLS = [
    {"by": by, "set": name, "questions": n}
    for by in ("asked", "ticked", "to evaluate")
    for name in ("digits", "scene", "yeast")[: 3 if by == "asked" else 2]
    for n in (200, 1000)
]
DRAWS, BLOCK, NEEDS = 4, 50, ("scene", "yeast")
QUICK = {"by": ("asked",), "set": ("digits",), "questions": (200,)}


def missed_by_item(p: Array, Y: Labels, threshold: float) -> float:
    """Return the share of an item's labels that are missed, on average."""
    has = Y.any(axis=1)
    return float(((Y * (p < threshold)).sum(axis=1)[has] / Y.sum(axis=1)[has]).mean())


def conformal(answers: Answers, p: Array, most: float) -> float:
    """Return the threshold of conformal risk control for a share ``most`` of missed labels."""
    pairs = answers.relevant.tocoo()
    scores = np.sort(p[answers.item[pairs.row], pairs.col])
    return float(scores[max(0, int(np.floor(most * (len(scores) + 1))) - 1)])


def cuts_of(said: Answers, p: Array, of: str) -> Iterator[tuple[str, float, bool, float]]:
    """Yield names of rules, the share that they promise, whether they found one, and thresholds."""
    for least in (0.8, 0.9):
        chosen = choose_thresholds(said, p, **{of: least})
        yield of, least, bool(chosen.promised.all()), float(chosen.values[0])
        if of == "recall":
            yield "conformal", least, True, conformal(said, p, 1 - least)


@means
def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Yield what a draw found and kept, for each promise."""
    (X, Y), (others, truth) = parts(cell["set"], data, 2)
    p = fitted(X, Y).predict_proba(others)
    *curves, places = precision_recall_curve(truth.ravel(), p.ravel())
    n, nothing = cell["questions"], nothing_said(*truth.shape)
    for each, of in product(block(draw, BLOCK), ("precision", "recall")):
        if cell["by"] == "to evaluate":
            rng = np.random.default_rng([each, n])
            table = suggest_evaluation_questions(nothing, p, n, figure=of, random_state=rng)
            said = answered(table, truth)
        else:
            said = asked(truth, n, [each, n], cell["by"])
        for rule, least, is_found, cut in cuts_of(said, p, of):
            named, other = curves if of == "precision" else curves[::-1]
            at = np.searchsorted(places, cut)
            figures = {
                "found": is_found,
                "kept": named[at] >= least,
                "other": other[at],
                "missed": 1 - curves[1][at],
                "missed_of_item": missed_by_item(p, truth, cut),
                "best": other[named >= least].max(),
            }
            yield {"promise": rule, "least": least}, figures
