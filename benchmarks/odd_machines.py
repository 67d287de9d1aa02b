"""What a model beside a machine loses of a label of which the machine says nothing useful.

A classifier that learned from the true labels of 300 items is the machine. Of one label, the most
frequent, it is made to say no of all items ("silent"), yes of all ("always"), or yes of one item in
a hundred ("nearly"). "random" says yes or no of all labels by chance, "good" is not changed. People
who do not err answer 300 yes/no questions about 300 items, half of them where the machine says yes.
A fit to people's answers alone stands beside one to both; both are linear. With "matched" both are
scaled to the frequencies that people's answers tell, and people answer random questions. Figures:
F1 at .5 of the label, alone; by how much the second fit is better, over the test items: F1 and
average precision ("ap") of the label, and the mean of the other labels; and the mean probability of
the label, beside, and its frequency.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, f1_score

from benchmarks._people import linear
from benchmarks._sets import items_of, learned_from, randomly
from benchmarks.machines import Array, against
from complabel.datasets import make_synthetic
from complabel.methods import FrequencyMatchedClassifier, fit_beside_machine

MACHINES = ("silent", "always", "nearly", "random", "good")
CELLS = [
    {"set": s, "machine": m, "matched": matched}
    for matched, machines in (("no", MACHINES), ("yes", ("silent", "always", "good")))
    for s in ("generated", "digits")
    for m in machines
]
DRAWS, QUICK = 8, {"set": ("digits",), "machine": ("silent",), "matched": ("no",), "draws": 2}
N, LEARNED = 300, 300


def made_odd(said: Array, machine: str, label: int, draw: int) -> Array:
    """Return what a machine says that knows nothing of one label, or of none."""
    rng, said = np.random.default_rng([draw, 5]), said.copy()
    if machine == "random":
        return (rng.random(said.shape) < said.mean(axis=0)).astype(np.uint8)
    if machine != "good":
        said[:, label] = machine == "always"
    if machine == "nearly":
        said[rng.permutation(len(said))[: len(said) // 100], label] = 1
    return said


def figures(model: Any, X: Array, Y: Array, label: int) -> Array:
    """Return F1 at .5, average precision and the mean probability, of the label and others."""
    p = model.predict_proba(X)
    each = range(Y.shape[1])
    f1 = [f1_score(Y[:, k], p[:, k] > 0.5, zero_division=0) for k in each]
    ap = [average_precision_score(Y[:, k], p[:, k]) for k in each]
    found = np.stack([f1, ap, p.mean(axis=0)])
    return np.stack([found[:, label], np.delete(found, label, axis=1).mean(axis=1)])


def measure(*, draw: int, data: Any, **cell: str) -> dict[str, float]:
    """Return figures of people alone, and what is gained beside the machine."""
    if cell["set"] == "generated":
        made: Any = make_synthetic(LEARNED + 2 * N, n_features=20, n_labels=6, random_state=draw)
        X, Y = made.X, made.Y
    else:
        X, Y = items_of(cell["set"], str(data))
    order = np.random.default_rng([draw, 7]).permutation(len(Y))[: LEARNED + 2 * N]
    few, train, test = np.split(order, [LEARNED, LEARNED + N])
    label, matched = int(Y[train].mean(axis=0).argmax()), cell["matched"] == "yes"
    said = made_odd(learned_from(X, Y, few, train)[1], cell["machine"], label, draw)
    # Only random questions tell a model of people alone how often labels apply.
    people = randomly(Y[train], N, draw) if matched else against(Y[train], said, (N,), draw)
    learner: Any = linear(scaling="global", rank=None)
    learner = FrequencyMatchedClassifier(learner) if matched else learner
    alone = figures(learner.fit(X[train], people), X[test], Y[test], label)
    both = fit_beside_machine(learner, X[train], people, said).classifier
    beside = figures(both, X[test], Y[test], label)
    of_label, of_others = beside - alone
    return {
        "alone": alone[0, 0],
        "f1": of_label[0],
        "ap": of_label[1],
        "f1_others": of_others[0],
        "ap_others": of_others[1],
        "p_beside": beside[0, 2],
        "frequency": Y[test, label].mean(),
    }
