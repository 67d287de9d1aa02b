"""How often intervals of a machine's precision and recall hold.

The worlds and the questions are those of ``machines``, 40 draws. "ours" are intervals of 95 % of
``audit_machine``; "ppi" are prediction-powered ones: within a stratum the machine says one word, so
they rest on plain shares, weighted by pairs, and recall, a ratio, on the delta method. "pairs" is
the rate over all pairs, "five" are the five labels whose rate is least. "width" is of all pairs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks._draws import block
from benchmarks.machines import NEEDS as NEEDS
from benchmarks.machines import SETS, Array, against, holding, rounds_of, world
from complabel.answers import Answers
from complabel.frequencies import audit_machine

CELLS = {"set": SETS, "machine": ("model", "3%", "30%"), "questions": ("once", "rounds")}
QUICK = {"set": ("digits",), "machine": ("30%",), "questions": ("once",)}
N_DRAWS = 40


def share_of(part: Array, whole: Array) -> Array:
    """Return part / whole; NaN where there is nothing, such as the recall of a label of no item."""
    part, whole = np.asarray(part, float), np.asarray(whole, float)
    return np.divide(part, whole, out=np.full(whole.shape, np.nan), where=(whole != 0))


def by_ppi(answers: Answers, machine: Array) -> dict[str, Array]:
    """Return intervals (K + 1, 2) of precision and recall, the last of all pairs."""
    told = answers.statements()
    K, said = machine.shape[1], machine[told.item, told.label] > 0.5
    share = np.stack([1 - machine.mean(axis=0), machine.mean(axis=0)])
    n, x = np.zeros((2, 2, K))
    np.add.at(n, (said.astype(int), told.label), 1)
    np.add.at(x, (said.astype(int), told.label), told.applies)
    chance = share_of(x, n)
    variance = chance * (1 - chance) / np.maximum(n - 1, 1)
    # Labels without an answer are left out of what is said about all pairs.
    joint, spread, of = (
        np.concatenate([each, np.nansum(np.where(np.isnan(chance), np.nan, each), 1)[:, None]], 1)
        for each in (share * chance, share**2 * variance, share)
    )
    precision, of_precision = share_of(joint[1], of[1]), share_of(spread[1], of[1] ** 2)
    total = joint.sum(axis=0)
    recall = share_of(joint[1], total)
    of_recall = share_of((1 - recall) ** 2 * spread[1] + recall**2 * spread[0], total**2)
    rates = {"precision": (precision, of_precision), "recall": (recall, of_recall)}
    return {
        name: np.clip(value[:, None] + 1.96 * np.sqrt(of_it)[:, None] * [-1, 1], 0, 1)
        for name, (value, of_it) in rates.items()
    }


def by_us(answers: Answers, machine: Array) -> dict[str, Array]:
    """Return intervals (K + 1, 2) of precision and recall, the last of all pairs."""
    found = audit_machine(answers, machine)
    rates = {"precision": found.precision, "recall": found.recall}
    return {name: np.vstack([of.intervals, of.overall[1:]]) for name, of in rates.items()}


def rates(Y: Array, said: Array, sizes: Iterable[int], draws: range) -> list[Any]:
    """Return, for each rate, how many intervals hold."""
    answers = [against(Y, said, sizes, draw) for draw in draws]
    found = {name: [by(each, said) for each in answers] for name, by in WAYS.items()}
    both, rows = (Y * said).sum(axis=0), []
    for rate, of in (("precision", said.sum(axis=0)), ("recall", Y.sum(axis=0))):
        truth = np.append(share_of(both, of), share_of(both.sum(), of.sum()))
        worst = np.argsort(np.where(of < 5, 2, share_of(both, of)))[:5]  # few pairs have no rate
        figures = {}
        for name, of_draws in found.items():
            ends = np.array([each[rate] for each in of_draws])
            held = holding(ends, truth)
            figures |= {f"{name}_pairs": held[:, -1].mean(), f"{name}_five": held[:, worst].mean()}
            figures[f"{name}_width"] = np.diff(ends[:, -1]).mean()
        rows.append(({"rate": rate}, figures))
    return rows


WAYS = {"ours": by_us, "ppi": by_ppi}


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return how many intervals hold, for each rate."""
    Y, _, said = world(cell["set"], cell["machine"], data)
    return rates(Y, said, rounds_of(cell["questions"], 200), block(draw, N_DRAWS))
