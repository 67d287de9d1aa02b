"""How often ``find_consensus`` holds the true rates of people in its intervals.

No features, six labels that apply to 5 to 40 % of the items. Drawn anew each time, also the rates:

- a machine says yes or no about 1,500 pairs of an item and a label, and a person about 200 of them;
- two people judge the same 1,000 pairs;
- five people judge 1,000 pairs, three of them each.

People miss .02 to .4 of the labels that apply and invent .01 to .08 of those that do not; the
person beside the machine, .01 to .1 and .002 to .02. Printed is the share of intervals of 95 % that
hold the rate, their mean length, and the same for intervals that take the consensus for known.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import stats

from complabel.answers import Answers
from complabel.people import find_consensus

_CASES = ("machine and person", "two people", "five people")
_SHARES = np.linspace(0.05, 0.4, 6)


def answers_of(case: str, rng: np.random.Generator) -> tuple[Answers, dict[str, Any]]:
    """Draw people, their rates and their answers."""
    n_pairs, n_people = {"machine and person": (1500, 2), "two people": (1000, 2)}.get(
        case, (1000, 5)
    )
    label = rng.integers(6, size=n_pairs)
    truth = rng.random(n_pairs) < _SHARES[label]
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
    marks = np.eye(6, dtype=np.uint8)[label[item]]
    yes = (truth[item] ^ wrong)[:, np.newaxis]
    said = {"relevant": marks * yes, "absent": marks * ~yes, "item": item, "n_items": n_pairs}
    return Answers.from_arrays(**said, annotator=[f"p{at}" for at in person]), rates


def once(case: str, draw: int) -> list[tuple[str, bool, float, bool, float]]:
    """Return for each rate whether both intervals hold it, and their lengths."""
    warnings.simplefilter("ignore")
    answers, rates = answers_of(case, np.random.default_rng([draw, len(case)]))
    found = find_consensus(None, answers)
    said = answers.statements()
    applies, person = found.applies[said.item, said.label], answers.annotator[said.answer]
    rows = []
    for name, true in rates.items():
        weight, wrong = applies, ~said.applies
        if name == "invented":
            weight, wrong = 1 - weight, ~wrong
        of_all, of_wrong = np.bincount(person, weight), np.bincount(person, weight * wrong)
        before = stats.beta(of_wrong + 0.5, of_all - of_wrong + 0.5).ppf([[0.025], [0.975]])
        who = [int(each[1:]) for each in found.people["annotator"]]
        now = found.people[f"{name}_low"], found.people[f"{name}_high"]
        for at, rate in enumerate(true[who]):
            ends = now[0][at], now[1][at], before[0][at], before[1][at]
            held = ends[0] <= rate <= ends[1], ends[2] <= rate <= ends[3]
            rows.append((name, held[0], ends[1] - ends[0], held[1], ends[3] - ends[2]))
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=_CASES)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    told = parser.parse_args()
    print("| who | rates | held | mean length | consensus known: held | mean length |")
    print("|---|---|--:|--:|--:|--:|", flush=True)
    for case in told.cases:
        drawn = Parallel(n_jobs=told.jobs)(delayed(once)(case, at) for at in range(told.draws))
        for name in ("missed", "invented"):
            rows = [row[1:] for each in drawn for row in each if row[0] == name]
            held, length, before, short = np.mean(rows, axis=0)
            figures = f"{held:.1%} | {length:.3f} | {before:.1%} | {short:.3f}"
            print(f"| {case} | {name} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
