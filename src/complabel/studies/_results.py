"""The results of a study so far, for statistics and reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from complabel.metrics import METRIC_NAMES
from complabel.studies._outcome import Outcome, plain
from complabel.studies._plan import Plan

_HELD_OUT = ("score", "held_out_ranking")

# Two attributes get clearer names: the label cardinality that a model found, and the one that it
# was told to aim at. Else readers could confuse them.
_NAMES = {"mean_cardinality_": "cardinality", "cardinality_": "penalty_cardinality"}

Status = Literal["done", "failed", "pending"]


@dataclass(frozen=True, kw_only=True)
class UnitResult(Outcome):
    """The outcome of one fold and its place in the study; the outcome is empty before the run.

    ``key`` is a checksum of everything that can change the result, ``row`` a title, ``parameters``
    those of the classifier.
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
        Missing datasets, with the reason.
    writer : str, default=""
        Process and machine of the run that wrote the store when it was read; else empty.
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

            - ``dataset``, ``row`` (its title), ``method``, ``match_frequencies``, ``seed``
              and ``folds``;
            - the settings of the draw: ``labels`` (its scheme), ``question``, ``propensity_sd``,
              ``error_rate``, ``missed``, ``invented``, ``answers_per_item``, ``items_share`` and
              ``audit``;
            - ``learns_from``: "complementary", or "relevant" or "frequencies" for rows that learn
              something that annotators did not say;
            - ``seconds``: the sum over all fits and predictions;
            - ``metrics``: maps each measured criterion, and ``score`` and ``held_out_ranking`` if
              the plan has scores, to its ``mean``, ``std`` (n - 1) and ``folds``;
            - ``fitted``: attributes of the fitted classifiers, without the last underscore: of a
              number the mean; of a text its value, or counts of folds. ``cardinality`` is
              ``mean_cardinality_``, the mean over training rows of the sum of all probabilities;
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
        """Return all units as a JSON list of objects with the fields of :class:`UnitResult`.

        Values that were not measured are null.
        """
        units = [plain(asdict(unit)) for unit in self.units]
        return json.dumps(units, indent=1, allow_nan=False) + "\n"


def _over_folds(values: Sequence[float]) -> dict[str, Any]:
    array = np.array(values)
    return {"mean": float(array.mean()), "std": float(array.std(ddof=1)), "folds": array.tolist()}


def _fitted_over_folds(fitted: Sequence[Mapping[str, float | int | str]]) -> dict[str, object]:
    """Summarize scalars that all folds have; a mean that is not finite becomes None, for JSON."""
    first, *others = fitted
    return {
        _NAMES.get(name, name.removesuffix("_")): _summary([fold[name] for fold in fitted])
        for name in first
        if all(name in fold for fold in others)
    }


def _summary(values: Sequence[float | int | str]) -> object:
    numbers = [value for value in values if not isinstance(value, str)]
    if len(numbers) == len(values):
        return plain(float(np.mean(numbers)))
    counts = Counter(map(str, values))
    return next(iter(counts)) if len(counts) == 1 else dict(counts)
