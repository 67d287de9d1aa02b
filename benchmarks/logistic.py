"""scikit-learn's logistic regression on true labels, with C chosen: a check of our own reference.

The study ``supervision.toml`` has it as a row. It says whether ``supervised`` learns as much from
true labels as a tuned model of another library does.
"""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier

from complabel.methods import ComplementaryClassifier
from complabel.metrics import average_precision

_CHOICES = {"estimator__C": [0.01, 0.1, 1.0, 10.0, 100.0]}


class TunedLogistic(ComplementaryClassifier):
    """One-vs-rest logistic regression; three folds of the training rows choose C."""

    learns_from = "relevant"

    def _fit(self, X: Any, true_labels: Any, relevant: Any, /) -> None:
        del relevant
        one_vs_rest = OneVsRestClassifier(LogisticRegression(max_iter=1000))
        # Average precision is also what the tables show, so the choice favours this reference.
        search = GridSearchCV(one_vs_rest, _CHOICES, scoring=_scorer, cv=3)
        self.model_ = search.fit(X, true_labels)

    def _decision(self, X: Any) -> Any:
        p = np.clip(self.model_.predict_proba(X), 1e-12, 1 - 1e-12)
        return np.log(p / (1 - p))


def _scorer(model: Any, X: Any, true_labels: Any) -> float:
    """Return the average precision of a model on held-out training rows."""
    return average_precision(true_labels, model.predict_proba(X))
