"""What a study runs: a TOML file, checked key by key."""

from __future__ import annotations

import itertools
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from complabel.datasets import CATALOG, EMBEDDED
from complabel.methods import METHODS, check_parameter, get_method, make_classifier
from complabel.paper import TABLES
from complabel.studies._draw import CHECKED, Draw, Name

ALL_METHODS = "*"
"""In place of a method's name: a row for each."""

_QUICK_FOLDS = 3
_QUICK_DATASETS = 2


def _todays_name(method: str) -> str:
    """Refuse a method that does not exist; return what one of a former name is called today."""
    return method if method == ALL_METHODS else get_method(method).name


MethodName = Annotated[str, AfterValidator(_todays_name)]


def _printed(table: str) -> str:
    """Refuse a table that the paper does not have."""
    if table not in ("", *TABLES):
        raise ValueError(f"the paper's tables of results are {', '.join(TABLES)}, not {table!r}")
    return table


class Row(BaseModel):
    """A row of the study's tables: a method with its settings.

    Parameters
    ----------
    method : str
        As for :func:`complabel.methods.get_method`: a name of the registry, one with settings, or
        a class of one's own as ``"package.module:Class"``. ``"*"`` stands for a row for each
        method of the registry.
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

    model_config = CHECKED

    method: MethodName
    leave_out: list[MethodName] = []
    title: str = ""
    published: str = ""
    settings: dict[str, Any] = {}
    none: list[str] = []
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = {}
    relevant_per_row: Annotated[int, Field(ge=0)] = 0
    relevant_share: Annotated[float, Field(ge=0, le=1)] = 0.0

    @model_validator(mode="after")
    def _can_be_made(self) -> Self:
        """Refuse parameters that do not exist, before anything runs."""
        for method, settings in itertools.product(self.methods(), self.combinations()):
            for name in settings:
                check_parameter(get_method(method), name)
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


class Plan(BaseModel):
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
        Keys of :data:`complabel.datasets.CATALOG`, ``"digits"`` or ``"synthetic"``. A plan may
        also give a file of one's own, as ``{ name = "mine", file = "mine.npz" }``: then ``name``
        is kept here and the file in ``files``.
    draws : list of Draw
    rows : list of Row
    folds : int, default=10
    seed : int, default=0
        Seed of the label draws, the folds and the methods.
    published : {"", "table2", "table3", "table4", "table5", "table6"}, default=""
        The paper's table to hold the figures against.
    reference : str, default=""
        Title of the row that the others are tested against; the first one where empty.
    files : dict of str to str, default={}
        Files of datasets that the catalog does not have; see
        :func:`complabel.datasets.load_file`. A relative path is meant from the plan's folder.
    criteria : bool, default=True
        Measure the criteria of :data:`complabel.metrics.METRIC_NAMES`, on true labels.
    score : bool, default=False
        Measure each method's ``score`` on held-out complementary labels.

    Raises
    ------
    PlanError
        If a key is unknown, missing or has a value that cannot be; the message names it.
    """

    model_config = CHECKED

    name: Name
    title: str
    description: str = ""
    datasets: Annotated[list[str], Field(min_length=1)]
    draws: Annotated[list[Draw], Field(min_length=1)] = [Draw(name="uniform")]
    rows: Annotated[list[Row], Field(min_length=1)]
    folds: Annotated[int, Field(ge=2)] = 10
    seed: Annotated[int, Field(ge=0)] = 0
    published: Annotated[str, AfterValidator(_printed)] = ""
    reference: str = ""
    files: dict[Name, str] = {}
    criteria: bool = True
    score: bool = False

    @model_validator(mode="before")
    @classmethod
    def _take_files_apart(cls, data: Any) -> Any:
        """Keep the name of a dataset of one's own in ``datasets``, and its file in ``files``."""
        given = data.get("datasets") if isinstance(data, Mapping) else None
        if not isinstance(given, list):
            return data
        names, files = [], {}
        for entry in given:
            if isinstance(entry, Mapping):
                if not (entry.keys() == {"name", "file"} and isinstance(entry["name"], str)):
                    raise ValueError(
                        f"{dict(entry)} is no dataset; write a file of your own as"
                        ' { name = "mine", file = "mine.npz" }'
                    )
                files[entry["name"]] = entry["file"]
            names.append(entry["name"] if isinstance(entry, Mapping) else entry)
        if files:
            data = {**data, "files": {**data.get("files", {}), **files}}
        return {**data, "datasets": names}

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        """Refuse datasets that do not exist, and names that stand for two things."""
        known = (*CATALOG, *EMBEDDED)
        for dataset in self.datasets:
            if dataset not in (*known, *self.files):
                raise ValueError(
                    f"there is no dataset {dataset!r}; known are {', '.join(known)}, and a file of"
                    ' your own is written as { name = "mine", file = "mine.npz" }'
                )
            if dataset in known and dataset in self.files:
                raise ValueError(
                    f"the catalog has a dataset {dataset!r}; give your file another name"
                )
        if not (self.criteria or self.score):
            raise ValueError("criteria and score are both false: there is nothing to measure")
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
            Those at hand; the first two of the plan among them, or of one's own, are used.

        Returns
        -------
        Plan
            Three folds, named ``...-quick``.
        """
        at_hand = {*datasets, *self.files}
        some = [name for name in self.datasets if name in at_hand][:_QUICK_DATASETS]
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
