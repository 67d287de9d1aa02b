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
from complabel.studies._draw import Draw
from complabel.studies._own_tables import OwnTables
from complabel.studies._plan import Plan
from complabel.studies._rows import Row

# The tables of a plan: what one of them is called, its keys, and the key that tells them apart.
_TABLES: dict[str, tuple[str, type[BaseModel], str]] = {
    "draws": ("draw", Draw, "name"),
    "rows": ("row", Row, "method"),
}
# What people write for a key, where the spelling does not tell which one they mean.
_MEANT = {
    "n_labels": "labels_per_row",
    "n_per_row": "labels_per_row",
    "parameters": "settings",
    "params": "settings",
    "methods": "rows",
    "n_answers": "answers_per_item",
    "error_rate": "mistakes",
    "menu": "question",
    "propensities": "propensity_sd",
    "random_state": "seed",
    "heading": "title",
    "n_audit": "audit",
    "audit_answers": "audit",
    "frequencies": "label_frequencies",
    "matched": "match_frequencies",
}


def read_plan(plan: str | Path) -> Plan:
    """Read a plan from a TOML file, or take one that comes with the package.

    Parameters
    ----------
    plan : str or path
        One of :data:`complabel.paper.PLANS`, or the path of a file.

    Returns
    -------
    Plan
        The files of datasets of one's own are absolute paths; in the file they may be relative
        to its folder.

    Raises
    ------
    PlanError
        If there is no such plan; if the file cannot be read, is no TOML, or is no plan: then the
        message names line or key.

    Examples
    --------
    >>> read_plan("table5").published
    'table5'
    """
    path = Path(plan)
    # A name without an ending is no file's, unless there is one.
    if str(plan) in PLANS or not (path.suffix or path.exists()):
        return _parse(_shipped_text(str(plan)), source=str(plan))
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"{path} cannot be read: {error}") from error
    found = _parse(text, source=str(path))
    folder = path.absolute().parent
    files = {name: _within(folder, file) for name, file in found.files.items()}
    return found.model_copy(update={"files": files})


def _within(folder: Path, file: str | list[str] | OwnTables) -> str | list[str] | OwnTables:
    """Take a relative path as one from the plan's folder."""
    if isinstance(file, OwnTables):
        return file.within(folder)
    return str(folder / file) if isinstance(file, str) else [str(folder / one) for one in file]


def make_plan(data: Any, *, source: str = "") -> Plan:
    """Check what is to be a plan; without a ``source``, problems are said without their places."""
    try:
        return Plan.model_validate(data)
    except ValidationError as error:
        if not source:
            said = [_complaint(problem, data) for problem in error.errors()]
            raise PlanError("; ".join(said)) from error
        problems = [f"  {problem}" for problem in plan_problems(error, data)]
        raise PlanError("\n".join([f"{source} is no plan that can run:", *problems])) from error


def make_draw(settings: Draw | Mapping[str, Any]) -> Draw:
    """Check what is to be a draw; one without a name is called by its settings."""
    if isinstance(settings, Draw):
        return settings
    data = {"name": "draw", **settings}
    try:
        draw = Draw.model_validate(data)
    except ValidationError as error:
        plan = {"draws": [data]}
        said = []
        for problem in error.errors():
            key = ".".join(map(str, problem["loc"]))
            problem["loc"] = ("draws", 0, *problem["loc"])
            said.append(f"{key}: {_complaint(problem, plan)}".removeprefix(": "))
        raise PlanError("; ".join(said)) from error
    return draw if "name" in settings else draw.model_copy(update={"name": draw.short_title})


def _shipped_text(name: str) -> str:
    """Return a plan that comes with the package; say which there are if there is none."""
    if name not in PLANS:
        nearest = get_close_matches(name, PLANS, n=1)
        hint = f"did you mean {nearest[0]!r}? " if nearest else ""
        raise PlanError(
            f"there is no plan {name!r}; {hint}Known are {', '.join(PLANS)}, or the path of"
            " a TOML file"
        )
    return plan_text(name)


def _parse(text: str, *, source: str) -> Plan:
    """Read TOML and check it."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{source} is not valid TOML: {error}") from error
    return make_plan(data, source=source)


def plan_problems(error: ValidationError, data: Any) -> list[str]:
    """Write what is wrong with what was to be a plan: a line for each problem, with its place."""
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
    named = [part for part in location if part != "[key]"]  # pydantic's mark of a mapping's key
    keys = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in named]
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
