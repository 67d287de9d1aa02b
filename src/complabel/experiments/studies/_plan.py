"""The plan of a study and the rows of its tables, with checks of every key."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    model_validator,
)

from complabel.answers import ContradictionPolicy, Question
from complabel.experiments.datasets import CATALOG, EMBEDDED
from complabel.experiments.studies._draw import CHECKED, Draw, Name, Seconds
from complabel.methods import METHODS, check_parameter, get_method, make_classifier

ALL_METHODS = "*"
"""Instead of a method's name: stands for a row for every method."""


def _todays_name(method: str) -> str:
    return method if method == ALL_METHODS else get_method(method).name


MethodName = Annotated[str, AfterValidator(_todays_name)]


class Row(BaseModel):
    """A row of the study's tables: a method with its settings.

    Parameters
    ----------
    method : str
        As for :func:`complabel.methods.get_method`, also your own class as
        ``"package.module:Class"``. ``"*"`` stands for a row for every method of the registry.
    leave_out : list of str, default=[]
        Methods that ``"*"`` does not stand for.
    title : str, default=""
        Its title in tables; may use settings, as in ``"beta = {beta}"``. If empty, the method's
        own title and the values from the grid.
    published : str, default=""
        Its name in the paper's table, written in the same way. If empty, the method's name there.
    settings : dict, default={}
        Parameters of the classifier. They override those of the registry for a dataset.
    none : list of str, default=[]
        Parameters to set to ``None``, which TOML cannot write.
    grid : dict of str to list, default={}
        Values of parameters; there is one row for each combination.
    relevant_per_row : int, default=0
        Number of known relevant labels of each training instance, drawn uniformly.
    relevant_share : float, default=0.0
        Share of all relevant labels of the training instances that are also known.
    label_frequencies : {"", "true"}, default=""
        "true": the parameter ``label_frequencies`` of the method is the share of the fold's
        training instances to which each label applies. Tables mark such a row, because it does
        not compete. Other values belong into ``settings``.
    match_frequencies : bool, default=False
        Match the method's scores to label frequencies, with
        :class:`complabel.methods.FrequencyMatchedClassifier`: to estimates from the answers, or
        to the true ones if ``label_frequencies`` is "true".
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
    label_frequencies: Literal["", "true"] = ""
    match_frequencies: bool = False

    @model_validator(mode="after")
    def _can_be_made(self) -> Self:
        """Refuse unknown parameters before anything runs."""
        for row in self.expanded():
            for name in row.settings:
                check_parameter(get_method(row.method), name)
            make_classifier(row.method, **row.settings)
            self._refuse_frequencies(row.method, row.settings)
        return self

    def expanded(self) -> Iterator[Row]:
        """Yield the rows of the tables that this row stands for, each without a grid."""
        for method, settings in itertools.product(self.methods(), self.combinations()):
            said = {
                "title": self._title(method, settings),
                "published": _filled("published", self.published, settings),
                "method": method,
                "settings": settings,
            }
            yield self.model_copy(update={**said, "leave_out": [], "none": [], "grid": {}})

    @property
    def learns_from(self) -> str:
        """What the row learns from: ``"complementary"``, ``"relevant"`` or ``"frequencies"``.

        Tables mark rows with the last two, because annotators did not say these things.
        """
        return "frequencies" if self.label_frequencies else get_method(self.method).learns_from

    def has_answers_under(self, draw: Draw) -> bool:
        """Return whether a draw has random questions, or the row matches no estimates from them."""
        estimated = self.match_frequencies and not self.label_frequencies
        return draw.asks_at_random or not estimated

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

    def _title(self, method: str, settings: dict[str, Any]) -> str:
        if self.title:
            return _filled("title", self.title, settings)
        varied = [f"{name} = {settings[name]}" for name in self.grid]
        if self.match_frequencies:
            varied.append(f"matched{' to true' if self.label_frequencies else ''} frequencies")
        elif self.label_frequencies:
            varied.append("true frequencies")
        return ", ".join([get_method(method).title, *varied])

    def _refuse_frequencies(self, method: str, settings: dict[str, Any]) -> None:
        leave_out = f', or write leave_out = ["{method}"]' if self.method == ALL_METHODS else ""
        if self.match_frequencies:
            if get_method(method).learns_from == "relevant":
                raise ValueError(
                    f"{method} learns from true labels, so nothing is to be matched; leave"
                    f" match_frequencies out{leave_out}"
                )
            return
        if not self.label_frequencies:
            return
        if "label_frequencies" not in inspect.signature(get_method(method).classifier).parameters:
            raise ValueError(
                f"{method} has no parameter label_frequencies; add match_frequencies = true, or"
                f" leave label_frequencies out{leave_out}"
            )
        if "label_frequencies" in settings:
            raise ValueError(
                "label_frequencies is given twice, in the row and in its settings; leave one of the"
                " two out"
            )


def _filled(key: str, text: str, settings: dict[str, Any]) -> str:
    """Return a title in which names in braces are replaced by the values of settings."""
    try:
        return text.format(**settings)
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        names = ", ".join(settings) or "there are none"
        raise ValueError(
            f"{key} is {text!r}, which has a mistake in braces: a name in braces must be a setting"
            f" of the row ({names}), as in 'beta = {{beta}}'; for a brace itself write two: '{{{{'"
            " or '}}'"
        ) from error


_FILE = '{ name = "mine", file = "mine.arff" }'
_TABLES = '{ name = "mine", features = "X.csv", answers = "answers.csv", truth = "truth.csv" }'
_QUICK_FOLDS = 3
_QUICK_DATASETS = 2
_PATHS = ("features", "answers", "truth", "items", "label_names")

_File = Annotated[str, Field(min_length=1)]


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


class OwnTables(BaseModel):
    """Paths of features with answers, true labels, or both, as ``load_tables`` takes them."""

    model_config = CHECKED

    features: _File
    answers: Annotated[tuple[_File, ...], BeforeValidator(_several)] = ()
    truth: _File | None = None
    items: _File | None = None
    label_names: _File | None = None
    question: Question | None = None
    contradictions: ContradictionPolicy = "error"

    @model_validator(mode="after")
    def _tells_something(self) -> Self:
        if not (self.answers or self.truth):
            raise ValueError(
                f"{self.features}: features without labels tell nothing; also give answers, truth,"
                " or both"
            )
        return self


OwnFile: TypeAlias = "str | tuple[str, ...] | OwnTables"
"""The files that a plan's dataset is read from; empty for a dataset of the catalog."""


