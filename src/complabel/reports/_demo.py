"""The demonstration: what can be learned from complementary labels, as plain data."""

from __future__ import annotations

import math
import platform
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

import complabel
from complabel._training import one_thread
from complabel.annotations import names_from_indicator
from complabel.datasets import load_dataset
from complabel.methods import MLCLClassifier, get_method, make_classifier
from complabel.metrics import average_precision
from complabel.studies import draw_labels, run_benchmark, seeded, split_folds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.datasets import MultiLabelDataset
    from complabel.methods import ComplementaryClassifier
    from complabel.studies import OnFold

DEMO_METHODS = ("prior", "mlcl", "comrank", "supervised")
"""The methods of the demonstration, in the order the page shows them."""

_SHOWN_METHODS = ("mlcl", "comrank")
_SHOWN_CANVASES = 8
_SCHEME = "uniform"


def run_demo(
    *, seed: int = 0, n_folds: int = 5, n_jobs: int = 1, on_fold: OnFold | None = None
) -> dict[str, Any]:
    """Learn the digits on canvases from one "is not" answer each; summarize what came out.

    Parameters
    ----------
    seed : int, default=0
        Of the draw of complementary labels, the folds and the methods; the canvases are those of
        ``load_dataset("digits")`` for every seed.
    n_folds : int, default=5
    n_jobs : int, default=1
        Folds that run at once.
    on_fold : callable or None, default=None
        Called with (dataset, method, FoldResult) after each fold of each of
        :data:`DEMO_METHODS`.

    Returns
    -------
    dict
        Plain data (JSON can hold it): ``dataset``, ``scheme``, ``seed``, ``folds``,
        ``n_annotations`` (answers used), ``methods`` (a list of records as in
        :func:`results_as_json`, with ``title``), ``example`` (the first fold: MLCL's matrices
        ``initial_transition`` S, ``label_correlation`` C and ``transition`` T, and canvases of its
        ``training`` and ``test`` part) and ``versions``.

    Raises
    ------
    InputError
        If there cannot be that many folds.
    """
    dataset = load_dataset("digits")
    results = run_benchmark(
        [dataset],
        DEMO_METHODS,
        scheme=_SCHEME,
        n_folds=n_folds,
        seed=seed,
        n_jobs=n_jobs,
        on_fold=on_fold,
    )
    methods = [
        {"title": get_method(result.method).title, **result.as_record()} for result in results
    ]
    return {
        "dataset": _describe(dataset),
        "scheme": _SCHEME,
        "seed": seed,
        "folds": n_folds,
        "n_annotations": int(draw_labels(dataset, scheme=_SCHEME, seed=seed).sum()),
        "methods": methods,
        "example": _example(dataset, seed=seed, n_folds=n_folds),
        "versions": _versions(),
    }


def _describe(dataset: MultiLabelDataset) -> dict[str, Any]:
    """Return what the page says about the data."""
    return {
        "name": dataset.name,
        "n_samples": dataset.n_samples,
        "n_features": dataset.n_features,
        "n_labels": dataset.n_labels,
        "label_names": list(dataset.label_names),
        "label_cardinality": dataset.label_cardinality,
    }


def _versions() -> dict[str, str]:
    """Return the versions that the figures depend on."""
    packages = ("numpy", "scikit-learn", "torch")
    return {
        "complabel": complabel.__version__,
        "Python": platform.python_version(),
        **{package: metadata.version(package) for package in packages},
    }


def _example(dataset: MultiLabelDataset, *, seed: int, n_folds: int) -> dict[str, Any]:
    """Fit on the first fold as the benchmark did, and keep what can be looked at."""
    complementary = draw_labels(dataset, scheme=_SCHEME, seed=seed)
    train, test = split_folds(dataset, n_folds=n_folds, seed=seed)[0]
    X: Any = dataset.X
    fitted: dict[str, ComplementaryClassifier] = {}
    with one_thread():
        for name in _SHOWN_METHODS:
            classifier = seeded(make_classifier(name, dataset=dataset.name), seed=seed, fold=0)
            fitted[name] = classifier.fit(X[train], complementary[train])
    mlcl = fitted["mlcl"]
    assert isinstance(mlcl, MLCLClassifier)
    scores = mlcl.predict_proba(X[test])
    shown = test[_best_to_worst(dataset.Y[test], scores)]
    return {
        "n_train": len(train),
        "n_test": len(test),
        "initial_transition": mlcl.initial_transition_.tolist(),
        "label_correlation": mlcl.label_correlation_.tolist(),
        "transition": mlcl.transition_.tolist(),
        "training": _training_canvases(dataset, complementary, train[:_SHOWN_CANVASES]),
        "test": _test_canvases(dataset, fitted, shown),
    }


def _best_to_worst(Y: NDArray[np.uint8], scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the middle row of each eighth, by average precision from the highest."""
    precision = [
        average_precision(Y[row : row + 1], scores[row : row + 1]) for row in range(len(Y))
    ]
    middles = (np.arange(_SHOWN_CANVASES) + 0.5) / _SHOWN_CANVASES * len(Y)
    return np.argsort(-np.array(precision), kind="stable")[middles.astype(np.intp)]


def _pixels(X: Any) -> list[list[list[float]]]:
    """Return the rows of X, shape (n, side * side), as nested lists (n, side, side)."""
    side = math.isqrt(X.shape[1])
    canvases: list[list[list[float]]] = X.reshape(-1, side, side).tolist()
    return canvases


def _training_canvases(
    dataset: MultiLabelDataset, complementary: NDArray[np.uint8], rows: NDArray[np.intp]
) -> list[dict[str, Any]]:
    """Return canvases with the answers that were learned from."""
    answers = names_from_indicator(complementary[rows], dataset.label_names)
    return [
        {"pixels": pixels, "complementary": list(answer)}
        for pixels, answer in zip(_pixels(dataset.X[rows]), answers, strict=True)
    ]


def _test_canvases(
    dataset: MultiLabelDataset,
    fitted: dict[str, ComplementaryClassifier],
    rows: NDArray[np.intp],
) -> list[dict[str, Any]]:
    """Return canvases with their digits, and what each method says of them."""
    X: Any = dataset.X[rows]
    names = np.array(dataset.label_names)
    relevant = names_from_indicator(dataset.Y[rows], dataset.label_names)
    canvases: list[dict[str, Any]] = [
        {"pixels": pixels, "relevant": list(digits), "predictions": {}}
        for pixels, digits in zip(_pixels(X), relevant, strict=True)
    ]
    for name, classifier in fitted.items():
        predicted = names_from_indicator(classifier.predict(X), dataset.label_names)
        rankings = np.argsort(-classifier.predict_proba(X), axis=1, kind="stable")
        for canvas, labels, ranking in zip(canvases, predicted, rankings, strict=True):
            canvas["predictions"][name] = {
                "labels": list(labels),
                "ranking": names[ranking].tolist(),
            }
    return canvases
