"""How many answers a goal takes: what `complabel plan` forecasts, and what it then takes.

People answer questions of `ask --against`, in rounds of a fifth of the answers so far, until the
interval of each label's frequency is short enough ("within"). After the first 50 and the first 200
answers ("early", "late") the plan forecasts the rest. Of "forms", people tick all labels of items
that `ask --against --question ticked` draws, and the first ones are 10 and 40 forms. The machines
are classifiers of 10 % of the items. Figures are medians of three draws, how many forecasts of the
three are within a quarter of what it takes in all ("right"), and how many of their intervals hold.
"""

import math
from typing import Any

import numpy as np

from benchmarks.machine_ticks import with_forms
from benchmarks.machines import Array, against, world
from complabel.answers import Answers
from complabel.asking import plan_answers
from complabel.frequencies import audit_machine

CELLS = [
    {"kind": kind, "set": s, "within": within}
    for kind in ("asked", "ticked")
    for s in ("digits", "scene", "yeast")
    for within in (0.07, 0.05, 0.03)
    if (kind, s, within) != ("asked", "yeast", 0.03)  # takes more than 4,000 answers
]
QUICK = {"kind": ("ticked",), "set": ("digits",), "within": (0.07,)}
NEEDS, FIRST = ("scene", "yeast"), {"asked": (50, 200), "ticked": (10, 40)}
MOST, N_DRAWS = 4000, 3


def more(Y: Array, machine: Array, found: Any, n: int, kind: str, rng: Any) -> Answers:
    """Return the answers so far and n more questions or forms, drawn by what the machine says."""
    if kind == "ticked":
        return with_forms(Y, machine, n, rng, found)
    return against(Y, machine, (n,), rng, found)


def sitting(Y: Array, machine: Array, within: float, draw: int, kind: str) -> tuple[float, Any]:
    """Return how many answers the goal takes in all, and what is forecast after the first ones."""
    rng, first = np.random.default_rng([draw, 9]), FIRST[kind]
    answers = more(Y, machine, None, first[0], kind, rng)
    forecasts, before = [], (0, math.inf)
    while (n := answers.n_answers) < MOST:
        if n in first:
            (goal,) = plan_answers(answers, machine, within=within).goals
            left = goal.forms if kind == "ticked" else goal.questions
            forecasts.append([n + each for each in left])
        intervals = audit_machine(answers, machine).frequencies.intervals
        half = float((intervals[:, 1] - intervals[:, 0]).max() / 2)
        if half <= within and n >= first[1]:
            share = 0.0 if before[1] < within else 1.0
            if math.isfinite(before[1]) and before[1] > half:
                share = np.clip(np.log(before[1] / within) / np.log(before[1] / half), 0, 1)
            return before[0] + share * (n - before[0]), forecasts
        before = (n, half)
        size = first[1] - n if n < first[1] else n // 5
        answers = more(Y, machine, answers, size, kind, rng)
    return math.nan, forecasts


def measure(*, draw: int, data: Any, **cell: Any) -> dict[str, float]:
    """Return what a goal takes, and what was forecast."""
    Y, _, machine = world(cell["set"], "10%", data)
    draws = range(N_DRAWS * draw, N_DRAWS * (draw + 1))
    found = [sitting(Y, machine, cell["within"], each, cell["kind"]) for each in draws]
    takes = np.array([n for n, _ in found])
    figures = {"takes": float(np.median(takes))}
    forecasts = np.array([of for _, of in found]).transpose(1, 2, 0)
    for when, (middle, low, high) in zip(("early", "late"), forecasts, strict=True):
        right, held = np.abs(middle / takes - 1) <= 0.25, (low <= takes) & (takes <= high)
        figures |= {when: float(np.median(middle)), f"{when}_right": int(right.sum())}
        figures |= {f"{when}_held": int(held.sum())}
    return figures
