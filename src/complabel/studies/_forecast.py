"""How long a run will take, by what the store says of units like those to run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from complabel.studies._units import canonical_json

if TYPE_CHECKING:
    from complabel.studies._store import Store
    from complabel.studies._units import Unit

_OF_A_FOLD = "random_state"  # a parameter that differs between the folds of a row


@dataclass(frozen=True)
class Forecast:
    """How long units will take.

    Parameters
    ----------
    n_units : int
        Units that are to run.
    n_known : int
        Those for which the store has times of units like them.
    seconds : float
        What these take on one core, fits and predictions.
    """

    n_units: int
    n_known: int
    seconds: float


def forecast(store: Store, units: Sequence[Unit]) -> Forecast:
    """Forecast a run by units of the same row on the same dataset, whichever draw and fold.

    Parameters
    ----------
    store : Store
    units : sequence of Unit
        Those that are to run.

    Returns
    -------
    Forecast
        Units by other code count, too: their times are the best that is known.
    """
    times: dict[str, list[float]] = {}
    for identity, seconds in store.times():
        times.setdefault(_likeness(identity), []).append(seconds)
    times.pop("", None)  # what is damaged is like nothing
    known = [times[like] for unit in units if (like := _likeness(unit.identity)) in times]
    return Forecast(len(units), len(known), sum(map(fmean, known)))


def _likeness(identity: str) -> str:
    """Return what units of a row on a dataset share; empty where the identity is damaged."""
    try:
        said = json.loads(identity)
        parameters = {k: v for k, v in said["parameters"].items() if k != _OF_A_FOLD}
        shared = {"data": said["data"], "classifier": said["classifier"], "parameters": parameters}
    except (AttributeError, LookupError, TypeError, ValueError):
        return ""
    return canonical_json(shared)
