"""What a study runs: a TOML file, checked key by key."""

from __future__ import annotations

import inspect
import itertools
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from complabel.datasets import CATALOG, EMBEDDED
from complabel.methods import METHODS, get_method, make_classifier

ALL_METHODS = "*"
"""In place of a method's name: a row for each."""

_QUICK_FOLDS = 3
_QUICK_DATASETS = 2

NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]*"
"""What studies and draws may be called: a study's name becomes that of a folder."""

Name = Annotated[str, Field(pattern=f"^{NAME_PATTERN}$")]


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
            _check_settings(method, settings)
            make_classifier(method, **settings)
            _filled("title", self.title, settings)
            _filled("published", self.published, settings)
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
                published=_filled("published", row.published, settings),
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
        return _filled("title", row.title, settings)
    varied = [f"{name} = {settings[name]}" for name in row.grid]
    return ", ".join([get_method(method).title, *varied])


def _check_settings(method: str, settings: dict[str, Any]) -> None:
    """Refuse a setting that a method does not have."""
    known = inspect.signature(get_method(method).classifier).parameters
    for name in settings:
        if name not in known:
            nearest = get_close_matches(name, known, n=1)
            hint = f"did you mean {nearest[0]!r}?" if nearest else f"it has {', '.join(known)}"
            raise ValueError(f"{method} has no setting {name!r}; {hint}")


def _refuse_formats(text: str) -> None:
    """Refuse more than a name and a short format: a width alone may ask for gigabytes."""
    for _, name, form, conversion in string.Formatter().parse(text):
        wide = "{" in (form or "") or re.search(r"\d{3}", form or "")
        if wide or conversion or not (name is None or name.isidentifier()):
            raise ValueError("only a name may stand in braces, with a format such as ':g'")


def _filled(key: str, text: str, settings: dict[str, Any]) -> str:
    """Return a title with the values of settings in place of their names in braces."""
    try:
        _refuse_formats(text)
        return text.format(**settings)
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        names = ", ".join(settings) or "there are none"
        raise ValueError(
            f"{key} is {text!r}: a name in braces stands for a setting of the row ({names}), as in"
            " 'beta = {beta}'; for a brace itself write two: '{{' or '}}'"
        ) from error
