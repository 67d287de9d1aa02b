"""Plans from files and from the arguments of commands, and messages about mistakes in them."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from complabel.errors import PlanError
from complabel.experiments.datasets import dataset_entries
from complabel.experiments.paper import PLANS, plan_text
from complabel.experiments.studies._draw import Draw, Labels
from complabel.experiments.studies._plan import OwnData, Plan, Row
from complabel.methods import get_method

_PARTS: dict[str, type[BaseModel]] = {"draws": Draw, "rows": Row, "files": OwnData}
# The paper's comparison of methods under each scheme; reports show its figures beside ours.
_COMPARISONS: dict[Labels, str] = {"uniform": "table2", "biased": "table3"}
_NAME_LENGTH = 60  # a study's name also names a folder
_DIGITS = 8  # of a checksum: enough to tell the searches and benchmarks of one store apart


def read_plan(plan: str | Path) -> Plan:
    """Read a plan from a TOML file, or one that comes with the package.

    Parameters
    ----------
    plan : str or path
        One of :data:`complabel.experiments.paper.PLANS`, or the path of a file.

    Returns
    -------
    Plan
        Paths of your own datasets, relative to the file's folder there, are absolute here.

    Raises
    ------
    PlanError
        If the file cannot be read, or is no valid plan; the message names the line or the key.

    Examples
    --------
    >>> read_plan("table5").published
    'table5'
    """
    path = Path(plan)
    if str(plan) in PLANS:
        return make_plan(tomllib.loads(plan_text(str(plan))), source=str(plan))
    # A name without an ending is taken for a plan of the package, unless such a file exists.
    if not (path.suffix or path.exists()):
        nearest = get_close_matches(str(plan), PLANS, n=1)
        hint = f"did you mean {nearest[0]!r}? " if nearest else ""
        raise PlanError(
            f"there is no plan {str(plan)!r}; {hint}Give the path of a TOML file, or one of"
            f" {', '.join(PLANS)}"
        )
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise PlanError(f"{path} cannot be read as TOML: {error}") from error
    read = make_plan(data, source=str(path))
    folder = path.absolute().parent
    files = {name: own.within(folder) for name, own in read.files.items()}
    return read.model_copy(update={"files": files})


def benchmark_plan(
    datasets: Sequence[str | Mapping[str, Any]],
    methods: Sequence[str],
    *,
    scheme: Labels | None = None,
    draw: Draw | Mapping[str, Any] | None = None,
    match_frequencies: bool = False,
    n_folds: int = 10,
    seed: int = 0,
) -> Plan:
    """Return the plan that compares methods on datasets, each with the paper's settings.

    Parameters
    ----------
    datasets : sequence of str or mapping
        Names in the catalog, or paths of your own files; see
        :func:`~complabel.experiments.datasets.load_file`. ``"mine-train.arff"`` and
        ``"mine-test.arff"`` together are one dataset; an XML file names the labels of the ARFF
        file before it. A mapping names your own tables, as
        :func:`~complabel.experiments.datasets.load_tables` takes them:
        ``{"features": "X.csv", "answers": "answers.csv", "truth": "truth.csv"}``. With answers,
        methods are also scored on held-out answers; without truth, on nothing else.
    methods : sequence of str
        As for :func:`complabel.methods.get_method`.
    scheme : {"uniform", "biased", "own"} or None, default=None
        How complementary labels are drawn; a short form of ``draw={"scheme": scheme}``. The
        default is "own" if there are tables with answers, else "uniform".
    draw : Draw or mapping, optional
        The parameters of :class:`Draw`, such as ``{"labels": "released", "scheme": "biased"}``.
        Without a name, it is named after its settings.
    match_frequencies : bool, default=False
        Match each method's scores to the label frequencies, estimated from answers to random
        questions. Methods that learn from true labels stay unchanged.
    n_folds : int, default=10
    seed : int, default=0
        Seed of the label draw, the folds and the methods.

    Returns
    -------
    Plan
        Its name depends on the arguments, so the same arguments continue the same study.

    Raises
    ------
    PlanError
        If a method or parameter does not exist, or a draw is not possible.
    DatasetNotFoundError, InputError
        If a dataset does not exist, or a file of yours has the name of a catalog dataset.

    Examples
    --------
    >>> plan = benchmark_plan(["synthetic"], ["prior", "mlcl"])
    >>> [row.title for row in plan.expanded_rows()]
    ['Prior', 'MLCL']
    >>> benchmark_plan(["synthetic"], ["prior"], draw={"question": "menu-2"}).draws[0].name
    'menu-2'
    """
    entries = dataset_entries(datasets)
    tables = [entry for entry in entries if isinstance(entry, dict) and "features" in entry]
    answered = any(entry.get("answers") for entry in tables)
    asked = draw_of_command(scheme, draw, answered=answered)
    return plan_of_command(
        "benchmark",
        title=f"Methods compared, {asked.title_with(answers=answered)}",
        datasets=entries,
        draws=[asked],
        rows=[row_of_command(name, match=match_frequencies) for name in dict.fromkeys(methods)],
        folds=n_folds,
        seed=seed,
        criteria=len(tables) < len(entries) or any(entry.get("truth") for entry in tables),
        score=answered,
        published=_COMPARISONS.get(asked.scheme, "") if asked.is_published else "",
    )


def draw_of_command(
    scheme: Labels | None, draw: Draw | Mapping[str, Any] | None, *, answered: bool
) -> Draw:
    """Return the draw of a command's arguments; with people's answers, the scheme is "own"."""
    if draw is None:
        return _make_draw({"scheme": scheme or ("own" if answered else "uniform")})
    if scheme not in (None, "uniform"):
        raise PlanError(
            f"scheme is {scheme!r}, but a draw is given, too; put the scheme into the draw"
        )
    if isinstance(draw, Draw):
        return draw
    if answered and not {"scheme", "labels"} & draw.keys():
        draw = {"scheme": "own", **draw}
    return _make_draw(draw)


def row_of_command(method: str, *, match: bool) -> dict[str, Any]:
    """Return the row of a method, matched unless the method learns from true labels."""
    if match and get_method(method).learns_from != "relevant":
        return {"method": method, "match_frequencies": True}
    return {"method": method}


def plan_of_command(command: str, **fields: Any) -> Plan:
    """Make a plan from a command's arguments; a checksum of them is part of its name."""
    plan = make_plan({**fields, "name": command})
    digest = hashlib.sha256(plan.model_dump_json().encode()).hexdigest()[:_DIGITS]
    words = "-".join([command, *plan.datasets])[:_NAME_LENGTH]
    return plan.model_copy(update={"name": f"{words}-{digest}"})


