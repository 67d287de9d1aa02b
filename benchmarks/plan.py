"""How many answers a goal takes: what `complabel plan` forecasts, and what it then takes.

People answer questions of `ask --against`, in rounds of a fifth of the answers so far, until the
interval of each label's frequency is short enough. After the first 50 and the first 200 answers the
plan forecasts the rest. The machines are classifiers of 10 % of the items (machines.py). Printed
are medians over draws, how often a forecast is within a quarter of what it takes in all, and how
often its interval holds.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from complabel._training import one_thread
from complabel.answers import Answers
from complabel.asking import plan_answers, suggest_questions
from complabel.frequencies import audit_machine
from machines import against, answers_to, machine_of

FIRST = (50, 200)
MOST = 4000


def sitting(
    Y: Any, machine: Any, within: float, draw: int
) -> tuple[float, list[tuple[int, int, int]]]:
    """Return how many answers the goal takes in all, and what is forecast after the first ones."""
    answers = against(Y, machine, FIRST[0], draw)
    rng, forecasts, before = np.random.default_rng([draw, 9]), [], (0, math.inf)
    while len(answers.item) < MOST:
        n = len(answers.item)
        if n in FIRST:
            (goal,) = plan_answers(answers, machine, within=within).goals
            forecasts.append(tuple(n + each for each in goal.questions))
        intervals = audit_machine(answers, machine).frequencies.intervals
        half = float((intervals[:, 1] - intervals[:, 0]).max() / 2)
        if half <= within and n >= FIRST[1]:
            share = 0.0 if before[1] < within else 1.0
            if math.isfinite(before[1]) and before[1] > half:
                share = np.clip(np.log(before[1] / within) / np.log(before[1] / half), 0, 1)
            return before[0] + share * (n - before[0]), forecasts
        before = (n, half)
        size = FIRST[1] - n if n < FIRST[1] else n // 5
        table = suggest_questions(answers, size, against=machine, random_state=rng)
        items, labels = (np.asarray(table[each]).astype(np.intp) for each in ("item", "label"))
        asked = np.asarray(table["answer"].isna() | (table["answer"] == ""))
        more = answers_to(Y, items[asked], labels[asked])
        answers = Answers.concatenate([answers, more])
    return math.nan, forecasts


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each set and goal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["digits", "scene", "yeast", "corel5k"])
    parser.add_argument("--within", nargs="+", type=float, default=[0.07, 0.05, 0.03])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--data-dir", default=".")
    given = parser.parse_args(arguments)
    print("| set | within | takes | after 50 | right | held | after 200 | right | held |")
    print(f"|---|{'--:|' * 8}")
    for name in given.sets:
        Y, _, machine = machine_of(name, given.data_dir, 0.1)
        for within in given.within:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                each = [sitting(Y, machine, within, draw) for draw in range(given.draws)]
            takes = np.array([n for n, _ in each])
            cells = [f"{np.median(takes):.0f}"]
            for middle, low, high in np.array([forecasts for _, forecasts in each]).transpose(
                1, 2, 0
            ):
                right, held = np.abs(middle / takes - 1) <= 0.25, (low <= takes) & (takes <= high)
                cells += [f"{np.median(middle):.0f}", f"{right.sum()}", f"{held.sum()}"]
            print(f"| {name} | {within:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    with one_thread():
        main()
