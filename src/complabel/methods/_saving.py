"""Saving and loading of classifiers: what may be in a file, and its check before it is used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np

from complabel import __version__
from complabel._opening import StrPath
from complabel._parameters import declared
from complabel._writing import explained, replacing
from complabel.errors import InputError, ModelFileError
from complabel.methods._model_file import (
    OTHER_VERSION,
    read_parts,
    read_tree,
    sound,
    tree_of,
    write_tree,
)
from complabel.methods._places import PLACES, PREDICTORS

MISSING = object()
"""Declares that only some fits set an attribute."""


class Numbers:
    """An array with named axes and the type ``dtype``; None allows any type."""

    def __init__(self, *axes: str, dtype: type[np.generic] | None = np.float64) -> None:
        self._axes = axes
        self._dtypes: tuple[type[np.generic], ...] = () if dtype is None else (dtype,)

    def check(self, value: Any, place: str, sizes: dict[str, int]) -> None:
        """Refuse another shape or type; keep the lengths of axes that are new."""
        shape: tuple[int, ...] = value.shape
        if len(shape) != len(self._axes) or any(
            sizes.setdefault(axis, n) != n for axis, n in zip(self._axes, shape, strict=True)
        ):
            known = ", ".join(f"{axis} = {sizes[axis]}" for axis in self._axes if axis in sizes)
            raise InputError(f"{place} has shape {shape}, not ({', '.join(self._axes)}): {known}")
        if self._dtypes and value.dtype not in self._dtypes:
            raise InputError(f"{place} holds {value.dtype}, not {np.dtype(self._dtypes[0])}")


class Rows(Numbers):
    """Rows of features, dense or sparse, in float64 or float32."""

    def __init__(self, rows: str) -> None:
        super().__init__(rows, "d")
        self._dtypes = (np.float64, np.float32)


def check_part(value: Any, allowed: Any, place: str, sizes: dict[str, int]) -> None:
    """Refuse arrays of another shape or type, and records of other names, than are declared.

    ``sizes`` holds the lengths of axes. A declaration is :class:`Numbers`, a mapping of names to
    declarations, or a tuple of these. Other declarations are for readers: the digest of a file
    says that its values are those that were written.
    """
    for each in allowed if isinstance(allowed, tuple) else (allowed,):
        if isinstance(each, Numbers) and hasattr(value, "shape"):
            each.check(value, place, sizes)
        elif isinstance(each, Mapping) and isinstance(value, dict):
            check_names(value, place, each)
            for name in value:
                check_part(value[name], each[name], f"{place}.{name}", sizes)


def may_miss(allowed: Any) -> bool:
    """Return whether only some fits set what is declared so."""
    return isinstance(allowed, tuple) and MISSING in allowed


def check_names(value: Mapping[str, Any], place: str, names: Mapping[str, Any]) -> None:
    """Refuse other names than these; those that may be MISSING may miss."""
    needed = {name for name, each in names.items() if not may_miss(each)}
    odd = sorted((value.keys() - names.keys()) | (needed - value.keys()))
    if odd:
        what = "missing from" if odd[0] in names else "unknown in"
        raise InputError(f"{odd[0]!r:.80} is {what} {place}. {OTHER_VERSION}")


def parts_of(model: Any, *, unfitted_for: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Return a classifier's name, parameters and state; without it if ``unfitted_for`` has K, d."""
    made = type(model)
    place = f"{made.__module__}:{made.__qualname__}"
    name = next((name for name, known in PLACES.items() if known == place), None)
    if name is None:
        raise InputError(
            f"{made.__module__}.{made.__qualname__} is a class of your own, and loading a file"
            " never imports code. Keep the class in your code and save only what it learned, for"
            " example its arrays with numpy.savez"
        )
    if unfitted_for is not None:
        return {"method": name, "parameters": model._plain_parameters(unfitted_for)}
    state = model._state()  # first: it knows best why a network cannot be saved
    parameters = model._plain_parameters({"K": len(model.classes_), "d": model.n_features_in_})
    return {"method": name, "parameters": parameters, "state": state}


def model_of(
    parts: Any,
    *,
    fitted: bool = True,
    sizes: Mapping[str, int] | None = None,
    places: Mapping[str, str] = PLACES,
) -> Any:
    """Make a classifier from what ``parts_of`` returned; ``sizes`` holds K and d if known."""
    names = ("method", "parameters", "state") if fitted else ("method", "parameters")
    with sound():
        check_names(parts, "the model", dict.fromkeys(names))
        name, parameters = parts["method"], parts["parameters"]
        if name not in PLACES:
            raise InputError(f"it holds the method {name!r:.80}. {OTHER_VERSION}")
        made: Any = resolve_name(places[name])
        check_names(parameters, "the parameters", dict.fromkeys(made._get_param_names()))
        model = made._from_plain(parameters)
        model._check_parameters()
        if fitted:
            state, known = parts["state"], dict(sizes or {})
            known.setdefault("d", state["n_features_in_"])
            check_part(state, declared(made, "_fitted"), "state", known)
            model._set_state(state, known)
        return model


def save_model(model: Any, path: StrPath, provenance: Mapping[str, Any] | None) -> None:
    """Write a fitted classifier; the file appears after a test that it can be loaded."""
    packages = ("numpy", "scikit-learn", "scipy", "torch")
    versions = {"complabel": __version__, **{name: metadata.version(name) for name in packages}}
    target = Path(path)
    try:
        tree = {**parts_of(model), "provenance": {**versions, "given": dict(provenance or {})}}
        with explained(target), replacing(target) as partial:
            write_tree(partial, tree)
            written = read_tree(partial)
            written.pop("provenance")
            model_of(written)
    except InputError as refusal:
        raise ModelFileError(f"the classifier cannot be saved: {refusal}") from refusal.__cause__


def read_header(path: StrPath) -> dict[str, Any]:
    """Read what a model file says of itself, without making the model.

    That is "method", "parameters", "state" and "provenance", with arrays as their names, and
    "sha256", a digest of all of it. A ModelFileError says that it is no model, or was changed.
    """
    try:
        return read_parts(Path(path))[0]
    except InputError as refusal:
        raise ModelFileError(f"{path} cannot be read: {refusal}") from refusal.__cause__


def read_model(path: StrPath, *, only_predicts: bool = False) -> tuple[Any, dict[str, Any]]:
    """Return the classifier of a file and what ``read_header`` returns, from one reading.

    With ``only_predicts``, it is a ``Predictor`` if there is one that stands for the classifier.
    """
    try:
        header, arrays = read_parts(Path(path))
        tree = tree_of(header, arrays)
        tree.pop("provenance", None)
        return model_of(tree, places=PREDICTORS if only_predicts else PLACES), header
    except InputError as refusal:
        raise ModelFileError(f"{path} cannot be loaded: {refusal}") from refusal.__cause__
