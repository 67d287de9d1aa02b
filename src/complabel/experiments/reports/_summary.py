"""The content of a study's report, as data; every form of the report is a rendering of it.

``summary.json`` holds this data, and its keys are the names of the fields. So renaming or dropping
a field breaks programs that read this file; adding a field does not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, SupportsFloat, TypeAlias

from complabel.experiments.paper import Published
from complabel.experiments.statistics import FriedmanResult, Judgement
from complabel.experiments.studies import Draw

Plain: TypeAlias = "bool | int | float | str | list[Plain] | None"
"""A parameter as a value that JSON can hold."""

Place: TypeAlias = tuple[str, str, str]
"""A place in the tables: names of the draw and of the dataset, title of the row."""


@dataclass(frozen=True)
class Placed:
    """Something about one place in the tables."""

    draw: str
    dataset: str
    row: str

    @property
    def place(self) -> Place:
        return self.draw, self.dataset, self.row


def measured(value: SupportsFloat) -> float | None:
    """Return a finite number; None for NaN and infinity."""
    return float(value) if math.isfinite(value) else None


CRITERION = "average_precision"
"""The criterion of headlines and of the charts of answers."""

_MANY_DRAWS = 4  # up to this many draws, each draw has its own tables and charts


@dataclass(frozen=True)
class Study:
    """The facts of the plan; ``reference`` is the row that the others are tested against."""

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
        """Whether tables have a line for each draw, because separate tables would be too many."""
        return len(self.draws) > _MANY_DRAWS

    def labels_of(self, draw: str) -> str:
        """Return a draw's labels as captions call them: its name, and what was asked."""
        asked = next(each for each in self.draws if each.name == draw)
        return (
            f"{draw} labels"
            if asked.is_plain
            else f"{draw}: {asked.title_with(answers=self.has_answers)}"
        )


@dataclass(frozen=True)
class Metric:
    """A criterion; ``higher`` is True if higher values are better."""

    name: str
    title: str
    higher: bool


@dataclass(frozen=True)
class Row:
    title: str
    method: str
    method_title: str
    learns_from: str
    relevant_per_row: int

    @property
    def competes(self) -> bool:
        """Whether it may be the best; False if it is told true labels or true label frequencies."""
        return self.learns_from == "complementary"


@dataclass(frozen=True)
class Units:
    """Numbers of units by status; units of missing datasets are only planned."""

    planned: int
    without_data: int
    done: int
    failed: int
    pending: int


@dataclass(frozen=True)
class Failure(Placed):
    """A fold that failed; ``error`` is the last line of the traceback."""

    fold: int
    error: str
    traceback: str


@dataclass(frozen=True)
class Incomplete(Placed):
    """A place with missing folds: the numbers of done, failed and all folds."""

    done: int
    failed: int
    folds: int


