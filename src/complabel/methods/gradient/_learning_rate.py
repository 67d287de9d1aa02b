"""The choice of a learning rate by held-out complementary labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import KFold

from complabel import metrics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._arrays import Features
    from complabel.methods.gradient._base import GradientClassifier

RATES = (0.1, 0.01, 0.001)
"""The grid of the MLCL paper."""

_USUAL = RATES.index(0.01)
# Each fold costs a training per rate; three leave two thirds of the rows to learn from.
_FOLDS = 3


def choose_rate(
    classifier: GradientClassifier,
    X: Features,
    complementary: NDArray[np.uint8],
    relevant: NDArray[np.uint8] | None,
    *,
    seed: int,
) -> tuple[float, dict[str, NDArray[Any]]]:
    """Choose the learning rate under which held-out complementary labels rank lowest.

    Another rate than 0.01 must be better by more than one standard error. 0.01 is it also if there
    are too few rows to hold any out, or no rate trains. The likelihood of the labels would look at
    the scores through the transition matrix, which is an estimate itself: on simulated data it
    chose worse than the ranking error. Copies of the classifier are trained; the seed decides the
    folds and each training. Returned beside the rate is ``cv_results_``, whose error is infinite
    where the training failed.
    """
    by_row = np.full((len(RATES), len(complementary)), np.inf)
    if len(complementary) >= _FOLDS:
        splitter = KFold(_FOLDS, shuffle=True, random_state=seed % 2**32)
        folds = list(splitter.split(complementary))
        # Not clone(), which copies the callback and the network's factory, whatever they hold.
        settings = classifier.get_params(deep=False)
        settings |= {"callback": None, "random_state": seed % 2**32}
        for at, rate in enumerate(RATES):
            copy = type(classifier)(**{**settings, "learning_rate": rate})
            by_row[at] = _held_out_errors(copy, X, complementary, relevant, folds)
            if classifier.callback is not None:
                classifier.callback("search", at + 1, len(RATES), float(by_row[at].mean()))
    chosen = _better_than_usual(by_row)
    return RATES[chosen], {
        "learning_rate": np.array(RATES),
        "mean_ranking_error": by_row.mean(axis=1),
        "chosen": np.arange(len(RATES)) == chosen,
    }


def _better_than_usual(by_row: NDArray[np.float64]) -> int:
    """Return the position of the least mean error, unless the usual rate is as good as that."""
    best = int(by_row.mean(axis=1).argmin())
    if not np.isfinite(by_row[[best, _USUAL]]).all():
        return best if np.isfinite(by_row[best]).all() else _USUAL
    gain = by_row[_USUAL] - by_row[best]
    return best if gain.mean() > gain.std() / np.sqrt(len(gain)) else _USUAL


def _held_out_errors(
    classifier: GradientClassifier,
    X: Features,
    complementary: NDArray[np.uint8],
    relevant: NDArray[np.uint8] | None,
    folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
) -> NDArray[np.float64]:
    """Return the ranking error of each row by a model that has not seen it, shape (n,).

    Infinite if a training fails: it diverged, a label has no candidate among so few rows, or the
    network cannot take such a batch. What is wrong with all rows is said by the last training.
    """
    scores = np.empty(complementary.shape)
    for train, test in folds:
        try:
            classifier._fit(
                X[train], complementary[train], None if relevant is None else relevant[train]
            )
            scores[test] = classifier._decision(X[test])
        except (ValueError, RuntimeError):
            return np.full(len(complementary), np.inf)
    return metrics.complementary_ranking_error_of_rows(complementary, scores)
