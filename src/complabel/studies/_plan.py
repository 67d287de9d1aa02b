"""What a study runs: a TOML file, checked key by key."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from complabel.datasets import CATALOG, EMBEDDED
from complabel.errors import PlanError
from complabel.methods import METHODS, get_method, make_classifier

PAPER_TABLES = ("table2", "table3", "table4", "table5", "table6")
"""The paper's tables of results, each a plan that comes with the package."""

SHIPPED_PLANS = (*PAPER_TABLES, "more-labels", "some-relevant")
"""All plans that come with the package: besides the paper's tables, what more labels bring."""

ALL_METHODS = "*"
"""In place of a method's name: a row for each."""

_PLANS = resources.files("complabel.studies") / "plans"
_QUICK_FOLDS = 3
_QUICK_DATASETS = 2

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class _Checked(BaseModel):
    """A part of a plan: no unknown keys, never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Draw(_Checked):
    """How complementary labels are drawn; see :func:`complabel.annotations.draw_complementary`.

    Parameters
    ----------
    name : str
    scheme : {"uniform", "biased"}, default="uniform"
    labels_per_row : int, default=1
        Complementary labels of each instance.
    sharpness : float, default=1.0
        Of ``"biased"``.
    """

    name: Name
    scheme: Literal["uniform", "biased"] = "uniform"
    labels_per_row: Annotated[int, Field(ge=1)] = 1
    sharpness: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0


class Row(_Checked):
    """A row of the study's tables: a method with its settings.

    Parameters
    ----------
    method : str
        A key of :data:`complabel.methods.METHODS`, or ``"*"`` for a row for each of them.
    leave_out : list of str, default=[]
        Methods that ``"*"`` does not stand for.
    title : str, default=""
        What tables call it; may name settings, as in ``"beta = {beta}"``. Where empty, the
        method's own title and the values from the grid.
    published : str, default=""
        What the published table calls it, likewise; where empty, the method's name there.
    settings : dict, default={}
        Parameters of the classifier, above those the registry has for a dataset.
    none : list of str, default=[]
        Parameters to set to ``None``, which TOML cannot write.
    grid : dict of str to list, default={}
        Values to cross: one row for each combination.
    relevant_per_row : int, default=0
        Known relevant labels of each training instance, drawn uniformly.
    relevant_share : float, default=0.0
        Share of all relevant labels of training instances that are known besides.
    """

    method: str
    leave_out: list[str] = []
    title: str = ""
    published: str = ""
    settings: dict[str, Any] = {}
    none: list[str] = []
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = {}
    relevant_per_row: Annotated[int, Field(ge=0)] = 0
    relevant_share: Annotated[float, Field(ge=0, le=1)] = 0.0

    @model_validator(mode="after")
    def _can_be_made(self) -> Self:
        """Refuse methods and parameters that do not exist, before anything runs."""
        for name in (*self.leave_out, *self.methods()):
            get_method(name)
        for method, settings in itertools.product(self.methods(), self.combinations()):
            try:
                make_classifier(method, **settings)
                self.title.format(**settings), self.published.format(**settings)
            except TypeError as error:
                raise ValueError(f"{method}: {error}") from error
            except (LookupError, ValueError) as error:
                raise ValueError(f"title or published names no setting: {error}") from error
        return self

    def methods(self) -> list[str]:
        """Return the methods that the row stands for."""
        if self.method != ALL_METHODS:
            return [self.method]
        return [name for name in METHODS if name not in self.leave_out]

    def combinations(self) -> list[dict[str, Any]]:
        """Return the settings of each combination of the grid."""
        fixed = {**self.settings, **dict.fromkeys(self.none)}
        crossed = itertools.product(*self.grid.values())
        return [{**fixed, **dict(zip(self.grid, values, strict=True))} for values in crossed]


class Plan(_Checked):
    """Datasets, draws and rows to cross, fold by fold.

    Parameters
    ----------
    name : str
        What the study is called in the store.
    title : str
        Heading of the report.
    description : str, default=""
        What the report says first.
    datasets : list of str
        Keys of :data:`complabel.datasets.CATALOG`, ``"digits"`` or ``"synthetic"``.
    draws : list of Draw
    rows : list of Row
    folds : int, default=10
    seed : int, default=0
        Of the draws, the folds and the classifiers.
    published : {"", "table2", "table3", "table4", "table5", "table6"}, default=""
        The paper's table to hold the figures against.
    reference : str, default=""
        Title of the row that the others are tested against; the first one where empty.

    Raises
    ------
    PlanError
        If a key is unknown, missing or has a value that cannot be; the message names it.
    """

    name: Name
    title: str
    description: str = ""
    datasets: Annotated[list[str], Field(min_length=1)]
    draws: Annotated[list[Draw], Field(min_length=1)] = [Draw(name="uniform")]
    rows: Annotated[list[Row], Field(min_length=1)]
    folds: Annotated[int, Field(ge=2)] = 10
    seed: Annotated[int, Field(ge=0)] = 0
    published: Literal["", "table2", "table3", "table4", "table5", "table6"] = ""
    reference: str = ""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        """Refuse datasets that do not exist, and names that stand for two things."""
        for dataset in self.datasets:
            if dataset not in (*CATALOG, *EMBEDDED):
                known = ", ".join((*CATALOG, *EMBEDDED))
                raise ValueError(f"there is no dataset {dataset!r}; known are {known}")
        titles = [row.title for row in self.expanded_rows()]
        for what, names in (
            ("dataset", self.datasets),
            ("draw", [draw.name for draw in self.draws]),
            ("row", titles),
        ):
            repeated = {name for name in names if names.count(name) > 1}
            if repeated:
                raise ValueError(f"there are two {what}s called {min(repeated)!r}; rename one")
        if self.reference and self.reference not in titles:
            raise ValueError(
                f"reference is {self.reference!r}, but the rows are {', '.join(titles)}"
            )
        return self

    def expanded_rows(self) -> list[ExpandedRow]:
        """Return the rows of the tables, each combination of a grid one of its own."""
        return [
            ExpandedRow(
                title=_title(row, method, settings),
                published=row.published.format(**settings),
                method=method,
                settings=settings,
                relevant_per_row=row.relevant_per_row,
                relevant_share=row.relevant_share,
            )
            for row in self.rows
            for method in row.methods()
            for settings in row.combinations()
        ]

    def quick(self, datasets: Sequence[str]) -> Plan:
        """Return a small version that shows whether everything runs.

        Parameters
        ----------
        datasets : sequence of str
            Those at hand; the first two of the plan among them are used.

        Returns
        -------
        Plan
            Three folds, named ``...-quick``.
        """
        some = [name for name in self.datasets if name in datasets][:_QUICK_DATASETS]
        return self.model_copy(
            update={
                "name": f"{self.name}-quick",
                "title": f"{self.title} (quick: {_QUICK_FOLDS} folds)",
                "datasets": some or self.datasets[:_QUICK_DATASETS],
                "folds": _QUICK_FOLDS,
            }
        )


@dataclass(frozen=True)
class ExpandedRow:
    """A row of the tables with one combination of settings.

    Parameters
    ----------
    title, published, method : str
    settings : dict of str to object
    relevant_per_row : int
    relevant_share : float
    """

    title: str
    published: str
    method: str
    settings: dict[str, Any]
    relevant_per_row: int = 0
    relevant_share: float = 0.0


def _title(row: Row, method: str, settings: dict[str, Any]) -> str:
    """Return what tables call a combination of settings."""
    if row.title:
        return row.title.format(**settings)
    varied = [f"{name} = {settings[name]}" for name in row.grid]
    return ", ".join([get_method(method).title, *varied])


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
        One of :data:`SHIPPED_PLANS`.

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
    if name not in SHIPPED_PLANS:
        raise PlanError(f"there is no plan {name!r}; known are {', '.join(SHIPPED_PLANS)}")
    file = _PLANS / f"{name}.toml"
    return _parse(file.read_text(encoding="utf-8"), source=name)


def _parse(text: str, *, source: str) -> Plan:
    """Check a plan's text; ``source`` is what messages call it."""
    try:
        return Plan.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{source} is not valid TOML: {error}") from error
    except ValidationError as error:
        problems = [f"  {_place(e['loc'])}: {_complaint(e)}" for e in error.errors()]
        raise PlanError("\n".join([f"{source} is no plan that can run:", *problems])) from error


def _complaint(problem: ErrorDetails) -> str:
    """Write what is wrong with a key."""
    if problem["type"] == "extra_forbidden":
        return "there is no such key"
    return problem["msg"].removeprefix("Value error, ")


def _place(location: tuple[int | str, ...]) -> str:
    """Write where in a plan something is, as in ``rows[2].settings``."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).lstrip(".") or "the plan"
