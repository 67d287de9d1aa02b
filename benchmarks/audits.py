"""What are a few random yes/no answers worth where labels do not come to mind alike?

Every training row has one label named freely, with propensities exp(sd z), and so many item-label
pairs of the training rows, drawn at random, are asked about. The selection likelihood with a linear
map, everything else automatic, learns from "named" labels alone, from what was "asked" alone, from
"both", and from what was named with the "true" frequencies of the training rows. ``precision`` is
the mean average precision on the test rows, ``off`` the error of the cardinality (root mean square
over folds). With five ``people``, each row is named by one of them, who has propensities of their
own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from complabel.answers import Answers
from complabel.datasets import make_digits
from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers, draw_propensities

SIZES = (50, 200, 600)
SETS = ("scene", "yeast", "corel5k")
CELLS = [
    *({"set": of, "sd": sd, "people": 1, "folds": 3} for of in SETS for sd in (0.0, 0.5, 1.0)),
    *({"set": of, "sd": 1.0, "people": 5, "folds": 3} for of in SETS[:2]),
    *({"set": of, "sd": 1.0, "people": 1, "folds": 10} for of in SETS[:2]),
    {"set": "digits", "sd": 1.0, "people": 5, "folds": 3},
]
DRAWS, QUICK, NEEDS = 5, {"set": ("digits",)}, SETS


def audit_of(Y: Any, size: int, seed: tuple[int, ...]) -> Answers:
    """Return yes/no answers about pairs of items and labels, drawn at random."""
    n_labels = Y.shape[1]
    item, label = np.divmod(np.random.default_rng(seed).permutation(Y.size)[:size], n_labels)
    asked = np.eye(n_labels, dtype=np.uint8)[label]
    yes = asked * Y[item]
    return Answers.from_arrays(
        relevant=yes,
        absent=asked - yes,
        question="asked",
        item=item,
        probability=1 / n_labels,
        n_items=len(Y),
    )


def name_labels(Y: Any, sd: float, draw: int, people: int) -> Answers:
    """Return one label named of each row, by one of some people with their own propensities."""
    if people == 1:
        w = draw_propensities(Y.shape[1], sd, np.random.default_rng((draw, 1))) if sd else None
        return draw_answers(Y, propensities=w, random_state=np.random.default_rng((draw, 2)))
    who = np.random.default_rng((draw, 4)).integers(people, size=len(Y))
    named = np.zeros_like(Y)
    for person in range(people):
        w = draw_propensities(Y.shape[1], sd, np.random.default_rng((draw, 1, person)))
        answers = draw_answers(Y, propensities=w, random_state=np.random.default_rng((draw, 2)))
        named[who == person] = answers.complementary[who == person]
    return Answers.from_arrays(
        named=named, annotator=who, question="named", n_items=len(Y), all_apply="never"
    )


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return the figures of each source and number of questions, means over folds."""
    digits = cell["set"] == "digits"  # few, for the quick cell
    loaded = make_digits(600) if digits else load_dataset(cell["set"], data_dir=data)
    X: Any = loaded.X
    Y = np.asarray(loaded.Y)
    all_named = name_labels(Y, cell["sd"], draw, cell["people"])
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}

    def fit(rows: Any, test: Any, answers: Answers, of: tuple[str, int], **given: Any) -> None:
        model = SelectionLikelihoodClassifier(kernel="linear", random_state=0, **given)
        model.fit(X[rows], answers)
        off = model.mean_cardinality_ - float(Y[rows].sum(axis=1).mean())
        precision = average_precision(Y[test], model.predict_proba(X[test]))
        found.setdefault(of, []).append((precision, off))

    folds = KFold(cell["folds"], shuffle=True, random_state=draw).split(Y)
    for fold, (train, test) in enumerate(folds):
        named = all_named[train]
        fit(train, test, named, ("named", 0))
        fit(train, test, named, ("true", 0), label_frequencies=Y[train].mean(axis=0))
        for size in (200,) if cell["folds"] == 10 or cell["people"] > 1 else SIZES:
            audit = audit_of(Y[train], size, (draw, 3, fold))
            fit(train, test, audit, ("asked", size))
            fit(train, test, Answers.concatenate([named, audit]), ("both", size))
    return [
        (
            {"from": source, "asked": size},
            {
                "precision": np.mean([each for each, _ in values]),
                "off": np.sqrt(np.mean([each**2 for _, each in values])),
            },
        )
        for (source, size), values in found.items()
    ]
