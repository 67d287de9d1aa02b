"""How often does ``find_consensus`` hold the true rates of people in its intervals?

Six labels apply to 5 to 40 % of the items, and there are no features. Drawn each time: a machine
says yes or no about 1,500 pairs of an item and a label, and a person about 200 of them; two people
judge the same 1,000 pairs; five people judge 1,000 pairs, three of them each. People miss .02 to .4
of what applies and invent .01 to .08; the person beside the machine, .01 to .1 and .002 to .02.
``held`` is how many of 100 intervals of 95 % hold the rate, ``length`` their mean length. A draw of
the frame has ten.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._draws import block, means, told_by
from benchmarks._people import yes_or_no
from complabel.answers import Answers
from complabel.people import find_consensus

CELLS = {"who": ("machine and person", "two people", "five people")}
DRAWS, QUICK, IN_A_DRAW = 10, {"who": ("five people",)}, 10
SHARES = np.linspace(0.05, 0.4, 6)


def answers_of(case: str, rng: np.random.Generator) -> tuple[Answers, dict[str, Any]]:
    """Draw people, their rates and their answers."""
    n_pairs = 1500 if case == "machine and person" else 1000
    n_people = 5 if case == "five people" else 2
    label = rng.integers(6, size=n_pairs)
    truth = rng.random(n_pairs) < SHARES[label]
    rates = {
        "missed": rng.uniform(0.02, 0.4, n_people),
        "invented": rng.uniform(0.01, 0.08, n_people),
    }
    judges = np.ones((n_pairs, n_people), dtype=bool)
    if case == "machine and person":
        rates["missed"][1], rates["invented"][1] = rng.uniform(0.01, 0.1), rng.uniform(0.002, 0.02)
        judges[200:, 1] = False
    elif n_people > 2:
        judges = rng.permuted(np.tile([True] * 3 + [False] * 2, (n_pairs, 1)), axis=1)
    item, person = np.nonzero(judges)
    wrong = rng.random(len(item)) < np.where(
        truth[item], rates["missed"][person], rates["invented"][person]
    )
    names = [f"p{at}" for at in person]
    return yes_or_no((n_pairs, 6), item, label[item], truth[item] ^ wrong, names), rates


@means
def measure(*, draw: int, data: Any, who: str) -> Any:
    """Yield which intervals hold, and their lengths, by rate."""
    for seed in block(draw, IN_A_DRAW):
        answers, rates = answers_of(who, np.random.default_rng([seed, len(who)]))
        people = find_consensus(None, answers).people
        at = [int(each[1:]) for each in people["annotator"]]
        for name, true in rates.items():
            told = told_by(people[f"{name}_low"], people[f"{name}_high"], true[at])
            for held, length in zip(*told.values(), strict=True):
                yield {"rate": name}, {"held": 100 * held, "length": length}
