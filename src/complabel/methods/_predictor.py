"""What predictions need of a fitted model, without scikit-learn, which takes seconds to load."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy import special

from complabel._parameters import (
    AnyArray,
    Array,
    Constraints,
    Features,
    Integer,
    Real,
    check_parameters,
)
from complabel.methods._decisions import THRESHOLDS, labels_above
from complabel.methods._saving import MISSING, Numbers


class Predictor:
    """A fitted model that only predicts; it is also the part of each classifier that does so.

    A predictor of its own stands for the classifier ``_stands_for``, has its parameters, and takes
    features that were checked when they were read.
    """

    threshold: str = "probability"
    cut: float = 0.5
    _stands_for: ClassVar[str] = ""

    # The values that each parameter allows. A method declares those of its own parameters.
    _constraints: ClassVar[Constraints] = {"threshold": THRESHOLDS, "cut": Real(above=0, below=1)}

    # What ``save`` stores: the fitted attributes that predictions and ``score`` need, each with
    # what it may be in a file. A method declares its own.
    _fitted: ClassVar[Constraints] = {
        "classes_": Numbers("K", dtype=None),
        "n_features_in_": Integer(at_least=1),
        "feature_names_in_": (MISSING, Numbers("d", dtype=None)),
        "_single": (True, False),
        "_from_answers": (True, False),
        "thresholds_": (MISSING, Numbers("K")),
    }

    classes_: AnyArray
    n_features_in_: int
    thresholds_: Array
    _single: bool
    _from_answers: bool = False  # whether ``fit`` was given Answers

    def predict_proba(self, X: Features) -> Array:
        """Return the probabilities (n, K) of labels, for features (n, d)."""
        return self._probabilities(self._decision(X))

    def __repr__(self) -> str:
        """Name the classifier and its parameters, but for defaults, as scikit-learn does."""
        defaults = inspect.signature(type(self)).parameters
        changed = (
            f"{name}={getattr(self, name)!r}"
            for name in self._get_param_names()
            if repr(getattr(self, name)) != repr(defaults[name].default)
        )
        return f"{self._stands_for}({', '.join(changed)})"

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(inspect.signature(cls).parameters)

    @classmethod
    def _from_plain(cls, parameters: dict[str, Any]) -> Self:
        return cls(**parameters)

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _set_state(self, state: dict[str, Any], sizes: Mapping[str, int]) -> None:
        """Set what ``_state`` returned; refuse values that do not fit together or ``sizes``."""
        del sizes
        for name, value in state.items():
            setattr(self, name, value)

    def _decision(self, X: Features) -> Array:
        """Return scores (n, K): the log-odds of f, or what ``_log_odds`` turns into them."""
        raise NotImplementedError(f"{type(self).__name__} has no scores")

    def _log_odds(self, decision: Array) -> Array:
        """Turn what ``_decision`` returned into log f / (1 - f), of shape (n, K)."""
        return decision

    def _relevance(self, decision: Array) -> Array:
        """Turn what ``_decision`` returned into f, of shape (n, K)."""
        return np.asarray(special.expit(self._log_odds(decision)))

    def _probabilities(self, decision: Array) -> Array:
        if self._single:
            return np.asarray(special.softmax(decision, axis=1))
        return self._relevance(decision)

    def _predicted(self, decision: Array) -> AnyArray:
        if self._single:
            predicted: AnyArray = self.classes_[decision.argmax(axis=1)]
            return predicted
        if hasattr(self, "thresholds_"):
            return (self._probabilities(decision) >= self.thresholds_).astype(np.int64)
        return labels_above(self._log_odds(decision), threshold=self.threshold, cut=self.cut)