def make_plan(data: Any, *, source: str = "") -> Plan:
    """Check data and make a plan; with a ``source``, messages name the place in it."""
    try:
        return Plan.model_validate(data)
    except ValidationError as error:
        problems = [_problem(each, with_place=bool(source)) for each in error.errors()]
        if not source:
            raise PlanError("; ".join(problems)) from error
        raise PlanError("\n  ".join([f"{source} is no valid plan:", *problems])) from error


def _make_draw(settings: Mapping[str, Any]) -> Draw:
    """Check settings and make a draw; without a name, it is named after its settings."""
    try:
        draw = Draw.model_validate({"name": "draw", **settings})
    except ValidationError as error:
        problems = [_problem(each, part="draws") for each in error.errors()]
        raise PlanError("; ".join(x.removeprefix("the plan: ") for x in problems)) from error
    return draw if "name" in settings else draw.model_copy(update={"name": draw.short_title})


def _problem(problem: ErrorDetails, *, part: str = "", with_place: bool = True) -> str:
    """Return what is wrong in words, and where, as in ``row 3, settings``."""
    where, message = [*problem["loc"]], problem["msg"].removeprefix("Value error, ")
    model = _PARTS.get(part or str(where[0]), Plan) if part or len(where) > 1 else Plan
    if problem["type"] == "extra_forbidden":
        message = f"there is no such key; known are {', '.join(model.model_fields)}"
    if len(where) > 1 and where[0] in ("rows", "draws"):
        where[:2] = [f"{str(where[0]).removesuffix('s')} {int(where[1]) + 1}"]
    place = ", ".join(map(str, where)) or "the plan"
    return f"{place}: {message}" if with_place else message
