"""What a study runs: a TOML file, checked key by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from complabel.datasets import CATALOG, EMBEDDED
from complabel.paper import TABLES
from complabel.studies._draw import CHECKED, Draw, Name
from complabel.studies._effort import Seconds
from complabel.studies._own_tables import EXAMPLE, OwnFile, OwnTables, tables_of_entry
from complabel.studies._rows import ExpandedRow, Row

_OWN = '{ name = "mine", file = "mine.arff" }'
_QUICK_FOLDS = 3
_QUICK_DATASETS = 2


def _printed(table: str) -> str:
    """Refuse a table that the paper does not have."""
    if table not in ("", *TABLES):
        raise ValueError(f"the paper's tables of results are {', '.join(TABLES)}, not {table!r}")
    return table


def _own(entry: Mapping[str, Any]) -> tuple[str, str | list[str] | OwnTables]:
    """Return name and files of a dataset of one's own; refuse what is not written as one."""
    name = entry.get("name")
    if "features" in entry and isinstance(name, str):
        return name, tables_of_entry(entry)
    return _name_of_own(entry), entry["file"]


def _name_of_own(entry: Mapping[str, Any]) -> str:
    """Return the name of a dataset in a file of one's own; refuse what is not written as one."""
    name, file = entry.get("name"), entry.get("file")
    files = file if isinstance(file, list) else [file]
    if not (isinstance(name, str) and files and all(isinstance(f, str) and f for f in files)):
        raise ValueError(
            f"{dict(entry)} is no dataset; write a file of your own as {_OWN}, or tables as"
            f" {EXAMPLE}"
        )
    if unknown := sorted(entry.keys() - {"name", "file"}):
        raise ValueError(
            f"the dataset {name!r} has no key {unknown[0]!r}; it has a name and a file, and"
            " several files are a list: the parts of an ARFF file, and the XML file that names its"
            ' labels, as in file = ["mine.arff", "labels.xml"]'
        )
    return name


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
        also give a file of one's own, as ``{ name = "mine", file = "mine.arff" }``, or several
        that make one dataset, as ``file = ["mine-train.arff", "mine-test.arff"]``: then ``name``
        is kept here and the file in ``files``. Or tables of one's own, as
        ``{ name = "mine", features = "X.csv", answers = "answers.csv", truth = "truth.csv" }``,
        of answers, truth or both; ``items``, ``label_names`` and ``contradictions`` are optional.
    draws : list of Draw
    rows : list of Row
    folds : int, default=10
    seed : int, default=0
        Seed of the label draws, the folds and the methods.
    published : {"", "table2", "table3", "table4", "table5", "table6"}, default=""
        The paper's table to hold the figures against.
    reference : str, default=""
        Title of the row that the others are tested against; the first one where empty.
    files : dict of str to str, list of str or tables, default={}
        Files of datasets that the catalog does not have; see
        :func:`complabel.datasets.load_file` and :func:`complabel.datasets.load_tables`. A
        relative path is meant from the plan's folder.
    criteria : bool, default=True
        Measure the criteria of :data:`complabel.metrics.METRIC_NAMES`, on true labels.
    score : bool, default=False
        Measure each method's ``score`` on held-out complementary labels.
    seconds : Seconds, default=Seconds()
        How long annotators take for an answer of each kind; reports of studies whose draws ask
        differently go by it. No result depends on it.

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
    files: dict[Name, str | list[str] | OwnTables] = {}
    criteria: bool = True
    score: bool = False
    seconds: Seconds = Seconds()

    @model_serializer(mode="wrap")
    def _as_before(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write seconds only where they are not the defaults, so that names of studies stay."""
        written: dict[str, Any] = write(self)
        if self.seconds == Seconds():
            written.pop("seconds", None)
        return written

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
                name, files[name] = _own(entry)
            names.append(name if isinstance(entry, Mapping) else entry)
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
                    f" your own is written as {_OWN}"
                )
            if dataset in known and dataset in self.files:
                raise ValueError(
                    f"the catalog has a dataset {dataset!r}; give your file another name"
                )
        if not (self.criteria or self.score):
            raise ValueError("criteria and score are both false: there is nothing to measure")
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
                f"reference is {self.reference!r}, but the rows are {', '.join(titles)}"
            )
        return self

    def file_of(self, dataset: str) -> OwnFile:
        """Return what a dataset of one's own is read from; empty for one of the catalog."""
        file = self.files.get(dataset, "")
        return tuple(file) if isinstance(file, list) else file

    def title_of(self, draw: Draw) -> str:
        """Return what the labels of a draw are on these datasets, in plain words."""
        return draw.title_with(answers=self.has_answers)

    @property
    def has_answers(self) -> bool:
        """Whether people's answers are among the files."""
        tables = [file for file in self.files.values() if isinstance(file, OwnTables)]
        return any(file.answers for file in tables)

    def expanded_rows(self) -> list[ExpandedRow]:
        """Return the rows of the tables, each combination of a grid one of its own."""
        return [expanded for row in self.rows for expanded in row.expanded()]

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

    def _refuse_too_little_asked(self) -> None:
        """Refuse what needs answers that no draw gives."""
        for draw in self.draws:
            if self.score and draw.question == "none":
                raise ValueError(
                    f"a score needs answers about held-out instances, and the draw {draw.name!r}"
                    " has none but an audit of the training parts; take another question"
                )
        matched = any(row.match_frequencies and not row.label_frequencies for row in self.rows)
        if matched and not any(draw.asks_at_random for draw in self.draws):
            raise ValueError(
                "frequencies are matched to what random questions say, and labels are only named"
                " freely here; take an audit of some yes/no questions, such as 200, or another"
                " question"
            )
