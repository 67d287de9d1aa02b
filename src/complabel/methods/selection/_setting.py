"""What a search chooses together, and what it reads of a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel.methods.selection._features import FeatureMap


class Parameters(Protocol):
    """The classifier's parameters, and what its ``y`` says of the labels."""

    alpha: str | float
    cardinality: str | float | None
    scaling: str
    kernel: str
    gamma: str | float
    n_components: int
    rank: str | int | None
    label_frequencies: str | ArrayLike | None
    propensities: str | ArrayLike | None
    error_rate: str | float
    exclusion_rates: ArrayLike | None
    cv: int
    random_state: int | np.random.Generator | None
    classes_: NDArray[Any]

    @property
    def _single(self) -> bool: ...


@dataclass(frozen=True)
class Setting:
    """What is chosen together, as for the classifier.

    ``rank`` is None for any map. ``spread`` is the standard deviation a priori of log-propensities
    that are fitted; None where they are given or equal. ``mistakes`` is the error
    rate of all annotators, or those of each (R + 1), the unknown one last; None without mistakes.
    """

    features: FeatureMap
    alpha: float
    cardinality: float | None
    rank: int | None = None
    spread: float | None = None
    mistakes: float | tuple[float, ...] | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The classifier's parameters that ask for this setting."""
        chosen = self.features.parameters | {"alpha": self.alpha, "cardinality": self.cardinality}
        further = {
            "rank": self.rank,
            "propensity_spread": self.spread,
            "error_rate": np.mean(self.mistakes) if self.mistakes else None,
        }
        return chosen | {name: value for name, value in further.items() if value is not None}
