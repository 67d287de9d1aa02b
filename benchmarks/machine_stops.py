"""How often intervals hold where people stop after a look.

People look after 40, 80, 120, 160 and 200 answers, in rounds that follow what was answered. Both
rules are about the label that the machine says most often. "differs": stop as soon as its interval
leaves out the machine's share, which is the rule that should harm most. "narrow": stop as soon as
its interval is narrower than in half of the draws at 120 answers. Figures, of 50 draws: how many
answers there are then, how often that label's interval of 95 % holds then ("held"), and those of
all labels ("all"), and both if nobody stops ("held_never", "all_never").
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._draws import block
from benchmarks.machines import Array, against, holding, ours, world

CELLS = {"set": ("digits", "scene", "yeast", "corel5k:15"), "machine": ("model", "10%")}
QUICK = {"set": ("digits",), "machine": ("10%",)}
NEEDS, DRAWS, N_DRAWS = CELLS["set"][1:], 2, 50
LOOKS = (40,) * 5


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return what holds, for each rule."""
    Y, _, said = world(cell["set"], cell["machine"], data)
    truth, of_machine, label = Y.mean(axis=0), said.mean(axis=0), said.sum(axis=0).argmax()
    found: list[Array] = []
    for each in block(draw, N_DRAWS):
        rng, answers = np.random.default_rng([each, 2]), None
        for size in LOOKS:
            answers = against(Y, said, (size,), rng, answers)
            found.append(ours(answers, said)[1])
    ends = np.reshape(found, (N_DRAWS, len(LOOKS), *found[0].shape))  # (draws, looks, K, 2)
    held = holding(ends, truth)
    low, high = ends[:, :, label].transpose(2, 0, 1)
    rules = {
        "differs": (of_machine[label] < low) | (high < of_machine[label]),
        "narrow": high - low < np.median((high - low)[:, 2]),
    }
    rows = []
    for rule, stops in rules.items():
        stops[:, -1] = True
        at = stops.argmax(axis=1)
        there = held[np.arange(N_DRAWS), at]
        figures = {"answers": np.cumsum(LOOKS)[at].mean()}
        for end, of in (("", there), ("_never", held[:, -1])):
            figures |= {f"held{end}": of[:, label].mean(), f"all{end}": of.mean()}
        rows.append(({"rule": rule}, figures))
    return rows