def paths_of(file: str | Sequence[str] | OwnTables) -> tuple[str, ...]:
    if isinstance(file, OwnTables):
        given = (getattr(file, name) or () for name in _PATHS)
        return tuple(path for one in given for path in paths_of(one))
    return ((file,) if file else ()) if isinstance(file, str) else tuple(file)


def within(folder: Path, file: Any) -> Any:
    """Return a path, a sequence of paths or tables with each path taken from a folder."""
    if isinstance(file, str):
        return str(folder / file)
    if isinstance(file, OwnTables):
        paths = {name: path for name in _PATHS if (path := getattr(file, name))}
        return file.model_copy(update={name: within(folder, path) for name, path in paths.items()})
    return type(file)(within(folder, path) for path in file)


def _own(entry: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the name and the files of a user's dataset; refuse a malformed entry."""
    name = entry.get("name")
    with_tables = "features" in entry
    file = entry.get("file")
    if not (isinstance(name, str) and (with_tables or (file and isinstance(file, str | list)))):
        raise ValueError(
            f"{dict(entry)} is no dataset; write a file of your own as {_FILE}, or tables as"
            f" {_TABLES}"
        )
    known = {*OwnTables.model_fields} if with_tables else {"file"}
    if unknown := sorted(entry.keys() - known - {"name"}):
        raise ValueError(
            f"the dataset {name!r} has the unknown key {unknown[0]!r}; write tables of your own as"
            f' {_TABLES}, and several files as a list, as in file = ["mine.arff", "labels.xml"]'
        )
    if not with_tables:
        return name, entry["file"]
    try:
        return name, OwnTables.model_validate({key: entry[key] for key in entry if key != "name"})
    except ValidationError as error:
        first = error.errors()[0]
        place = f"{first['loc'][0]}: " if first["loc"] else ""
        problem = first["msg"].removeprefix("Value error, ")
        raise ValueError(f"the dataset {name!r}, {place}{problem}") from error


class Plan(BaseModel):
    """A study: every row (a method) runs on every dataset, draw and fold.

    Parameters
    ----------
    name : str
        Name of the study in the store.
    title, description : str
        Heading of the report, and the text below it.
    datasets : list of str
        Keys of :data:`complabel.experiments.datasets.CATALOG`, ``"digits"`` or ``"synthetic"``. A
        plan may also give a file of yours, as ``{ name = "mine", file = "mine.arff" }``; several
        files that make one dataset, as ``file = ["mine-train.arff", "mine-test.arff"]``; or tables,
        as ``{ name = "mine", features = "X.csv", answers = "answers.csv", truth = "truth.csv" }``,
        with ``items``, ``label_names``, ``question`` and ``contradictions`` if needed. Then
        ``name`` is kept here, and the files in ``files``.
    draws : list of Draw
    rows : list of Row
    folds : int, default=10
    seed : int, default=0
        Seed of the label draws, the folds and the methods.
    published : {"", "table2", "table3", "table4", "table5", "table6"}, default=""
        The paper's table to compare the figures with.
    reference : str, default=""
        Title of the row that the others are tested against; if empty, the first row.
    files : dict of str to str, list of str or tables, default={}
        Files of datasets that are not in the catalog; see ``load_file`` and ``load_tables`` of
        :mod:`complabel.experiments.datasets`.
    criteria : bool, default=True
        Measure the criteria of :data:`complabel.metrics.METRICS`, on true labels.
    score : bool, default=False
        Measure each method's ``score`` on held-out complementary labels.
    seconds : Seconds, default=Seconds()
        Seconds that annotators need for an answer of each kind; only for reports.

    Raises
    ------
    PlanError
        If a key is unknown or missing, or its value is not allowed; the message names the key.
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
    published: Literal["", "table2", "table3", "table4", "table5", "table6"] = ""
    reference: str = ""
    files: dict[Name, str | list[str] | OwnTables] = {}
    criteria: bool = True
    score: bool = False
    seconds: Seconds = Seconds()

    @model_validator(mode="before")
    @classmethod
    def _take_files_apart(cls, data: Any) -> Any:
        """Move the files of a user's dataset to ``files``, and keep its name in ``datasets``."""
        given = data.get("datasets") if isinstance(data, Mapping) else None
        if not isinstance(given, list):
            return data
        names, files = [], {}
        for entry in given:
            if isinstance(entry, Mapping):
                name, files[name] = _own(entry)
            names.append(name if isinstance(entry, Mapping) else entry)
        if files:
            data = {**data, "files": {**data.get("files", {}), **files}}
        return {**data, "datasets": names}

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        known = (*CATALOG, *EMBEDDED)
        for dataset in self.datasets:
            if dataset not in (*known, *self.files):
                raise ValueError(
                    f"there is no dataset {dataset!r}; choose one of {', '.join(known)}, or write a"
                    f" file of your own as {_FILE}"
                )
            if dataset in known and dataset in self.files:
                raise ValueError(
                    f"the catalog has a dataset {dataset!r}; give your file another name"
                )
        if not (self.criteria or self.score):
            raise ValueError(
                "criteria and score are both false, so there is nothing to measure; set one of them"
                " to true"
            )
        self._refuse_too_little_asked()
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
                f"reference is {self.reference!r}, but no row has this title; choose one of"
                f" {', '.join(titles)}"
            )
        return self

    def file_of(self, dataset: str) -> OwnFile:
        """Return the files of a user's dataset; empty for a dataset of the catalog."""
        file = self.files.get(dataset, "")
        return tuple(file) if isinstance(file, list) else file

    def title_of(self, draw: Draw) -> str:
        """Return a description of a draw's labels on these datasets, in plain words."""
        return draw.title_with(answers=self.has_answers)

    @property
    def has_answers(self) -> bool:
        """Whether people's answers are among the files."""
        tables = [file for file in self.files.values() if isinstance(file, OwnTables)]
        return any(file.answers for file in tables)

    def expanded_rows(self) -> list[Row]:
        """Return the rows of the tables; each combination of a grid is a row of its own."""
        return [expanded for row in self.rows for expanded in row.expanded()]

    def quick(self, datasets: Sequence[str]) -> Plan:
        """Return a plan with three folds on two datasets, named ``...-quick``, to try it.

        Parameters
        ----------
        datasets : sequence of str
            Names of the datasets at hand, beside the plan's own files.
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

    def _refuse_too_little_asked(self) -> None:
        for draw in self.draws:
            if self.score and draw.question == "none":
                raise ValueError(
                    f"the draw {draw.name!r} has no answers about held-out instances, which a score"
                    " needs: its audit is about the training parts only; take another question"
                )
        matched = any(row.match_frequencies and not row.label_frequencies for row in self.rows)
        if matched and not any(draw.asks_at_random for draw in self.draws):
            raise ValueError(
                "match_frequencies needs answers to random questions, but in all draws labels are"
                " named freely; add an audit, such as audit = 200, or take another question"
            )
