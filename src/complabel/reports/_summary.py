"""What the report of a study says, as data; every form of the report is a rendering of it.

``summary.json`` is this data as it is: names of fields are names of keys there. Renaming or
dropping a field breaks those who read that file; adding one does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from complabel.paper import Published
from complabel.reports._placed import Placed, Plain
from complabel.statistics import Judgement, WinTieLoss
from complabel.studies import Draw

MANY_DRAWS = 4
"""Up to so many draws, each has tables and charts of its own."""


@dataclass(frozen=True)
class Study:
    """What the plan says; ``reference`` is the row that the others are tested against.

    ``seconds`` is how long annotators are taken to need for an answer of each kind.
    """

    name: str
    title: str
    description: str
    published: str
    reference: str
    draws: tuple[Draw, ...]
    datasets: tuple[str, ...]
    folds: int
    seed: int
    seconds: Mapping[str, float]
    has_answers: bool = False

    @property
    def has_many_draws(self) -> bool:
        """Whether tables have a line for each draw: one table for each draw would be too many."""
        return len(self.draws) > MANY_DRAWS

    def labels_of(self, draw: str) -> str:
        """Return what captions call the labels of a draw: its name, and what was asked."""
        asked = next(each for each in self.draws if each.name == draw)
        return (
            f"{draw} labels"
            if asked.is_plain
            else f"{draw}: {asked.title_with(answers=self.has_answers)}"
        )


@dataclass(frozen=True)
class Metric:
    """A criterion; ``higher`` where more of it is better."""

    name: str
    title: str
    higher: bool


@dataclass(frozen=True)
class Row:
    """A row of the tables."""

    title: str
    method: str
    method_title: str
    learns_from: str
    relevant_per_row: int

    @property
    def competes(self) -> bool:
        """Whether it may be the best: not where it learns true labels, or how often they apply."""
        return self.learns_from == "complementary"


@dataclass(frozen=True)
class Units:
    """How many folds there are; those of missing datasets are planned, but never in the store."""

    planned: int
    without_data: int
    done: int
    failed: int
    running: int
    pending: int


@dataclass(frozen=True)
class Failure(Placed):
    """A fold that failed; ``error`` is the last line of the traceback."""

    fold: int
    error: str
    traceback: str


@dataclass(frozen=True)
class Incomplete(Placed):
    """A place with folds missing: how many are done and have failed, of how many."""

    done: int
    failed: int
    folds: int


@dataclass(frozen=True)
class Cell(Placed):
    """A criterion of a row on a dataset, over the folds that are done.

    ``std`` is None for a single fold, and ``published`` where the paper has no such cell.
    ``advantage`` counts the published standard deviations by which ours is better. ``plain`` and
    ``corrected`` are what the two tests say of the reference row against this one.
    """

    metric: str
    folds: int
    mean: float
    std: float | None
    published: Published | None
    advantage: float | None
    plain: Judgement | None
    corrected: Judgement | None
    tested_folds: int


@dataclass(frozen=True)
class Comparison:
    """How often the reference row was better, equal and worse than a row, of so many cells."""

    draw: str
    row: str
    cells: int
    plain: WinTieLoss
    corrected: WinTieLoss


@dataclass(frozen=True)
class Friedman:
    """Friedman's test; ``f_statistic`` is None where it is infinite."""

    statistic: float
    p_value: float
    f_statistic: float | None
    f_p_value: float


@dataclass(frozen=True)
class Ranking:
    """Average ranks by one criterion of the rows in competition.

    A row without a complete dataset is left out, then every dataset that is not complete for all
    other rows. ``ranks`` is None where nothing can be ranked; ``friedman``,
    ``critical_difference`` and ``groups`` are None where there is too little for a test, for the
    ``reason`` given.
    """

    draw: str
    metric: str
    rows: tuple[str, ...]
    datasets: tuple[str, ...]
    left_out_rows: tuple[str, ...]
    left_out_datasets: tuple[str, ...]
    ranks: tuple[float, ...] | None = None
    friedman: Friedman | None = None
    critical_difference: float | None = None
    groups: tuple[tuple[int, ...], ...] | None = None
    reason: str = ""


@dataclass(frozen=True)
class Cost(Placed):
    """Mean time of a fold, and the memory of the one that took most; None where not measured.

    ``fit_seconds`` is over the folds that did not record a learning curve, which takes time, if
    there are any.
    """

    folds: int
    fit_seconds: float | None
    predict_seconds: float | None
    peak_memory_mb: float | None


@dataclass(frozen=True)
class Curves(Placed):
    """The mean loss after each epoch of the first fold, by stage; None where not finite."""

    stages: Mapping[str, tuple[float | None, ...]]


@dataclass(frozen=True)
class Matrices(Placed):
    """The K x K matrices of the first fold, by the name of the fitted attribute."""

    label_names: tuple[str, ...]
    matrices: Mapping[str, Sequence[Sequence[float]]]


@dataclass(frozen=True)
class FittedScalar(Placed):
    """A scalar that fitted classifiers report, over the folds.

    Of numbers the ``mean``, ``min`` and ``max``; of anything else the ``counts``, how many folds
    reported each value.
    """

    name: str
    mean: float | None = None
    min: float | None = None
    max: float | None = None
    counts: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Point:
    """A criterion at one value of a parameter; ``published`` is the paper's mean."""

    value: float
    mean: float
    std: float | None
    published: float | None


@dataclass(frozen=True)
class Sensitivity:
    """A criterion over the one number that a row of the plan varies, by value."""

    method: str
    parameter: str
    draw: str
    dataset: str
    metric: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class AnswerPoint(Placed):
    """Average precision of a row, and what its labels cost annotators.

    ``n_answers`` is how many answers a training part has, the audit included, and ``minutes`` how
    long annotators take for these, by the plan's ``seconds``.
    """

    n_answers: int
    minutes: float
    mean: float
    std: float | None


@dataclass(frozen=True)
class Settings:
    """The parameters of a row: those equal everywhere, and those that differ between datasets."""

    row: str
    parameters: Mapping[str, Plain]
    by_dataset: Mapping[str, Mapping[str, Plain]]


@dataclass(frozen=True)
class Summary:
    """A study with all that its report says; every form of the report is a rendering of it.

    ``complabel`` is the version. ``datasets`` are those at hand, and ``missing`` has the reason
    for each of the others. There is one of ``cells`` for each place with a fold done and each
    criterion, one of ``comparison`` for each draw and row with a tested cell, one of ``rankings``
    for each draw and criterion, and one of ``settings`` for each row. ``answers`` is empty where
    all draws ask the same number of the same questions. ``machines`` says what units ran on, and
    under ``"units"`` how many.
    """

    complabel: str
    study: Study
    metrics: tuple[Metric, ...]
    rows: tuple[Row, ...]
    datasets: tuple[str, ...]
    missing: Mapping[str, str]
    units: Units
    failed: tuple[Failure, ...]
    incomplete: tuple[Incomplete, ...]
    cells: tuple[Cell, ...]
    comparison: tuple[Comparison, ...]
    rankings: tuple[Ranking, ...]
    costs: tuple[Cost, ...]
    curves: tuple[Curves, ...]
    matrices: tuple[Matrices, ...]
    sensitivity: tuple[Sensitivity, ...]
    answers: tuple[AnswerPoint, ...]
    fitted: tuple[FittedScalar, ...]
    settings: tuple[Settings, ...]
    machines: tuple[Mapping[str, str | int], ...]
