"""Do people err, or do they differ: two states of a pair or a scale, and which is chosen?

1,000 items have six labels. Features are not drawn, but the log-odds that a classifier would find:
it is right about 90 % of the pairs. Forty people either "err" (they miss labels with rates from 0
to .75, and invent some with a rate of .03) or "differ": whoever is asked says yes with the chance
of the pair, from .5 to 1 if the label applies, from 0 to .5 for 15 % of the other pairs, and .01
for the rest. Every item is asked about one label, and 30 % of these questions are answered twice
("1.3 of one label"); or people judge all pairs, each once, twice or three times. ``chosen`` is the
share of draws in which a model is chosen; average precision and accuracy are those of the share of
people and of the probability that the label applies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.metrics import average_precision_score

from complabel.people._states import Judgements, choose_states, fit_states

ITEMS, LABELS, PEOPLE = 1000, 6, 40
CELLS = {"people": ("err", "differ"), "judged": ("1.3 of one label", "1", "2", "3")}
DRAWS, QUICK = 5, {"judged": ("1",)}


def judged(way: str, truth: NDArray[np.bool_], times: int, rng: np.random.Generator) -> Judgements:
    """Draw judgements of pairs; 0 times is one question about each item, 30 % of them twice."""
    item, label = np.divmod(np.arange(truth.size), LABELS)
    if times == 0:
        item, label = np.arange(ITEMS), rng.integers(LABELS, size=ITEMS)
        pair = np.concatenate([item, np.flatnonzero(rng.random(ITEMS) < 0.3)])
    else:
        pair = np.tile(np.arange(truth.size), times)
    person = rng.integers(PEOPLE, size=len(pair))
    applies = truth[item, label]
    if way == "err":
        missed = np.linspace(0, 0.75, PEOPLE)
        chance = np.where(applies[pair], 1 - missed[person], 0.03)
    else:
        doubtful = rng.random(len(item)) < 0.15
        below, above = 0.5 * rng.random(len(item)), 0.5 + 0.5 * rng.random(len(item))
        chance = np.where(applies, above, np.where(doubtful, below, 0.01))[pair]
    yes = rng.random(len(pair)) < chance
    return Judgements(item, label, pair, yes, person, n_labels=LABELS, n_people=PEOPLE)


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return whether the scale is chosen, and the figures of both models."""
    rng = np.random.default_rng(draw)
    log_odds = rng.normal(-3, 3, size=(ITEMS, LABELS))
    truth = rng.random(log_odds.shape) < special.expit(log_odds)
    times = CELLS["judged"].index(cell["judged"])
    judgements = judged(cell["people"], truth, times, rng)
    scale = choose_states(judgements, log_odds, rng) > 2
    at, rows = (judgements.item, judgements.label), []
    for states in (2, 16):
        share, _, applies = fit_states(judgements, log_odds, states).of_all(judgements, log_odds)
        figures = {"chosen": float(scale == (states == 16))}
        for name, found in (("share", share), ("applies", applies)):
            figures[name] = average_precision_score(truth[at], found[at])
            figures[f"{name}_right"] = np.mean((found[at] > 0.5) == truth[at])
        rows.append(({"states": states}, figures))
    return rows
