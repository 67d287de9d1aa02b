"""One fit of the selection likelihood: features, choices, setting, and the linear map of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy import special
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.utils import gen_batches

from complabel._training import IterationCallback, LBFGSResult, LinearMap, Scaling, minimize_linear
from complabel.losses import SelectionLikelihoodLoss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel._training import LogitObjective
    from complabel.methods._base import Features

SCALINGS = ("global", "standardize", "rows")
# Rows whose kernel features are in memory at once when a fitted model is applied: 40 MB of 500.
_BATCH = 10_000
# Where the constant model's probabilities may start: not where the sigmoid is flat.
_START_RANGE = (0.02, 0.9)
# Iterations that gain less than this share fit noise: stricter tolerances took longer and did not
# noticeably raise the likelihood of held-out labels.
_TOLERANCE = 1e-6
# Fits take some hundred iterations; one that takes more than this warns.
_MAX_ITER = 1000


@dataclass(frozen=True)
class MappedLinear:
    """A linear map of transformed features.

    Parameters
    ----------
    transformer : Normalizer or Nystroem
        A fitted transformer of scikit-learn.
    linear : LinearMap
    """

    transformer: Normalizer | Nystroem
    linear: LinearMap

    def __call__(self, X: Features) -> NDArray[np.float64]:
        """Return the logits of each row of ``X``, shape (n, K)."""
        batches = gen_batches(X.shape[0], _BATCH)
        return np.vstack([self.linear(self.transformer.transform(X[batch])) for batch in batches])


@dataclass(frozen=True)
class PreparedFeatures:
    """Training rows as a feature map prepared them.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
        The transformed features.
    transformer : Normalizer, Nystroem or None
        The fitted transformer; None leaves the features as they are.
    scaling : Scaling
        How the penalty sees the transformed features.
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


class FeatureMap(ABC):
    """What the linear map sees of the features. Feature maps can be compared and hashed."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The classifier's parameters that ask for these features."""

    def fit_transform(self, X: Features) -> PreparedFeatures:
        """Learn what to do from training rows, shape (n, d), and do it to them."""
        transformer = self._transformer(X.shape[0])
        transformed = X if transformer is None else transformer.fit_transform(X)
        return PreparedFeatures(transformed, transformer, self._scaling(transformed))

    @abstractmethod
    def _transformer(self, n_samples: int, /) -> Normalizer | Nystroem | None:
        """Return a transformer to fit; None leaves the features as they are."""

    def _scaling(self, X: Features) -> Scaling:
        """Centre each feature, and divide all of them by the root of their mean variance."""
        moments = _moments(X)
        spread = float(np.sqrt(moments.var_.mean()))
        # What rounding leaves of constant features is no spread.
        if spread <= 1e-12 * np.abs(moments.mean_).max():
            spread = 1.0
        return Scaling(shift=moments.mean_, factor=np.full_like(moments.mean_, 1 / spread))


@dataclass(frozen=True)
class LinearFeatures(FeatureMap):
    """The features themselves.

    Parameters
    ----------
    scaling : {"global", "standardize", "rows"}
        See the classifier's parameter.
    """

    scaling: str

    @property
    def parameters(self) -> dict[str, Any]:
        return {"kernel": "linear", "scaling": self.scaling}

    def _transformer(self, _n_samples: int, /) -> Normalizer | None:
        return Normalizer() if self.scaling == "rows" else None

    def _scaling(self, X: Features) -> Scaling:
        if self.scaling != "standardize":
            return super()._scaling(X)
        moments = _moments(X)
        return Scaling(shift=moments.mean_, factor=1 / moments.scale_)


@dataclass(frozen=True)
class KernelFeatures(FeatureMap):
    """An RBF kernel, exp(-gamma ||x - x'||^2), by its values at some of the training rows.

    Parameters
    ----------
    gamma : float
    n_components : int
        The most rows, drawn at random.
    seed : int
        Decides which rows are drawn.
    """

    gamma: float
    n_components: int
    seed: int

    @property
    def parameters(self) -> dict[str, Any]:
        return {"kernel": "rbf", "gamma": self.gamma}

    def _transformer(self, n_samples: int, /) -> Nystroem:
        return Nystroem(
            gamma=self.gamma,
            n_components=min(self.n_components, n_samples),
            random_state=self.seed,
        )


