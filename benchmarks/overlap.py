"""How many questions should a second person answer, so that the rates of people are found?

Three people answer yes/no questions about random labels of random items. They miss .13, .23 and .33
of what applies and invent .01, .03 and .05 of the rest. A share of the questions is put to a second
person; the number of answers stays the same. ``pairs`` were judged twice with a "yes"; rates are
``missed_off`` and ``invented_off`` by person; average precision is that of a fit that finds the
rates (``found``), and of one without rates, that leaves out pairs about which people contradict
each other (``none``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._people import AUTO, yes_or_no
from complabel.answers import resolve_contradictions
from complabel.datasets import make_digits
from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision

CELLS = {
    "set": ("digits", "scene", "yeast"),
    "answers": (500, 2000, 6000),
    "twice": (0.02, 0.05, 0.1, 0.2, 0.4),
}
DRAWS, NEEDS = 5, ("scene", "yeast")
QUICK = {"set": ("digits",), "answers": (500,), "twice": (0.1,)}
RATES = {"missed": np.array([0.13, 0.23, 0.33]), "invented": np.array([0.01, 0.03, 0.05])}


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return pairs with a "yes", errors of rates, and precision with and without rates."""
    digits = cell["set"] == "digits"
    of = make_digits(4000, random_state=0) if digits else load_dataset(cell["set"], data_dir=data)
    X, Y = np.asarray(of.X), np.asarray(of.Y) > 0
    rng, n = np.random.default_rng(draw), cell["answers"]
    train, test = np.split(rng.permutation(len(X)), [2 * len(X) // 3])
    first = round(n / (1 + cell["twice"]))
    item, label = rng.integers(len(train), size=first), rng.integers(Y.shape[1], size=first)
    person = rng.integers(3, size=first)
    again = rng.permutation(first)[: n - first]
    other = (person[again] + rng.integers(1, 3, size=len(again))) % 3
    item, label = np.append(item, item[again]), np.append(label, label[again])
    person = np.append(person, other)
    applies = Y[train][item, label]
    chance = np.where(applies, 1 - RATES["missed"][person], RATES["invented"][person])
    yes = rng.random(n) < chance
    names = [f"p{each}" for each in person]
    answers = yes_or_no((len(train), Y.shape[1]), item, label, yes, names)
    found: dict[str, Any] = {"pairs": float((yes[again] | yes[first:]).sum())}
    for name, how in (("found", AUTO), ("none", {})):
        model = SelectionLikelihoodClassifier(random_state=0, **how)
        model.fit(X[train], answers if how else resolve_contradictions(answers, "drop"))
        found[name] = average_precision(Y[test], model.predict_proba(X[test]))
        for each in how:
            rates = np.broadcast_to(getattr(model, f"{each}_", 0.0), 3)
            found[f"{each}_off"] = np.abs(rates - RATES[each]).mean()
    return found
