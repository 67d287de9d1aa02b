"""What a file holds of a fitted selection likelihood, as plain values and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from complabel._parameters import Constraints, Integer, Real
from complabel._training import LinearMap
from complabel.methods._saving import MISSING, Numbers, Rows
from complabel.methods.selection._annotators import Annotators
from complabel.methods.selection._maps import (
    SCALINGS,
    LandmarkKernel,
    MappedLinear,
    RowsToLengthOne,
)

_KERNEL = {
    "landmarks": Rows("columns"),
    "gamma": Real(above=0),
    "factor": Numbers("columns", "columns"),
}
FITTED: Constraints = {
    "alpha_": Real(above=0),
    "cardinality_": (None, Real(above=0)),
    "mean_cardinality_": Real(at_least=0),
    "kernel_": ("linear", "rbf"),
    "scaling_": (MISSING, *SCALINGS),
    "gamma_": (MISSING, Real(above=0)),
    "rank_": (MISSING, Integer(at_least=1)),
    "label_frequencies_": (MISSING, Numbers("K")),
    "label_frequencies_errors_": (MISSING, Numbers("K")),
    "label_frequencies_covariance_": (MISSING, Numbers("K", "K")),
    "label_frequencies_intervals_": (MISSING, Numbers("K", "ends")),
    "cv_results_": (MISSING, dict),
    "cardinality_curve_": (MISSING, dict),
    "cardinality_interval_": (MISSING, Numbers("ends")),
    "n_iter_": Integer(at_least=0),
    "model_": {
        "transformer": (None, "rows", _KERNEL),
        "coef": Numbers("K", "columns"),
        "intercept": Numbers("K"),
    },
    "_annotators": {
        "names": Numbers("annotators", dtype=None),
        "propensities": (None, Numbers("K")),
        "error_rates": (None, Numbers("annotators")),
        "error_rate": Real(at_least=0, at_most=1),
        "exclusion_rates": (None, Numbers("K")),
        "one_sided": (None, Numbers("sides", "people", "columns of rates")),
    },
}


def plain_model(model: LinearMap | MappedLinear) -> dict[str, Any]:
    if isinstance(model, LinearMap):
        return {"transformer": None, **vars(model)}
    kernel = model.transformer
    plain = vars(kernel) if isinstance(kernel, LandmarkKernel) else "rows"
    return {"transformer": plain, **vars(model.linear)}


def model_from(plain: dict[str, Any]) -> LinearMap | MappedLinear:
    """Make what ``plain_model`` returned."""
    transformer, linear = plain["transformer"], LinearMap(plain["coef"], plain["intercept"])
    if isinstance(transformer, dict):
        return MappedLinear(LandmarkKernel(**transformer), linear)
    return linear if transformer is None else MappedLinear(RowsToLengthOne(), linear)


def plain_annotators(people: Annotators) -> dict[str, Any]:
    has_rates = people.error_rates is not None or people.one_sided is not None
    names = people.names if has_rates else ()
    return {**vars(people), "names": np.array(names, dtype=np.str_)}


def annotators_from(plain: dict[str, Any]) -> Annotators:
    return Annotators(**{**plain, "names": tuple(plain["names"].tolist())})
