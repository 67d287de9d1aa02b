"""Do people err, or do they differ? Two states of a pair or a scale, and which is chosen.

1,000 items have six labels, each of which applies to about a fifth. Features are not drawn, but the
log-odds that a classifier would find: it is right about 90 % of the pairs. Forty people answer:

- err: each misses labels with a rate from 0 to .75, and invents some with a rate of .03;
- differ: whoever is asked says yes with the chance of the pair. It is spread evenly from .5 to 1 if
  the label applies, and from 0 to .5 for 15 % of the other pairs; for the rest it is .01.

Every item is asked about one label, and 30 % of these questions are answered twice; or people judge
all pairs, each pair once, twice or three times. True is what applies, which is what most of all
people would say. Printed are means over draws: in how many of them the scale is chosen, and
average precision and accuracy of the share of people and of the probability, of both models.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.metrics import average_precision_score

from complabel.people._states import Judgements, choose_states, fit_states

_ITEMS, _LABELS, _PEOPLE = 1000, 6, 40


def judged(way: str, truth: NDArray[np.bool_], times: int, rng: np.random.Generator) -> Judgements:
    """Draw judgements of pairs; 0 times is one question about each item, 30 % of them twice."""
    item, label = np.divmod(np.arange(truth.size), _LABELS)
    if times == 0:
        item, label = np.arange(_ITEMS), rng.integers(_LABELS, size=_ITEMS)
        pair = np.concatenate([item, np.flatnonzero(rng.random(_ITEMS) < 0.3)])
    else:
        pair = np.tile(np.arange(truth.size), times)
    person = rng.integers(_PEOPLE, size=len(pair))
    applies = truth[item, label]
    if way == "err":
        missed = np.linspace(0, 0.75, _PEOPLE)
        chance = np.where(applies[pair], 1 - missed[person], 0.03)
    else:
        doubtful = rng.random(len(item)) < 0.15
        below, above = 0.5 * rng.random(len(item)), 0.5 + 0.5 * rng.random(len(item))
        chance = np.where(applies, above, np.where(doubtful, below, 0.01))[pair]
    yes = rng.random(len(pair)) < chance
    return Judgements(item, label, pair, yes, person, n_labels=_LABELS, n_people=_PEOPLE)


def main() -> None:
    """Print a line for each way of judging."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=10)
    draws = parser.parse_args().draws
    print(
        "| people | judgements | scale chosen | 2, share | 2, applies | 16, share | 16, applies |"
    )
    print("|---|---|--:|--:|--:|--:|--:|")
    for way in ("err", "differ"):
        for times, name in enumerate(("1.3, of one label each", "1", "2", "3")):
            chosen, rows = 0, []
            for draw in range(draws):
                rng = np.random.default_rng(draw)
                log_odds = rng.normal(-3, 3, size=(_ITEMS, _LABELS))
                truth = rng.random(log_odds.shape) < special.expit(log_odds)
                judgements = judged(way, truth, times, rng)
                chosen += choose_states(judgements, log_odds, rng) > 2
                at = judgements.item, judgements.label
                rows.append(
                    [
                        (
                            average_precision_score(truth[at], found[at]),
                            np.mean((found[at] > 0.5) == truth[at]),
                        )
                        for n_states in (2, 16)
                        for found in fit_states(judgements, log_odds, n_states).of_all(
                            judgements, log_odds
                        )[::2]
                    ]
                )
            cells = " | ".join(f"{a:.3f}, {b:.3f}" for a, b in np.mean(rows, axis=0))
            print(f"| {way} | {name} | {chosen} of {draws} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
