"""What are a few random yes/no answers worth where labels do not come to mind alike?

Every training row has one label named freely, with propensities exp(sd z), and so many item-label
pairs of the training rows, drawn at random, are asked about. A linear selection likelihood learns
from "named" labels alone, from what was "asked" alone, from "both", and from what was named with
the "true" frequencies of the training rows. ``precision`` is the mean average precision on the test
rows. With five ``people``, each row is named by one of them, who has propensities of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from benchmarks._draws import means
from benchmarks._people import linear
from benchmarks._sets import answers_to
from complabel.answers import Answers
from complabel.datasets import make_digits
from complabel.experiments.datasets import load_dataset
from complabel.metrics import average_precision
from complabel.simulate import draw_answers, draw_propensities

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
    pairs = np.random.default_rng(seed).permutation(Y.size)[:size]
    return answers_to(Y, *np.divmod(pairs, Y.shape[1]), 1 / Y.shape[1])


def name_labels(Y: Any, sd: float, draw: int, people: int) -> Answers:
    """Return one label named of each row, by one of some people with their own propensities."""

    def named(*seed: int) -> Answers:
        w = draw_propensities(Y.shape[1], sd, np.random.default_rng(seed)) if sd else None
        return draw_answers(Y, propensities=w, random_state=np.random.default_rng((draw, 2)))

    if people == 1:
        return named(draw, 1)
    who = np.random.default_rng((draw, 4)).integers(people, size=len(Y))
    by_each = np.stack([named(draw, 1, person).complementary for person in range(people)])
    of_rows = by_each[who, np.arange(len(Y))]
    return Answers.from_arrays(
        named=of_rows, annotator=who, question="named", n_items=len(Y), all_apply="never"
    )


@means
def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Yield the average precision of each source and number of questions, by fold."""
    digits = cell["set"] == "digits"  # few, for the quick cell
    loaded: Any = make_digits(600) if digits else load_dataset(cell["set"], data_dir=data)
    X, Y = loaded.X, np.asarray(loaded.Y)
    all_named = name_labels(Y, cell["sd"], draw, cell["people"])
    sizes = (200,) if cell["folds"] == 10 or cell["people"] > 1 else (50, 200, 600)
    folds = KFold(cell["folds"], shuffle=True, random_state=draw).split(Y)
    for fold, (train, test) in enumerate(folds):
        named, true = all_named[train], Y[train].mean(axis=0)
        sources = [("named", 0, named, "auto"), ("true", 0, named, true)]
        for size in sizes:
            audit = audit_of(Y[train], size, (draw, 3, fold))
            both = Answers.concatenate([named, audit])
            sources += [("asked", size, audit, "auto"), ("both", size, both, "auto")]
        for source, size, answers, frequencies in sources:
            model = linear(label_frequencies=frequencies).fit(X[train], answers)
            precision = average_precision(Y[test], model.predict_proba(X[test]))
            yield {"from": source, "asked": size}, {"precision": precision}
