"""The supervised reference: the selection likelihood, told all labels of every row."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from complabel._parameters import Array, Features, Indicator
from complabel.answers import Answers
from complabel.methods import ProgressCallback, SelectionLikelihoodClassifier


class SupervisedClassifier(SelectionLikelihoodClassifier):
    """Selection likelihood that learns from the *relevant* labels: the reference in all tables.

    It is not a method for complementary labels: its ``fit`` takes the true labels as ``y``. It is
    what :class:`SelectionLikelihoodClassifier` learns if people judge every label of every row:
    one logistic regression for each label, with features, kernel, alpha and rank chosen by held-out
    true labels of the training rows.

    Parameters
    ----------
    alpha : "auto" or float, default="auto"
    scaling : {"auto", "standardize", "global", "rows"}, default="auto"
    kernel : {"auto", "linear", "rbf"}, default="auto"
    gamma : "auto" or float, default="auto"
    n_components : int, default=500
    rank : "auto", int or None, default="auto"
    cv : int, default=3
    threshold : {"probability", "minmax"}, default="probability"
    random_state : int, numpy.random.Generator or None, default=None
    callback : callable or None, default=None
        All are as in :class:`SelectionLikelihoodClassifier`.

    Attributes
    ----------
    alpha_, kernel_, scaling_, gamma_, rank_, cv_results_, model_, coef_, intercept_, n_iter_
        As in :class:`SelectionLikelihoodClassifier`.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

    See Also
    --------
    SupervisedBCEClassifier : The reference of the paper's Table 6, with fixed settings.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.eye(3).repeat(50, axis=0)
    >>> relevant = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1]]).repeat(50, axis=0)
    >>> classifier = SupervisedClassifier(kernel="linear", random_state=0).fit(X, relevant)
    >>> classifier.predict(np.eye(3))
    array([[1, 0, 0],
           [0, 1, 1],
           [0, 0, 1]])
    """

    learns_from: ClassVar[Literal["complementary", "relevant"]] = "relevant"
    models_the_choice = False
    understands_answers = False

    # Nothing of this has to be found where all labels are known.
    cardinality: float | None = None
    label_frequencies: None = None
    propensities: None = None
    error_rate: float = 0.0
    missed: float = 0.0
    invented: float = 0.0
    exclusion_rates: None = None
    exposure: None = None
    warm_start: bool = False
    device: str = "cpu"

    def __init__(
        self,
        *,
        alpha: str | float = "auto",
        scaling: str = "auto",
        kernel: str = "auto",
        gamma: str | float = "auto",
        n_components: int = 500,
        rank: str | int | None = "auto",
        cv: int = 3,
        threshold: str = "probability",
        random_state: int | np.random.Generator | None = None,
        callback: ProgressCallback | None = None,
    ) -> None:
        self.alpha = alpha
        self.scaling = scaling
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.rank = rank
        self.cv = cv
        self.threshold = threshold
        self.random_state = random_state
        self.callback = callback

    def _fit(self, X: Features, true_labels: Indicator, relevant: Indicator | None, /) -> None:
        self._fit_weighted(X, true_labels, relevant, np.ones(len(true_labels)))

    def _fit_weighted(
        self, X: Features, true_labels: Indicator, _: Indicator | None, weights: Array, /
    ) -> None:
        ticked = Answers.from_arrays(
            absent=1 - true_labels, relevant=true_labels, question="ticked", weight=weights
        )
        self._fit_answers(X, ticked)
