"""What a fit knows of those who answered: what comes to their mind, and how often they err."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from complabel.methods.selection._choices import Choices
from complabel.methods.selection._exclusions import named_where_excluded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.annotations import Answers
    from complabel.methods.selection._model import Fitted
    from complabel.methods.selection._setting import Setting


@dataclass(frozen=True, eq=False)
class Annotators:
    """What was given or fitted of R annotators and K labels.

    ``error_rates`` (R,) belong to the ``names``; ``error_rate`` is that of others. Where there
    are no mistakes, it is 0 and the rates are None. ``propensities`` and ``exclusion_rates`` are
    (K,), or None.
    """

    names: tuple[str, ...]
    propensities: NDArray[np.float64] | None
    error_rates: NDArray[np.float64] | None
    error_rate: float
    exclusion_rates: NDArray[np.float64] | None

    @classmethod
    def of(cls, choices: Choices, setting: Setting, found: Fitted) -> Annotators:
        """Read what was given and what was fitted."""
        log_w = found.log_propensities
        weights = choices.known_propensities(setting)
        if log_w is not None:
            weights = np.exp(log_w - log_w.mean())
        rates = choices.error_rates if found.error_rates is None else found.error_rates
        mean, of_names = 0.0, None
        if rates is not None:
            # Of the answers, as somebody new is like those who answer much. -1, where nobody knows
            # who answered, is the last.
            mean = float(rates[choices.answers.annotator].mean())
            of_names = np.array(rates[:-1])
        return cls(
            choices.answers.annotator_names, weights, of_names, mean, choices.exclusion_rates
        )

    @property
    def arrays(self) -> dict[str, NDArray[np.float64] | None]:
        """What the classifier's attributes show, by name."""
        return {
            "propensities": self.propensities,
            "error_rates": self.error_rates,
            "exclusion_rates": self.exclusion_rates,
        }

    def choices(self, answers: Answers) -> Choices:
        """Return some answers with what is known of those who gave them, by their names."""
        if self.exclusion_rates is None:
            answers = named_where_excluded(answers)
        rates = None
        if self.error_rates is not None:
            known = dict(zip(self.names, self.error_rates, strict=True))
            of_these = [known.get(name, self.error_rate) for name in answers.annotator_names]
            rates = np.array([*of_these, self.error_rate])
        return Choices(answers, self.propensities, rates, self.exclusion_rates)
