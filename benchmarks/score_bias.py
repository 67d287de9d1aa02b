"""How much too high is a held-out score whose folds take choices from the fit to all answers?

Each draw has 60 items with 8 features, 4 labels and one yes/no answer each. The models of three
folds are scored on the answers that they left out, and on answers about 4,000 unseen items.
Differences of both in nats per item: each fold searches everything ("searched"), takes the kind of
features from the fit ("kind"), and its penalty, too ("penalty"); "own" is the best held-out score
of the fit's own search.
"""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_answers

CELLS, DRAWS, QUICK = {"items": (60,)}, 16, {"draws": 1}
D, K, UNSEEN, FOLDS = 8, 4, 4000, 3


def measure(*, draw: int, data: Any, items: int) -> dict[str, float]:
    """Return how much each score is too high."""
    rng = np.random.default_rng(draw)
    X = rng.normal(size=(items + UNSEEN, D))
    logits = X @ rng.normal(size=(D, K)) / D**0.5 * 2.5 - 1
    Y = (logits + rng.logistic(size=logits.shape) > 0).astype(np.uint8)
    answers = draw_answers(Y, question="asked", random_state=draw)
    fitted: Any = SelectionLikelihoodClassifier(random_state=0).fit(X[:items], answers[:items])
    kind = {"kernel": fitted.kernel_, "rank": getattr(fitted, "rank_", None)}
    name = "scaling" if fitted.kernel_ == "linear" else "gamma"
    kind[name] = getattr(fitted, f"{name}_")
    penalty = {**kind, "alpha": fitted.alpha_ * FOLDS / (FOLDS - 1)}  # of fewer rows
    found, truth = {}, 0.0
    for way, given in {"searched": {}, "kind": kind, "penalty": penalty}.items():
        scores = []
        for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(np.arange(items)):
            model: Any = clone(fitted).set_params(**given).fit(X[train], answers[train])
            held_out, unseen = ((X[rows], answers[rows]) for rows in (test, slice(items, None)))
            scores.append([model.score(*held_out), model.score(*unseen)])
        score, of_unseen = np.mean(scores, axis=0)
        truth = truth if found else of_unseen
        found[way] = score - of_unseen
    return {**found, "own": fitted.cv_results_["mean_test_score"].max() - truth}
