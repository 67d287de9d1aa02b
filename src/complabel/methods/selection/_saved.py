"""The parts of a fitted selection likelihood that a file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.preprocessing import Normalizer

from complabel._parameters import Integer, Real
from complabel._training import LinearMap, linear_map_kind
from complabel.methods.selection._annotators import Annotators
from complabel.methods.selection._features import SCALINGS, LandmarkKernel, MappedLinear
from complabel.persistence import (
    Context,
    IfAny,
    Kind,
    Kinds,
    Numbers,
    OneOf,
    OrNone,
    Record,
    RefusedError,
    Rows,
    Scalar,
    Table,
    Texts,
)

if TYPE_CHECKING:
    from complabel.methods._arrays import Features


class _ByLength(Kind):
    """A Normalizer, which divides each row by its length. It has no fitted values to save."""

    def plain(self, value: Any, context: Context) -> Any:
        """Return None, because there is nothing to save."""

    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Make a new Normalizer for the right number of columns."""
        if value is not None:
            raise RefusedError(f"{place} is {value!r:.80}, but it must be null")
        context.sizes["columns"] = context.sizes["d"]
        made = Normalizer()
        made.n_features_in_ = context.sizes["d"]
        return made


class _Kernel(Record):
    """A LandmarkKernel: its landmarks, gamma and Cholesky factor."""

    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Make the kernel, after a check that its factor has an inverse."""
        found: LandmarkKernel = super().restored(value, place, context)
        if not (found.factor.diagonal() > 0).all():
            raise RefusedError(f"{place}.factor has no inverse")
        return found


class _People(Record):
    """An Annotators object; names are saved only if there are error rates for them."""

    def plain(self, value: Any, context: Context) -> Any:
        """Return the parts, without names if they are not needed."""
        found = super().plain(value, context)
        return found if value.error_rates is not None else {**found, "names": []}

    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Make the object, after a check that there is one rate for each name."""
        found: Annotators = super().restored(value, place, context)
        known = () if found.error_rates is None else found.error_rates
        if len(found.names) != len(known):
            raise RefusedError(f"{place} has {len(known)} rates for {len(found.names)} annotators")
        return found


_RATES: Any = {"at_least": 0, "below": 1.000001}
_TRANSFORMER = OneOf(
    kernel=(
        LandmarkKernel,
        _Kernel(
            LandmarkKernel,
            landmarks=Rows("columns"),
            gamma=Scalar(Real(above=0)),
            factor=Numbers("columns", "columns"),
        ),
    ),
    rows=(Normalizer, _ByLength()),
)
FITTED: Kinds = {
    "alpha_": Scalar(Real(above=0)),
    "cardinality_": Scalar(None, Real(above=0)),
    "mean_cardinality_": Scalar(Real(at_least=0)),
    "kernel_": Scalar("linear", "rbf"),
    "scaling_": IfAny(Scalar(*SCALINGS)),
    "gamma_": IfAny(Scalar(Real(above=0))),
    "rank_": IfAny(Scalar(Integer(at_least=1))),
    "label_frequencies_": IfAny(Numbers("K", at_least=0)),
    "label_frequencies_errors_": IfAny(Numbers("K", at_least=0)),
    "label_frequencies_covariance_": IfAny(Numbers("K", "K")),
    "cv_results_": IfAny(Table()),
    "cardinality_curve_": IfAny(Table()),
    "n_iter_": Scalar(Integer(at_least=0)),
    "model_": OneOf(
        linear=(LinearMap, linear_map_kind()),
        mapped=(
            MappedLinear,
            Record(MappedLinear, transformer=_TRANSFORMER, linear=linear_map_kind("columns")),
        ),
    ),
    "_annotators": _People(
        Annotators,
        names=Texts(),
        propensities=OrNone(Numbers("K", at_least=0)),
        error_rates=OrNone(Numbers("annotators", **_RATES)),
        error_rate=Scalar(Real(at_least=0, at_most=1)),
        exclusion_rates=OrNone(Numbers("K", **_RATES)),
    ),
}


def kept_rows_of(model: LinearMap | MappedLinear) -> Features | None:
    """Return the training rows that approximate the kernel; None if there is no kernel."""
    if isinstance(model, MappedLinear) and isinstance(model.transformer, LandmarkKernel):
        return model.transformer.landmarks
    return None