def middle_gamma(X: Features) -> float:
    """Return the gamma for which the kernel of two rows is exp(-1), taken at their mean distance.

    The mean squared distance is twice the sum of the features' variances.
    """
    spread = 2 * float(_moments(X).var_.sum())
    return 1 / spread if spread > 0 else 1.0


def _moments(X: Features) -> Any:
    """Return a StandardScaler with ``mean_``, ``var_`` and ``scale_``; centring is not its task."""
    return StandardScaler(with_mean=False, copy=False).fit(X)


@dataclass(frozen=True)
class Setting:
    """What is chosen together.

    Parameters
    ----------
    features : FeatureMap
    alpha : float
        Weight of the squared norm of the weights of the scaled features.
    cardinality : float or None
        The expected number of relevant labels; None leaves the penalty out.
    """

    features: FeatureMap
    alpha: float
    cardinality: float | None

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The classifier's parameters that ask for this setting."""
        return {
            **self.features.parameters,
            "alpha": self.alpha,
            "cardinality": self.cardinality,
        }


@dataclass(frozen=True)
class Choices:
    """What annotators answered about some rows, and how likely that is.

    Parameters
    ----------
    complementary : ndarray of shape (n, K)
        Indicator of the labels named.
    relevant : ndarray of shape (n, K) or None, default=None
        Indicator of labels known to apply.
    propensities : ndarray of shape (K,) or None, default=None
    """

    complementary: NDArray[np.uint8]
    relevant: NDArray[np.uint8] | None = None
    propensities: NDArray[np.float64] | None = None

    def of_rows(self, index: NDArray[np.intp]) -> Choices:
        """Return the choices of some rows."""
        relevant = None if self.relevant is None else self.relevant[index]
        return Choices(self.complementary[index], relevant, self.propensities)

    def objective(self, cardinality: float | None) -> LogitObjective:
        """Return minus the mean log-likelihood plus the penalty, as a function of logits (n, K)."""
        evaluate = self._evaluator(cardinality)

        def mean_and_gradient(
            logits: NDArray[np.float64],
        ) -> tuple[float, NDArray[np.float64]]:
            losses, gradient = evaluate(torch.from_numpy(logits))
            return float(losses.mean()), gradient.numpy() / len(logits)

        return mean_and_gradient

    def log_likelihood(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-likelihood of each row, shape (n,), for logits (n, K)."""
        losses, _ = self._evaluator(None)(torch.from_numpy(logits))
        return -np.asarray(losses.numpy())

    def constant(self, cardinality: float | None) -> NDArray[np.float64]:
        """Return the logits, shape (K,), of a constant model: where a fit starts.

        A label is chosen about as often as it is irrelevant, times its propensity: 1 - p_j is in
        proportion to that ratio, and the p_j add up to the cardinality, or to 1 if that is open.
        """
        expected = 1.0 if cardinality is None else cardinality
        chosen = self.complementary.sum(axis=0, dtype=np.float64)
        if self.propensities is not None:
            chosen /= self.propensities
        p = 1 - (len(chosen) - expected) * chosen / chosen.sum()
        return np.asarray(special.logit(np.clip(p, *_START_RANGE)))

    def _evaluator(self, cardinality: float | None) -> Any:
        """Return a function from logits (n, K) to the losses (n,) and their gradient (n, K)."""
        loss = SelectionLikelihoodLoss(cardinality=cardinality, propensities=self.propensities)
        complementary = _tensor(self.complementary)
        relevant = None if self.relevant is None else _tensor(self.relevant)

        def evaluate(logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            with torch.inference_mode():
                return loss.losses_and_gradient(logits, complementary, relevant)

        return evaluate


def _tensor(indicator: NDArray[np.uint8]) -> torch.Tensor:
    """Copy an (n, K) indicator to float64, laid out as the integrals go through it: by labels."""
    return torch.from_numpy(np.ascontiguousarray(indicator.T, dtype=np.float64)).t()


def fit_linear(
    prepared: PreparedFeatures,
    choices: Choices,
    setting: Setting,
    *,
    warn: bool = False,
    on_iteration: IterationCallback | None = None,
) -> LBFGSResult:
    """Fit the linear map of a setting to features that are prepared already."""
    intercept = choices.constant(setting.cardinality)
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
