"""What a study has produced so far, as the store gives it to statistics and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from complabel.studies._plan import Plan

Status = Literal["done", "failed", "running", "pending"]


@dataclass(frozen=True)
class UnitResult:
    """One fold of one row of a study on one dataset, run or yet to be run.

    Parameters
    ----------
    key : str
        Hash of everything that can change the result.
    dataset, draw, row : str
        Where in the study it belongs: names of the dataset and of the draw, title of the row.
    method : str
        A key of :data:`complabel.methods.METHODS`.
    parameters : mapping of str to object
        All parameters of the classifier, as JSON can hold them.
    fold : int
        From 0.
    status : {"done", "failed", "running", "pending"}
    metrics : mapping of str to float
        The criteria of :data:`complabel.metrics.METRIC_NAMES`; empty unless done.
    fit_seconds, predict_seconds : float
        Wall time; NaN unless done.
    peak_memory_mb : float
        Most resident memory of the process, in 1e6 bytes, interpreter and data included; NaN
        unless done, or where the system does not tell.
    fitted : mapping of str to float, int or str
        Scalars that the fitted classifier reports, such as a chosen ``alpha_``.
    details : mapping of str to object
        Of the first fold only: ``label_names`` (list of K), ``matrices`` (name to K x K lists,
        such as ``transition_``) and ``curves`` (stage to the mean loss after each epoch).
    error : str
        Traceback of a failed unit, else empty.
    machine : mapping of str to str
        What it ran on, and with which versions.
    """

    key: str
    dataset: str
    draw: str
    row: str
    method: str
    parameters: Mapping[str, Any]
    fold: int
    status: Status
    metrics: Mapping[str, float] = field(default_factory=dict)
    fit_seconds: float = float("nan")
    predict_seconds: float = float("nan")
    peak_memory_mb: float = float("nan")
    fitted: Mapping[str, float | int | str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    machine: Mapping[str, str] = field(default_factory=dict)


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
