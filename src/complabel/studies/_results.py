"""What a study has produced so far, as the store gives it to statistics and reports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from complabel.metrics import METRIC_NAMES
from complabel.studies._fitted import fitted_over_folds
from complabel.studies._outcome import Outcome, plain

if TYPE_CHECKING:
    from complabel.studies._plan import Plan

_HELD_OUT = ("score", "held_out_ranking")

Status = Literal["done", "failed", "running", "pending"]


@dataclass(frozen=True, kw_only=True)
class UnitResult(Outcome):
    """The outcome of one fold, and its place in the study; an empty one if it is yet to be run.

    Parameters
    ----------
    key : str
        Hash of everything that can change the result.
    dataset, draw, row : str
        Where in the study it belongs: names of the dataset and of the draw, title of the row.
    method : str
        As for :func:`complabel.methods.get_method`.
    parameters : mapping of str to object
        All parameters of the classifier, as JSON can hold them.
    fold : int
        From 0.
    status : {"done", "failed", "running", "pending"}
    **outcome
        The fields of :class:`Outcome`.
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
    """A study: what was to run, and what came out.

    Parameters
    ----------
    plan : Plan
    units : sequence of UnitResult
        In the order of the plan.
    missing : mapping of str to str
        Datasets of the plan that were not at hand, with the reason.
    """

    plan: Plan
    units: Sequence[UnitResult]
    missing: Mapping[str, str]

    def having(self, status: Status) -> list[UnitResult]:
        """Return the units of one status, in the order of the plan."""
        return [unit for unit in self.units if unit.status == status]

    def records(self) -> list[dict[str, Any]]:
        """Return what came out of each row on each dataset, where all folds are done.

        Returns
        -------
        list of dict
            JSON can hold it: ``dataset``; of the draw ``labels`` (its scheme), ``question``,
            ``propensity_sd``, ``mistakes``, ``answers_per_item``, ``items_share`` and ``audit``;
            ``row`` (its title), ``method``, ``match_frequencies``, ``learns_from``
            ("complementary"; "relevant" or "frequencies" of rows that learn what no annotator
            says), ``seed``, ``folds``, ``seconds`` (the sum of all fits and predictions);
            ``metrics``, which maps each criterion that was measured, and ``score`` and
            ``held_out_ranking`` of a plan with scores, to its ``mean``, ``std`` (n - 1) and
            ``folds``; and ``fitted``, what the fitted classifiers say of themselves.
            There an attribute that is a number in all folds has its mean, under its name without
            the last underscore; a text that is the same in all folds stands as it is, and else
            there is an object that counts the folds with each value. ``cardinality`` is
            ``mean_cardinality_``, the mean over training rows of the sum of all probabilities;
            ``penalty_cardinality`` is ``cardinality_``, the one that a penalty aims at.
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
                "fitted": fitted_over_folds([unit.fitted for unit in units]),
            }
            for (dataset, draw, row), units in places.items()
            if len(units) == self.plan.folds
        ]

    def as_json(self) -> str:
        """Return all that is known of the units.

        Returns
        -------
        str
            A JSON list with an object for each unit, in the order of the plan; its keys are the
            fields of :class:`UnitResult`. What was not measured is null.
        """
        units = [plain(asdict(unit)) for unit in self.units]
        return json.dumps(units, indent=1, allow_nan=False) + "\n"


def _over_folds(values: Sequence[float]) -> dict[str, Any]:
    """Summarize a criterion."""
    array = np.array(values)
    return {
        "mean": float(array.mean()),
        "std": float(array.std(ddof=1)),
        "folds": array.tolist(),
    }
