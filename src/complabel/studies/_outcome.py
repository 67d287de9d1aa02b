"""The outcome of one fold: its criteria, and further facts for reports, such as the machine."""

from __future__ import annotations

import contextlib
import functools
import math
import numbers
import os
import platform
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import complabel
from complabel.datasets import MultiLabelDataset
from complabel.methods import ComplementaryClassifier

_MATRICES = ("initial_transition_", "label_correlation_", "transition_")
_OWN_ERROR = re.compile(r"complabel\.errors\.\w+: ")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of one fold.

    Parameters
    ----------
    metrics : mapping of str to float
        The criteria of :data:`complabel.metrics.METRIC_NAMES`, and ``"score"`` if the plan asks
        for it. Empty if the fold failed.
    fit_seconds, predict_seconds : float
        Wall time; NaN if the fold failed.
    peak_memory_mb : float
        Peak of the process's resident memory in 1e6 bytes, with the interpreter and the data;
        NaN if the fold failed or the system does not tell.
    fitted : mapping of str to float, int or str
        Scalar attributes of the fitted classifier, such as a chosen ``alpha_``.
    details : mapping of str to object
        Only in the first fold: ``n_samples``, ``n_labels``, ``label_names``, ``matrices`` (name to
        K x K lists) and ``curves`` (stage to the mean loss after each epoch).
    error : str
        Traceback if the fold failed.
    machine : mapping of str to str
        Machine and versions of packages.
    """

    metrics: Mapping[str, float] = field(default_factory=dict)
    fit_seconds: float = math.nan
    predict_seconds: float = math.nan
    peak_memory_mb: float = math.nan
    fitted: Mapping[str, float | int | str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    machine: Mapping[str, str] = field(default_factory=dict)

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
    return {**details, "n_samples": dataset.n_samples, "n_labels": dataset.n_labels}


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
