"""A machine, month after month: what January's answers save in February, and what is found.

A simulated machine labels 2,000 items each month. It misses about .05 of what applies to each of 20
labels, and about .86 of its yes apply; of two labels, .4. In January a person answers 200 questions
in rounds of 80, 60 and 60; in a later month half as many, in rounds of 40, 30 and 30.

pairs: two months; of each way the error, the share of intervals that hold, and the width; last what
was said to have changed. year: twelve months, in rounds of 60 and 40, each with the one before.
What changes stands in docs/evidence/machines.md, and in ``World.change``.
"""

import argparse
import time
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from benchmarks._sets import answers_to
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.frequencies import audit_machine

N, K, SHARED, JANUARY, LATER = 2000, 20, 500, (80, 60, 60), (40, 30, 30)


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
        found = answers_to(Y, np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))
        for size in rounds:
            how: Any = {"against": said, "random_state": self.rng, "before": before}
            table = suggest_questions(found, size, **how)
            items, labels = (np.asarray(table[of]).astype(np.intp) for of in ("item", "label"))
            found = Answers.concatenate([found, answers_to(Y, items, labels)])
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


def figures(found: Any, Y: Any) -> list[float]:
    """Return the error, the share of intervals that hold, and their width."""
    (low, high), truth = found.frequencies.intervals.T, Y.mean(axis=0)
    error = np.sqrt(((found.frequencies.values - truth) ** 2).mean())
    return [error, ((low <= truth) & (truth <= high)).mean(), (high - low).mean()]


def pairs(draws: range, cases: list[str]) -> None:
    """Print a row for each case."""
    for what in cases:
        rows, words = [], Counter()
        for draw in draws:
            world = World([draw, 3])
            first = world.month((1,))[2] if what == "shared" else None
            january = world.month(JANUARY, (), first)
            world.change(what)
            february, before = world.month(LATER, [january[:2]], first), [january[:2]]
            found = audit_machine(*february[:2], before=before, same_items=first is not None)
            words[found.changes.what or "nothing"] += 1
            others = audit_machine(*february[:2]), pooled(*february, *january, world.rng)
            rows.append(figures(audit_machine(*january[:2]), january[2]))
            rows[-1] += [x for each in (found, *others) for x in figures(each, february[2])]
        told = [f"{x:.3f}" for x in np.mean(rows, axis=0)]
        of = [", ".join(told[at : at + 3]) for at in (0, 3, 6, 9)]
        print(f"| {what} | {' | '.join(of)} | {dict(words)} |", flush=True)


def year(draws: range, _: list[str]) -> None:
    """Print what each month of a year said, from the second on, and how often."""
    counts = [Counter() for _ in range(12)]
    for draw in draws:
        world, before, words = World([draw, 4]), [], []
        for month in range(12):
            world.change({4: "misses", 8: "items"}.get(month, ""))
            answers, said, _ = world.month((60, 40) if month else JANUARY, before)
            if month:
                words.append(audit_machine(answers, said, before=before).changes.what or "nothing")
                counts[month][words[-1]] += 1
            before = [(answers, said)]
        print(*words, flush=True)
    for month, of in enumerate(counts[1:], 2):
        print(f"{month}: {dict(of)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["pairs", "year"])
    cases = ["same", "misses", "invents", "worse", "shared", "items"]
    parser.add_argument("--cases", nargs="+", default=cases)
    parser.add_argument("--draws", type=int, default=100)
    given = parser.parse_args()
    began = time.process_time()
    {"pairs": pairs, "year": year}[given.what](range(given.draws), given.cases)
    print(f"{time.process_time() - began:.0f} processor seconds")
