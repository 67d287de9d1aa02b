"""Every unit of a study as a line of CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping

from complabel.metrics import METRIC_NAMES
from complabel.reports._summarize import last_line
from complabel.studies import StudyResults

_UNIT = ("draw", "dataset", "row", "method", "fold", "status")
_MEASURES = ("fit_seconds", "predict_seconds", "peak_memory_mb")


def results_csv(results: StudyResults) -> str:
    """Write every unit as a line of CSV.

    Parameters
    ----------
    results : StudyResults

    Returns
    -------
    str
        With a header line: ``study``, ``draw``, ``dataset``, ``row``, ``method``, ``fold`` (from
        0), ``status``, the criteria, ``fit_seconds``, ``predict_seconds``, ``peak_memory_mb``
        (1e6 bytes), ``parameters`` and ``fitted`` (JSON objects), ``error`` (last line) and
        ``key``. Empty where nothing was measured.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    rest = ("parameters", "fitted", "error", "key")
    writer.writerow(["study", *_UNIT, *METRIC_NAMES, *_MEASURES, *rest])
    for unit in results.units:
        writer.writerow(
            [
                results.plan.name,
                *(getattr(unit, name) for name in _UNIT),
                *(_written(unit.metrics.get(name, math.nan)) for name in METRIC_NAMES),
                *(_written(getattr(unit, name)) for name in _MEASURES),
                _json(unit.parameters),
                _json(unit.fitted),
                last_line(unit.error),
                unit.key,
            ]
        )
    return text.getvalue()


def _written(value: float) -> str:
    """Write a number in full; nothing for what was not measured."""
    return repr(float(value)) if math.isfinite(value) else ""


def _json(values: Mapping[str, object]) -> str:
    """Write parameters on one line."""
    return json.dumps(dict(values), sort_keys=True, default=repr)
