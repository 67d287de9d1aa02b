"""The demonstration: what can be learned from complementary labels, as plain data."""

from __future__ import annotations

import math
import platform
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.annotations import names_from_indicator
from complabel.errors import InputError
from complabel.methods import MLCLClassifier, get_method
from complabel.metrics import average_precision
from complabel.studies import (
    FittedFold,
    Monitor,
    Store,
    benchmark_plan,
    draw_labels,
    fetch,
    fit_fold,
    result_versions,
    run_study,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.datasets import MultiLabelDataset

DEMO_METHODS = ("prior", "mlcl", "comrank", "supervised")
"""The methods of the demonstration, in the order the page shows them."""

_DESCRIBED = ("name", "n_samples", "n_features", "n_labels", "label_cardinality")
_SHOWN_METHODS = ("mlcl", "comrank")
_SHOWN_CANVASES = 8


def run_demo(
    *, seed: int = 0, n_folds: int = 5, n_jobs: int = 1, monitor: Monitor | None = None
) -> dict[str, Any]:
    """Learn the digits on canvases from one "is not" answer each; summarize what came out.

    Parameters
    ----------
    seed : int, default=0
        Seed of the label draw, the folds and the methods; the canvases are those of
        ``load_dataset("digits")`` for every seed.
    n_folds : int, default=5
    n_jobs : int, default=1
        Folds that run at once.
    monitor : Monitor or None, default=None
        Follows the run.

    Returns
    -------
    dict
        Plain data (JSON can hold it): ``dataset``, ``scheme``, ``seed``, ``folds``,
        ``n_annotations`` (answers used), ``methods`` (what
        :meth:`complabel.studies.StudyResults.records` returns, with ``title``), ``example`` (the
        first fold: MLCL's matrices ``initial_transition`` S, ``label_correlation`` C and
        ``transition`` T, and canvases of its ``training`` and ``test`` part) and ``versions``.

    Raises
    ------
    InputError
        If there cannot be that many folds, or one failed.
    """
    plan = benchmark_plan(["digits"], DEMO_METHODS, n_folds=n_folds, seed=seed)
    with Store(":memory:") as store:
        run_study(plan, store, n_jobs=n_jobs, monitor=monitor)
        results = store.results(plan.name)
    for unit in results.having("failed"):
        raise InputError(f"the demonstration failed at {unit.row}: {unit.reason}")
    dataset, rows = fetch("digits"), {row.method: row for row in plan.expanded_rows()}
    drawn = draw_labels(dataset, plan.draws[0], seed=seed)
    complementary = np.asarray(drawn, dtype=np.uint8)
    fitted = {  # as the study fitted them
        name: fit_fold(dataset, complementary, rows[name], fold=0, folds=n_folds, seed=seed)
        for name in _SHOWN_METHODS
    }
    return {
        "dataset": {
            **{name: getattr(dataset, name) for name in _DESCRIBED},
            "label_names": list(dataset.label_names),
        },
        "scheme": plan.draws[0].scheme,
        "seed": seed,
        "folds": n_folds,
        "n_annotations": int(complementary.sum()),
        "methods": [
            {"title": get_method(record["method"]).title, **record} for record in results.records()
        ],
        "example": _example(dataset, complementary, fitted),
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    """Return the versions that the figures depend on."""
    found = {"Python": platform.python_version(), **result_versions()}
    return {name: found[name] for name in ("complabel", "Python", "numpy", "scikit-learn", "torch")}


def _example(
    dataset: MultiLabelDataset, complementary: NDArray[np.uint8], fitted: dict[str, FittedFold]
) -> dict[str, Any]:
    """Return what can be looked at of the first fold."""
    first = fitted["mlcl"]
    mlcl, train, test = first.classifier, first.train, first.test
    assert isinstance(mlcl, MLCLClassifier)
    shown = _best_to_worst(dataset.Y[test], first.probabilities)
    found = _canvases(dataset, test[shown], relevant=dataset.Y)
    for canvas in found:
        canvas["predictions"] = {}
    names = np.array(dataset.label_names)
    for method, of_method in fitted.items():
        predicted = names_from_indicator(of_method.predicted[shown], dataset.label_names)
        rankings = names[np.argsort(-of_method.probabilities[shown], axis=1, kind="stable")]
        for canvas, labels, ranking in zip(found, predicted, rankings.tolist(), strict=True):
            canvas["predictions"][method] = {"labels": list(labels), "ranking": ranking}
    return {
        "n_train": len(train),
        "n_test": len(test),
        "initial_transition": mlcl.initial_transition_.tolist(),
        "label_correlation": mlcl.label_correlation_.tolist(),
        "transition": mlcl.transition_.tolist(),
        "training": _canvases(dataset, train[:_SHOWN_CANVASES], complementary=complementary),
        "test": found,
    }


def _best_to_worst(Y: NDArray[np.uint8], scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the middle row of each eighth, by average precision from the highest."""
    precision = [
        average_precision(Y[row : row + 1], scores[row : row + 1]) for row in range(len(Y))
    ]
    middles = (np.arange(_SHOWN_CANVASES) + 0.5) / _SHOWN_CANVASES * len(Y)
    return np.argsort(-np.array(precision), kind="stable")[middles.astype(np.intp)]


def _canvases(
    dataset: MultiLabelDataset, rows: NDArray[np.intp], **indicators: NDArray[np.uint8]
) -> list[dict[str, Any]]:
    """Return canvases as pixels (side, side), and the names of their labels in each indicator."""
    side = math.isqrt(dataset.X.shape[1])
    pixels = np.asarray(dataset.X[rows]).reshape(-1, side, side).tolist()
    canvases: list[dict[str, Any]] = [{"pixels": canvas} for canvas in pixels]
    for name, indicator in indicators.items():
        answers = names_from_indicator(indicator[rows], dataset.label_names)
        for canvas, answer in zip(canvases, answers, strict=True):
            canvas[name] = list(answer)
    return canvases
