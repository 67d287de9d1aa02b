"""A fitted selection likelihood as predictions need it: parameters, state and scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from complabel._parameters import Array, Constraints, Features, Integer, RandomState, Real
from complabel._training import LinearMap
from complabel.errors import InputError
from complabel.methods._predictor import Predictor
from complabel.methods._saving import MISSING, Numbers, Rows
from complabel.methods.selection._annotators import Annotators
from complabel.methods.selection._maps import (
    SCALINGS,
    LandmarkKernel,
    MappedLinear,
    RowsToLengthOne,
)

ProgressCallback = Callable[[str, int, "int | None", float], None]
"""Called with the stage, the number of steps done, their maximum (or None), and the loss."""

_KERNEL = {
    "landmarks": Rows("columns"),
    "gamma": Real(above=0),
    "factor": Numbers("columns", "columns"),
}


class SelectionModel(Predictor):
    """Predicts as the :class:`SelectionLikelihoodClassifier`, which it is a part of."""

    _stands_for = "SelectionLikelihoodClassifier"
    _constraints: ClassVar[Constraints] = {
        "alpha": ("auto", Real(above=0)),
        "cardinality": ("auto", None, Real(above=0)),
        "scaling": ("auto", *SCALINGS),
        "kernel": ("auto", "linear", "rbf"),
        "gamma": ("auto", Real(above=0)),
        "n_components": Integer(at_least=1),
        "rank": ("auto", None, Integer(at_least=1)),
        "error_rate": ("auto", "per-annotator", Real(at_least=0, below=1)),
        "cv": Integer(at_least=2),
        "warm_start": (True, False),
        "device": ("auto", "cpu", "cuda"),
        "random_state": RandomState(),
    }
    _fitted: ClassVar[Constraints] = {
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
            "exposure": (MISSING, None, Numbers("K")),
            "exposure_is_assumed": (MISSING, bool),
            "one_sided": (None, Numbers("sides", "people", "columns of rates")),
        },
    }

    alpha_: float
    cardinality_: float | None
    kernel_: str
    scaling_: str
    gamma_: float
    model_: LinearMap | MappedLinear
    _annotators: Annotators

    def __init__(
        self,
        *,
        alpha: str | float = "auto",
        cardinality: str | float | None = "auto",
        scaling: str = "auto",
        kernel: str = "auto",
        gamma: str | float = "auto",
        n_components: int = 500,
        rank: str | int | None = "auto",
        label_frequencies: str | ArrayLike | None = "auto",
        propensities: str | ArrayLike | None = None,
        error_rate: str | float = 0.0,
        missed: str | ArrayLike = 0.0,
        invented: str | ArrayLike = 0.0,
        exclusion_rates: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        cv: int = 3,
        warm_start: bool = False,
        threshold: str = "probability",
        device: str = "auto",
        random_state: int | np.random.Generator | None = None,
        callback: ProgressCallback | None = None,
    ) -> None:
        self.alpha = alpha
        self.cardinality = cardinality
        self.scaling = scaling
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.rank = rank
        self.label_frequencies = label_frequencies
        self.propensities = propensities
        self.error_rate = error_rate
        self.missed = missed
        self.invented = invented
        self.exclusion_rates = exclusion_rates
        self.exposure = exposure
        self.cv = cv
        self.warm_start = warm_start
        self.threshold = threshold
        self.device = device
        self.random_state = random_state
        self.callback = callback

    @classmethod
    def _from_plain(cls, parameters: dict[str, Any]) -> Self:
        if parameters.get("device") == "cuda":  # there may be none where the file is read
            parameters = {**parameters, "device": "auto"}
        return super()._from_plain(parameters)

    def _set_state(self, state: dict[str, Any], sizes: Mapping[str, int]) -> None:
        model = model_from(state["model_"])
        people = state["_annotators"]
        people = Annotators(**{**people, "names": tuple(people["names"].tolist())})
        super()._set_state({**state, "model_": model, "_annotators": people}, sizes)
        self._set_derived()

    def _set_derived(self) -> None:
        self._set_some(self._annotators.shown())
        if isinstance(self.model_, LinearMap):
            self.coef_, self.intercept_ = self.model_.coef, self.model_.intercept

    def _set_some(self, attributes: Mapping[str, Any]) -> None:
        for name, value in attributes.items():
            if value is not None:
                setattr(self, name, value)

    def _decision(self, X: Features) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            logits = self.model_(X)
        finite = np.isfinite(logits).all(axis=1)
        if not finite.all():
            raise InputError(
                f"row {int(np.argmin(finite))} of X has scores that are not finite. X holds values"
                f" from {X.min():.3g} to {X.max():.3g}; scale the features as those given to fit"
            )
        return logits


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
