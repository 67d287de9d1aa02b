"""The outcome of one fold, with facts such as the machine, and the results of a study so far."""

from __future__ import annotations

import contextlib
import functools
import json
import math
import numbers
import os
import platform
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

import complabel
from complabel.datasets import MultiLabelDataset
from complabel.experiments.paper import (
    Published,
    printed_criteria,
    printed_name,
    published_cells,
)
from complabel.experiments.studies._plan import Plan
from complabel.methods import ComplementaryClassifier, get_method
from complabel.metrics import METRICS

_MATRICES = ("initial_transition_", "label_correlation_", "transition_")
_OWN_ERROR = re.compile(r"complabel\.errors\.\w+: ")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of one fold; empty where nothing was measured, or the fold failed."""

    metrics: Mapping[str, float] = field(default_factory=dict)  # and "score", if it is asked for
    fit_seconds: float = math.nan  # wall time
    predict_seconds: float = math.nan
    peak_memory_mb: float = math.nan  # of the process, 1e6 bytes, with the interpreter and the data
    # Attributes of the fitted classifier that are one value, such as a chosen ``alpha_``.
    fitted: Mapping[str, float | int | str] = field(default_factory=dict)
    # Only of the first fold: ``n_samples``, ``n_labels``, ``label_names``, ``matrices`` (name to
    # K x K lists) and ``curves`` (stage to the mean loss after each epoch).
    details: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""  # a traceback
    machine: Mapping[str, str] = field(default_factory=dict)  # and versions of packages

    @property
    def reason(self) -> str:
        """The last line of the traceback, without the class name of complabel's own errors."""
        last = self.error.strip().splitlines()[-1:]
        return _OWN_ERROR.sub("", "".join(last), count=1)


def fitted_scalars(classifier: BaseEstimator) -> dict[str, float | int | str]:
    """Return the fitted attributes of a classifier, and of one inside, that are single values.

    Label frequencies are reduced to their sum and its standard error.
    """
    scalars: dict[str, float | int | str] = {}
    if isinstance(inner := vars(classifier).get("classifier_"), BaseEstimator):
        scalars |= fitted_scalars(inner)
    for name, value in vars(classifier).items():
        if not name.endswith("_") or name.startswith("_") or name == "n_features_in_":
            continue
        if isinstance(value, str):
            scalars[name] = value
        elif isinstance(value, numbers.Integral):
            scalars[name] = int(value)
        elif isinstance(value, numbers.Real):
            scalars[name] = float(value)
    return scalars | _frequencies_found(classifier)


def _frequencies_found(classifier: BaseEstimator) -> dict[str, float | int | str]:
    """Return the sum of the label frequencies and its standard error, if they are known.

    With named labels, the errors of the labels are positively correlated, so a covariance (K, K) is
    used if there is one. Without it, the standard error is too small.
    """
    frequencies = getattr(classifier, "label_frequencies_", None)
    errors = getattr(classifier, "label_frequencies_errors_", None)
    found: dict[str, float | int | str] = {}
    if frequencies is not None:
        found["label_frequencies_sum_"] = float(np.sum(frequencies))
    if errors is not None:
        covariance = getattr(classifier, "label_frequencies_covariance_", None)
        variance = np.square(errors).sum() if covariance is None else np.sum(covariance)
        if math.isfinite(variance):
            found["label_frequencies_sum_error_"] = math.sqrt(max(variance, 0.0))
    return found


def fitted_details(
    classifier: ComplementaryClassifier,
    dataset: MultiLabelDataset,
    curves: Mapping[str, list[float]],
) -> dict[str, Any]:
    """Return what a report shows about one fold: matrices over labels and learning curves."""
    fitted = getattr(classifier, "classifier_", classifier)
    matrices = {
        name: np.asarray(getattr(fitted, name)).tolist()
        for name in _MATRICES
        if hasattr(fitted, name)
    }
    details: dict[str, Any] = {}
    if matrices:
        details |= {"label_names": list(dataset.label_names), "matrices": matrices}
    if curves:
        details["curves"] = dict(curves)
    # Reports need these numbers to count answers, and do not load the dataset.
    sizes = ("n_samples", "n_features", "n_labels")
    return {**details, **{name: getattr(dataset, name) for name in sizes}}


