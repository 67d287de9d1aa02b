"""What one fold of a study gave, and what else a report wants to know of it."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

if TYPE_CHECKING:
    from complabel.datasets import MultiLabelDataset
    from complabel.methods import ComplementaryClassifier

_MATRICES = ("initial_transition_", "label_correlation_", "transition_")
_OWN_ERROR = re.compile(r"complabel\.errors\.\w+: ")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one fold.

    Parameters
    ----------
    metrics : mapping of str to float
        The criteria of :data:`complabel.metrics.METRIC_NAMES`, and ``"score"`` where the plan
        asks for it; empty where the fold failed.
    fit_seconds, predict_seconds : float
        Wall time; NaN where the fold failed.
    peak_memory_mb : float
        Most resident memory of the process, in 1e6 bytes, interpreter and data included; NaN
        where the fold failed or the system does not tell.
    fitted : mapping of str to float, int or str
        Scalars that the fitted classifier reports, such as a chosen ``alpha_``.
    details : mapping of str to object
        Only for the first fold: ``n_samples`` and ``n_labels`` of the dataset, ``label_names``
        (list of K), ``matrices`` (name to K x K lists, such as ``transition_``) and ``curves``
        (stage to the mean loss after each epoch).
    error : str
        Traceback of a fold that failed, else empty.
    machine : mapping of str to str
        What it ran on, and with which versions.
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
        """The last line of the traceback, without the name of an error of complabel's."""
        last = self.error.strip().splitlines()[-1:]
        return _OWN_ERROR.sub("", "".join(last), count=1)


def fitted_scalars(classifier: BaseEstimator) -> dict[str, float | int | str]:
    """Return what a fitted classifier says in single values, such as ``alpha_``.

    Of label frequencies that it found, there are the sum and its standard error. Of one that fits
    another one, there is what that one says too.
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
    """Return the sum of label frequencies and its standard error, where they are known.

    Errors of labels belong together where labels were named: what is too much for one is too
    much for all. Without a covariance (K, K) they are taken as independent, too little then.
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
    """Return what a report shows of one fold: matrices over labels and learning curves."""
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
    return details


def plain(value: Any) -> Any:
    """Replace by None what JSON and SQLite have no number for, at any depth."""
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
