"""Reading plans from files, and saying what is wrong with one."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from complabel.errors import PlanError
from complabel.methods import METHODS
from complabel.paper import PLANS, plan_text
from complabel.studies._plan import Draw, Plan, Row

# The tables of a plan: what one of them is called, its keys, and the key that tells them apart.
_TABLES: dict[str, tuple[str, type[BaseModel], str]] = {
    "draws": ("draw", Draw, "name"),
    "rows": ("row", Row, "method"),
}
# What people write for a key, where the spelling does not tell which one they mean.
_MEANT = {
    "labels": "scheme",
    "n_labels": "labels_per_row",
    "n_per_row": "labels_per_row",
    "parameters": "settings",
    "params": "settings",
    "methods": "rows",
    "random_state": "seed",
    "heading": "title",
}


def read_plan(path: str | Path) -> Plan:
    """Read a plan from a TOML file.

    Parameters
    ----------
    path : path

    Returns
    -------
    Plan

    Raises
    ------
    PlanError
        If the file cannot be read, is no TOML, or is no plan; the message names line or key.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"{path} cannot be read: {error}") from error
    return _parse(text, source=str(path))


def shipped_plan(name: str) -> Plan:
    """Return a plan that comes with the package.

    Parameters
    ----------
    name : str
        One of :data:`complabel.paper.PLANS`.

    Returns
    -------
    Plan

    Raises
    ------
    PlanError
        If there is none.

    Examples
    --------
    >>> shipped_plan("table5").published
    'table5'
    """
    if name not in PLANS:
        nearest = get_close_matches(name, PLANS, n=1)
        hint = f"did you mean {nearest[0]!r}? " if nearest else ""
        raise PlanError(
            f"there is no plan {name!r}; {hint}Known are {', '.join(PLANS)}, or the path of"
            " a TOML file"
        )
    return _parse(plan_text(name), source=name)


def _parse(text: str, *, source: str) -> Plan:
    """Check a plan's text; ``source`` is what messages call it."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{source} is not valid TOML: {error}") from error
    try:
        return Plan.model_validate(data)
    except ValidationError as error:
        problems = [f"  {problem}" for problem in plan_problems(error, data)]
        raise PlanError("\n".join([f"{source} is no plan that can run:", *problems])) from error


def plan_problems(error: ValidationError, data: Any) -> list[str]:
    """Write what is wrong with a plan: a line for each problem, with its place.

    Parameters
    ----------
    error : pydantic.ValidationError
        What pydantic says of the plan.
    data : object
        What was to be a plan.

    Returns
    -------
    list of str
    """
    return [f"{_place(e['loc'], data)}: {_complaint(e, data)}" for e in error.errors()]


def _complaint(problem: ErrorDetails, data: Any) -> str:
    """Write what is wrong with a key."""
    *parents, key = problem["loc"] or ("",)
    what, model, _ = _TABLES.get(str(parents[0]) if parents else "", ("plan", Plan, ""))
    match problem["type"]:
        case "missing":
            return f"this key is missing, and every {what} needs it"
        case "string_pattern_mismatch":
            return (
                "a name consists of letters, digits, '.', '_' and '-', and begins with a letter"
                " or digit"
            )
        case "extra_forbidden":
            method = METHODS.get(_named(data, parents))
            if model is Row and method and key in inspect.signature(method.classifier).parameters:
                return (
                    f"this is a setting of the method; settings go under settings, as in"
                    f" settings = {{ {key} = ... }}"
                )
            return f"there is no such key; {_meant(str(key), model)}"
    return problem["msg"].removeprefix("Value error, ")


def _meant(key: str, model: type[BaseModel]) -> str:
    """Suggest the key that somebody may have meant, or name them all."""
    if _MEANT.get(key) in model.model_fields:
        return f"did you mean {_MEANT[key]!r}?"
    nearest = get_close_matches(key, model.model_fields, n=1)
    known = ", ".join(model.model_fields)
    return f"did you mean {nearest[0]!r}?" if nearest else f"known are {known}"


def _place(location: tuple[int | str, ...], data: Any) -> str:
    """Write where in a plan something is, as in ``row 3 (mlcl), settings``."""
    parts = []
    if len(location) > 1 and location[0] in _TABLES:
        (what, *_), position = _TABLES[str(location[0])], location[1]
        name = _named(data, location[:2])
        parts = [f"{what} {int(position) + 1}" + (f" ({name})" if name else "")]
        location = location[2:]
    keys = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in location]
    written = "".join(keys).lstrip(".")
    return ", ".join([*parts, written] if written else parts) or "the plan"


def _named(data: Any, location: Sequence[int | str]) -> str:
    """Return what tells a draw or a row of a plan apart, empty where it does not say."""
    if len(location) != 2 or location[0] not in _TABLES:
        return ""
    *_, key = _TABLES[str(location[0])]
    entry = data[location[0]][location[1]]
    name = entry.get(key, "") if isinstance(entry, Mapping) else ""
    return name if isinstance(name, str) else ""
