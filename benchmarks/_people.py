"""Simulated people who err, and crowd-kit's methods (``pip install crowd-kit``), for benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from complabel.answers import Answers
from complabel.methods import SelectionLikelihoodClassifier

Array: TypeAlias = Any
PEOPLE = 40
AUTO: dict[str, Any] = {"missed": "auto", "invented": "auto"}


@dataclass(frozen=True)
class Asked:
    """Yes/no questions about items (n, K), with who answers each, and what is true."""

    shape: tuple[int, ...]
    item: Array
    label: Array
    person: Array
    applies: Array
    again: Array  # whether somebody else has been asked this before

    def answers(self, said: Array) -> Answers:
        """Return the answers, in which people said these things."""
        names = np.array([f"{each:02d}" for each in self.person])
        return yes_or_no(self.shape, self.item, self.label, said, names)


def yes_or_no(shape: Any, item: Any, label: Any, yes: Any, annotator: Any) -> Answers:
    """Return answers about random pairs of an item and a label, each by somebody."""
    asked = np.eye(shape[1], dtype=np.uint8)[label]
    relevant = asked * np.asarray(yes, dtype=np.uint8)[:, np.newaxis]
    return Answers.from_arrays(
        absent=asked - relevant,
        relevant=relevant,
        question="asked",
        item=item,
        n_items=shape[0],
        annotator=annotator,
        probability=1 / shape[1],
    )


def ask(Y: Array, share_twice: float, rng: np.random.Generator) -> Asked:
    """Ask one question about each item, and a share of them again, another person."""
    n_items, n_labels = Y.shape
    label = rng.integers(n_labels, size=n_items)
    person = rng.integers(PEOPLE, size=n_items)
    again = np.flatnonzero(rng.random(n_items) < share_twice)
    other = (person[again] + rng.integers(1, PEOPLE, size=len(again))) % PEOPLE
    item = np.concatenate([np.arange(n_items), again])
    order = np.argsort(item, kind="stable")  # as Answers orders them
    item, people = item[order], np.concatenate([person, other])[order]
    label = label[item]
    return Asked(Y.shape, item, label, people, Y[item, label] == 1, order >= n_items)


def linear(**settings: Any) -> SelectionLikelihoodClassifier:
    """Return the selection likelihood on a linear map."""
    return SelectionLikelihoodClassifier(kernel="linear", **{"random_state": 0, **settings})


def aggregations() -> dict[str, Callable[[], Any]]:
    """Return methods of crowd-kit, by the names of their figures; none if it is not installed."""
    try:
        from crowdkit import aggregation
    except ImportError:
        return {}
    return {
        "Dawid-Skene": lambda: aggregation.DawidSkene(n_iter=100),
        "one-coin": lambda: aggregation.OneCoinDawidSkene(n_iter=100),
        "MACE": lambda: aggregation.MACE(random_state=0),
        "GLAD": aggregation.GLAD,
        "Wawa": aggregation.Wawa,
        "zero-based skill": aggregation.ZeroBasedSkill,
        "majority vote": aggregation.MajorityVote,
    }


def aggregated(make: Any, shape: Any, item: Any, label: Any, worker: Any, yes: Any) -> Any:
    """Return the probabilities (n, K) of a method of crowd-kit, label by label."""
    found = np.zeros(shape)
    for k in range(shape[1]):
        of = label == k
        rows = {"task": item[of], "worker": worker[of], "label": np.asarray(yes)[of].astype(int)}
        model = make()
        model.fit(pd.DataFrame(rows))
        if 1 in model.probas_:
            found[model.probas_.index.to_numpy(), k] = model.probas_[1].to_numpy()
    return np.nan_to_num(found)
