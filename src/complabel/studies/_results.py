"""The results of a study so far, for statistics and reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from complabel.metrics import METRIC_NAMES
from complabel.studies._outcome import Outcome, plain

if TYPE_CHECKING:
    from complabel.studies._plan import Plan

_HELD_OUT = ("score", "held_out_ranking")

# Two attributes get clearer names: the label cardinality that a model found, and the one that it
# was told to aim at. Else readers could confuse them.
_NAMES = {"mean_cardinality_": "cardinality", "cardinality_": "penalty_cardinality"}

Status = Literal["done", "failed", "pending"]


@dataclass(frozen=True, kw_only=True)
class UnitResult(Outcome):
    """The outcome of one fold and its place in the study; the outcome is empty before the run.

    ``key`` is a checksum of everything that can change the result. ``dataset``, ``draw`` and
    ``row`` (its title) are the place in the study. ``parameters`` are those of the classifier, as
    plain data. Else it has the fields of :class:`Outcome`.
    """

    key: str
    dataset: str
    draw: str
    row: str
    method: str
    parameters: Mapping[str, Any]
    fold: int
    status: Status


@dataclass(frozen=True)
class StudyResults:
    """A study: its plan, and the results so far.

    Parameters
    ----------
    plan : Plan
    units : sequence of UnitResult
        In the order of the plan.
    missing : mapping of str to str
        Datasets of the plan that were missing, with the reason.
    writer : str, default=""
        The run that wrote the store when it was read: its process and machine; else empty.
    """

    plan: Plan
    units: Sequence[UnitResult]
    missing: Mapping[str, str]
    writer: str = ""

    def having(self, status: Status) -> list[UnitResult]:
        """Return the units with one status, in the order of the plan."""
        return [unit for unit in self.units if unit.status == status]

    def records(self) -> list[dict[str, Any]]:
        """Summarize each row on each dataset and draw, if all its folds are done.

        Returns
        -------
        list of dict
            Plain data, which JSON can hold. Each record has these keys:

            - ``dataset``, ``row`` (its title), ``method``, ``match_frequencies``, ``seed`` and
              ``folds``;
            - the settings of the draw: ``labels`` (its scheme), ``question``, ``propensity_sd``,
              ``error_rate``, ``answers_per_item``, ``items_share`` and ``audit``;
            - ``learns_from``: "complementary", or "relevant" or "frequencies" for rows that learn
              something that annotators did not say;
            - ``seconds``: the sum over all fits and predictions;
            - ``metrics``: maps each measured criterion to its ``mean``, ``std`` (n - 1) and
              ``folds``, and also ``score`` and ``held_out_ranking`` if the plan has scores;
            - ``fitted``: attributes of the fitted classifiers, without the last underscore. A
              number has its mean over the folds. A text has its value if it is the same in all
              folds, else an object that counts the folds with each value. ``cardinality`` is
              ``mean_cardinality_``, the mean over training rows of the sum of all probabilities.
              ``penalty_cardinality`` is ``cardinality_``, which a penalty aims at.
        """
        draws = {draw.name: draw for draw in self.plan.draws}
        rows = {row.title: row for row in self.plan.expanded_rows()}
        places: dict[tuple[str, str, str], list[UnitResult]] = {}
        for unit in self.having("done"):
            places.setdefault((unit.dataset, unit.draw, unit.row), []).append(unit)
        return [
            {
                "dataset": dataset,
                **draws[draw].settings(),
                "row": row,
                "method": units[0].method,
                "match_frequencies": rows[row].match_frequencies,
                "learns_from": rows[row].learns_from,
                "seed": self.plan.seed,
                "folds": len(units),
                "seconds": sum(unit.fit_seconds + unit.predict_seconds for unit in units),
                "metrics": {
                    name: _over_folds([unit.metrics[name] for unit in units])
                    for name in (*METRIC_NAMES, *_HELD_OUT)
                    if all(name in unit.metrics for unit in units)
                },
                "fitted": _fitted_over_folds([unit.fitted for unit in units]),
            }
            for (dataset, draw, row), units in places.items()
            if len(units) == self.plan.folds
        ]

    def as_json(self) -> str:
        """Return all results of all units.

        Returns
        -------
        str
            A JSON list with an object for each unit, in the order of the plan. Its keys are the
            fields of :class:`UnitResult`. Values that were not measured are null.
        """
        units = [plain(asdict(unit)) for unit in self.units]
        return json.dumps(units, indent=1, allow_nan=False) + "\n"


def _over_folds(values: Sequence[float]) -> dict[str, Any]:
    """Return the mean, the standard deviation and the values of a criterion."""
    array = np.array(values)
    return {
        "mean": float(array.mean()),
        "std": float(array.std(ddof=1)),
        "folds": array.tolist(),
    }


def _fitted_over_folds(fitted: Sequence[Mapping[str, float | int | str]]) -> dict[str, object]:
    """Summarize scalars that all folds have: the mean of numbers, the value or counts of texts.

    A mean that is not finite becomes None, because JSON has no number for it.
    """
    first, *others = fitted
    return {
        _NAMES.get(name, name.removesuffix("_")): _summary([fold[name] for fold in fitted])
        for name in first
        if all(name in fold for fold in others)
    }


def _summary(values: Sequence[float | int | str]) -> object:
    """Summarize one scalar."""
    numbers = [value for value in values if not isinstance(value, str)]
    if len(numbers) == len(values):
        return plain(float(np.mean(numbers)))
    counts = Counter(map(str, values))
    return next(iter(counts)) if len(counts) == 1 else dict(counts)
