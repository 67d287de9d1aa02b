"""What a model learns from a machine's labels and from people's answers beside them.

The machine is a classifier that learned from the true labels of a few items, as in ``machines``. It
answers about all other items with 0 and 1. A third of these items are kept for the test. People who
do not err answer yes/no questions about the rest, half of them where the machine says yes. At most
4,000 items of a set are taken. Figures are the average precision of labels of each item, on the
test items: of a fit to "people" alone; of a fit to the machine's answers "as_true"; of a fit to all
answers with rates of mistakes that are found ("auto"); of ridge regression on the machine's labels,
with people's answers in their place and the penalty by generalized cross-validation; and of
``fit_beside_machine`` ("ours"), with the weight that it found, and its processor seconds.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import RidgeCV
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.preprocessing import StandardScaler

from benchmarks._people import AUTO
from benchmarks._sets import items_of, learned_from
from benchmarks.machines import LEARNED, Array, against
from complabel.answers import Answers
from complabel.methods import SelectionLikelihoodClassifier, fit_beside_machine

SETS = ("scene", "yeast", "digits", "corel5k:15", "delicious:15")
CELLS = {"set": SETS, "machine": LEARNED, "answers": (200, 1000)}
QUICK = {"set": ("digits",), "machine": ("10%",), "answers": (200,)}
DRAWS, MOST = 3, 4000
NEEDS, TIMES = ("scene", "yeast", "corel5k:15", "delicious:15"), ("seconds",)


def world(name: str, share: float, data: Any, draw: int) -> tuple[Array, ...]:
    """Return features, labels and the machine's answers of the items, and of the test items."""
    X, Y = items_of(name, str(data))
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    order = np.random.default_rng([draw, 7]).permutation(len(Y))[:MOST]
    few, rest = np.split(order, [max(30, int(share * len(order)))])
    test, train = np.split(rest, [len(rest) // 3])
    _, said = learned_from(X, Y, few, train)
    return X[train], Y[train], said, X[test], Y[test]


def named(answers: Answers, name: str) -> Answers:
    """Return answers of an annotator."""
    first = np.zeros(answers.n_answers, dtype=np.intp)
    return replace(answers, annotator=first, annotator_names=(name,))


def measure(*, draw: int, data: Any, **cell: Any) -> dict[str, float]:
    """Return the average precision of each method."""
    share = float(cell["machine"][:-1]) / 100
    X, Y, said, X_test, Y_test = world(cell["set"], share, data, draw)
    people = named(against(Y, said, (cell["answers"],), draw), "people")
    machine = Answers.from_arrays(relevant=said, absent=1 - said, question="asked")
    machine = named(machine, "machine")
    learner = SelectionLikelihoodClassifier(random_state=0)
    auto, both = clone(learner).set_params(**AUTO), Answers.concatenate([people, machine])
    fits = {"people": (learner, people), "as_true": (learner, machine), "auto": (auto, both)}
    decisions = {
        name: model.fit(X, answers).decision_function(X_test)
        for name, (model, answers) in fits.items()
    }
    targets, told = said.astype(float), people.statements()
    targets[told.item, told.label] = told.applies
    scaler = StandardScaler().fit(X)
    ridge = RidgeCV(np.geomspace(1, 1e5, 21)).fit(scaler.transform(X), targets)
    decisions["ridge"] = ridge.predict(scaler.transform(X_test))
    start = time.process_time()
    ours = fit_beside_machine(learner, X, people, said)
    seconds = time.process_time() - start
    decisions["ours"] = ours.classifier.decision_function(X_test)
    score = label_ranking_average_precision_score
    found = {name: score(Y_test, of) for name, of in decisions.items()}
    return found | {"weight": ours.weight, "seconds": seconds}
