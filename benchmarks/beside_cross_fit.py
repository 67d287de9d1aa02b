"""How often cross-fitted figures hold for a model that learned from a machine and from people.

A machine that errs as a language model (``_sets.model_of``) answers all pairs of 400 items, and a
person who does not err 200 random ones. A linear model learns from both, and
``evaluate_model(..., n_folds=5, machine=...)`` measures it by the same answers. The truth is the
figure of the model about the other items. "held" is how often its interval of 95 % holds the truth,
"above" by how much the estimate is above it.
"""

from typing import Any

import numpy as np

from benchmarks._models import FIGURES
from benchmarks._sets import items_of, model_of, randomly
from complabel.answers import Answers
from complabel.methods import SelectionLikelihoodClassifier, fit_beside_machine
from complabel.trust import estimate_metrics, evaluate_model

CELLS, NEEDS = {"set": ("digits", "scene", "yeast")}, ("scene", "yeast")
DRAWS, QUICK = 60, {"set": ("digits",), "draws": 2}
ITEMS, ANSWERS = 400, 200


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return what holds in one sample, for each figure."""
    X, (Y, _, machine) = items_of(cell["set"], data)[0], model_of(cell["set"], data)
    items, others = np.split(np.random.default_rng([draw, 3]).permutation(len(Y)), [ITEMS])
    people = randomly(Y[items], ANSWERS, draw)
    linear = SelectionLikelihoodClassifier(kernel="linear", random_state=0)
    model = fit_beside_machine(linear, X[items], people, machine[items]).classifier
    found = evaluate_model(model, X[items], people, n_folds=5, machine=machine[items]).estimates
    all_answers = Answers.from_arrays(relevant=Y[others], absent=1 - Y[others], question="ticked")
    truth = estimate_metrics(all_answers, model.predict_proba(X[others]))
    rows = []
    for name in FIGURES:
        true, each = getattr(truth, name).value, getattr(found, name)
        held = float(each.low <= true <= each.high)
        rows.append(({"figure": name}, {"held": held, "above": each.value - true}))
    return rows
