"""The classifier that maximizes the exact likelihood of answers, linear or with an RBF kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import special

from complabel._parameters import Constraints, Integer, RandomState, Real
from complabel._training import LinearMap
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.methods._base import ComplementaryClassifier
from complabel.methods._documented import documented
from complabel.methods._features import range_of, refuse_overflow
from complabel.methods.selection._annotators import Annotators
from complabel.methods.selection._features import SCALINGS
from complabel.methods.selection._saved import (
    FITTED,
    annotators_from,
    model_from,
    plain_annotators,
    plain_model,
)
from complabel.methods.selection._texts import TEXTS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel.methods._arrays import Features

# Attributes that only some fits set. Each fit deletes those of the fit before.
_ONLY_SOME = (
    *("scaling_", "gamma_", "rank_", "coef_", "intercept_", "cv_results_", "cardinality_curve_"),
    *("propensities_", "error_rates_", "exclusion_rates_", "label_frequencies_"),
    *("label_frequencies_errors_", "label_frequencies_covariance_"),
)

ProgressCallback = Callable[[str, int, "int | None", float], None]
"""Called with the stage, the number of steps done, their maximum (or None), and the loss."""


@documented(**TEXTS)
class SelectionLikelihoodClassifier(ComplementaryClassifier):
    r"""Multi-label classifier that maximizes the exact likelihood of people's answers.

    Labels are independent given x, with p = sigmoid(W phi(x) + b). A person who names a label that
    does not apply picks one of these labels. All are equally likely, unless propensities are given
    or fitted. Then label j is named with probability

    .. math:: q_j = (1 - p_j) \int_0^1 \prod_{k \neq j} (p_k + (1 - p_k) t) dt

    This is exact for any number of relevant labels. If there is a menu, k runs over the labels on
    offer. A person who is asked whether label j applies says "yes" with probability p_j. A label
    that does not apply is excluded with its exclusion rate. A fit minimizes ::

        mean over rows of [- log q + (sum_k p_k - c)^2]  +  alpha ||W||_F^2

    where q is the probability of all answers about a row, and c is the cardinality: the expected
    number of relevant labels. It is needed because labels that were named freely say little about
    this number. Four things are chosen together by the likelihood of held-out answers: the
    features phi(x) (linear or of a kernel), alpha, c, and the rank of W. No true label is used.

    ``fit`` takes an indicator of labels that were named freely, or
    :class:`complabel.answers.Answers` of any kinds. If you can, ask yes/no questions about
    random labels: they need no assumption about which labels come to mind.

    Parameters
    ----------
    alpha : "auto" or float, default="auto"
        Weight of the squared norm of W, for scaled features.
    cardinality : "auto", float or None, default="auto"
        c, the expected number of relevant labels per row. ``"auto"`` takes the smallest value
        within one standard error of the best. None leaves the penalty out. So does ``"auto"`` if
        at least half of the answers determine the cardinality: yes/no answers about random labels,
        random menus of two labels, and exclusions. If ``y`` is one class per row, ``"auto"`` is 1.
    {of_features}
    {of_people}
    cv : int, default=3
        Number of folds of the training data for the automatic choices.
    threshold : {"probability", "minmax"}, default="probability"
        Rule of ``predict``: p > 0.5, or the same after scaling each row of p to [0, 1].
    random_state : int, numpy.random.Generator or None, default=None
        Seed of the folds, and of the rows that approximate the kernel.
    callback : callable or None, default=None
        Called with ("search", settings tried, None, held-out loss) during the search; None stands
        for the number of settings, which is not known in advance. Then called with ("classifier",
        iteration, maximum of iterations, loss).

    Attributes
    ----------
    alpha_ : float
        alpha, given or chosen.
    cardinality_ : float or None
        c, given or chosen.
    mean_cardinality_ : float
        The mean over training rows of sum_k p_k: the number of labels expected to apply to a row.
    kernel_ : {"linear", "rbf"}
        The kernel, given or chosen.
    scaling_ : str
        The scaling, given or chosen. Only if ``kernel_`` is ``"linear"``.
    gamma_ : float
        gamma, given or chosen. Only if ``kernel_`` is ``"rbf"``.
    rank_ : int
        The greatest rank of W, if one was given or chosen.
    {found_of_people}
    {of_search}
    model_ : LinearMap or MappedLinear
        Maps features to the logits of p.
    coef_, intercept_ : ndarrays of shape (K, n_features) and (K,)
        Only if the logits are a linear map of the original features: not with a kernel, and not
        with ``scaling_="rows"``.
    n_iter_ : int
        Number of iterations of the last fit.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

    Warns
    -----
    AssumedUniformWarning
        If labels were named freely, and the fit assumes that all come to mind equally. If you know
        that they do, give ``propensities="equal"``. Also if labels were excluded, and nothing
        tells with which rates.

    See Also
    --------
    FrequencyMatchedClassifier : Matches any method's scores to how often labels apply.
    NetworkLikelihoodClassifier : Trains any network by the same likelihood.
    complabel.losses.answers_log_likelihood : This likelihood as a function of logits.
    complabel.losses.SelectionLikelihoodLoss : The loss for labels named freely; ``cardinality_``
        can be used for it.

    Notes
    -----
    For one item, the likelihood is exact for any number of judged labels and exclusions. They may
    come together with namings of one label each from the same menu, or with one naming of several
    labels. All other namings are multiplied, each with its probability given the judged labels; so
    are several namings if there are mistakes. This composite likelihood is consistent, but it
    ignores what several answers say together.

    The fit is full-batch L-BFGS and deterministic. One evaluation takes O(n K^2 / 2 + n d K) time,
    where d is the mean number of non-zeros per row, or ``n_components`` with a kernel. A fit with
    automatic choices takes some thousand evaluations, on one thread. In memory are ``cv`` copies
    of the features; with a kernel, of n x ``n_components`` numbers. The objective is not convex: a
    different start can lead to another local optimum.

    References
    ----------
    Williams and Seeger, "Using the Nyström Method to Speed Up Kernel Machines", NIPS 2000, in
    scikit-learn's implementation.

    Examples
    --------
    People see two labels drawn at random, and name one that does not apply, if there is one:

    >>> import numpy as np
    >>> from complabel.simulate import draw_answers
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
    _fitted: ClassVar[Constraints] = FITTED

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
        """Make the automatic choices, fit, and set the attributes."""
        # Not at the top: these import torch, and predictions do without it.
        from complabel.methods.selection._anchored import attributes_of
        from complabel.methods.selection._determined import plan_for
        from complabel.methods.selection._learning import learn

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
        self._set_derived()

    def _state(self) -> dict[str, Any]:
        people = plain_annotators(self._annotators)
        return {**super()._state(), "model_": plain_model(self.model_), "_annotators": people}

    def _set_state(self, state: dict[str, Any], sizes: Mapping[str, int]) -> None:
        model, people = model_from(state["model_"], sizes), annotators_from(state["_annotators"])
        super()._set_state({**state, "model_": model, "_annotators": people}, sizes)
        self._set_derived()

    def _set_derived(self) -> None:
        """Set the public attributes that say what the model and the annotators hold."""
        self.error_rate_ = self._annotators.error_rate
        self._set_some({f"{name}_": value for name, value in self._annotators.arrays.items()})
        if isinstance(self.model_, LinearMap):
            self.coef_, self.intercept_ = self.model_.coef, self.model_.intercept

    def _set_some(self, attributes: Mapping[str, Any]) -> None:
        """Set those of the attributes that are not None."""
        for name, value in attributes.items():
            if value is not None:
                setattr(self, name, value)

    def _decision(self, X: Features) -> NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):
            logits = self.model_(X)
        finite = np.isfinite(logits).all(axis=1)
        if not finite.all():
            raise InputError(
                f"row {int(np.argmin(finite))} of X has scores that are not finite. {range_of(X)};"
                " scale the features as those given to fit"
            )
        return logits

    def _log_likelihood(self, X: Features, complementary: NDArray[np.uint8]) -> NDArray[np.float64]:
        return self._answers_log_likelihood(X, Answers.from_complementary(complementary))

    def _answers_log_likelihood(self, X: Features, answers: Answers, /) -> NDArray[np.float64]:
        return self._annotators.choices(answers).log_likelihood(self._decision(X))

    def _report(self, stage: str, number: int, most: int | None, loss: float) -> None:
        """Call the caller's callback, if there is one."""
        if self.callback is not None:
            self.callback(stage, number, most, loss)
