"""What partly known true labels say of a model, by which pairs are known.

A model learned from one yes/no about a random label of each item of one half. Its figures on the
other half are computed from all true labels, and from those that are left after others were made
blank. "random": a fifth of all pairs. "applies and a tenth": all pairs that apply, and a tenth of
the others, as where people mark what they see and a few labels that are absent. "another model":
pairs that a logistic regression proposes, which learned from all labels of 200 items, with a
probability of at least .2. "this model": the same, proposed by the measured model. "only applies".
Figures are means of the labels that have them; ``of_known`` and ``of_all`` are mean probabilities
of known pairs, and of all pairs with the same labels. What chance decides is drawn 20 times.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._draws import block, means
from benchmarks._models import Array, Labels, fitted, halves
from complabel.metrics import CRITERIA, evaluate, evaluate_labels

CELLS = {"set": ("digits", "scene")}
QUICK, NEEDS = {"set": ("digits",)}, ("scene",)
PROPOSED, N_DRAWS = 0.2, 20
SHOWN = ("average_precision", "precision", "recall")


def proposals(X: Any, Y: Labels, X_held: Any) -> Array:
    """Return probabilities of another model, which learned from all labels of 200 items."""
    one = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=1000))
    return np.asarray(OneVsRestClassifier(one).fit(X[:200], Y[:200]).predict_proba(X_held))


def figures(Y: Labels, p: Array, known: Any) -> dict[str, float]:
    """Return the figures of a model with probabilities ``p`` on the known pairs, all (n, K)."""
    predicted = (p > 0.5).astype(np.uint8)
    labels = evaluate_labels(Y, p, predicted, known=known)
    of_labels = {name: [each[name] for each in labels if each[name] is not None] for name in SHOWN}
    values = {name: float(np.mean(found)) for name, found in of_labels.items() if found}
    ranked = ((known & (Y == 1)).any(axis=1) & (known & (Y == 0)).any(axis=1)).any()
    criteria = [each for each in CRITERIA if each.name == "ranking_loss"] if ranked else []
    values |= evaluate(Y, p, predicted, criteria=criteria, known=known)
    of_all = np.average(p.mean(axis=0), weights=known.sum(axis=0))
    return values | {"of_known": float(p[known].mean()), "of_all": float(of_all)}


@means
def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Yield the figures by each choice of known pairs."""
    X, Y, X_held, Y_held = halves(cell["set"], data)
    p, other = fitted(X, Y).predict_proba(X_held), proposals(X, Y, X_held)
    applies = Y_held == 1
    ways = [("all", np.ones(p.shape, dtype=bool))]
    for each in block(draw, N_DRAWS):
        u = np.random.default_rng([each, 1]).random(p.shape)
        ways += [("random", u < 0.2), ("applies and a tenth", applies | (u < 0.1))]
    ways += [("another model", other >= PROPOSED), ("this model", p >= PROPOSED)]
    for way, known in [*ways, ("only applies", applies)]:
        yield {"known": way}, figures(Y_held, p, known)
