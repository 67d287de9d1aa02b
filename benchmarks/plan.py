"""How many answers a goal takes: what `complabel plan` forecasts, and what it then takes.

People answer questions of `ask --against`, in rounds of a fifth of the answers so far, until the
interval of each label's frequency is short enough. After the first 50 and the first 200 answers the
plan forecasts the rest. With `--forms`, people tick all labels of items that `ask --against
--question ticked` draws, and the first ones are 10 and 40 forms. The machines are classifiers of
10 % of the items (machines.py). Printed are medians over draws, how often a forecast is within a
quarter of what it takes in all, and how often its interval holds.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks._sets import machine_of
from complabel._training import one_thread
from complabel.answers import Answers
from complabel.asking import plan_answers, suggest_questions
from complabel.frequencies import audit_machine

FIRST, FIRST_FORMS = (50, 200), (10, 40)
MOST = 4000


def more(Y: Any, machine: Any, so_far: Answers | None, n: int, forms: bool, rng: Any) -> Answers:
    """Return the answers so far and n more questions or forms, drawn by what the machine says."""
    names: Any = {
        "items": [f"i{at}" for at in range(len(Y))],
        "label_names": [f"l{at}" for at in range(Y.shape[1])],
    }
    nothing = Answers.from_table({"item": [], "label": []}, **names)
    known = nothing if so_far is None else so_far
    kind = "ticked" if forms else "asked"
    table = suggest_questions(known, n, kind=kind, against=machine, random_state=rng)
    table = table[table["answer"].isna()].copy()
    place = [table[each].str[1:].astype(int) for each in ("item", "label")]
    table["answer"] = np.where(Y[place[0], place[1]] > 0, "yes", "no")
    asked = Answers.from_table(table, **names)
    return asked if so_far is None else Answers.concatenate([so_far, asked])


def sitting(
    Y: Any, machine: Any, within: float, draw: int, forms: bool
) -> tuple[float, list[tuple[int, int, int]]]:
    """Return how many answers the goal takes in all, and what is forecast after the first ones."""
    rng, first = np.random.default_rng([draw, 9]), FIRST_FORMS if forms else FIRST
    answers = more(Y, machine, None, first[0], forms, rng)
    forecasts, before = [], (0, math.inf)
    while (n := answers.n_answers) < MOST:
        if n in first:
            (goal,) = plan_answers(answers, machine, within=within).goals
            forecasts.append(tuple(n + each for each in (goal.forms if forms else goal.questions)))
        intervals = audit_machine(answers, machine).frequencies.intervals
        half = float((intervals[:, 1] - intervals[:, 0]).max() / 2)
        if half <= within and n >= first[1]:
            share = 0.0 if before[1] < within else 1.0
            if math.isfinite(before[1]) and before[1] > half:
                share = np.clip(np.log(before[1] / within) / np.log(before[1] / half), 0, 1)
            return before[0] + share * (n - before[0]), forecasts
        before = (n, half)
        size = first[1] - n if n < first[1] else n // 5
        answers = more(Y, machine, answers, size, forms, rng)
    return math.nan, forecasts


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each set and goal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["digits", "scene", "yeast", "corel5k"])
    parser.add_argument("--within", nargs="+", type=float, default=[0.07, 0.05, 0.03])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--forms", action="store_true")
    parser.add_argument("--data-dir", default=".")
    given = parser.parse_args(arguments)
    few, many = FIRST_FORMS if given.forms else FIRST
    print(f"| set | within | takes | after {few} | right | held | after {many} | right | held |")
    print(f"|---|{'--:|' * 8}")
    for name in given.sets:
        Y, _, machine = machine_of(name, given.data_dir, 0.1)
        for within in given.within:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                each = [
                    sitting(Y, machine, within, draw, given.forms) for draw in range(given.draws)
                ]
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
