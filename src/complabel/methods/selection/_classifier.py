"""The exact likelihood of what people answered, maximized by a linear map or an RBF kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import special

from complabel._parameters import Constraints, Integer, RandomState, Real
from complabel._training import LinearMap
from complabel.annotations import Answers
from complabel.errors import InputError
from complabel.methods._base import ComplementaryClassifier
from complabel.methods._documented import documented
from complabel.methods._features import range_of, refuse_overflow
from complabel.methods.selection._anchored import attributes_of
from complabel.methods.selection._annotators import Annotators
from complabel.methods.selection._determined import plan_for
from complabel.methods.selection._features import SCALINGS
from complabel.methods.selection._learning import learn
from complabel.methods.selection._saved import FITTED, kept_rows_of
from complabel.methods.selection._texts import TEXTS
from complabel.persistence import Kinds, LeftOut

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel.methods._arrays import Features

# Attributes that a fit may have or not: they do not outlive the next one.
_ONLY_SOME = (
    *("scaling_", "gamma_", "rank_", "coef_", "intercept_", "cv_results_", "cardinality_curve_"),
    *("propensities_", "error_rates_", "exclusion_rates_", "label_frequencies_"),
    *("label_frequencies_errors_", "label_frequencies_covariance_"),
)

ProgressCallback = Callable[[str, int, "int | None", float], None]
"""Called with what goes on, how far it is, where it can end at most (if known), and the loss."""


@documented(**TEXTS)
class SelectionLikelihoodClassifier(ComplementaryClassifier):
    r"""Multi-label classifier that maximizes the exact likelihood of what people answered.

    Labels are independent given x with p = sigmoid(W phi(x) + b). Who is to name a label that does
    not apply picks one of these, each equally likely if propensities do not say otherwise. The
    chance of label j is then

    :math:`q_j = (1 - p_j) \int_0^1 \prod_{k \neq j} (p_k + (1 - p_k) t) dt`,

    exactly, for any number of relevant labels; of a menu, k goes over the labels on offer. Who is
    asked whether label j applies says "yes" with chance p_j. Labels that do not apply are excluded
    with their rates. Minimized is

    - the mean of -log q over rows + mean (sum_k p_k - c)^2 + alpha ||W||_F^2,

    where q is the chance of all that was answered about a row. Labels named freely say little
    about how many labels are relevant; c, the cardinality, does. The features phi(x), linear or of
    a kernel, alpha, c and the rank of W are chosen together by the likelihood of held-out answers;
    no true label is used.

    ``fit`` takes labels that were named freely as an indicator, or any mix of
    :class:`complabel.annotations.Answers`. Ask yes/no questions about random labels if you can:
    they need no assumption on what comes to people's minds.

    Parameters
    ----------
    alpha : "auto" or float, default="auto"
        Weight of the squared norm of the scaled features' weights.
    cardinality : "auto", float or None, default="auto"
        c, the expected number of relevant labels, if known. ``"auto"`` takes the smallest within
        one standard error of the best; None leaves the penalty out, and so does ``"auto"`` where
        at least half of the answers determine the cardinality: yes/no answers about random labels,
        random menus of two, exclusions. Where ``y`` is one class per row, ``"auto"`` is 1.
    {of_features}
    {of_people}
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
        c as it was given or chosen.
    mean_cardinality_ : float
        The mean over training rows of sum_k p_k: how many labels are expected to apply.
    kernel_ : str
    scaling_ : str
        Only where ``kernel_`` is ``"linear"``.
    gamma_ : float
        Only where ``kernel_`` is ``"rbf"``.
    rank_ : int
        Only where the rank was given or chosen.
    {found_of_people}
    {of_search}
    model_ : LinearMap or MappedLinear
        Maps features to the logits of p.
    coef_, intercept_ : ndarrays of shape (K, n_features) and (K,)
        Only where p is a linear map of the features as they are: not with a kernel or
        ``scaling_="rows"``.
    n_iter_ : int
        Iterations of the last fit.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

    Warns
    -----
    AssumedUniformWarning
        If labels were named freely and are taken to come to mind alike, or if labels were excluded
        with rates that nothing tells. Give ``propensities="equal"`` if you know that they do.

    See Also
    --------
    ComplementaryLossClassifier : Trains a network by a loss.
    complabel.losses.answers_log_likelihood : This likelihood, of any logits.
    complabel.losses.SelectionLikelihoodLoss : Of labels named freely; ``cardinality_`` serves too.

    Notes
    -----
    The likelihood is exact for any judged labels and exclusions of an item together with namings
    of one label from one menu, or with one naming of several. Further namings of an item, or
    several of them with mistakes, count each by its chance given what was judged: a composite
    likelihood, which is consistent but loses what several answers say together.

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
    Of two labels drawn at random, somebody names one that does not apply, if there is one:

    >>> import numpy as np
    >>> from complabel.annotations import draw_answers
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> relevant = (X > 0.5).astype(int)
    >>> answers = draw_answers(relevant, question="menu-2", random_state=0)
    >>> classifier = SelectionLikelihoodClassifier(kernel="linear", random_state=0)
    >>> classifier.fit(X, answers).predict([[2.0, -1.0, -1.0]])
    array([[1, 0, 0]])
    >>> round(classifier.mean_cardinality_, 1), round(float(relevant.sum(axis=1).mean()), 1)
    (0.9, 0.9)
    """

    models_the_choice = True
    understands_answers = True
    _constraints: ClassVar[Constraints] = {
        "alpha": ("auto", Real(above=0)),
        "cardinality": ("auto", None, Real(above=0)),
        "scaling": ("auto", *SCALINGS),
        "kernel": ("auto", "linear", "rbf"),
        "gamma": ("auto", Real(above=0)),
        "n_components": Integer(at_least=1),
        "rank": ("auto", None, Integer(at_least=1)),
        "error_rate": ("auto", "per-annotator", Real(at_least=0, below=1)),
        "cv": Integer(at_least=2),
        "random_state": RandomState(),
    }
    _fitted: ClassVar[Kinds] = FITTED
    _unusual: ClassVar[Kinds] = {"callback": LeftOut()}

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
        rank: str | int | None = "auto",
        label_frequencies: str | ArrayLike | None = "auto",
        propensities: str | ArrayLike | None = None,
        error_rate: str | float = 0.0,
        exclusion_rates: ArrayLike | None = None,
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
        self.rank = rank
        self.label_frequencies = label_frequencies
        self.propensities = propensities
        self.error_rate = error_rate
        self.exclusion_rates = exclusion_rates
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
        self._learn(X, Answers.from_complementary(complementary, relevant=relevant))

    def _fit_answers(self, X: Features, answers: Answers, /) -> None:
        self._learn(X, answers)

    def _learn(self, X: Features, answers: Answers) -> None:
        """Choose what is to be chosen, fit, and keep what was found."""
        self._forget(*_ONLY_SOME)
        refuse_overflow(X)
        learned = learn(self, X, plan_for(self, answers, n_features=X.shape[1]), self._report)
        setting, prepared, found = learned.setting, learned.prepared, learned.found
        logits = found.linear(prepared.X)
        self.mean_cardinality_ = float(special.expit(logits, out=logits).sum(axis=1).mean())
        self.model_, self.n_iter_ = prepared.model(found.linear), found.n_iter
        self.alpha_, self.cardinality_ = setting.alpha, setting.cardinality
        self._annotators = Annotators.of(learned.plan.choices, setting, found)
        only_some = {
            "rank_": setting.rank,
            **{f"{name}_": value for name, value in setting.features.parameters.items()},
            **attributes_of(learned.plan.choices, setting.cardinality),
            "cv_results_": learned.results,
            "cardinality_curve_": learned.curve,
        }
        self._set_some(only_some)
        self._complete({})

    def _complete(self, sizes: Mapping[str, int]) -> None:
        del sizes
        self.error_rate_ = self._annotators.error_rate
        self._set_some({f"{name}_": value for name, value in self._annotators.arrays.items()})
        if isinstance(self.model_, LinearMap):
            self.coef_, self.intercept_ = self.model_.coef, self.model_.intercept

    def _set_some(self, attributes: Mapping[str, Any]) -> None:
        """Set the attributes that this fit has."""
        for name, value in attributes.items():
            if value is not None:
                setattr(self, name, value)

    def _kept_rows(self) -> Features | None:
        return kept_rows_of(self.model_)

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
        return self._answers_log_likelihood(X, Answers.from_complementary(complementary))

    def _answers_log_likelihood(self, X: Features, answers: Answers, /) -> NDArray[np.float64]:
        return self._annotators.choices(answers).log_likelihood(self._decision(X))

    def _report(self, stage: str, number: int, most: int | None, loss: float) -> None:
        """Tell the caller's callback, if there is one."""
        if self.callback is not None:
            self.callback(stage, number, most, loss)
