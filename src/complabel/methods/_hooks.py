"""What a method implements or may change, and what it is to scikit-learn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from complabel._parameters import Constraints, Real, check_parameters
from complabel.methods._arrays import Features
from complabel.methods._decisions import THRESHOLDS, labels_above
from complabel.methods._features import validated
from complabel.methods._targets import encode_new
from complabel.persistence import Kinds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel.annotations import Answers


class Hooks(ClassifierMixin, BaseEstimator):
    """What :class:`ComplementaryClassifier` calls; its docstring describes the attributes."""

    learns_from: ClassVar[Literal["complementary", "relevant"]] = "complementary"
    models_the_choice: ClassVar[bool] = False
    understands_answers: ClassVar[bool] = False
    threshold: str = "probability"
    cut: float = 0.5

    # What each parameter may be; a method declares its own beside these.
    _constraints: ClassVar[Constraints] = {
        "threshold": THRESHOLDS,
        "cut": Real(above=0, below=1),
    }

    # What a fit leaves that predictions and ``score`` need, and which parameters are no plain
    # values: the kinds of what is saved, by name. A method declares its own beside these.
    _fitted: ClassVar[Kinds] = {}
    _unusual: ClassVar[Kinds] = {}

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
        """Learn from checked arrays.

        ``X`` is an ndarray or CSR array (n, d) of finite float64 or float32. ``complementary``
        (n, K) has at least one and not all labels of each row; the relevant ones instead where
        ``learns_from = "relevant"``. ``relevant`` (n, K) are known ones; rows may be empty.
        """

    def _fit_answers(self, X: Features, answers: Answers, /) -> None:
        """Learn from answers about the rows of ``X``, at least one about each; as ``_fit``."""
        raise NotImplementedError(f"{type(self).__name__} does not understand answers")

    @abstractmethod
    def _decision(self, X: Features) -> NDArray[np.float64]:
        """Return scores of shape (n, K), float64, in the order of f within each row.

        They are the log-odds of f unless the method implements ``_log_odds``.
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
        """Return f (n, K); given one class per row, the probability of each class."""
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
        """Refuse parameters that break ``_constraints``; methods may extend it."""
        check_parameters(self)

    def _forget(self, *attributes: str) -> None:
        """Drop what an earlier fit with other parameters may have left."""
        for attribute in attributes:
            self.__dict__.pop(attribute, None)

    def _complete(self, sizes: Mapping[str, int]) -> None:
        """Set what follows from loaded attributes, or refuse those that do not fit together.

        ``sizes`` are the lengths of axes by the names that ``_fitted`` has for them.
        """

    def _kept_rows(self) -> Features | None:
        """Return rows (m, d) in the space of the features that a fit keeps, if it keeps some."""
        return None

    def _encode(self, y: ArrayLike) -> NDArray[np.uint8]:
        """Check held-out labels against those of ``fit``."""
        return encode_new(y, self.classes_, single=self._single)

    def _validate_new(self, X: ArrayLike) -> Features:
        """Validate features to predict for."""
        check_is_fitted(self, "classes_")
        return validated(self, X, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        # Trained on true labels, as scikit-learn's checks do, it learns what does not apply.
        tags.classifier_tags.poor_score = True
        return tags
