"""What do labels cost that people miss and invent, and are the rates of each person found?

40 people answer one yes/no question about a random label of each item; 30 % of the questions are
put to a second person. People miss labels that apply with rates spread from 0 to .75 (evenly; with
``power`` 3 most of them miss little), and invent some with rates of about .03. Two thirds of the
items are fitted; ``precision`` is the average precision on the rest, ``cardinality`` is divided by
the true one. ``rates``: all answers are true ("no mistakes", without and with rates to be found);
of two people who disagree, the first is believed ("ignored"); the true rates are "given"; they are
"found". Of people with 60 answers: how far rates are off, and rates counted with true labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._people import AUTO, PEOPLE, Asked, ask, linear
from complabel import metrics
from complabel.answers import Answers
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import split_folds

CELLS = {"set": ("digits", "scene", "yeast"), "power": (1, 3)}
DRAWS, QUICK, NEEDS = 5, {"set": ("digits",), "power": (1,)}, ("scene", "yeast")
ENOUGH = 60


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Fit each case to the training part of a fold, and measure on its test part."""
    dataset = load_dataset(cell["set"], data_dir=data)
    rng = np.random.default_rng(draw)
    train, test = split_folds(dataset, n_folds=3, seed=draw)[0]
    X: Any = dataset.X
    Y = np.asarray(dataset.Y)
    missed = 0.75 * np.linspace(0, 1, PEOPLE) ** cell["power"]
    invented = 0.03 * np.exp(0.5 * rng.standard_normal(PEOPLE))
    asked = ask(Y[train], 0.3, rng)
    chance = np.where(asked.applies, missed[asked.person], invented[asked.person])
    wrong = rng.random(len(asked.item)) < chance
    true, said = asked.answers(asked.applies), asked.answers(asked.applies ^ wrong)
    place = [int(name) for name in said.annotator_names]
    rates = {"missed": missed[place], "invented": invented[place]}
    cases: dict[str, tuple[Answers, dict[str, Any]]] = {
        "no mistakes": (true, {}),
        "no mistakes, to be found": (true, AUTO),
        "ignored": (said.only(~asked.again), {}),
        "given": (said, rates),
        "found": (said, AUTO),
    }
    rows = []
    for name, (answers, settings) in cases.items():
        fitted = linear(random_state=draw, **settings).fit(X[train], answers)
        found = {
            "precision": metrics.average_precision(Y[test], fitted.predict_proba(X[test])),
            "cardinality": fitted.mean_cardinality_ / Y[train].sum(axis=1).mean(),
        }
        if name == "found" and hasattr(fitted, "missed_"):
            found |= errors_of_rates(asked, said, wrong, rates, fitted)
        rows.append(({"rates": name}, found))
    return rows


def errors_of_rates(
    asked: Asked, said: Answers, wrong: Any, rates: dict[str, Any], fitted: Any
) -> dict[str, Any]:
    """Compare the rates of people with many answers with the true ones."""
    # Beside them: the rates that one would count if the true labels were known.
    n_answers = np.bincount(said.annotator, minlength=len(said.annotator_names))
    many = n_answers >= ENOUGH
    found = {}
    for name, applies in (("missed", asked.applies), ("invented", ~asked.applies)):
        n_wrong = np.bincount(said.annotator, wrong & applies, minlength=len(n_answers))
        n_judged = np.bincount(said.annotator, applies, minlength=len(n_answers))
        kinds = ("off", getattr(fitted, f"{name}_")), ("counted", n_wrong / np.maximum(n_judged, 1))
        for kind, values in kinds if many.any() else ():
            found[f"{name}_{kind}"] = np.abs(values - rates[name])[many].mean()
    return found
