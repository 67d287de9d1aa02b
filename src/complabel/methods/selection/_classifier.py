"""The exact likelihood of the annotator's choice, maximized by a linear map or an RBF kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from complabel._parameters import (
    Constraints,
    Integer,
    RandomState,
    Real,
    check_random_state,
    check_real,
)
from complabel._training import LinearMap, one_thread
from complabel.errors import InputError
from complabel.losses import check_propensities
from complabel.methods._base import ComplementaryClassifier
from complabel.methods._features import range_of, refuse_overflow
from complabel.methods.selection._model import (
    SCALINGS,
    Choices,
    FeatureMap,
    fit_linear,
    middle_gamma,
)
from complabel.methods.selection._search import (
    FIRST_ALPHA,
    Search,
    Trials,
    cardinality_grid,
    three_digits,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel.methods._arrays import Features
    from complabel.methods.selection._model import Setting

ProgressCallback = Callable[[str, int, "int | None", float], None]
"""Called with what goes on, how far it is, where it can end at most (if known), and the loss."""

# "auto" tries the kernel only up to this many rows: its features are dense, 200 MB a copy then.
_MOST_KERNEL_ROWS = 50_000


class SelectionLikelihoodClassifier(ComplementaryClassifier):
    r"""Multi-label classifier that maximizes the exact likelihood of the labels named.

    Labels are independent given x with p = sigmoid(W phi(x) + b), and the annotator picks one of
    the irrelevant labels, each equally likely. The chance of label j is then

    :math:`q_j = (1 - p_j) \int_0^1 \prod_{k \neq j} (p_k + (1 - p_k) t) dt`,

    exactly, for any number of relevant labels. Minimized is

    - mean log q + mean (sum_k p_k - c)^2 + alpha ||W||_F^2.

    Complementary labels say little about how many labels are relevant; c, the cardinality, does.
    The features phi(x), linear or of a kernel, alpha and c are chosen together by the likelihood
    of held-out complementary labels; no relevant label is used.

    Parameters
    ----------
    alpha : "auto" or float, default="auto"
        Weight of the squared norm of the scaled features' weights.
    cardinality : "auto", float or None, default="auto"
        c, the expected number of relevant labels, if known. ``"auto"`` takes the smallest within
        one standard error of the best; None leaves the penalty out. Where ``y`` is one class per
        row, ``"auto"`` is 1.
    scaling : {"auto", "standardize", "global", "rows"}, default="auto"
        Only used without a kernel: divide each feature by its standard deviation, or all features
        by one number, or each row by its length first, which suits words.
    kernel : {"auto", "linear", "rbf"}, default="auto"
        ``"rbf"`` learns a linear map of exp(-gamma ||x - x'||^2), approximated by its values at
        some of the training rows; so does ``"auto"`` where that predicts held-out labels better.
        ``"auto"`` is ``"linear"`` with more than 50,000 rows.
    gamma : "auto" or float, default="auto"
        Only used with the kernel. ``"auto"`` searches around one over the mean squared distance
        of two rows.
    n_components : int, default=500
        The most training rows that the kernel is approximated by.
    propensities : array-like of shape (K,) or None, default=None
        How readily each label comes to the annotator's mind, relative to the others. They cannot
        be learned from complementary labels. With them, one complementary label per row.
    cv : int, default=3
        Folds inside the training data for the automatic choices.
    threshold : {"probability", "minmax"}, default="probability"
        Rule of ``predict``: p > 0.5, or the same after scaling each row of p to [0, 1].
    random_state : int, numpy.random.Generator or None, default=None
        Folds, and rows that the kernel is approximated by.
    callback : callable or None, default=None
        Called with ("search", settings tried, None, held-out loss), as nobody knows before how
        many there will be, and ("classifier", iteration, most of them, loss).

    Attributes
    ----------
    alpha_ : float
    cardinality_ : float or None
    kernel_ : str
    scaling_ : str
        Only where ``kernel_`` is ``"linear"``.
    gamma_ : float
        Only where ``kernel_`` is ``"rbf"``.
    cv_results_ : dict of ndarrays of shape (n_settings,)
        The settings tried, as of scikit-learn's searches: ``param_NAME`` for each parameter,
        masked where it has no part; ``mean_test_score``, the mean log-likelihood of held-out
        rows; ``std_test_score`` over the folds; ``rank_test_score``. Further
        ``standard_error_of_difference`` to the best, and ``chosen``. Only if something was chosen.
    cardinality_curve_ : dict of ndarrays of shape (n_cardinalities,)
        ``cardinality``, and ``mean_log_likelihood`` with the best alpha tried for it. Only if
        the cardinality was chosen.
    model_ : LinearMap or MappedLinear
        Maps features to the logits of p.
    coef_, intercept_ : ndarrays of shape (K, n_features) and (K,)
        Only where p is a linear map of the features as they are: not with a kernel or
        ``scaling_="rows"``.
    n_iter_ : int
        Iterations of the last fit.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

    See Also
    --------
    ComplementaryLossClassifier : Trains a network by a loss.
    complabel.losses.SelectionLikelihoodLoss : This likelihood; ``cardinality_`` serves there too.

    Notes
    -----
    Full-batch L-BFGS, deterministic. One evaluation takes O(n K^2 / 2 + n d K) time with d the
    mean number of non-zeros per row, or ``n_components``; a fit with automatic choices takes some
    thousand of them, on one thread. Memory for ``cv`` copies of the features, or of n
    ``n_components`` numbers with the kernel. The objective is not convex: a different start can
    give another local optimum.

    References
    ----------
    Williams and Seeger, "Using the Nyström Method to Speed Up Kernel Machines", NIPS 2000, in
    scikit-learn's implementation.

    Examples
    --------
    >>> import numpy as np
    >>> from complabel.annotations import draw_complementary
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> relevant = (X > 0.5).astype(int)
    >>> one_or_two = (relevant.sum(axis=1) > 0) & (relevant.sum(axis=1) < 3)
    >>> X, relevant = X[one_or_two], relevant[one_or_two]
    >>> complementary = draw_complementary(relevant, random_state=0)
    >>> classifier = SelectionLikelihoodClassifier(random_state=0).fit(X, complementary)
    >>> classifier.predict([[2.0, -1.0, -1.0]])
    array([[1, 0, 0]])
    """

    models_the_choice = True
    _constraints: ClassVar[Constraints] = {
        "alpha": ("auto", Real(above=0)),
        "cardinality": ("auto", None, Real(above=0)),
        "scaling": ("auto", *SCALINGS),
        "kernel": ("auto", "linear", "rbf"),
        "gamma": ("auto", Real(above=0)),
        "n_components": Integer(at_least=1),
        "cv": Integer(at_least=2),
        "random_state": RandomState(),
    }

    alpha_: float
    cardinality_: float | None
    kernel_: str
    scaling_: str
    gamma_: float

    def __init__(
        self,
        *,
        alpha: str | float = "auto",
        cardinality: str | float | None = "auto",
        scaling: str = "auto",
        kernel: str = "auto",
        gamma: str | float = "auto",
        n_components: int = 500,
        propensities: ArrayLike | None = None,
        cv: int = 3,
        threshold: str = "probability",
        random_state: int | np.random.Generator | None = None,
        callback: ProgressCallback | None = None,
    ) -> None:
        self.alpha = alpha
        self.cardinality = cardinality
        self.scaling = scaling
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.propensities = propensities
        self.cv = cv
        self.threshold = threshold
        self.random_state = random_state
        self.callback = callback

    def _fit(
        self,
        X: Features,
        complementary: NDArray[np.uint8],
        relevant: NDArray[np.uint8] | None,
        /,
    ) -> None:
        self._forget("scaling_", "gamma_", "coef_", "intercept_")
        self._forget("cv_results_", "cardinality_curve_")
        refuse_overflow(X)
        choices = Choices(complementary, relevant, self._weights(complementary.shape[1]))
        # NumPy's threads and torch's take turns in L-BFGS, and those that wait hold up those that
        # work: on two cores it took two to eight times as long as on one thread.
        with one_thread():
            setting = self._choose_setting(X, choices)
            prepared = setting.features.fit_transform(X)
            report = partial(self._report, "classifier")
            found = fit_linear(prepared, choices, setting, warn=True, on_iteration=report)
        self.model_, self.n_iter_ = prepared.model(found.model), found.n_iter
        if isinstance(self.model_, LinearMap):
            self.coef_, self.intercept_ = self.model_.coef, self.model_.intercept
        for name, value in setting.parameters.items():
            setattr(self, f"{name}_", value)

    def _decision(self, X: Features) -> NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):
            logits = self.model_(X)
        finite = np.isfinite(logits).all(axis=1)
        if not finite.all():
            raise InputError(
                f"row {int(np.argmin(finite))} of X has infinite scores. {range_of(X)}: scale the"
                " features as those given to fit"
            )
        return logits

    def _log_likelihood(self, X: Features, complementary: NDArray[np.uint8]) -> NDArray[np.float64]:
        choices = Choices(complementary, propensities=self._weights(complementary.shape[1]))
        return choices.log_likelihood(self._decision(X))

    def _weights(self, n_labels: int) -> NDArray[np.float64] | None:
        """Return the propensities as an array, checked."""
        if self.propensities is None:
            return None
        return check_propensities(self.propensities, n_labels)

    def _choose_setting(self, X: Features, choices: Choices) -> Setting:
        """Return the setting to fit, and keep what was tried if there was something to choose."""
        rng = check_random_state(self.random_state)
        folds_seed, rows_seed = (int(seed) for seed in rng.integers(2**32, size=2))
        cardinalities = self._cardinalities(choices.complementary.shape[1])
        report = partial(self._report, "search")
        trials = Trials(X, choices, cv=self.cv, seed=folds_seed, on_setting=report)
        search = Search(trials, tunes_alpha=self.alpha == "auto", tunes_gamma=self.gamma == "auto")
        chosen = search.choose_setting(
            self._features(X, seed=rows_seed),
            cardinalities,
            alpha=FIRST_ALPHA if isinstance(self.alpha, str) else self.alpha,
        )
        if trials.by_row:
            self.cv_results_ = trials.results(chosen)
        if len(cardinalities) > 1:
            self.cardinality_curve_ = trials.cardinality_curve(chosen)
        return chosen

    def _features(self, X: Features, *, seed: int) -> list[FeatureMap]:
        """Return the kinds of features to choose from: one, if it is given."""
        features = []
        if self.kernel != "rbf":
            scalings = SCALINGS if self.scaling == "auto" else (self.scaling,)
            features = [FeatureMap(scaling) for scaling in scalings]
        if self.kernel == "rbf" or (self.kernel == "auto" and X.shape[0] <= _MOST_KERNEL_ROWS):
            gamma = three_digits(middle_gamma(X)) if isinstance(self.gamma, str) else self.gamma
            features.append(FeatureMap(None, gamma, self.n_components, seed))
        return features

    def _cardinalities(self, n_labels: int) -> Sequence[float | None]:
        """Return the cardinalities to choose from: one, if it is given."""
        if self.cardinality == "auto":
            # One class per row: just one label is relevant, as predict_proba takes it.
            return [1.0] if self._single else cardinality_grid(n_labels)
        if self.cardinality is not None:
            check_real("cardinality", self.cardinality, above=0, below=n_labels)
        return [self.cardinality]  # type: ignore[list-item]

    def _report(self, stage: str, number: int, most: int | None, loss: float) -> None:
        """Tell the caller's callback, if there is one."""
        if self.callback is not None:
            self.callback(stage, number, most, loss)
