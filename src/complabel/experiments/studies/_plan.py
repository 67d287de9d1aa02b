"""The plan of a study and the rows of its tables, with checks of every key."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator

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
        known = inspect.signature(get_method(method).classifier).parameters
        told = self.label_frequencies and not self.match_frequencies
        problem = ""
        if self.match_frequencies and get_method(method).learns_from == "relevant":
            problem = "learns from true labels, so nothing is to be matched; leave"
            problem += " match_frequencies out"
        elif told and "label_frequencies" not in known:
            problem = "has no parameter label_frequencies; add match_frequencies = true, or leave"
            problem += " label_frequencies out"
        elif told and "label_frequencies" in settings:
            problem = "is told label_frequencies twice, in the row and in its settings; leave one"
            problem += " out"
        if problem:
            leave_out = f', or write leave_out = ["{method}"]' * (self.method == ALL_METHODS)
            raise ValueError(f"{method} {problem}{leave_out}")


def _filled(key: str, text: str, settings: dict[str, Any]) -> str:
    """Return a title in which names in braces are replaced by the values of settings."""
    try:
        return text.format(**settings)
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        names = ", ".join(settings) or "there are none"
        told = f"{key} is {text!r}: a name in braces must be a setting of the row ({names}), as in"
        told += " 'beta = {beta}'; for a brace itself write two"
        raise ValueError(told) from error


_FILE = '{ name = "mine", file = "mine.arff" }'
_TABLES = '{ name = "mine", features = "X.csv", answers = "answers.csv", truth = "truth.csv" }'
_QUICK_FOLDS = 3
_QUICK_DATASETS = 2

_Path = Annotated[str, Field(min_length=1)]
_Paths = Annotated[tuple[_Path, ...], BeforeValidator(lambda x: (x,) if isinstance(x, str) else x)]


class OwnData(BaseModel):
    """A dataset of one's own: paths of files, as ``load_file`` takes them, or of tables.

    Tables are features with answers, true labels, or both, as ``load_tables`` takes them.
    """

    model_config = CHECKED

    file: _Paths = ()
    features: _Path | None = None
    answers: _Paths = ()
    truth: _Path | None = None
    items: _Path | None = None
    label_names: _Path | None = None
    question: Question | None = None
    contradictions: ContradictionPolicy = "error"

    @model_validator(mode="after")
    def _tells_something(self) -> Self:
        beside = self.answers or self.truth or self.items or self.label_names or self.question
        if bool(self.file) == bool(self.features) or (self.file and beside):
            raise ValueError(f"write a file of your own as {_FILE}, or tables as {_TABLES}")
        if self.features and not (self.answers or self.truth):
            raise ValueError(
                f"{self.features}: features without labels tell nothing; also give answers, truth,"
                " or both"
            )
        return self

    def within(self, folder: Path) -> Self:
        """Return the dataset with each path taken from a folder."""
        one = {n: getattr(self, n) for n in ("features", "truth", "items", "label_names")}
        many = {n: getattr(self, n) for n in ("file", "answers")}
        paths: dict[str, Any] = {n: str(folder / path) for n, path in one.items() if path}
        paths |= {n: tuple(str(folder / path) for path in given) for n, given in many.items()}
        return self.model_copy(update=paths)


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
    files : dict of str to OwnData, default={}
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
    files: dict[Name, OwnData] = {}
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
        own = [dict(entry) for entry in given if isinstance(entry, Mapping)]
        if any(not isinstance(entry.get("name"), str) for entry in own):
            raise ValueError(f"a dataset of your own needs a name, as in {_FILE}")
        names = [entry["name"] if isinstance(entry, Mapping) else entry for entry in given]
        files = {entry.pop("name"): entry for entry in own}
        return {**data, "datasets": names, "files": {**data.get("files", {}), **files}}

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
        draws = [draw.name for draw in self.draws]
        for what, names in {"dataset": self.datasets, "draw": draws, "row": titles}.items():
            if repeated := {name for name in names if names.count(name) > 1}:
                raise ValueError(f"there are two {what}s called {min(repeated)!r}; rename one")
        if self.reference and self.reference not in titles:
            raise ValueError(
                f"reference is {self.reference!r}, but no row has this title; choose one of"
                f" {', '.join(titles)}"
            )
        return self

    def title_of(self, draw: Draw) -> str:
        """Return a description of a draw's labels on these datasets, in plain words."""
        return draw.title_with(answers=self.has_answers)

    @property
    def has_answers(self) -> bool:
        """Whether people's answers are among the files."""
        return any(own.answers for own in self.files.values())

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
