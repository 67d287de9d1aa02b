"""The methods that a classifier implements or may override, and its tags for scikit-learn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from complabel._parameters import Constraints, Integer, Real, check_parameters, declared
from complabel.methods._arrays import Features
from complabel.methods._decisions import THRESHOLDS, labels_above
from complabel.methods._features import validated
from complabel.methods._saving import MISSING, Numbers
from complabel.methods._targets import encode_new

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel.answers import Answers


class Hooks(ClassifierMixin, BaseEstimator):
    """The extension points that :class:`ComplementaryClassifier` calls.

    The docstring of that class describes the attributes.
    """

    learns_from: ClassVar[Literal["complementary", "relevant"]] = "complementary"
    models_the_choice: ClassVar[bool] = False
    understands_answers: ClassVar[bool] = False
    threshold: str = "probability"
    cut: float = 0.5

    # The values that each parameter allows. A method declares those of its own parameters.
    _constraints: ClassVar[Constraints] = {
        "threshold": THRESHOLDS,
        "cut": Real(above=0, below=1),
    }

    # What ``save`` stores: the fitted attributes that predictions and ``score`` need, each with
    # what it may be in a file. A method declares its own.
    _fitted: ClassVar[Constraints] = {
        "classes_": Numbers("K", dtype=None),
        "n_features_in_": Integer(at_least=1),
        "feature_names_in_": (MISSING, Numbers("d", dtype=None)),
        "_single": (True, False),
    }

    classes_: NDArray[Any]
    n_features_in_: int
    _single: bool

    @abstractmethod
    def _fit(
        self,
        X: Features,
        complementary: NDArray[np.uint8],
        relevant: NDArray[np.uint8] | None,
        /,
    ) -> None:
        """Learn from arrays that are already checked.

        Parameters
        ----------
        X : ndarray or CSR array of shape (n, d), float64 or float32
            Finite features.
        complementary : ndarray of shape (n, K), uint8
            Indicator of complementary labels: at least one in each row, and not all. If
            ``learns_from = "relevant"``, indicator of the relevant labels.
        relevant : ndarray of shape (n, K), uint8, or None
            Indicator of known relevant labels; rows may be empty.
        """

    def _fit_answers(self, X: Features, answers: Answers, /) -> None:
        """Learn from answers; a method with ``understands_answers = True`` implements it.

        Parameters
        ----------
        X : ndarray or CSR array of shape (n, d), float64 or float32
            Finite features.
        answers : Answers
            Answers about the rows of ``X``, at least one about each.
        """
        raise NotImplementedError(f"{type(self).__name__} does not understand answers")

    @abstractmethod
    def _decision(self, X: Features) -> NDArray[np.float64]:
        """Return the scores of rows; within a row, they have the order of the probabilities f.

        Parameters
        ----------
        X : ndarray or CSR array of shape (n, d), float64 or float32
            Finite features, d as in ``_fit``.

        Returns
        -------
        ndarray of shape (n, K), float64
            The log-odds of f, unless the method implements ``_log_odds``.
        """

    def _log_odds(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn what ``_decision`` returned into log f / (1 - f), of shape (n, K)."""
        return decision

    def _relevance(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn what ``_decision`` returned into f, of shape (n, K)."""
        return np.asarray(special.expit(self._log_odds(decision)))

    def _log_likelihood(self, X: Features, complementary: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the log-likelihood of each row's complementary labels, shape (n,), in nats."""
        raise NotImplementedError(f"{type(self).__name__} does not model the choice")

    def _answers_log_likelihood(self, X: Features, answers: Answers) -> NDArray[np.float64]:
        """Return the log-likelihood of the answers about each row, shape (n,), in nats."""
        raise NotImplementedError(f"{type(self).__name__} does not model how answers come about")

    def _probabilities(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities f (n, K); after a fit on one class per row, rows sum to 1."""
        if self._single:
            return np.asarray(special.softmax(decision, axis=1))
        return self._relevance(decision)

    def _predicted(self, decision: NDArray[np.float64]) -> NDArray[Any]:
        """Return the predicted labels (n, K), or one class per row, shape (n,)."""
        if self._single:
            predicted: NDArray[Any] = self.classes_[decision.argmax(axis=1)]
            return predicted
        return labels_above(self._log_odds(decision), threshold=self.threshold, cut=self.cut)

    def _check_parameters(self) -> None:
        """Refuse parameters that break ``_constraints``; methods may add checks."""
        check_parameters(self)

    def _forget(self, *attributes: str) -> None:
        """Delete attributes that an earlier fit with other parameters may have set."""
        for attribute in attributes:
            self.__dict__.pop(attribute, None)

    def _plain_parameters(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        """Return the parameters for a file, as plain values and arrays; it holds no callback.

        ``sizes`` holds the numbers of labels, K, and of features, d.
        """
        del sizes
        parameters: dict[str, Any] = self.get_params(deep=False)
        return {**parameters, "callback": None} if "callback" in parameters else parameters

    @classmethod
    def _from_plain(cls, parameters: dict[str, Any]) -> Self:
        """Make an unfitted classifier from what ``_plain_parameters`` returned."""
        return cls(**parameters)

    def _state(self) -> dict[str, Any]:
        """Return what ``_fitted`` declares, as plain values and arrays."""
        names = declared(type(self), "_fitted")
        return {name: vars(self)[name] for name in names if name in vars(self)}

    def _set_state(self, state: dict[str, Any], sizes: Mapping[str, int]) -> None:
        """Set the fitted attributes from what ``_state`` returned, and those that follow from them.

        Each value is as ``_fitted`` declares it; ``sizes`` holds the lengths of the axes. Refuse
        values that do not fit together.
        """
        del sizes
        for name, value in state.items():
            setattr(self, name, value)

    def _encode(self, y: ArrayLike) -> NDArray[np.uint8]:
        """Return held-out labels as an indicator, after a check against the labels of ``fit``."""
        return encode_new(y, self.classes_, single=self._single)

    def _validate_new(self, X: ArrayLike) -> Features:
        """Return the validated features of new rows."""
        check_is_fitted(self, "classes_")
        return validated(self, X, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        # scikit-learn's checks train on true labels, which the method reads as complementary ones.
        tags.classifier_tags.poor_score = True
        return tags
