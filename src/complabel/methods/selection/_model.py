"""One fit of the selection likelihood: features, choices, setting, and the linear map of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy import special
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.utils import gen_batches

from complabel._training import IterationCallback, LBFGSResult, LinearMap, Scaling, minimize_linear
from complabel.losses import SelectionLikelihoodLoss, selection_log_likelihood

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel._training import LogitObjective
    from complabel.methods._arrays import Features

SCALINGS = ("global", "standardize", "rows")
# Rows whose kernel features are in memory at once when a fitted model is applied: 40 MB of 500.
_BATCH = 10_000
# Where the constant model's probabilities may start: not where the sigmoid is flat. It matters
# little: anything from (.3, .7) to (1e-6, 1 - 1e-6) moved the log-likelihood of held-out labels by
# less than .006 (digits, scene, yeast), and starting below .001 lost .005 on scene.
_START_RANGE = (0.02, 0.9)
# Iterations that gain less than this share fit noise: stricter tolerances took longer and did not
# noticeably raise the likelihood of held-out labels.
_TOLERANCE = 1e-6
# Fits take some hundred iterations; one that takes more than this warns.
_MAX_ITER = 1000


@dataclass(frozen=True)
class MappedLinear:
    """A linear map of features that a fitted transformer of scikit-learn changes first."""

    transformer: Normalizer | Nystroem
    linear: LinearMap

    def __call__(self, X: Features) -> NDArray[np.float64]:
        """Return the logits of each row of ``X``, shape (n, K)."""
        batches = gen_batches(X.shape[0], _BATCH)
        return np.vstack([self.linear(self.transformer.transform(X[batch])) for batch in batches])


@dataclass(frozen=True)
class PreparedFeatures:
    """Training rows, shape (n, d), as a feature map prepared them.

    ``transformer`` is None if the features are as they were; ``scaling`` is what the penalty is to
    see of them.
    """

    X: Features
    transformer: Normalizer | Nystroem | None
    scaling: Scaling

    def transform(self, X: Features) -> Features:
        """Return other rows, shape (m, d), transformed alike."""
        return X if self.transformer is None else self.transformer.transform(X)

    def model(self, linear: LinearMap) -> LinearMap | MappedLinear:
        """Return the map from the original features to logits."""
        return linear if self.transformer is None else MappedLinear(self.transformer, linear)


@dataclass(frozen=True)
class FeatureMap:
    """What the linear map sees of the features: scaled ones, or those of a kernel with a gamma.

    ``scaling`` is None where there is a kernel; ``seed`` decides which of the training rows are
    the ``n_components`` that it is approximated by.
    """

    scaling: str | None
    gamma: float | None = None
    n_components: int = 0
    seed: int = 0

    @property
    def parameters(self) -> dict[str, Any]:
        """The classifier's parameters that ask for these features."""
        if self.gamma is None:
            return {"kernel": "linear", "scaling": self.scaling}
        return {"kernel": "rbf", "gamma": self.gamma}

    def fit_transform(self, X: Features) -> PreparedFeatures:
        """Learn what to do from training rows, shape (n, d), and do it to them."""
        transformer: Normalizer | Nystroem | None = None
        if self.gamma is not None:
            n_rows = min(self.n_components, X.shape[0])
            transformer = Nystroem(gamma=self.gamma, n_components=n_rows, random_state=self.seed)
        elif self.scaling == "rows":
            transformer = Normalizer()
        transformed = X if transformer is None else transformer.fit_transform(X)
        moments = _moments(transformed)
        if self.scaling == "standardize":
            spread = moments.scale_
        else:
            spread = np.sqrt(moments.var_.mean())
            # What rounding leaves of constant features is no spread.
            if spread <= 1e-12 * np.abs(moments.mean_).max():
                spread = 1.0
            spread = np.full_like(moments.mean_, spread)
        return PreparedFeatures(transformed, transformer, Scaling(moments.mean_, 1 / spread))


