"""How often each annotator answers at random, by answers that were held out.

Rates that are fitted together with the map come out too small: a map that fits the training answers
closely explains mistakes, too. Predictions for items that it was not fitted to cannot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize, special

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods.selection._choices import Choices

# Rates have the beta prior of two answers by mistake out of twelve: it keeps the rate of an
# annotator of few answers from 0 and 1.
_PRIOR_MISTAKES, _PRIOR_RIGHT = 1.0, 9.0
_TOLERANCE = 1e-8


def likeliest_rates(
    choices: Choices,
    logits: NDArray[np.floating[Any]],
    log_propensities: NDArray[np.float64] | None,
    start: NDArray[np.float64],
) -> tuple[float, ...]:
    """Return the likeliest error rates (R + 1,), the unknown annotator last, from a start.

    ``logits`` (n, K) are predicted for items whose answers were held out, and so are the
    log-propensities, (K,) or (n, K).
    """

    def loss(odds: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        rates = special.expit(odds)
        prior = _PRIOR_MISTAKES * np.log(rates) + _PRIOR_RIGHT * np.log1p(-rates)
        slope = (_PRIOR_MISTAKES + _PRIOR_RIGHT) * rates - _PRIOR_MISTAKES
        value, through = choices.likelihood_of_rates(logits, log_propensities, rates)
        return -value - float(prior.sum()), slope - through

    found = optimize.minimize(
        loss, special.logit(start), jac=True, method="L-BFGS-B", options={"ftol": _TOLERANCE}
    )
    return tuple(float(rate) for rate in special.expit(found.x))
