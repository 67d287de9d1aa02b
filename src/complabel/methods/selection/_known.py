"""Rates of people and labels that are known before a fit, and the setting that a search chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel._parameters import Array

if TYPE_CHECKING:
    from complabel.frequencies import LabelFrequencies
    from complabel.methods.selection._features import FeatureMap
    from complabel.methods.selection._penalties import Penalty


@dataclass(frozen=True, eq=False)
class OneSided:
    """How often labels are missed and invented: (2, R + 1, L), unknown annotators last."""

    # L is 1, or K if the rates differ by label. Compared by identity, as part of a setting.
    rates: Array


@dataclass(frozen=True)
class Setting:
    """The values that are chosen together; most are parameters of the classifier."""

    features: FeatureMap
    alpha: float
    cardinality: float | None
    rank: int | None = None
    spread: float | None = None  # of the prior of fitted log-propensities; None if not fitted
    # One rate of all annotators, or those of each and, last, of unknown ones; None if no mistakes.
    error_rates: float | tuple[float, ...] | OneSided | None = None
    # Logits are shrunk: this share of their distance from constant logits stays.
    kept: float = 1.0
    of_each: bool = True  # whether each item has the cardinality, or only the mean item
    penalties: tuple[Penalty, ...] = ()  # beside those that other values and known rates imply

    @property
    def parameters(self) -> dict[str, Any]:
        """The chosen values by their names in ``cv_results_``."""
        chosen = self.features.parameters | {"alpha": self.alpha, "cardinality": self.cardinality}
        further: dict[str, Any] = {"rank": self.rank, "propensity_spread": self.spread}
        if isinstance(self.error_rates, OneSided):
            missed, invented = self.error_rates.rates
            further |= {"missed": missed.mean(), "invented": invented.mean()}
        elif self.error_rates:
            further["error_rate"] = np.mean(self.error_rates)
        further["kept"] = self.kept if self.kept < 1 else None
        further |= self.of_penalties
        return chosen | {name: value for name, value in further.items() if value is not None}

    @property
    def of_penalties(self) -> dict[str, Any]:
        """The values of the further penalties by their names."""
        return {name: value for each in self.penalties for name, value in vars(each).items()}


@dataclass(frozen=True, eq=False)
class KnownRates:
    """What is known of R annotators and K labels; None is not known, or fitted."""

    propensities: Array | None = None  # (K,)
    # Error rates (R + 1,), that of unknown annotators last; or those of OneSided (2, R + 1, L).
    error_rates: Array | None = None
    exclusion_rates: Array | None = None  # (K,)
    exposure: Array | None = None  # (K,)
    # The share (K,) of lists with each tag, if the cardinality decides which exposure all share.
    tag_shares: Array | None = None
    exposure_is_assumed: bool = False
    frequencies: LabelFrequencies | None = None

    def frequencies_at(self, cardinality: float | None) -> LabelFrequencies:
        """Return the label frequencies, adjusted so that they add up to the cardinality."""
        assert self.frequencies is not None
        if cardinality is None:
            return self.frequencies
        return self.frequencies.given_cardinality(cardinality)

    def propensities_at(self, setting: Setting) -> Array | None:
        """Return the known propensities (K,), or None if they are equal or fitted.

        Propensities that come with label frequencies change with the cardinality.
        """
        if self.propensities is not None or self.frequencies is None or setting.spread is not None:
            return self.propensities
        return self.frequencies_at(setting.cardinality).propensities

    def error_rates_at(self, setting: Setting, n_rates: int) -> Array | None:
        """Return the error rates that the setting chooses, or else the known ones."""
        if setting.error_rates is None:
            return self.error_rates
        if isinstance(setting.error_rates, OneSided):
            return setting.error_rates.rates
        return np.array(np.broadcast_to(setting.error_rates, n_rates), dtype=np.float64)

    def leave_biases_open(self, setting: Setting) -> bool:
        """Return whether nothing but the biases decides how often a label is chosen."""
        others = self.frequencies, self.error_rates, self.exclusion_rates, self.exposure
        return all(each is None for each in (*others, setting.spread, setting.error_rates))
