"""What a worker process does: load once, draw once, fit and test a fold, report."""

from __future__ import annotations

import functools
import json
import numbers
import os
import platform
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel import metrics
from complabel.datasets import dataset_fingerprint, load_dataset
from complabel.errors import InputError
from complabel.methods import make_classifier
from complabel.studies._memory import peak_memory_mb, reset_peak_memory
from complabel.studies._protocol import draw_known, draw_labels, predict_fold, seeded, split_folds
from complabel.studies._units import Unit, result_versions, unit_code

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.datasets import MultiLabelDataset
    from complabel.methods import ComplementaryClassifier
    from complabel.studies._plan import Draw

# A study goes through its datasets one after the other; two overlap where one ends.
_DATASETS_KEPT = 2
_MATRICES = ("initial_transition_", "label_correlation_", "transition_")
_CURVE_DIGITS = 6


@dataclass(frozen=True)
class Outcome:
    """What became of a unit; see :class:`complabel.studies.UnitResult` for the fields."""

    error: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    fit_seconds: float = float("nan")
    predict_seconds: float = float("nan")
    peak_memory_mb: float = float("nan")
    fitted: Mapping[str, float | int | str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=dict)


def run_unit(unit: Unit, data_dir: str | Path | None) -> Outcome:
    """Run a unit; what goes wrong is reported, not raised."""
    try:
        return _run(unit, data_dir)
    except Exception:
        return Outcome(error=traceback.format_exc(), machine=describe_machine())


def _run(unit: Unit, data_dir: str | Path | None) -> Outcome:
    """Fit on the training part of a fold and evaluate on its test part."""
    _refuse_other_code(unit)
    dataset = _dataset(unit.dataset, data_dir, unit.fingerprint)
    classifier = seeded(
        make_classifier(unit.row.method, dataset=unit.dataset, **unit.row.settings),
        seed=unit.seed,
        fold=unit.fold,
    )
    if classifier.learns_from == "relevant":
        labels, known = dataset.Y, None
    else:
        labels, known = _labels(unit, data_dir)
    train, test = _folds(unit, data_dir)[unit.fold]
    curves = _record_curves(classifier) if unit.fold == 0 else {}
    reset_peak_memory()
    prediction = predict_fold(
        classifier,
        dataset.X,
        train,
        labels[train],
        test,
        None if known is None else known[train],
    )
    return Outcome(
        metrics=metrics.evaluate(dataset.Y[test], prediction.scores, prediction.predicted),
        fit_seconds=prediction.fit_seconds,
        predict_seconds=prediction.predict_seconds,
        peak_memory_mb=peak_memory_mb(),
        fitted=_fitted_scalars(classifier),
        details=_details(classifier, dataset, curves) if unit.fold == 0 else {},
        machine=describe_machine(),
    )


def _refuse_other_code(unit: Unit) -> None:
    """Make sure that a worker computes with the code and the versions that the key stands for."""
    said = json.loads(unit.identity)
    own = {"code": unit_code(unit.row.method), "versions": result_versions()}
    for what, value in own.items():
        if value != said[what]:
            raise InputError(
                f"this worker has another {what} of {unit.row.method} than the study was started"
                f" with ({value}, not {said[what]}); install the same on every worker, and start"
                " the study again if it was edited since"
            )


@functools.lru_cache(maxsize=_DATASETS_KEPT)
def _dataset(name: str, data_dir: str | Path | None, fingerprint: str) -> MultiLabelDataset:
    """Load a dataset once per process, and make sure it is the one the study means."""
    dataset = load_dataset(name, data_dir=data_dir)
    if dataset_fingerprint(dataset) != fingerprint:
        raise InputError(
            f"{name} differs between where the study was started and this worker (folder"
            f" {data_dir}); give every worker the same files"
        )
    return dataset


def _labels(
    unit: Unit, data_dir: str | Path | None
) -> tuple[NDArray[np.uint8], NDArray[np.uint8] | None]:
    """Return a unit's complementary and known relevant labels."""
    drawn = _drawn(unit.dataset, data_dir, unit.fingerprint, unit.draw, unit.seed)
    row = unit.row
    if not (row.relevant_per_row or row.relevant_share):
        return drawn, None
    known = draw_known(
        _dataset(unit.dataset, data_dir, unit.fingerprint),
        labels_per_row=row.relevant_per_row,
        share=row.relevant_share,
        seed=unit.seed,
    )
    return drawn, known


@functools.lru_cache(maxsize=_DATASETS_KEPT)
def _drawn(
    name: str, data_dir: str | Path | None, fingerprint: str, draw: Draw, seed: int
) -> NDArray[np.uint8]:
    """Draw complementary labels once per process."""
    return draw_labels(
        _dataset(name, data_dir, fingerprint),
        scheme=draw.scheme,
        seed=seed,
        labels_per_row=draw.labels_per_row,
        sharpness=draw.sharpness,
    )


def _folds(
    unit: Unit, data_dir: str | Path | None
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the folds that a unit is one of."""
    dataset = _dataset(unit.dataset, data_dir, unit.fingerprint)
    return split_folds(dataset, n_folds=unit.folds, seed=unit.seed)


def _record_curves(classifier: ComplementaryClassifier) -> dict[str, list[float]]:
    """Let a gradient method tell its mean loss after each epoch; return where it goes."""
    curves: dict[str, list[float]] = {}
    if "callback" in classifier.get_params(deep=False):

        def on_epoch(stage: str, _epoch: int, _epochs: int, loss: float) -> None:
            if stage != "search":  # tells of settings, not of epochs
                curves.setdefault(stage, []).append(round(loss, _CURVE_DIGITS))

        classifier.set_params(callback=on_epoch)
    return curves


def _fitted_scalars(classifier: ComplementaryClassifier) -> dict[str, float | int | str]:
    """Return what a fitted classifier says of itself in single values, such as ``alpha_``."""
    scalars: dict[str, float | int | str] = {}
    for name, value in vars(classifier).items():
        if not name.endswith("_") or name.startswith("_") or name == "n_features_in_":
            continue
        if isinstance(value, str):
            scalars[name] = value
        elif isinstance(value, numbers.Integral):
            scalars[name] = int(value)
        elif isinstance(value, numbers.Real):
            scalars[name] = float(value)
    return scalars


def _details(
    classifier: ComplementaryClassifier,
    dataset: MultiLabelDataset,
    curves: Mapping[str, list[float]],
) -> dict[str, Any]:
    """Return what a report shows of one fold: matrices over labels and learning curves."""
    matrices = {
        name: np.asarray(getattr(classifier, name)).tolist()
        for name in _MATRICES
        if hasattr(classifier, name)
    }
    details: dict[str, Any] = {}
    if matrices:
        details |= {"label_names": list(dataset.label_names), "matrices": matrices}
    if curves:
        details["curves"] = dict(curves)
    return details


@functools.cache
def describe_machine() -> dict[str, str]:
    """Return what results were computed on and with."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        **result_versions(),
    }


def _processor() -> str:
    """Return the processor's name, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