def canonical_json(data: Mapping[str, Any]) -> str:
    """Return plain data as JSON with sorted keys, so that equal data give equal texts."""
    return json.dumps(data, sort_keys=True, default=repr)


def plain(value: Any) -> Any:
    """Replace NaN and infinities by None at any depth: JSON and SQLite cannot hold them."""
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@functools.cache
def result_versions() -> dict[str, str]:
    """Return the versions of the packages that a result depends on."""
    others = ("torch", "scikit-learn", "numpy", "scipy")
    return {"complabel": complabel.__version__, **{name: metadata.version(name) for name in others}}


@functools.cache
def describe_machine() -> dict[str, str]:
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        **result_versions(),
    }


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def reset_peak_memory() -> None:
    """Reset the peak of the memory, where the system (Linux) can do so."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_memory_mb() -> float:
    """Return the peak of resident memory since the reset, in 1e6 bytes; NaN if unknown."""
    with contextlib.suppress(OSError):
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        for line in status.splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    try:  # without /proc: the peak over the process's life
        import resource
    except ImportError:
        return float("nan")
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kibibytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


_HELD_OUT = ("score", "held_out_ranking")
_PLACE = ("draw", "dataset", "row", "method", "fold", "status")
_COSTS = ("fit_seconds", "predict_seconds", "peak_memory_mb")

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
    """

    plan: Plan
    units: Sequence[UnitResult]
    missing: Mapping[str, str]

    def having(self, status: Status) -> list[UnitResult]:
        """Return the units with one status, in the order of the plan."""
        return [unit for unit in self.units if unit.status == status]

    def records(self) -> list[dict[str, Any]]:
        """Summarize each row on each dataset and draw, if all its folds are done.

        Returns
        -------
        list of dict
            Plain data, which JSON can hold. Each record has these keys:

            - ``dataset``, ``draw`` (its name), ``row`` (its title), ``method``,
              ``match_frequencies``, ``seed`` and ``folds``;
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
                "draw": draw,
                "row": row,
                "method": units[0].method,
                "match_frequencies": rows[row].match_frequencies,
                "learns_from": rows[row].learns_from,
                "seed": self.plan.seed,
                "folds": len(units),
                "seconds": sum(unit.fit_seconds + unit.predict_seconds for unit in units),
                "metrics": {
                    name: _over_folds([unit.metrics[name] for unit in units])
                    for name in (*METRICS, *_HELD_OUT)
                    if all(name in unit.metrics for unit in units)
                },
                "fitted": _fitted_over_folds([unit.fitted for unit in units]),
            }
            for (dataset, draw, row), units in places.items()
            if len(units) == self.plan.folds
        ]

    def published(self, dataset: str, draw: str, row: str) -> Mapping[str, Published]:
        """Return the paper's figures for a place in the tables, by criterion.

        The paper has two draws only, and no label frequencies.
        """
        own = next(each for each in self.plan.expanded_rows() if each.title == row)
        asked = next(each for each in self.plan.draws if each.name == draw)
        if own.label_frequencies or own.match_frequencies or not asked.is_published:
            return {}
        method = get_method(own.method).base
        printed, title = published_cells(self.plan.published), own.published or printed_name(method)
        return {
            ours: printed[place]
            for ours, theirs in printed_criteria(method).items()
            if (place := (dataset, asked.scheme, title, theirs)) in printed
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """The names in each of ``lines``."""
        measured = (*METRICS, *(_HELD_OUT if self.plan.score else ()))
        return ("study", *_PLACE, *measured, *_COSTS, "parameters", "fitted", "error", "key")

    def lines(self) -> list[dict[str, Any]]:
        """Return a line of plain data for each unit, as a table or a data frame takes them.

        ``fold`` counts from 0, ``parameters`` and ``fitted`` are JSON objects, and ``error`` is the
        last line of a traceback. Criteria that were not measured are NaN.
        """
        told = [
            {
                **vars(unit),
                **unit.metrics,
                "study": self.plan.name,
                "parameters": canonical_json(unit.parameters),
                "fitted": canonical_json(unit.fitted),
                "error": unit.reason,
            }
            for unit in self.units
        ]
        return [{name: each.get(name, math.nan) for name in self.columns} for each in told]

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
