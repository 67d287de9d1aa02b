"""Made answers in which all is well, or in which one assumption fails.

Each draw has a size of its own: 3 to 30 labels and 500 to 5,000 items, if the world does not say
otherwise. Labels apply with unequal frequencies, 1.8 to an item on average, and are correlated
through three hidden factors. Propensities are exp(sd z) with z standard normal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize, special

from complabel.answers import Answers
from complabel.simulate import draw_answers

Rng = np.random.Generator
World = Callable[[Rng], Answers]


def world(draw: Callable[..., Answers]) -> Callable[..., World]:
    """Let a function of chance and settings be a world for each of the settings."""
    return lambda *settings, **more: lambda rng: draw(rng, *settings, **more)


def sizes(rng: Rng, most_labels: int = 30) -> tuple[int, int]:
    """Draw numbers of items and labels, evenly on a log scale."""
    n = int(np.exp(rng.uniform(np.log(500), np.log(5000))))
    return n, int(np.exp(rng.uniform(np.log(3), np.log(most_labels + 1))))


def truth(rng: Rng, n: int, K: int, cardinality: float = 1.8) -> np.ndarray:
    """Draw correlated labels; no item has all of them."""
    shifts = 0.8 * rng.normal(size=K) + rng.normal(size=(n, 3)) @ rng.normal(size=(3, K)) * 0.5
    mean = min(cardinality, 0.45 * K)
    level = optimize.brentq(
        lambda at: special.expit(shifts + at).sum(axis=1).mean() - mean, -20, 20
    )
    Y = (rng.random((n, K)) < special.expit(shifts + level)).astype(np.uint8)
    full = Y.all(axis=1)
    Y[full, rng.integers(K, size=full.sum())] = 0
    return Y


def named(Y: np.ndarray, rng: Rng, sd: float = 0.0, **more: Any) -> Answers:
    """Name a label in proportion to propensities."""
    w = np.exp(sd * rng.normal(size=Y.shape[1]))
    return draw_answers(Y, propensities=w, random_state=rng, **more)


def depending(Y: np.ndarray, rng: Rng, ratio: float) -> Answers:
    """Name a label that comes to mind ``ratio`` times as readily where the next label applies."""
    w = (1 - Y) * np.where(np.roll(Y, -1, axis=1) == 1, ratio, 1.0)
    steps = w.cumsum(axis=1)
    chosen = (steps <= rng.random((len(Y), 1)) * steps[:, -1:]).sum(axis=1)
    return Answers.from_arrays(named=np.eye(Y.shape[1], dtype=np.uint8)[chosen])


def ask(Y: np.ndarray, rng: Rng, question: str = "asked", **more: Any) -> Answers:
    """Draw answers to another question."""
    return draw_answers(Y, question=question, random_state=rng, **more)


def judged(says: np.ndarray, label: np.ndarray, K: int, **more: Any) -> Answers:
    """Return yes or no about one label of each item."""
    marks = np.eye(K, dtype=np.uint8)[label]
    yes = marks * says[:, None].astype(np.uint8)
    return Answers.from_arrays(relevant=yes, absent=marks - yes, **more)


def at_random(says: np.ndarray, share: Any, rng: Rng) -> np.ndarray:
    """Answer a share of the questions at random."""
    random = rng.random(len(says)) < share
    return np.where(random, rng.integers(2, size=len(says)), says)


@world
def ticked_world(
    rng: Rng, sd: float | None, ratio: float = 1, *, mistakes: float = 0, **at: Any
) -> Answers:
    """One person names a label of an item, and another ticks all."""
    n, K = sizes(rng)
    Y = truth(rng, at.get("n", n), at.get("K", K))
    spread = rng.choice([0.0, 1.0, 2.0]) if sd is None else sd
    first = named(Y, rng, spread, error_rate=mistakes) if ratio == 1 else depending(Y, rng, ratio)
    return Answers.concatenate([first, ask(Y, rng, "ticked", error_rate=mistakes)])


@world
def audited_world(
    rng: Rng, sd: float, question: str, share: float, most: int = 30, least: Any = (0, 4)
) -> Answers:
    """Labels are named, and yes/no questions are about a share of the items."""
    n, K = sizes(rng, most)
    Y = truth(rng, max(n, least[0]), max(K, least[1]))
    first = named(Y, rng, sd, question=question)
    return Answers.concatenate([first, ask(Y, rng, items_share=share)]) if share else first


@world
def people_world(rng: Rng, rates: list[float], share: float) -> Answers:
    """Two people of each item judge the same, with these error rates."""
    n, K = sizes(rng)
    Y = truth(rng, n, K)[: max(int(share * n), 1)]
    item, label = np.arange(len(Y)), rng.integers(K, size=len(Y))
    people = np.array([rng.permutation(len(rates))[:2] for _ in item])
    both = []
    for which in people.T:
        says = at_random(Y[item, label], np.array(rates)[which], rng)
        who = [f"p{person}" for person in which]
        both.append(judged(says, label, K, annotator=who, probability=1 / K))
    return Answers.concatenate(both)


@world
def strangers_world(rng: Rng, bad: str, n_people: int) -> Answers:
    """People answer 300 random questions each, about items of their own.

    All err in one answer of fifty. ``bad`` says what the first of them does: "yes", "no" or
    "random"; nothing: the same as the others. There are at least five labels.
    """
    K = max(sizes(rng)[1], 5)
    Y = truth(rng, 300 * n_people, K)
    item, label = np.arange(len(Y)), rng.integers(K, size=len(Y))
    says = Y[item, label] ^ (rng.random(len(Y)) < 0.02)
    of_first = {"yes": 1, "no": 0, "random": rng.integers(2, size=300)}
    says[:300] = of_first.get(bad, says[:300])
    who = [f"p{person}" for person in item // 300]
    return judged(says, label, K, annotator=who, probability=1 / K)


def rare_people(rng: Rng) -> Answers:
    """Two people judge rare labels of 5,000 items, and answer 7 of 100 questions at random."""
    Y = (rng.random((5000, 10)) < 0.02).astype(np.uint8)
    item, label = np.arange(len(Y)), rng.integers(10, size=len(Y))
    both = [at_random(Y[item, label], 0.07, rng) for _ in "ab"]
    given = zip(both, "ab", strict=True)
    return Answers.concatenate([judged(s, label, 10, annotator=[w] * len(Y)) for s, w in given])


def picked(rng: Rng) -> Answers:
    """Chosen labels that do not apply, written down as answers to yes/no questions."""
    return Answers.from_arrays(absent=named(truth(rng, *sizes(rng)), rng).complementary)


def volunteered(rng: Rng) -> Answers:
    """Yes/no answers about chosen labels, with one "yes" in twenty."""
    n, K = sizes(rng)
    label = rng.integers(K, size=n)
    return judged(rng.random(n) < 0.05, label, K)


@world
def audit(rng: Rng, n_questions: int) -> Answers:
    """Draw this many random yes/no questions."""
    return ask(truth(rng, n_questions, sizes(rng)[1]), rng)


@world
def excluded(rng: Rng, kind: str) -> Answers:
    """Rules exclude labels, independently or not."""
    Y = truth(rng, *sizes(rng))
    rates = rng.uniform(0.05, 0.9, size=Y.shape[1])
    marks = ask(Y, rng, "excluded", exclusion_rates=rates).excluded.toarray()
    if kind == "copied":
        marks[:, 0] = marks[:, 1]
    if kind == "nested":
        marks[:, 0] |= marks[:, 1]
    return Answers.from_arrays(excluded=marks, question="excluded")


@world
def yes_world(rng: Rng, per_label: float) -> Answers:
    """Items are ticked, with so many "yes" on average about one of the labels."""
    n, K = sizes(rng)
    Y = (rng.random((n, K)) < max(0.2, 60 / n)).astype(np.uint8)
    Y[:, 0] = rng.random(n) < per_label / n
    return ask(Y, rng, "ticked")