def middle_gamma(X: Features) -> float:
    """Return the gamma for which the kernel of two rows at their mean distance is exp(-1)."""
    # The mean squared distance is twice the sum of the features' variances.
    spread = 2 * float(_moments(X).var_.sum())
    return 1 / spread if spread > 0 else 1.0


def _moments(X: Features) -> Any:
    """Return a StandardScaler for its ``mean_``, ``var_`` and ``scale_``."""
    return StandardScaler(with_mean=False, copy=False).fit(X)


@dataclass(frozen=True)
class Setting:
    """What is chosen together, as for the classifier."""

    features: FeatureMap
    alpha: float
    cardinality: float | None

    @property
    def parameters(self) -> dict[str, Any]:
        """The classifier's parameters that ask for this setting."""
        return self.features.parameters | {"alpha": self.alpha, "cardinality": self.cardinality}


@dataclass(frozen=True)
class Choices:
    """What annotators answered about some rows, and how likely that is.

    The indicators of labels named and of those known to apply are (n, K), ``propensities`` (K,).
    """

    complementary: NDArray[np.uint8]
    relevant: NDArray[np.uint8] | None = None
    propensities: NDArray[np.float64] | None = None

    def of_rows(self, index: NDArray[np.intp]) -> Choices:
        """Return the choices of some rows."""
        relevant = None if self.relevant is None else self.relevant[index]
        return Choices(self.complementary[index], relevant, self.propensities)

    def log_likelihood(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-likelihood of each row, shape (n,), for logits (n, K)."""
        found = selection_log_likelihood(
            torch.from_numpy(logits), propensities=self.propensities, **self._tensors()
        )
        return np.asarray(found.numpy())

    def objective(self, cardinality: float | None) -> LogitObjective:
        """Return minus the mean log-likelihood plus the penalty, as a function of logits (n, K)."""
        loss = SelectionLikelihoodLoss(cardinality=cardinality, propensities=self.propensities)
        labels = self._tensors()

        def mean_and_gradient(logits: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            with torch.inference_mode():
                losses, gradient = loss.losses_and_gradient(torch.from_numpy(logits), **labels)
            return float(losses.mean()), gradient.numpy() / len(logits)

        return mean_and_gradient

    def constant_logits(self, cardinality: float | None) -> NDArray[np.float64]:
        """Return the logits, shape (K,), that explain how often each label was chosen.

        A label is chosen about as often as it is irrelevant, times its propensity: 1 - p_j is in
        proportion to that ratio, and the p_j add up to the cardinality, or to 1 if that is open.
        """
        expected = 1.0 if cardinality is None else cardinality
        chosen = self.complementary.sum(axis=0, dtype=np.float64)
        if self.propensities is not None:
            chosen /= self.propensities
        p = 1 - (len(chosen) - expected) * chosen / chosen.sum()
        return np.asarray(special.logit(np.clip(p, *_START_RANGE)))

    def _tensors(self) -> dict[str, torch.Tensor]:
        """Return the indicators (n, K), stored label by label as the integrals go through them."""
        return {
            name: torch.from_numpy(np.ascontiguousarray(matrix.T, dtype=np.float64)).t()
            for name, matrix in vars(self).items()
            if name != "propensities" and matrix is not None
        }


def fit_linear(
    prepared: PreparedFeatures,
    choices: Choices,
    setting: Setting,
    *,
    warn: bool = False,
    on_iteration: IterationCallback | None = None,
) -> LBFGSResult:
    """Fit the linear map of a setting to features that are prepared already."""
    intercept = choices.constant_logits(setting.cardinality)
    return minimize_linear(
        prepared.X,
        choices.objective(setting.cardinality),
        start=LinearMap(np.zeros((len(intercept), prepared.X.shape[1])), intercept),
        alpha=setting.alpha,
        scaling=prepared.scaling,
        tolerance=_TOLERANCE,
        max_iter=_MAX_ITER,
        warn=warn,
        on_iteration=on_iteration,
    )
