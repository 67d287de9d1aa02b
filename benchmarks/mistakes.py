"""What do labels cost that people miss and invent, and are the rates of each person found?

- ``people=forty`` answer one yes/no question about a label of each item; 30 % are put to a second
  person. They miss with rates from 0 to .75 (with ``power`` 3 most miss little), and invent with
  rates of about .03. ``rates``: all answers are true ("no mistakes"); of two people who disagree,
  the first is believed ("ignored"); true rates are "given"; rates are "found". Errors of rates are
  those of people with 60 answers, beside rates ``counted`` with true labels.
- ``people=three`` miss .13, .23 and .33 and invent .01, .03 and .05. Of a fixed number of answers,
  a share is asked ``twice``; ``pairs`` were judged twice with a "yes". Without rates ("none"), a
  fit leaves out pairs about which people contradict each other.
- ``people=five`` give one answer per item; a share of all answers, or of one person's, is random.
  ``rates``: the error rates that are fitted; ``rate``, what is found of all or of this person.

``precision`` is the average precision on items of the rest; ``cardinality`` is divided by the true.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._draws import means
from benchmarks._people import AUTO, PEOPLE, Asked, ask, linear, yes_or_no
from complabel import metrics
from complabel.answers import Answers, resolve_contradictions
from complabel.datasets import make_digits
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import split_folds
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_answers

SETS = ("digits", "scene", "yeast")
CELLS: list[dict[str, Any]] = [
    *({"people": "forty", "set": name, "power": power} for name in SETS for power in (1, 3)),
    *(
        {"people": "three", "set": name, "answers": n, "twice": twice}
        for name in SETS
        for n in (500, 2000, 6000)
        for twice in (0.02, 0.05, 0.1, 0.2, 0.4)
    ),
    *(
        {"people": "five", "set": name, "question": question, "mistakes": mistakes}
        for name in SETS
        for question in ("free", "asked", "menu-2")
        for mistakes in ("none", "all .1", "one .4")
    ),
]
DRAWS, NEEDS = 5, SETS[1:]
QUICK = {"set": ("digits",), "power": (1, None), "answers": (500, None), "twice": (0.1, None)}
QUICK |= {"question": ("asked", None), "mistakes": ("one .4", None)}
THREE = {"missed": np.array([0.13, 0.23, 0.33]), "invented": np.array([0.01, 0.03, 0.05])}
FIVE: dict[str, Any] = {"none": [0.0] * 5, "all .1": 0.1, "one .4": [*[0.0] * 4, 0.4]}
FITTED: dict[str, Any] = {"none": (0.0,), "all .1": (0.0, "auto"), "one .4": (0.0, "per-annotator")}


def of_forty(dataset: Any, draw: int, power: int) -> Any:
    """Yield the figures of each case, on the test part of a fold."""
    rng = np.random.default_rng(draw)
    train, test = split_folds(dataset, n_folds=3, seed=draw)[0]
    X, Y = dataset.X, np.asarray(dataset.Y)
    missed = 0.75 * np.linspace(0, 1, PEOPLE) ** power
    invented = 0.03 * np.exp(0.5 * rng.standard_normal(PEOPLE))
    asked = ask(Y[train], 0.3, rng)
    chance = np.where(asked.applies, missed[asked.person], invented[asked.person])
    wrong = rng.random(len(asked.item)) < chance
    true, said = asked.answers(asked.applies), asked.answers(asked.applies ^ wrong)
    place = [int(name) for name in said.annotator_names]
    rates = {"missed": missed[place], "invented": invented[place]}
    cases: dict[str, tuple[Answers, dict[str, Any]]] = {
        "no mistakes": (true, {}),
        "no mistakes but sought": (true, AUTO),
        "ignored": (said.only(~asked.again), {}),
        "given": (said, rates),
        "found": (said, AUTO),
    }
    for name, (answers, settings) in cases.items():
        fitted = linear(random_state=draw, **settings).fit(X[train], answers)
        found = {
            "precision": metrics.average_precision(Y[test], fitted.predict_proba(X[test])),
            "cardinality": fitted.mean_cardinality_ / Y[train].sum(axis=1).mean(),
        }
        if name == "found" and hasattr(fitted, "missed_"):
            found |= errors_of_rates(asked, said, wrong, rates, fitted)
        yield {"rates": name}, found


def errors_of_rates(asked: Asked, said: Answers, wrong: Any, rates: Any, fitted: Any) -> Any:
    """Compare the rates of people with many answers with the true ones."""
    many = np.bincount(said.annotator) >= 60
    if not many.any():
        return {}
    found = {
        f"{name}_off": abs(getattr(fitted, f"{name}_") - of)[many].mean()
        for name, of in rates.items()
    }
    n_judged = np.bincount(said.annotator, asked.applies)
    counted = np.bincount(said.annotator, wrong & asked.applies) / np.maximum(n_judged, 1)
    return found | {"missed_counted": abs(counted - rates["missed"])[many].mean()}


def of_three(dataset: Any, draw: int, answers: int, twice: float) -> Any:
    """Yield pairs with a "yes", errors of rates, and precision with and without rates."""
    X, Y = np.asarray(dataset.X), np.asarray(dataset.Y) > 0
    rng, n = np.random.default_rng(draw), answers
    train, test = np.split(rng.permutation(len(X)), [2 * len(X) // 3])
    first = round(n / (1 + twice))
    item, label = rng.integers(len(train), size=first), rng.integers(Y.shape[1], size=first)
    person = rng.integers(3, size=first)
    again = rng.permutation(first)[: n - first]
    other = (person[again] + rng.integers(1, 3, size=len(again))) % 3
    item, label = np.append(item, item[again]), np.append(label, label[again])
    person = np.append(person, other)
    chance = np.where(Y[train][item, label], 1 - THREE["missed"][person], THREE["invented"][person])
    yes = rng.random(n) < chance
    said = yes_or_no((len(train), Y.shape[1]), item, label, yes, [f"p{each}" for each in person])
    for name, how in (("found", AUTO), ("none", {})):
        model = SelectionLikelihoodClassifier(random_state=0, **how)
        model.fit(X[train], said if how else resolve_contradictions(said, "drop"))
        found = {"precision": metrics.average_precision(Y[test], model.predict_proba(X[test]))}
        for each in how:
            rates = np.broadcast_to(getattr(model, f"{each}_", 0.0), 3)
            found[f"{each}_off"] = np.abs(rates - THREE[each]).mean()
        if how:
            found["pairs"] = float((yes[again] | yes[first:]).sum())
        yield {"rates": name}, found


@means
def of_five(dataset: Any, draw: int, question: str, mistakes: str) -> Any:
    """Yield the figures of each fold, without and with error rates."""
    X, Y = dataset.X, dataset.Y
    answers = draw_answers(Y, question=question, error_rate=FIVE[mistakes], random_state=draw)
    for given in FITTED[mistakes]:
        for train, test in split_folds(dataset, n_folds=3, seed=draw):
            model = linear(error_rate=given, random_state=draw).fit(X[train], answers[train])
            found = {"precision": metrics.average_precision(Y[test], model.predict_proba(X[test]))}
            if given:
                found["rate"] = [model.error_rate_, *getattr(model, "error_rates_", ())][-1]
            yield {"rates": str(given or "none")}, found


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return the figures of some people."""
    people, name = cell.pop("people"), cell.pop("set")
    dataset: Any = load_dataset(name, data_dir=data)
    if (people, name) == ("three", "digits"):
        dataset = make_digits(4000, random_state=0)
    return [*{"forty": of_forty, "three": of_three, "five": of_five}[people](dataset, draw, **cell)]
