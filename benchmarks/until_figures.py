"""How often do sittings stop falsely that end when a figure of a model is known?

Figures are about logistic regressions of half of the items, measured on items drawn from the
others; a sitting ends when the goal is reached, or after 6,000 answers. "aimed" asks about pairs
that tell most, "random" about any. People do not err, or miss .23 and invent .028 ("err"), or miss
.2 and invent as much as "people" says. "items" is the most items of a sitting. ``false`` and
``ended`` are of 100 sittings; ``wrong_ends`` is of 100 that ended, ``ever_out`` how often the
interval for all moments missed the truth at some look before, and ``held`` how often the interval
of 80 % of the answers left held after about 40 % of them. A draw is 200 sittings where "items" is
"all" and the goal .05, else 50.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._models import true_figures
from benchmarks._until import NEEDS as NEEDS
from benchmarks._until import held_left, load, predictions, rates_of, shares
from complabel.trust._goals import _PARTS, Goal, Standing, _part
from complabel.trust._metrics import _chances
from complabel.trust._pairs import JudgedPairs, ScoredPairs

FIGURES = ("precision", "recall", "f1", "average_precision")
THREE = ("precision", "f1", "average_precision")
AIMED, BOTH = ("aimed",), ("aimed", "random")
# Sets, items, within, people, figures, questions.
PLAN: tuple[Any, ...] = (
    (("scene", "yeast", "digits"), "all", 0.05, "right", THREE, BOTH),
    (("scene", "yeast", "digits"), "all", 0.05, "err", THREE, AIMED),
    (("corel5k-all",), 300, 0.05, "right", THREE, AIMED),
    (("corel5k-all",), 300, 0.05, "err", THREE, AIMED),
    *((("corel5k-all",), 300, 0.1, people, ("f1",), AIMED) for people in (0.003, 0.005, 0.008)),
    (("corel5k-all",), 300, 0.1, 0.005, ("average_precision",), AIMED),
    *((("scene",), "all", 0.1, people, FIGURES[2:], AIMED) for people in (0.05, 0.08, 0.1)),
    (("scene",), "all", 0.1, 0.12, ("f1",), AIMED),
    (("yeast", "corel5k"), 1500, 0.05, "right", FIGURES, BOTH),
    (("scene", "digits"), 1500, 0.1, "err", ("recall", "f1"), AIMED),
    (("mirflickr", "made"), 800, 0.06, "right", FIGURES, BOTH),
    (("mirflickr", "made"), 800, 0.1, "err", ("precision", "f1"), AIMED),
)
CELLS = [
    {"set": name, "items": items, "within": within, "people": people, "figure": figure, "asks": how}
    for names, items, within, people, figures, asks in PLAN
    for name in names
    for figure in figures
    for how in asks
]
DRAWS = 10
QUICK = {"set": ("made",), "figure": ("precision",), "asks": ("aimed",), "people": ("right",)}


def measure(*, draw: int, data: Any, **cell: Any) -> dict[str, float]:
    """Return how sittings go."""
    p, truth = predictions(*load(cell["set"], data))
    goal, rates = Goal(cell["figure"], cell["within"]), rates_of(cell["people"])
    whole, rng = true_figures(truth, p)[goal.figure], np.random.default_rng([draw, 7])
    is_all = cell["items"] == "all"
    n_items = len(p) if is_all else min(len(p), cell["items"])
    n_sittings = 200 if is_all and goal.within == 0.05 else 50
    ends, falsely, ever, held = [], [], [], []
    for _ in range(n_sittings):
        n, part, was_out, looks = sitting(goal, p, truth, whole, n_items, cell["asks"], rates, rng)
        ever.append(was_out)
        if part.is_reached:
            ends.append(n)
            falsely.append(not part.low <= whole <= part.high)
            held.append(held_left(looks, n))
    held = [each for each in held if each is not None]
    found = {"value": whole, "false": 100 * sum(falsely) / n_sittings}
    found |= {"answers": np.mean(ends)} if ends else {}
    ended = 100 * len(ends) / n_sittings
    return found | {"ended": ended} | shares(ever_out=ever, wrong_ends=falsely, held=held)


def sitting(
    goal: Goal, p: Any, truth: Any, whole: float, n_items: int, how: str, rates: Any, rng: Any
) -> tuple[Any, ...]:
    """Ask about items drawn from those at hand until the goal is reached."""
    rows = rng.integers(len(p), size=n_items)
    p, truth = p[rows], truth[rows]
    n_labels = p.shape[1]
    chance = np.full(p.size, 1 / n_labels)
    if how == "aimed":
        chance = _chances(p.ravel(), (p >= 0.5).ravel(), goal.figure, len(p))
    order = np.argsort(rng.random(p.size) / chance)[:6000]
    said = rng.random(len(order)) < np.where(truth.ravel()[order], 1 - rates[0], rates[1])
    by_label = [np.full((1, n_labels), rate) for rate in rates]
    looks, ever, ranking, n_next = [], False, None, 50
    while True:
        n = min(n_next, len(order))
        (item, label), weight = np.divmod(order[:n], n_labels), 1 / chance[order[:n]]
        shares_of = weight / weight.mean()
        judged = JudgedPairs(item, label, np.full(n, -1), said[:n], shares_of, *p.shape)
        pairs = ScoredPairs.of(judged, p, np.asarray(0.5), *by_label)
        if goal.figure == "average_precision":  # the order stays the same
            ranking = pairs.__dict__.setdefault("ranking", ranking or pairs.ranking)
        part = _part([pairs, *pairs.in_parts(_PARTS)], goal)
        looks.append((n, *part.left))
        if part.is_reached or n >= len(order):
            return n, part, ever, looks
        n_next = Standing(goal, [part], n, part.left).next_look(n)
        ever |= not part.low <= whole <= part.high