@dataclass(frozen=True)
class Cell(Placed):
    """A criterion of a row on a dataset, over the finished folds.

    ``std`` is None for a single fold. ``advantage`` is how many published standard deviations our
    mean is better. ``plain`` and ``corrected`` are the two tests of the reference row against this
    one.
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
class WinTieLoss:
    """Counts of how often the reference row was better, equal and worse."""

    wins: int
    ties: int
    losses: int

    @classmethod
    def of(cls, judgements: Sequence[Judgement]) -> Self:
        return cls(*map(judgements.count, ("better", "tie", "worse")))


@dataclass(frozen=True)
class Comparison:
    """How often the reference row was better, equal and worse than a row, over ``cells`` cells."""

    draw: str
    row: str
    cells: int
    plain: WinTieLoss
    corrected: WinTieLoss


@dataclass(frozen=True)
class Ranking:
    """Average ranks of the competing rows by one criterion.

    First, rows without a complete dataset are left out; then, datasets that are not complete for
    all other rows. ``ranks`` and tests are None if they are not possible; ``reason`` says why.
    """

    draw: str
    metric: str
    rows: tuple[str, ...]
    datasets: tuple[str, ...]
    left_out_rows: tuple[str, ...]
    left_out_datasets: tuple[str, ...]
    ranks: tuple[float, ...] | None = None
    friedman: FriedmanResult | None = None
    critical_difference: float | None = None
    groups: tuple[tuple[int, ...], ...] | None = None
    reason: str = ""


@dataclass(frozen=True)
class Cost(Placed):
    """Mean time of a fold, and the peak memory over the folds; None if not measured.

    ``fit_seconds`` leaves out folds with a learning curve, which takes time, if there are others.
    """

    folds: int
    fit_seconds: float | None
    predict_seconds: float | None
    peak_memory_mb: float | None


@dataclass(frozen=True)
class Curves(Placed):
    """The mean loss after each epoch of the first fold, by stage; None if not finite."""

    stages: Mapping[str, tuple[float | None, ...]]


@dataclass(frozen=True)
class Matrices(Placed):
    """The K x K matrices of the first fold, by the name of the fitted attribute."""

    label_names: tuple[str, ...]
    matrices: Mapping[str, Sequence[Sequence[float]]]


@dataclass(frozen=True)
class FittedScalar(Placed):
    """A scalar that fitted classifiers report; ``counts`` is how many folds have each text."""

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
    """A criterion over the one numeric parameter that a row of the plan varies, by value."""

    method: str
    parameter: str
    draw: str
    dataset: str
    metric: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class AnswerPoint(Placed):
    """Average precision of a row, and the answers about a training part, with their minutes."""

    n_answers: int
    minutes: float
    mean: float
    std: float | None


@dataclass(frozen=True)
class EqualTime:
    """By how much ticking is ahead of yes/no answers in the same time; None where nothing is known.

    ``ratio`` is how many times as long as one yes or no ticking all labels of an item takes;
    ``own`` if it follows from the plan's seconds. ``ahead`` has one difference of average precision
    for each amount of yes/no answers.
    """

    ratio: float
    ahead: tuple[float | None, ...]
    own: bool = False


@dataclass(frozen=True)
class Ticking(Placed):
    """Yes/no answers beside forms on which people tick labels: all, or some drawn at random.

    ``draw`` has one yes or no for each item. ``asked`` and ``ticked`` are curves: answers or forms
    for each item, with the average precision. A form may take ``break_even`` times as long as one
    yes or no; ``bound`` is "above" or "below" if this is only known to be more or less.
    """

    question: str
    n_ticked: int
    asked: tuple[tuple[float, float], ...]
    ticked: tuple[tuple[float, float], ...]
    break_even: float
    bound: str
    equal_time: tuple[EqualTime, ...]

    @property
    def amounts(self) -> list[str]:
        """The numbers of yes/no answers for each item, as the heads of columns."""
        return [f"{amount:g}" for amount, _ in self.asked]

    @property
    def said(self) -> str:
        """The break-even in words, such as ``"4.2"`` or ``"above 50"``."""
        return f"{self.bound} {self.break_even:.2g}".strip()


@dataclass(frozen=True)
class Settings:
    """The parameters of a row: those equal on all datasets, and those that differ."""

    row: str
    parameters: Mapping[str, Plain]
    by_dataset: Mapping[str, Mapping[str, Plain]]


@dataclass(frozen=True)
class Summary:
    """All content of a study's report; every form of the report is a rendering of it.

    ``complabel`` is the version. ``datasets`` are those at hand; ``missing`` maps the others to the
    reasons. ``cells`` has an entry for each criterion and each place with a finished fold.
    ``comparison`` has one for each draw and row with a tested cell, ``rankings`` one for each draw
    and criterion. ``answers`` is empty if all draws ask the same; ``ticking`` without yes/no
    questions beside ticked labels. ``machines`` describes the machines, with the number of their
    ``"units"``.
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
    ticking: tuple[Ticking, ...]
    fitted: tuple[FittedScalar, ...]
    settings: tuple[Settings, ...]
    machines: tuple[Mapping[str, str | int], ...]
