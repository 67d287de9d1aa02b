"""A machine, month after month: what January's answers save in February, and what is found.

A simulated machine labels 2,000 items each month. It misses about .05 of what applies to each of 20
labels, and about .86 of its yes apply; of two labels, .4. In January a person answers 200 questions
in three rounds, in February half as many. Then "nothing" has changed; or a new version "misses" .25
more of half of the labels, "invents" (the odds that its yes are wrong are 3.3 times as great), or
both ("worse"; "shared": with 500 items in both months); or the log-odds of each frequency of the
"items" have moved by a standard deviation of .7. Of the audits of "january", of February with
January's answers ("both"), "alone", and "pooled" as if nothing had changed, figures are the error
of frequencies, how many intervals of 95 % hold ("_held"), and their width; and whether it was said
that the machine, the items, or one of them changed.

A "year" has twelve months, each beside the one before. In the fifth the machine changes ("misses"),
in the ninth the items: whether each was found, and how many of the others were said to have
changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from benchmarks._sets import answers_to
from benchmarks.machines import against, summary
from complabel.frequencies import audit_machine

N, K, SHARED, JANUARY, LATER = 2000, 20, 500, (80, 60, 60), (40, 30, 30)
CELLS = {"changed": ("nothing", "misses", "invents", "worse", "shared", "items", "year")}
DRAWS, QUICK = 30, {"changed": ("nothing", "worse"), "draws": 4}


class World:
    """How often labels apply, and what the machine misses and invents."""

    def __init__(self, seed: list[int]) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.often, self.missed = special.expit(rng.normal(-2.5, 1, K)), rng.beta(2, 40, K)
        right = rng.normal(1.8, 0.4, K)
        right[:2] = special.logit(0.4)
        self.invented = self.often / (1 - self.often) * (1 - self.missed) * np.exp(-right)

    def change(self, what: str) -> None:
        """Let the machine or the items change."""
        half = self.rng.permutation(K) < K // 2
        if what == "items":
            moved = special.logit(self.often) + self.rng.normal(0, 0.7, K)
            self.often = special.expit(np.minimum(moved, 1.0))
        if what in ("misses", "worse", "shared"):
            self.missed = np.minimum(self.missed + 0.25 * half, 1.0)
        if what in ("invents", "worse", "shared"):
            self.invented = np.minimum(self.invented * np.exp(1.2 * half), 0.5)

    def month(self, rounds: Any, before: Any = (), first: Any = None) -> tuple[Any, ...]:
        """Return people's answers, what the machine says, and the truth."""
        Y = (self.rng.random((N, K)) < self.often).astype(np.uint8)
        names = self.rng.random(N).astype(object)
        if first is not None:
            Y[:SHARED], names[:SHARED] = first[:SHARED], np.arange(SHARED)
        chance = np.where(Y == 1, 1 - self.missed, self.invented)
        said = (self.rng.random(Y.shape) < chance).astype(float)
        found = against(Y, said, rounds, self.rng, before=before)
        return replace(found, item_names=names), said, Y


def pooled(new: Any, said: Any, Y: Any, old: Any, old_said: Any, old_Y: Any, rng: Any) -> Any:
    """Audit with the answers of both months, as if all were about items of the new one."""
    told, old, Y = new.statements(), old.statements(), Y.copy()
    items, labels, free = [*told.item], [*told.label], np.ones(Y.shape, dtype=bool)
    free[told.item, told.label] = False
    for item, label in zip(old.item, old.label, strict=True):
        alike = np.flatnonzero(free[:, label] & (said[:, label] == old_said[item, label]))
        for at in rng.permutation(alike)[:1]:
            free[at, label], Y[at, label] = False, old_Y[item, label]
            items, labels = [*items, at], [*labels, label]
    return audit_machine(answers_to(Y, np.array(items), np.array(labels)), said)


def pair(draw: int, what: str) -> dict[str, float]:
    """Return what two months tell."""
    world = World([draw, 3])
    first = world.month((1,))[2] if what == "shared" else None
    january = world.month(JANUARY, (), first)
    world.change(what)
    february, before = world.month(LATER, [january[:2]], first), [january[:2]]
    both = audit_machine(*february[:2], before=before, same_items=first is not None)
    audits = {
        "january": (audit_machine(*january[:2]), january[2]),
        "both": (both, february[2]),
        "alone": (audit_machine(*february[:2]), february[2]),
        "pooled": (pooled(*february, *january, world.rng), february[2]),
    }
    said, figures = both.changes.what, {}
    for name, (audit, Y) in audits.items():
        of = audit.frequencies
        told = summary([(of.values, of.intervals)], Y.mean(axis=0))
        figures |= {
            name: told["rmse"],
            f"{name}_held": told["held"],
            f"{name}_width": told["width"],
        }
    found = {"said": said, "machine": "machine" in said, "items": "items" in said}
    return figures | {name: float(bool(value)) for name, value in found.items()}


def year(draw: int) -> dict[str, float]:
    """Return what was found in a year."""
    world, before, found = World([draw, 4]), [], []
    for month in range(12):
        world.change({4: "misses", 8: "items"}.get(month, ""))
        answers, said, _ = world.month((60, 40) if month else JANUARY, before)
        if month:
            found.append(bool(audit_machine(answers, said, before=before).changes.what))
        before = [(answers, said)]
    false = sum(found) - found[3] - found[7]
    return {"fifth": float(found[3]), "ninth": float(found[7]), "false": float(false)}


def measure(*, draw: int, changed: str, **_: Any) -> dict[str, float]:
    """Return what one draw tells."""
    return year(draw) if changed == "year" else pair(draw, changed)
