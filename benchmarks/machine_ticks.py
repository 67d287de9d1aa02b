"""What forms with all labels of an item tell beside a machine, at equal seconds.

The machines are those of ``machines``. A form takes a person as long as 1.5 yes/no questions. A
person who does not err answers n yes/no questions of ``ask --against`` in two rounds ("yes_no"); as
long, forms whose items are drawn by what the machine says, in two rounds ("forms"); as long, forms
about random items ("random"). Figures, of 20 draws, are root mean square errors of the frequencies
of ``audit_machine``, and how many intervals of 95 % hold, on average ("held") and of the worst
label ("worst").
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._draws import block
from benchmarks.machines import LARGE, LEARNED, Array, against, summary, world
from complabel._drawn import opened
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.frequencies import audit_machine

SETS = ("digits", "scene", "yeast", "corel5k:15")
CELLS: list[dict[str, Any]] = [
    {"set": s, "machine": m, "questions": n} for s in SETS for m in LEARNED for n in (200, 600)
]
CELLS += [{"set": LARGE, "machine": "10%", "questions": 200}]
QUICK = {"set": ("digits",), "machine": ("10%",), "questions": (200,)}
NEEDS = (*SETS[1:], LARGE)


def filled_in(Y: Array, items: Array, drawn: Any = "random") -> Answers:
    """Return forms with all labels of these items."""
    about = {"question": "ticked", "item": items, "n_items": len(Y), "drawn": drawn}
    return Answers.from_arrays(relevant=Y[items], absent=1 - Y[items], **about)


def with_forms(Y: Array, machine: Array, n: int, seed: Any, found: Any = None) -> Answers:
    """Return what was found, and n more forms, drawn by what the machine says."""
    found = filled_in(Y, np.empty(0, dtype=np.intp), "") if found is None else found
    how: Any = {"against": machine, "random_state": seed}
    table = suggest_questions(found, n, kind="ticked", **how).drop_duplicates("answer_id")
    items = table["item"].to_numpy()
    drawn = [opened(*each, "") for each in zip(table["drawn"], items.tolist(), strict=True)]
    return Answers.concatenate([found, filled_in(Y, items, drawn)])


def measure(*, draw: int, data: Any, **cell: Any) -> dict[str, float]:
    """Return the error of each way to ask, and how its intervals hold."""
    Y, _, said = world(cell["set"], cell["machine"], data)
    machine, n, m = said.astype(float), cell["questions"], int(cell["questions"] / 1.5)
    many = 6 if cell["set"] == LARGE else 20
    found: dict[str, list[Any]] = {}
    for each in block(draw, many):
        items = np.random.default_rng([each, 4]).permutation(len(Y))
        first = with_forms(Y, machine, m // 2, [each, 3, 0])
        ways = {
            "yes_no": against(Y, machine, (n // 2, n - n // 2), each),
            "forms": with_forms(Y, machine, m - m // 2, [each, 3, 1], first),
            "random": filled_in(Y, items[:m]),
        }
        for way, answers in ways.items():
            frequencies = audit_machine(answers, machine).frequencies
            found.setdefault(way, []).append((frequencies.values, frequencies.intervals))
    figures = {}
    for way, of_draws in found.items():
        told = summary(of_draws, Y.mean(axis=0))
        figures |= {way: told["rmse"], f"{way}_held": told["held"], f"{way}_worst": told["worst"]}
    return figures
