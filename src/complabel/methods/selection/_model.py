"""One fit of the selection likelihood: a setting, and the linear maps of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel._training import IterationCallback, LinearFits, LinearMap, minimize_linear

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods.selection._choices import Choices
    from complabel.methods.selection._features import PreparedFeatures
    from complabel.methods.selection._setting import Setting

# Iterations that gain less than this share fit noise: stricter tolerances took longer and did not
# noticeably raise the likelihood of held-out labels.
_TOLERANCE = 1e-6
# From the constant model, a first part of the way up to which steps are scaled by its curvature;
# then by that of where it led.
_FIRST_TOLERANCE = 1e-3
# Fits take some dozens of iterations; one that takes more than this warns.
_MAX_ITER = 1000


@dataclass(frozen=True)
class Fitted:
    """A linear map of prepared features, and what was fitted beside it.

    ``log_propensities`` are (K,), ``error_rates`` (R + 1,), the unknown annotator last; None where
    they were not fitted.
    """

    linear: LinearMap
    n_iter: int
    log_propensities: NDArray[np.float64] | None = None
    error_rates: NDArray[np.float64] | None = None


def fit_linear(
    prepared: PreparedFeatures,
    choices: Choices,
    setting: Setting,
    *,
    on_iteration: IterationCallback | None = None,
) -> Fitted:
    """Fit the linear map of a setting to features that are prepared already."""
    found = fit_maps(
        prepared, choices, setting, tolerance=_TOLERANCE, warn=True, on_iteration=on_iteration
    )
    log_propensities = found.others[0] if setting.spread is not None else None
    return Fitted(found.models[0], found.n_iter, log_propensities, choices.rates(setting))


def fit_maps(
    prepared: PreparedFeatures,
    choices: Choices,
    setting: Setting,
    *,
    tolerance: float,
    rows: Sequence[NDArray[np.intp]] | None = None,
    start: LinearFits | None = None,
    warn: bool = False,
    on_iteration: IterationCallback | None = None,
) -> LinearFits:
    """Fit maps of the same features, each to its rows, of which ``choices`` has one after another.

    ``start`` are fits to the same rows; without it the constant model is where a fit starts.
    """
    n_items = len(choices.answers)
    sizes = [n_items] if rows is None else [len(index) for index in rows]
    how: dict[str, Any] = {
        "rows": rows,
        "rank": setting.rank,
        "alpha": setting.alpha,
        "scaling": prepared.scaling,
        "spread": prepared.spread,
        "max_iter": _MAX_ITER,
    }
    objective = choices.objective(setting, sizes)
    if start is None:
        intercept = choices.constant_logits(setting.cardinality)
        # In the type of the features: what is laid out for the one serves the others.
        at_start = intercept.astype(np.result_type(np.float32, prepared.X.dtype))
        constant = LinearMap(np.zeros((len(intercept), prepared.X.shape[1])), intercept)
        start = minimize_linear(
            prepared.X,
            objective,
            start=[constant] * len(sizes),
            others=choices.start_of_others(setting, len(sizes)),
            curvature=choices.curvature(
                setting, np.broadcast_to(at_start, (n_items, len(intercept)))
            ),
            tolerance=max(_FIRST_TOLERANCE, tolerance),
            warn=False,
            **how,
        )
    return minimize_linear(
        prepared.X,
        objective,
        start=start.models,
        others=choices.start_of_others(setting, len(sizes), start.others),
        curvature=choices.curvature(setting, start.logits_of(rows)),
        tolerance=tolerance,
        warn=warn,
        on_iteration=on_iteration,
        **how,
    )
