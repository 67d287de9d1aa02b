"""What a fit knows about annotators: propensities, error rates and exclusion rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from complabel.methods.selection._exclusions import named_where_excluded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.answers import Answers
    from complabel.methods.selection._choices import Choices
    from complabel.methods.selection._model import Fitted
    from complabel.methods.selection._setting import Setting


@dataclass(frozen=True, eq=False)
class Annotators:
    """Given or fitted properties of R annotators and K labels.

    Attributes
    ----------
    names : tuple of str
        Names of the annotators.
    propensities : ndarray of shape (K,) or None
    error_rates : ndarray of shape (R,) or None
        Error rates of the named annotators; None without mistakes.
    error_rate : float
        Error rate of all other annotators; 0 without mistakes.
    exclusion_rates : ndarray of shape (K,) or None
    """

    names: tuple[str, ...]
    propensities: NDArray[np.float64] | None
    error_rates: NDArray[np.float64] | None
    error_rate: float
    exclusion_rates: NDArray[np.float64] | None

    @classmethod
    def of(cls, choices: Choices, setting: Setting, found: Fitted) -> Annotators:
        """Collect the properties that were given and those that were fitted."""
        log_w = found.log_propensities
        weights = choices.known_propensities(setting)
        if log_w is not None:
            weights = np.exp(log_w - log_w.mean())
        rates = choices.error_rates if found.error_rates is None else found.error_rates
        mean, of_names = 0.0, None
        if rates is not None:
            # The mean over answers, not over annotators: a new annotator is assumed to be like
            # those who answered most. Code -1 (unknown) takes the last rate.
            mean = float(rates[choices.answers.annotator].mean())
            of_names = np.array(rates[:-1])
        return cls(
            choices.answers.annotator_names, weights, of_names, mean, choices.exclusion_rates
        )

    @property
    def arrays(self) -> dict[str, NDArray[np.float64] | None]:
        """The arrays that become attributes of the classifier, by name."""
        return {
            "propensities": self.propensities,
            "error_rates": self.error_rates,
            "exclusion_rates": self.exclusion_rates,
        }

    def choices(self, answers: Answers) -> Choices:
        """Return new answers with the properties of their annotators, matched by name."""
        from complabel.methods.selection._choices import Choices  # imports torch

        if self.exclusion_rates is None:
            answers = named_where_excluded(answers)
        rates = None
        if self.error_rates is not None:
            known = dict(zip(self.names, self.error_rates, strict=True))
            of_these = [known.get(name, self.error_rate) for name in answers.annotator_names]
            rates = np.array([*of_these, self.error_rate])
        return Choices(answers, self.propensities, rates, self.exclusion_rates)
