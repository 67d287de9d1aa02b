"""How many yes/no questions is one label that applies worth, named for each item?

Labels are named without bias, with a bias of 1, and with this bias beside ASKED yes/no. The worth
is the number of yes/no questions for each item with which the same fit reaches the same average
precision, from .1 to 4, less the ASKED ones; so 4 means "4 or more". It is how many times as long
as a yes or no naming may take.
"""

from typing import Any

import numpy as np

from benchmarks.positives import ASKED, SETS, asked, fitted, halves, named
from complabel.answers import Answers
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

CELLS = {"set": SETS}
DRAWS, QUICK, NEEDS = 2, {"set": ("made",)}, SETS[2:]
YES_NO = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)  # questions for each item


def judged(Y: Any, share: float, draw: int) -> list[Answers]:
    """Return so many random yes or no about each item."""
    if share <= 1:
        return [draw_answers(Y, question="asked", items_share=share, random_state=draw)]
    times = range(int(share))
    return [draw_answers(Y, question="asked", random_state=[draw, each]) for each in times]


def measure(*, draw: int, data: Any, **cell: Any) -> dict[str, float]:
    """Return what yes or no about each item reaches, what naming reaches, and its worth."""
    X, Y, of, other = halves(cell["set"], data, draw)

    def reached(parts: list[Answers]) -> float:
        model = fitted(X[of], Answers.concatenate(parts))
        return average_precision(Y[other], model.predict_proba(X[other]))

    yes_no = [reached(judged(Y[of], share, draw)) for share in YES_NO]
    rising, found = np.maximum.accumulate(yes_no), {"yes_no": yes_no[YES_NO.index(1.0)]}
    fair, biased = (named(Y[of], bias, draw) for bias in (0.0, 1.0))
    ways = {"named": [fair], "biased": [biased], "asked": [biased, asked(Y[of], draw)]}
    for name, parts in ways.items():
        found[name], more = reached(parts), ASKED * (len(parts) - 1)
        worth = np.exp(np.interp(found[name], rising, np.log(YES_NO)))
        found[f"worth_{name}"] = worth - more / len(of)
    return found
