"""A study's units as JSON, with everything the store holds of them."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

from complabel.studies._results import StudyResults


def units_json(results: StudyResults) -> str:
    """Write all that is known of a study's units.

    Parameters
    ----------
    results : StudyResults

    Returns
    -------
    str
        A JSON list with an object for each unit, in the order of the plan; its keys are the
        fields of :class:`UnitResult`. What was not measured is null.
    """
    units = [_plain(dataclasses.asdict(unit)) for unit in results.units]
    return json.dumps(units, indent=1, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """Replace what JSON has no number for, at any depth."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
