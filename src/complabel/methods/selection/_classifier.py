"""The exact likelihood of the annotator's choice, maximized by linear map, kernel or network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from sklearn.model_selection import KFold

from complabel._parameters import check_choice, check_integer, check_random_state, check_real
from complabel._training import one_thread
from complabel.errors import InputError
from complabel.losses import (
    SelectionLikelihoodLoss,
    check_propensities,
    selection_log_likelihood,
)
from complabel.methods._magnitude import refuse_beyond_single
from complabel.methods.gradient._base import (
    GradientClassifier,
    NetworkFactory,
    ProgressCallback,
)
from complabel.methods.selection._features import (
    SCALINGS,
    Kernel,
    middle_gamma,
)
from complabel.methods.selection._fit import Problem, Setting, fit_setting
from complabel.methods.selection._search import (
    FIRST_ALPHA,
    HeldOut,
    cardinality_curve,
    cardinality_grid,
    results_table,
    search,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel._training import LinearMap
    from complabel.methods._base import Features
    from complabel.methods.selection._features import MappedLinear

_SOLVERS = ("lbfgs", "adam")
_KERNELS = ("linear", "rbf")
# Up to so many rows the automatic choice tries the kernel, whose features are dense.
_MOST_KERNEL_ROWS = 50_000
_CHOSEN = (
    "alpha_",
    "kernel_",
    "scaling_",
    "gamma_",
    "n_iter_",
    "cv_results_",
    "cardinality_curve_",
)
# How many settings a search usually tries, for those who watch it.
_USUAL_SETTINGS = 40


class SelectionLikelihoodClassifier(GradientClassifier):
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
        Of the linear map: divide each feature by its standard deviation, or all by one number,
        or each row by its length first, which suits words.
    kernel : {"auto", "linear", "rbf"}, default="auto"
        ``"rbf"`` learns a linear map of exp(-gamma ||x - x'||^2), approximated by its values at
        some of the training rows; so does ``"auto"`` where that predicts held-out labels better.
        ``"auto"`` is ``"linear"`` with more than 50,000 rows.
    gamma : "auto" or float, default="auto"
        Of the kernel. ``"auto"`` searches around one over the mean squared distance of two rows.
    n_components : int, default=500
        The most training rows that the kernel is approximated by.
    propensities : array-like of shape (K,) or None, default=None
        How readily each label comes to the annotator's mind, relative to the others. They cannot
        be learned from complementary labels. With them, one complementary label per row.
    solver : {"lbfgs", "adam"}, default="lbfgs"
        ``"lbfgs"`` fits a linear map to all rows at once and is deterministic. ``"adam"`` takes
        mini-batches and any network, with the features as they are and ``weight_decay`` in place
        of ``alpha`` and kernel; ``cardinality="auto"`` is found with linear maps before.
    cv : int, default=3
        Folds inside the training data for the automatic choices.
    network, learning_rate, weight_decay, batch_size, epochs, device
        Of ``"adam"``; see :class:`complabel.methods.MLCLClassifier`.
    threshold : {"probability", "minmax"}, default="probability"
        Rule of ``predict``: p > 0.5, or the same after scaling each row of p to [0, 1].
    random_state : int, numpy.random.Generator or None, default=None
        Folds, and rows that the kernel is approximated by; with ``"adam"`` initial weights and
        order of the instances.
    callback : callable or None, default=None
        Called with ("search", settings tried, settings usually tried, held-out loss) and
        ("classifier", iteration or epoch, most of them, loss).

    Attributes
    ----------
    alpha_ : float
        Only of ``solver="lbfgs"``.
    cardinality_ : float or None
    kernel_ : str
        Only of ``solver="lbfgs"``.
    scaling_ : str
        Only where ``kernel_`` is ``"linear"``.
    gamma_ : float
        Only where ``kernel_`` is ``"rbf"``.
    cv_results_ : dict of ndarrays of shape (n_settings,)
        ``scaling``, ``gamma`` (NaN without a kernel), ``alpha``, ``cardinality``,
        ``mean_log_likelihood`` on held-out rows, ``standard_error_of_difference`` to the best,
        and ``chosen``. Only if something was chosen.
    cardinality_curve_ : dict of ndarrays of shape (n_cardinalities,)
        ``cardinality``, and ``mean_log_likelihood`` with the best alpha tried for it. Only if
        the cardinality was chosen.
    model_ : LinearMap, MappedLinear or torch.nn.Module
        Logits of p.
    coef_, intercept_ : ndarrays of shape (K, n_features) and (K,)
        Only where p is a linear map of the features as they are: not with ``network``, a kernel
        or ``scaling_="rows"``.
    n_iter_ : int
        Iterations of the last fit. Only of ``solver="lbfgs"``.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

    Notes
    -----
    One evaluation takes O(n K^2 / 2 + n d K) time with d the mean number of non-zeros per row, or
    ``n_components``; a fit with automatic choices takes some thousand of them, on one thread.
    Memory for ``cv`` copies of the features, or of n ``n_components`` numbers with the kernel. The
    objective is not convex: a different start can give another local optimum.

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

    alpha_: float
    cardinality_: float | None
    kernel_: str
    scaling_: str
    gamma_: float
    n_iter_: int
    model_: LinearMap | MappedLinear | torch.nn.Module

    models_the_choice = True

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
        solver: str = "lbfgs",
        cv: int = 3,
        network: NetworkFactory | None = None,
        learning_rate: float = 0.01,
        weight_decay: float = 1e-4,
        batch_size: int = 256,
        epochs: int = 200,
        threshold: str = "probability",
        device: str = "auto",
        random_state: int | np.random.Generator | None = None,
        callback: ProgressCallback | None = None,
    ) -> None:
        super().__init__(
            network=network,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            batch_size=batch_size,
            epochs=epochs,
            threshold=threshold,
            device=device,
            random_state=random_state,
            callback=callback,
        )
        self.alpha = alpha
        self.cardinality = cardinality
        self.scaling = scaling
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.propensities = propensities
        self.solver = solver
        self.cv = cv

    def _log_likelihood(self, X: Features, complementary: NDArray[np.uint8]) -> NDArray[np.float64]:
        logits = torch.from_numpy(self._decision(X))
        log_likelihood = selection_log_likelihood(
            logits,
            torch.from_numpy(complementary.astype(np.float64)),
            propensities=self._weights(logits.shape[1]),
        )
        return np.asarray(log_likelihood.numpy())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("solver", self.solver, _SOLVERS)
        check_choice("scaling", self.scaling, ("auto", *SCALINGS))
        check_choice("kernel", self.kernel, ("auto", *_KERNELS))
        check_integer("n_components", self.n_components, at_least=1)
        check_integer("cv", self.cv, at_least=2)
        _check_automatic("alpha", self.alpha)
        _check_automatic("gamma", self.gamma)
        if isinstance(self.cardinality, str) and self.cardinality != "auto":
            raise InputError(
                "cardinality must be 'auto', None or the expected number of relevant labels,"
                f" got {self.cardinality!r}"
            )
        if self.solver == "lbfgs" and self.network is not None:
            raise InputError("solver='lbfgs' fits a linear map; give solver='adam' for a network")
        if self.solver == "adam" and self.kernel == "rbf":
            raise InputError("solver='adam' takes no kernel; give solver='lbfgs' for kernel='rbf'")

    def _fit(
        self,
        X: Features,
        complementary: NDArray[np.uint8],
        relevant: NDArray[np.uint8] | None,
        /,
    ) -> None:
        self._forget(*_CHOSEN)
        refuse_beyond_single(X)
        targets = [complementary] if relevant is None else [complementary, relevant]
        n_labels = complementary.shape[1]
        problem = Problem(X, targets, self._weights(n_labels))
        cardinalities = self._cardinalities(n_labels)
        rng = check_random_state(self.random_state)
        folds_seed, training_seed = int(rng.integers(2**32)), int(rng.integers(2**62))
        starts = self._starts(X, seed=int(rng.integers(2**32)))
        # NumPy's threads and torch's take turns in L-BFGS, and those that wait hold up those that
        # work: on two cores it took two to eight times as long as on one thread.
        with one_thread():
            setting = self._choose(problem, starts, cardinalities, seed=folds_seed)
            self.cardinality_ = setting.cardinality
            if self.solver == "lbfgs":
                self._fit_setting(problem, setting)
                return
        loss = SelectionLikelihoodLoss(
            cardinality=setting.cardinality, propensities=problem.propensities
        )
        generator = torch.Generator(device="cpu").manual_seed(training_seed)
        labels = dict(zip(("complementary", "relevant"), targets, strict=False))
        self.model_ = self._train(X, loss, labels, generator=generator, stage="classifier")

    def _weights(self, n_labels: int) -> NDArray[np.float64] | None:
        """Return the propensities as an array, checked."""
        if self.propensities is None:
            return None
        return check_propensities(self.propensities, n_labels)

    def _cardinalities(self, n_labels: int) -> list[float | None]:
        """Return the cardinalities to choose from: one, if it is given."""
        if self.cardinality == "auto":
            # One class per row: just one label is relevant, as predict_proba takes it.
            return [1.0] if self._single else [*cardinality_grid(n_labels)]
        if self.cardinality is not None:
            check_real("cardinality", self.cardinality, above=0, below=n_labels)
        return [self.cardinality]  # type: ignore[list-item]

    def _starts(self, X: Features, *, seed: int) -> list[Setting]:
        """Return a setting for each kind of features to choose from; the cardinality is open."""
        alpha = FIRST_ALPHA if isinstance(self.alpha, str) else self.alpha
        kernel = "linear" if self.solver == "adam" else self.kernel
        starts = []
        if kernel != "rbf":
            scalings = SCALINGS if self.scaling == "auto" else (self.scaling,)
            starts = [Setting(scaling, alpha, None) for scaling in scalings]
        if kernel == "rbf" or (kernel == "auto" and X.shape[0] <= _MOST_KERNEL_ROWS):
            gamma = float(f"{middle_gamma(X):.3g}") if isinstance(self.gamma, str) else self.gamma
            starts.append(Setting("global", alpha, None, Kernel(gamma, self.n_components, seed)))
        return starts

    def _choose(
        self,
        problem: Problem,
        starts: Sequence[Setting],
        cardinalities: Sequence[float | None],
        *,
        seed: int,
    ) -> Setting:
        """Return the setting to fit, after a search where something is left open."""
        fixed_alpha = not isinstance(self.alpha, str)
        fixed_gamma = not isinstance(self.gamma, str) or starts[-1].kernel is None
        closed = self.solver == "adam" or (fixed_alpha and fixed_gamma and len(starts) == 1)
        if closed and len(cardinalities) == 1:
            return replace(starts[0], cardinality=cardinalities[0])
        n_samples = problem.X.shape[0]
        if n_samples < self.cv:
            raise InputError(
                f"n_samples={n_samples} is less than cv={self.cv}, the folds of the automatic"
                " choices; give alpha, cardinality, scaling and kernel, or more rows"
            )
        splitter = KFold(self.cv, shuffle=True, random_state=seed)
        held_out = HeldOut(problem, list(splitter.split(problem.X)), on_setting=self._on_setting)
        chosen = search(
            held_out,
            starts,
            cardinalities=cardinalities,
            fixed_alpha=fixed_alpha,
            fixed_gamma=fixed_gamma,
        )
        self.cv_results_ = results_table(held_out, chosen)
        if len(cardinalities) > 1:
            self.cardinality_curve_ = cardinality_curve(held_out, chosen)
        return chosen

    def _fit_setting(self, problem: Problem, setting: Setting) -> None:
        """Fit the model of a setting to all rows."""

        def on_iteration(iteration: int, most: int, value: float) -> None:
            if self.callback is not None:
                self.callback("classifier", iteration, most, value)

        self.model_, self.n_iter_ = fit_setting(problem, setting, on_iteration=on_iteration)
        self.alpha_ = setting.alpha
        if setting.kernel is None:
            self.kernel_, self.scaling_ = "linear", setting.scaling
        else:
            self.kernel_, self.gamma_ = "rbf", setting.kernel.gamma

    def _on_setting(self, tried: int, log_likelihood: float) -> None:
        """Report progress of the search."""
        if self.callback is not None:
            self.callback("search", tried, max(tried, _USUAL_SETTINGS), -log_likelihood)


def _check_automatic(name: str, value: str | float) -> None:
    """Refuse what is neither ``"auto"`` nor a positive number."""
    if not isinstance(value, str):
        check_real(name, value, above=0)
    elif value != "auto":
        raise InputError(f"{name} must be 'auto' or a number above 0, got {value!r}")
