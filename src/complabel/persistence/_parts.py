"""A classifier as plain values and arrays, and back."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel._parameters import Integer
from complabel.persistence._compound import Plain
from complabel.persistence._kinds import Context, Kind, Kinds, Scalar, refuse_other_names
from complabel.persistence._refused import RefusedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

PARTS = ("method", "parameters", "labels", "features", "state")
_SIZE = Scalar(Integer(at_least=1))


class Unfitted(Kind):
    """An unfitted model: its class and its parameters."""

    def plain(self, value: Any, context: Context) -> Any:
        """Return the name of the class and the parameters."""
        parameters = value.get_params(deep=False)
        kinds = _kinds_of(type(value), "_unusual")
        return {
            "method": _name_of(type(value), context),
            "parameters": {
                name: kinds.get(name, Plain()).plain(given, context)
                for name, given in parameters.items()
            },
        }

    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Make a model of one of the known classes."""
        refuse_other_names(value, place, ("method", "parameters"))
        name = value["method"]
        if not isinstance(name, str) or name not in context.known:
            raise RefusedError(
                f"{place} has the method {name!r:.80}, which this version of complabel does not"
                " have"
            )
        made: Any = resolve_name(context.known[name])
        refuse_other_names(value["parameters"], f"{place}.parameters", made._get_param_names())
        kinds = _kinds_of(made, "_unusual")
        parameters = {
            each: kinds.get(each, Plain()).restored(given, f"{place}.{each}", context)
            for each, given in value["parameters"].items()
        }
        model = made(**parameters)
        try:
            model._check_parameters()
        except Exception as error:  # a changed file may hold values of any type
            raise RefusedError(f"a parameter of {place} is wrong: {error}") from error
        return model


class Fitted(Kind):
    """A fitted model: also its labels, its features and the fitted attributes of its class."""

    def plain(self, value: Any, context: Context) -> Any:
        """Return everything that predictions need."""
        sizes = {"K": len(value.classes_), "d": int(value.n_features_in_)}
        within = Context(context.known, sizes)
        state = {}
        for name, kind in _kinds_of(type(value), "_fitted").items():
            if name in vars(value):
                state[name] = kind.plain(getattr(value, name), within)
            elif not kind.only_some:
                raise RefusedError(f"{type(value).__name__} has no {name}: fit it first")
        names = getattr(value, "feature_names_in_", None)
        return {
            **Unfitted().plain(value, within),
            "labels": {"names": value.classes_, "one_per_row": bool(value._single)},
            "features": {
                "number": sizes["d"],
                "names": None if names is None else [str(each) for each in names],
            },
            "state": state,
        }

    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Make the model and set its fitted attributes."""
        refuse_other_names(value, place, PARTS)
        within = context.nested()
        labels, single = _labels_of(value["labels"])
        d, names = _features_of(value["features"])
        if not within.agrees((len(labels), d), ("K", "d")):
            raise RefusedError(f"{place} has other labels or features than the model around it")
        made = {name: value[name] for name in ("method", "parameters")}
        model = Unfitted().restored(made, place, within)
        model.classes_, model._single, model.n_features_in_ = labels, single, d
        if names is not None:
            model.feature_names_in_ = names
        kinds = _kinds_of(type(model), "_fitted")
        state = value["state"]
        given = state.keys() if isinstance(state, dict) else ()
        refuse_other_names(
            state, f"{place}.state", [at for at in kinds if at in given or not kinds[at].only_some]
        )
        for name, kind in kinds.items():
            if name in state:
                found = kind.restored(state[name], f"{place}.{name}", within)
                setattr(model, name, found)
        model._complete(within.sizes)
        return model


def _name_of(made: type, context: Context) -> str:
    """Return the name of a class in files."""
    place = f"{made.__module__}:{made.__qualname__}"
    for name, known in context.known.items():
        if known == place and resolve_name(known) is made:
            return name
    raise RefusedError(
        f"{made.__module__}.{made.__qualname__} is a class of your own, and loading a file never"
        " imports code. Keep the class in your code and save only what it learned, for example its"
        " arrays with numpy.savez"
    )


def _kinds_of(made: type, name: str) -> Kinds:
    """Return the kinds that a class and its bases declare; a derived class overrides its bases."""
    kinds: dict[str, Kind] = {}
    for base in reversed(made.__mro__):
        kinds |= vars(base).get(name, {})
    return kinds


def _labels_of(value: Any) -> tuple[NDArray[Any], bool]:
    """Return the labels' names (K,), all different, and whether one applies per row."""
    refuse_other_names(value, "labels", ("names", "one_per_row"))
    names, single = value["names"], value["one_per_row"]
    if not hasattr(names, "shape") or len(names.shape) != 1 or not isinstance(single, bool):
        raise RefusedError("labels are not a list of names or numbers")
    if names.dtype.kind not in "biufUO":
        raise RefusedError(f"labels have the type {names.dtype}, not names or numbers")
    found = names if isinstance(names, np.ndarray) else names.read()
    if len(found) < 2 or len({*map(repr, found.tolist())}) < len(found):
        raise RefusedError(
            f"{len(found)} labels are named; there must be at least 2, with different names"
        )
    return found, single


def _features_of(value: Any) -> tuple[int, NDArray[Any] | None]:
    """Return the number of features, and their names or None."""
    refuse_other_names(value, "features", ("number", "names"))
    d, names = (
        _SIZE.restored(value["number"], "the number of features", Context({})),
        value["names"],
    )
    if names is None:
        return d, None
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise RefusedError("the names of features are not a list of names")
    if len(names) != d:
        raise RefusedError(f"{len(names)} features are named, but there are {d}")
    return d, np.array(names, dtype=object)
