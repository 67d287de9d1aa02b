"""MLCL: estimates a transition matrix, corrects it by label correlations, and trains with it."""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy import special
from sklearn.model_selection import KFold
from sklearn.utils import gen_batches

from complabel import metrics
from complabel import transition as matrices
from complabel._parameters import Array, Constraints, Features, Indicator, Real
from complabel.errors import InputError
from complabel.losses import ComplementaryCrossEntropy, MLCLLoss
from complabel.methods._saving import MISSING, Numbers
from complabel.methods.gradient._base import GradientClassifier, not_learnable
from complabel.methods.gradient._side_by_side import Fitting, run, together

RATES = (0.1, 0.01, 0.001)
"""The learning rates that are tried: the grid of the MLCL paper."""

_USUAL = RATES.index(0.01)
# Each fold costs one training per rate. With three folds, each training has two thirds of the rows.
_FOLDS = 3
# The trainings of the search are side by side up to so many numbers in X: nine copies of 80 MB.
_MOST_SIDE_BY_SIDE = 10**7


@dataclass(kw_only=True, eq=False, repr=False)
class MLCLClassifier(GradientClassifier):
    r"""Multi-label classifier that is trained with an estimated transition matrix (MLCL).

    Step one trains a softmax model g of the complementary label. Row k of the matrix S is the mean
    of g over the instances that have label k as a candidate. With the co-occurrence rates C of
    candidate labels, T = S C^T, with its diagonal set to 0 and its rows normalized. Step two trains
    scores f(x), with :math:`\bar f = T^T f`, to minimize the mean over instances of

    .. math:: - \sum_j [\bar y_j \log \bar f_j + (1 - \bar y_j) \log(1 - \bar f_j)]
        + \beta ||\bar y - \bar f||^2.

    Parameters
    ----------
    transition : {"estimate", "uniform"} or array-like of shape (K, K), default="estimate"
        ``"estimate"`` estimates T from the data. ``"uniform"`` is (1 - I)/(K - 1), the matrix of
        a uniform choice. A known T can be given as an array.
    correlation : {"cooccurrence", "phi", None}, default="cooccurrence"
        The correction: C of the paper, or the phi coefficients of its released code, or None (the
        ablation "without C").
    beta : float, default=1.0
        Weight of the MSE regularizer; 0 is the ablation "without MSE".
    learning_rate : "auto" or float, default="auto"
        ``"auto"`` takes 1e-2, unless held-out complementary labels rank lower with 1e-1 or 1e-3
        (the paper's grid) by more than one standard error, in three folds: ten trainings.
    bias_init : {"random", "prior"}, default="random"
        Start values of the biases of f: as in torch.nn.Linear and the paper, with f near 1/2; or
        the log-odds of 1/K, with scores that sum to about 1, as after training. See Notes.
    network : callable or None, default=None
        ``network(n_features, n_labels)`` returns a ``torch.nn.Module`` with K outputs. X may then
        have more axes, such as (n, 1, 28, 28) for pictures; the first argument is the shape of an
        item, here (1, 28, 28). None trains a linear map, as the papers do.
    weight_decay : float, default=1e-4
        This multiple of weights and biases is added to their gradient, as in ``torch.optim.Adam``.
    batch_size, epochs : int, default=256 and 200
        Number of instances per step, and of passes over the data.
    threshold : {"probability", "minmax"}, default="probability"
        What ``predict`` compares with the cut: f, or f scaled to [0, 1] within each row.
    device : str, default="auto"
        ``"auto"`` is CUDA if available, else the CPU; or a device name of torch.
    random_state : int, numpy.random.Generator or None, default=None
        Seed of the initial weights and of the order of the instances.
    callback : callable or None, default=None
        Called after every epoch with (what is trained, epoch, epochs, mean loss). What is trained
        is ``"transition"``, ``"classifier"`` or ``"search"``. For ``"search"``, the others are the
        number of rates tried, the number of all rates, and the held-out error.

    Attributes
    ----------
    learning_rate_ : float
        The rate that was given or chosen.
    cv_results_ : dict of ndarrays of shape (3,)
        ``learning_rate``, ``mean_ranking_error`` (held out), ``chosen``. Only if it was chosen.
    transition_ : ndarray of shape (K, K)
        T; ``transition_[k, j]`` estimates p(label j is complementary | label k is relevant).
    initial_transition_ : ndarray of shape (K, K)
        S. Only if T was estimated.
    label_correlation_ : ndarray of shape (K, K)
        C. Only if T was estimated with a correlation.
    model_ : LinearMap or torch.nn.Module
        Maps features to log-odds of f.
    coef_, intercept_ : ndarrays of shape (K, n_features) and (K,)
        Weights and biases of the linear map. Only without ``network``.

    See Also
    --------
    complabel.losses.MLCLLoss : The loss of step two. Known relevant labels change it.

    Notes
    -----
    The functions of ``complabel.transition`` compute S, C and T. ``network`` makes one network for
    g and one for f.

    Rows of T sum to 1, so the scores of an instance sum to about 1. Therefore the paper's rule
    ``threshold="probability"`` predicts few labels. Its released code uses ``"minmax"``.

    If features are not centred, all scores first fall together, and a label that falls too far can
    stay near 0 for the whole training, because the gradient of the sigmoid is small there.
    ``bias_init="prior"`` avoids this, and so do features of mean 0.

    References
    ----------
    Y. Gao, M. Xu and M.-L. Zhang, "Complementary to Multiple Labels: A Correlation-Aware
    Correction Approach". ``bias_init="prior"``: T.-Y. Lin et al., "Focal Loss for Dense Object
    Detection", ICCV 2017, section 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from complabel.simulate import draw_complementary
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> relevant = (X > 0.5).astype(int)
    >>> one_or_two = (relevant.sum(axis=1) > 0) & (relevant.sum(axis=1) < 3)
    >>> X, relevant = X[one_or_two], relevant[one_or_two]
    >>> complementary = draw_complementary(relevant, random_state=0)
    >>> classifier = MLCLClassifier(epochs=50, random_state=0).fit(X, complementary)
    >>> int(classifier.predict_proba([[2.0, -1.0, -1.0]]).argmax())
    0
    """

    models_the_choice = True

    _constraints: ClassVar[Constraints] = {
        "correlation": ("cooccurrence", "phi", None),
        "beta": Real(at_least=0),
        "learning_rate": ("auto", Real(above=0)),
        "bias_init": ("random", "prior"),
    }
    _fitted: ClassVar[Constraints] = {
        "learning_rate_": Real(above=0),
        "cv_results_": (MISSING, dict),
        "transition_": Numbers("K", "K"),
        "initial_transition_": (MISSING, Numbers("K", "K")),
        "label_correlation_": (MISSING, Numbers("K", "K")),
    }

    transition: str | ArrayLike = "estimate"
    correlation: str | None = "cooccurrence"
    beta: float = 1.0
    learning_rate: str | float = "auto"  # type: ignore[assignment]
    bias_init: str = "random"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.transition, str) and self.transition not in ("estimate", "uniform"):
            raise InputError(
                f"transition must be 'estimate', 'uniform' or a matrix, got {self.transition!r}"
            )

    def _rate(self) -> float:
        if isinstance(self.learning_rate, str):  # fit chooses it; any valid rate serves before
            return getattr(self, "learning_rate_", RATES[0])
        return self.learning_rate

    def _fit(self, X: Features, complementary: Indicator, relevant: Indicator | None, /) -> None:
        run(self, self._fitting(X, complementary, relevant))

    def _fitting(
        self, X: Features, complementary: Indicator, relevant: Indicator | None
    ) -> Fitting:
        generator = self._generator()
        self._forget("initial_transition_", "label_correlation_", "cv_results_")
        if not isinstance(self.learning_rate, str):
            self.learning_rate_ = self.learning_rate
        else:
            # The search has its own generator. So the final training is the same as if the chosen
            # rate had been given.
            seed = generator.initial_seed() % 2**32
            yield from self._choose_rate(X, complementary, relevant, seed=seed)
        n_labels = complementary.shape[1]
        if not isinstance(self.transition, str):
            self.transition_ = matrices.check_transition(self.transition, n_labels=n_labels)
        elif self.transition == "uniform":
            self.transition_ = matrices.uniform_transition(n_labels)
        else:
            yield from self._estimate_transition(X, complementary, generator)
        # The caller may be in inference mode. Autograd does not accept tensors made in it.
        with torch.inference_mode(False):
            transition = torch.from_numpy(self.transition_.astype(np.float32))
        loss = MLCLLoss(transition, beta=self.beta)
        labels = {"complementary": complementary}
        if relevant is not None:
            labels["relevant"] = relevant
        start = None if self.bias_init == "random" else float(special.logit(1 / n_labels))
        settings: dict[str, Any] = {"generator": generator, "initial_bias": start}
        self.model_ = yield from self._training(X, loss, labels, **settings)

    def _estimate_transition(
        self, X: Features, complementary: Indicator, generator: torch.Generator
    ) -> Fitting:
        model = yield from self._training(
            X,
            ComplementaryCrossEntropy(),
            {"named": complementary},
            generator=generator,
            stage="transition",
        )
        predicted = np.asarray(special.softmax(self._outputs(model, X), axis=1))
        self.initial_transition_ = matrices.initial_transition(predicted, complementary)
        # A softmax is positive, except where it underflows.
        if not self.initial_transition_.any(axis=1).all():
            problem = "the predicted probabilities of complementary labels are all 0 or 1"
            raise not_learnable(X, f"{problem}, so no transition matrix can be estimated")
        correlation = None
        if self.correlation is not None:
            phi = self.correlation == "phi"
            correlate = matrices.phi_correlation if phi else matrices.label_correlation
            correlation = self.label_correlation_ = correlate(complementary)
        self.transition_ = matrices.corrected_transition(self.initial_transition_, correlation)

    def _choose_rate(
        self, X: Features, complementary: Indicator, relevant: Indicator | None, *, seed: int
    ) -> Fitting:
        """Set the learning rate with the least held-out ranking error, and ``cv_results_``.

        It is 0.01 if there are too few rows, or if training fails with every rate. The likelihood
        as the criterion chose worse on simulated data: it depends on the estimated transition.
        """
        # The errors of a rate are infinite if one of its trainings fails. If all rates fail, the
        # final training raises.
        by_row = np.full((len(RATES), len(complementary)), np.inf)
        if len(complementary) >= _FOLDS:
            # clone() would also copy the callback and the network's factory, which may hold
            # anything.
            settings = {**self.get_params(deep=False), "callback": None, "random_state": seed}
            scores = np.full((len(RATES), *complementary.shape), np.nan)

            def held_out(at: int, train: Array, test: Array) -> Fitting:
                copy = type(self)(**{**settings, "learning_rate": RATES[at]})
                known = None if relevant is None else relevant[train]
                yield from copy._fitting(X[train], complementary[train], known)
                scores[at, test] = copy._decision(X[test])

            folds = list(KFold(_FOLDS, shuffle=True, random_state=seed).split(complementary))
            trials = [held_out(at, *fold) for at in range(len(RATES)) for fold in folds]
            # Side by side, each has its own copy of the features: too much if there are many.
            at_once = len(trials) if np.prod(X.shape) <= _MOST_SIDE_BY_SIDE else 1
            for some in gen_batches(len(trials), at_once):
                for error in (yield from together(trials[some])):
                    if not isinstance(error, (NoneType, ValueError, RuntimeError)):
                        raise error
                for at in range(some.start // _FOLDS, some.stop // _FOLDS):
                    if np.isfinite(scores[at]).all():
                        by_row[at] = metrics.complementary_ranking_error_of_rows(
                            complementary, scores[at]
                        )
                    if self.callback is not None:
                        self.callback("search", at + 1, len(RATES), float(by_row[at].mean()))
        chosen = _better_than_usual(by_row)
        self.learning_rate_ = RATES[chosen]
        self.cv_results_ = {
            "learning_rate": np.array(RATES),
            "mean_ranking_error": by_row.mean(axis=1),
            "chosen": np.arange(len(RATES)) == chosen,
        }

    def _log_likelihood(self, X: Features, complementary: Indicator) -> Array:
        logits = self._decision(X)
        scores = special.expit(logits)
        # If all scores of a row underflow, use their logarithms to compare them.
        lost = scores.sum(axis=1) < np.finfo(np.float64).tiny
        logs = special.log_expit(logits[lost])
        scores[lost] = np.exp(logs - logs.max(axis=1, keepdims=True))
        implied = scores @ self.transition_  # (n, K)
        return metrics.complementary_log_likelihood_of_rows(complementary, implied)


def _better_than_usual(by_row: Array) -> int:
    """Return the position of the best rate; of the usual one if it is within a standard error."""
    best = int(by_row.mean(axis=1).argmin())
    if not np.isfinite(by_row[[best, _USUAL]]).all():
        return best if np.isfinite(by_row[best]).all() else _USUAL
    gain = by_row[_USUAL] - by_row[best]
    return best if gain.mean() > gain.std() / np.sqrt(len(gain)) else _USUAL
