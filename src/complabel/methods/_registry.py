"""The registry of methods: finds them by the names that commands, studies and reports use.

It names classes by their places, so that a name can be looked up before any class is imported.
"""

from __future__ import annotations

import ast
import inspect
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib import metadata
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, cast

from complabel._lazy import Tables
from complabel.errors import InputError
from complabel.methods._places import LEARNS, PLACES, TABLE, Grid

if TYPE_CHECKING:
    from complabel.methods._base import ComplementaryClassifier

ENTRY_POINTS = "complabel.methods"
"""The group of entry points in which other installed packages offer their methods."""

# NAME:key=value,key=value; a value in brackets may hold commas.
_WITH_SETTINGS = re.compile(r"(?P<base>.+?):(?P<settings>\w+=.*)")


@dataclass(frozen=True)
class Method:
    """One method of the registry."""

    name: str  # that was asked for: "lift" or, with settings, "lift:solver=libsvm"
    title: str  # the name in tables
    place: str  # "package.module:Class", which is imported when it is first used
    # The values that ``tune`` searches by default. Of equally good settings the first one is
    # chosen, so values of stronger regularization come first.
    grid: Grid = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)  # that the name fixes
    # "complementary", labels that do not apply; "answers", these and all other answers; or
    # "relevant", the true labels, for a reference.
    learns: str = "complementary"

    @property
    def classifier(self) -> type[ComplementaryClassifier]:
        """The class, derived from :class:`ComplementaryClassifier`."""
        return cast("type[ComplementaryClassifier]", resolve_name(self.place))

    @property
    def base(self) -> str:
        """The name without the settings."""
        return _WITH_SETTINGS.sub(r"\g<base>", self.name)

    @property
    def learns_from(self) -> str:
        """``"complementary"``, or ``"relevant"`` for a reference."""
        return "relevant" if self.learns == "relevant" else "complementary"


def methods_of(
    table: Mapping[str, tuple[str, str, Grid]], places: Mapping[str, str], learns: Mapping[str, str]
) -> dict[str, Method]:
    """Return the methods of a table, by name; nothing of them is imported."""
    return {
        name: Method(name, title, places[name], grid, learns=learns.get(name, "complementary"))
        for name, (title, _, grid) in table.items()
    }


METHODS: Mapping[str, Method] = Tables(
    methods_of(TABLE, PLACES, LEARNS), "complabel.experiments.methods:METHODS"
)
"""All methods by name, in the order tables list them; last, those that are only compared with."""

_BETWEEN_SETTINGS = re.compile(r",(?=\w+=)")
_CONSTANTS = {"true": True, "false": False, "none": None, "inf": math.inf}


def get_method(name: str) -> Method:
    """Find a method by its name.

    Parameters
    ----------
    name : str
        A key of :data:`METHODS`; the name of an entry point in the group ``complabel.methods``; or
        ``"package.module:Class"``, your own :class:`ComplementaryClassifier`. Settings may follow:
        ``"pml-lrs:fit_intercept=false,eta=0.1"``.

    Returns
    -------
    Method

    Raises
    ------
    InputError
        If there is no such method, or it has no such parameter.

    Examples
    --------
    >>> get_method("lift:solver=libsvm").title
    'LIFT (solver = libsvm)'
    """
    parts = _WITH_SETTINGS.fullmatch(name)
    if parts is None:
        return METHODS[name] if name in METHODS else _of_somebody(name)
    pairs = (each.partition("=") for each in _BETWEEN_SETTINGS.split(parts["settings"]))
    settings = {key: literal(value) for key, _, value in pairs}
    return _with_settings(get_method(parts["base"]), name, settings)


def make_classifier(name: str, **parameters: Any) -> ComplementaryClassifier:
    """Make a classifier by the name of its method.

    Parameters
    ----------
    name : str
        As for :func:`get_method`.
    **parameters
        They override settings in the name.

    Returns
    -------
    ComplementaryClassifier

    Raises
    ------
    InputError
        If there is no such method, or it has no such parameter.

    Examples
    --------
    >>> make_classifier("mlcl:beta=0.5").beta
    0.5
    """
    method = get_method(name)
    for parameter in parameters:
        check_parameter(method, parameter)
    return method.classifier(**{**method.settings, **parameters})


def check_parameter(method: Method, name: str) -> None:
    """Refuse a parameter that a method does not have, and suggest the nearest name."""
    known = inspect.signature(method.classifier).parameters
    if name in known:
        return
    nearest = get_close_matches(name, known, n=1)
    has = f"it has {', '.join(known)}" if known else "it has none"
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    raise InputError(f"{method.base} has no parameter {name!r}; {hint}{has}")


def home_of(cls: type) -> str:
    """Return where a class is imported from: the room that exports it, or a module of others."""
    building, inside, _ = cls.__module__.partition(".methods.")
    ours = inside and building in ("complabel", "complabel.experiments")
    return f"{building}.methods" if ours else cls.__module__


def literal(text: str) -> Any:
    """Return the value of a text: a Python literal, true, false, none or inf; else the text."""
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _with_settings(method: Method, name: str, settings: Mapping[str, Any]) -> Method:
    for parameter in settings:
        check_parameter(method, parameter)
    words = ", ".join(f"{key} = {value}" for key, value in settings.items())
    return replace(
        method,
        name=name,
        title=f"{method.title.partition(' (')[0]} ({words})",
        grid={key: values for key, values in method.grid.items() if key not in settings},
        settings={**method.settings, **settings},
    )


def _of_somebody(name: str) -> Method:
    """Return a method of another package: by its entry point, or by module and class."""
    offered = {entry.name: entry for entry in metadata.entry_points(group=ENTRY_POINTS)}
    if name not in offered and ":" not in name:
        known = (*METHODS, *offered)
        nearest = get_close_matches(name, known, n=1)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        raise InputError(
            f"there is no method {name!r}.{hint} Known are: {', '.join(known)}; a class of your"
            " own is named package.module:Class"
        )
    entry = offered.get(name)
    place = name if entry is None else f"{entry.module}:{entry.attr}"
    try:
        loaded = resolve_name(place)
    except Exception as error:
        raise InputError(
            f"the method {name!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    from complabel.methods._base import ComplementaryClassifier  # takes a while

    if not (isinstance(loaded, type) and issubclass(loaded, ComplementaryClassifier)):
        raise InputError(
            f"the method {name!r} is {loaded!r}; it must be a class that derives from"
            " complabel.methods.ComplementaryClassifier"
        )
    answers = loaded.understands_answers and loaded.learns_from == "complementary"
    learns = "answers" if answers else loaded.learns_from
    return Method(name, loaded.__name__, place, learns=learns)
