"""One fit of the selection likelihood: setting, problem, objective and starting point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy import special

from complabel._training import IterationCallback, LBFGSResult, LinearMap, minimize_linear
from complabel.losses import SelectionLikelihoodLoss
from complabel.methods.selection._features import (
    Kernel,
    MappedLinear,
    feature_scaling,
    fit_transform,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._base import Features

# Where the constant model's probabilities may start: not where the sigmoid is flat.
_START_RANGE = (0.02, 0.9)
# Iterations that gain less than this share fit noise: stricter tolerances took longer and did not
# noticeably raise the likelihood of held-out labels.
_TOLERANCE = 1e-6
_MAX_ITER = 1000


@dataclass(frozen=True)
class Setting:
    """What is chosen together.

    Parameters
    ----------
    scaling : {"global", "standardize", "rows"}
        ``"global"`` where there is a kernel.
    alpha : float
        Weight of the squared norm of the weights of the scaled features.
    cardinality : float or None
        The expected number of relevant labels; None leaves the penalty out.
    kernel : Kernel or None, default=None
        None fits a map that is linear in the features.
    """

    scaling: str
    alpha: float
    cardinality: float | None
    kernel: Kernel | None = None

    @property
    def features(self) -> tuple[str, Kernel | None]:
        """What of it the features depend on."""
        return ("rows" if self.scaling == "rows" else "", self.kernel)


@dataclass(frozen=True)
class Problem:
    """Features and labels to learn from.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
    targets : sequence of ndarrays of shape (n, K)
        Complementary labels and, if there are some, known relevant ones.
    propensities : ndarray of shape (K,) or None
    """

    X: Features
    targets: Sequence[NDArray[np.uint8]]
    propensities: NDArray[np.float64] | None

    @property
    def n_labels(self) -> int:
        """K."""
        return int(self.targets[0].shape[1])

    def rows(self, index: NDArray[np.intp]) -> Problem:
        """Return the problem of some rows."""
        return replace(self, X=self.X[index], targets=[target[index] for target in self.targets])

    def start(self, cardinality: float | None) -> LinearMap:
        """Return the constant model that explains how often each label was chosen.

        A label is chosen about as often as it is irrelevant, times its propensity: 1 - p_j is in
        proportion to that ratio, and the p_j add up to c.
        """
        expected = 1.0 if cardinality is None else cardinality
        chosen = self.targets[0].sum(axis=0, dtype=np.float64)
        if self.propensities is not None:
            chosen /= self.propensities
        p = 1 - (self.n_labels - expected) * chosen / chosen.sum()
        return LinearMap(
            coef=np.zeros((self.n_labels, self.X.shape[1])),
            intercept=special.logit(np.clip(p, *_START_RANGE)),
        )


class SelectionObjective:
    """Minus the mean log-likelihood of a problem's labels, and its gradient, in float64."""

    def __init__(self, problem: Problem, *, cardinality: float | None) -> None:
        self._loss = SelectionLikelihoodLoss(
            cardinality=cardinality, propensities=problem.propensities
        )
        self._targets = [_label_major(target) for target in problem.targets]  # (K, n)

    def __call__(self, logits: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the mean loss and its gradient with respect to the logits, both (n, K)."""
        losses, gradient = self._sums(logits)
        return float(losses.mean()), gradient.t().numpy() / len(logits)

    def losses(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the loss of each row, shape (n,)."""
        return self._sums(logits)[0].numpy()

    def _sums(self, logits: NDArray[np.float64]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the rows' losses (n,) and the gradient (K, n)."""
        with torch.inference_mode():
            return self._loss.sums(torch.from_numpy(logits).t(), *self._targets)


def _label_major(target: NDArray[np.uint8]) -> torch.Tensor:
    """Copy an (n, K) indicator to a contiguous (K, n) float64 tensor."""
    return torch.from_numpy(np.ascontiguousarray(target.T, dtype=np.float64))


def fit_setting(
    problem: Problem, setting: Setting, *, on_iteration: IterationCallback | None = None
) -> tuple[LinearMap | MappedLinear, int]:
    """Fit the model of one setting, from the constant one.

    Returns
    -------
    model : LinearMap or MappedLinear
        Maps the features of the problem to logits.
    n_iter : int
    """
    transform, X = fit_transform(problem.X, setting.scaling, setting.kernel)
    found = fit_linear(replace(problem, X=X), setting, warn=True, on_iteration=on_iteration)
    if transform is None:
        return found.model, found.n_iter
    return MappedLinear(transform, found.model), found.n_iter


def fit_linear(
    problem: Problem,
    setting: Setting,
    *,
    warn: bool = False,
    on_iteration: IterationCallback | None = None,
) -> LBFGSResult:
    """Fit the linear map of a setting to a problem whose features are transformed already."""
    return minimize_linear(
        problem.X,
        SelectionObjective(problem, cardinality=setting.cardinality),
        start=problem.start(setting.cardinality),
        alpha=setting.alpha,
        scaling=feature_scaling(problem.X, setting.scaling),
        tolerance=_TOLERANCE,
        max_iter=_MAX_ITER,
        warn=warn,
        on_iteration=on_iteration,
    )
