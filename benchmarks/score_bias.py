"""How much too high a held-out score is whose folds take choices from the fit to all answers.

Each draw has 60 items with 8 features, 4 labels and one yes/no answer each. The models of three
folds are scored on the answers that they left out, and on answers about 4,000 unseen items. Printed
are mean differences of both in nats per item, with standard errors over the draws: if each fold
searches everything, takes the kind of features from the fit, or its penalty, too; and for the best
held-out score of the fit's own search.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from complabel._training import one_thread
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_answers

_N, _D, _K, _UNSEEN, _FOLDS = 60, 8, 4, 4000, 3


def measure(seed: int) -> list[float]:
    """Return how much each score is too high in one draw."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(_N + _UNSEEN, _D))
    logits = X @ rng.normal(size=(_D, _K)) / _D**0.5 * 2.5 - 1
    Y = (logits + rng.logistic(size=logits.shape) > 0).astype(np.uint8)
    answers = draw_answers(Y, question="asked", random_state=seed)
    fitted: Any = SelectionLikelihoodClassifier(random_state=0).fit(X[:_N], answers[:_N])
    kind = {"kernel": fitted.kernel_, "rank": getattr(fitted, "rank_", None)}
    name = "scaling" if fitted.kernel_ == "linear" else "gamma"
    kind[name] = getattr(fitted, f"{name}_")
    alpha = fitted.alpha_ * _FOLDS / (_FOLDS - 1)  # of fewer rows
    found, truth = [], 0.0
    for given in ({}, kind, {**kind, "alpha": alpha}):
        scores = []
        for train, test in KFold(_FOLDS, shuffle=True, random_state=0).split(np.arange(_N)):
            model: Any = clone(fitted).set_params(**given).fit(X[train], answers[train])
            held_out, unseen = ((X[rows], answers[rows]) for rows in (test, slice(_N, None)))
            scores.append([model.score(*held_out), model.score(*unseen)])
        score, of_unseen = np.mean(scores, axis=0)
        truth = of_unseen if not found else truth
        found.append(score - of_unseen)
    return [*found, fitted.cv_results_["mean_test_score"].max() - truth]


def main() -> None:
    """Print the four means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=16)
    options = parser.parse_args()
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = np.array([measure(seed) for seed in range(options.draws)])
    of_full = table - table[:, :1]
    names = (
        "all is searched",
        "the kind of features",
        "the penalty, too",
        "the search's own score",
    )
    for name, each, more in zip(names, table.T, of_full.T, strict=True):
        errors = [values.std(ddof=1) / len(values) ** 0.5 for values in (each, more)]
        print(f"{name}: {each.mean():+.3f} ± {errors[0]:.3f}, more than the first by", end=" ")
        print(f"{more.mean():+.3f} ± {errors[1]:.3f}")


if __name__ == "__main__":
    main()
