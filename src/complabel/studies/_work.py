"""What a worker process does: load once, draw once, run a fold and report."""

from __future__ import annotations

import dataclasses
import functools
import json
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from complabel.datasets import dataset_fingerprint
from complabel.errors import InputError
from complabel.studies._labels import draw_labels
from complabel.studies._machine import (
    describe_machine,
    peak_memory_mb,
    reset_peak_memory,
    result_versions,
)
from complabel.studies._outcome import Outcome
from complabel.studies._own_tables import OwnFile, paths_of
from complabel.studies._protocol import run_fold
from complabel.studies._sources import KEPT, fetch
from complabel.studies._units import Unit, unit_code

if TYPE_CHECKING:
    from complabel.datasets import MultiLabelDataset

_drawn = functools.lru_cache(maxsize=KEPT)(draw_labels)


def run_unit(unit: Unit, data_dir: str | Path | None) -> Outcome:
    """Run a unit; what goes wrong is reported, not raised."""
    try:
        _refuse_other_code(unit)
        dataset = _dataset(unit.dataset, unit.file, data_dir, unit.fingerprint)
        complementary = _drawn(dataset, unit.draw, seed=unit.seed)
        reset_peak_memory()
        outcome = run_fold(
            dataset,
            complementary,
            unit.row,
            fold=unit.fold,
            folds=unit.folds,
            seed=unit.seed,
            audit=unit.draw.audit,
            criteria=unit.criteria,
            score=unit.score,
        )
    except Exception:
        return Outcome(error=traceback.format_exc(), machine=describe_machine())
    details = dict(outcome.details)
    if unit.fold == 0:  # reports count answers, and have no dataset to look into
        details |= {"n_samples": dataset.n_samples, "n_labels": dataset.n_labels}
    return dataclasses.replace(
        outcome, details=details, peak_memory_mb=peak_memory_mb(), machine=describe_machine()
    )


def _refuse_other_code(unit: Unit) -> None:
    """Make sure that a worker computes with the code and the versions that the key stands for."""
    said = json.loads(unit.identity)
    own = {"code": unit_code(unit.row), "versions": result_versions()}
    for what, value in own.items():
        if value != said[what]:
            raise InputError(
                f"this worker has another {what} of {unit.row.method} than the study was started"
                f" with ({value}, not {said[what]}); install the same on every worker, and start"
                " the study again if it was edited since"
            )


@functools.lru_cache(maxsize=KEPT)
def _dataset(
    name: str, file: OwnFile, data_dir: str | Path | None, fingerprint: str
) -> MultiLabelDataset:
    """Load a dataset once per process, and make sure that it is the one the study means."""
    dataset = fetch(name, file, data_dir=data_dir)
    if dataset_fingerprint(dataset) != fingerprint:
        where = f"file {', '.join(paths_of(file))}" if file else f"folder {data_dir}"
        raise InputError(
            f"{name} differs between where the study was started and this worker ({where}); give"
            " every worker the same files"
        )
    return dataset
