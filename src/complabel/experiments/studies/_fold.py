"""One fold: train on complementary labels or on answers, test on relevant labels.

No other code of the package fits a method to a fold. True labels of training instances reach
``fit`` in three cases only: as the counted answers of an audit; for a reference with
``learns_from = "relevant"``; and for rows that declare that they are told label frequencies or
relevant labels.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold

from complabel import methods, metrics
from complabel._training import one_thread
from complabel.answers import Answers
from complabel.datasets import MultiLabelDataset
from complabel.errors import AnnotationError, InputError
from complabel.experiments.methods import make_paper_classifier
from complabel.experiments.studies._labels import GivenLabels, draw_audit, draw_known, with_known
from complabel.experiments.studies._plan import Row
from complabel.experiments.studies._results import (
    Outcome,
    describe_machine,
    fitted_details,
    fitted_scalars,
    peak_memory_mb,
    reset_peak_memory,
)
from complabel.methods import ComplementaryClassifier

# A classifier, features, labels to learn from, known relevant labels, and training and test rows.
_GivenToFit: TypeAlias = (
    "tuple[ComplementaryClassifier, Any, GivenLabels, NDArray[np.uint8] | None,"
    " NDArray[np.intp], NDArray[np.intp]]"
)
T = TypeVar("T")
_CURVE_DIGITS = 6  # enough for a drawn curve, and a small store


@dataclass(frozen=True)
class FittedFold:
    """A fitted method; ``train`` and ``test`` are row numbers, the predictions (n_test, K)."""

    classifier: ComplementaryClassifier
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    predicted: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    fit_seconds: float
    predict_seconds: float


def split_folds(
    dataset: MultiLabelDataset, *, n_folds: int, seed: int
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Split the instances into folds; a group is never divided between training and test.

    Parameters
    ----------
    dataset : MultiLabelDataset
    n_folds : int
        From 2 to the number of instances, or of groups if the dataset has groups.
    seed : int

    Returns
    -------
    list of (train, test)
        Row numbers of each fold.

    Raises
    ------
    InputError
        If the dataset has too few instances or groups for so many folds.
    """
    units = dataset.n_samples if dataset.groups is None else len(np.unique(dataset.groups))
    if not 2 <= n_folds <= units:
        unit = "instances" if dataset.groups is None else "groups of instances"
        raise InputError(
            f"{dataset.name} has {units} {unit}: folds must be between 2 and {units}, got {n_folds}"
        )
    splitter = KFold if dataset.groups is None else GroupKFold
    folds = splitter(n_splits=n_folds, shuffle=True, random_state=seed)
    return list(folds.split(dataset.X, groups=dataset.groups))


def fold_seed(seed: int, fold: int) -> int:
    return int(np.random.SeedSequence([seed, fold]).generate_state(1)[0])


def run_fold(
    dataset: MultiLabelDataset,
    labels: GivenLabels,
    row: Row,
    *,
    fold: int,
    folds: int,
    seed: int,
    audit: int = 0,
    criteria: bool = True,
    score: bool = False,
) -> Outcome:
    """Fit a method to the training part of a fold, and measure it on the test part.

    ``criteria`` are measured on true labels. ``score`` is the method's own, on held-out labels; and
    on Answers ``"held_out_ranking"``: minus the complementary ranking error, for all methods alike.
    """
    how: dict[str, Any] = {"folds": folds, "seed": seed, "audit": audit}
    found = run_folds(dataset, labels, [(row, fold)], **how, criteria=criteria, score=score)
    return _or_raise(found[0])


def run_folds(
    dataset: MultiLabelDataset,
    labels: GivenLabels,
    places: Sequence[tuple[Row, int]],
    *,
    folds: int,
    seed: int,
    audit: int = 0,
    criteria: bool = True,
    score: bool = False,
) -> list[Outcome | Exception]:
    """Run rows of one method on folds as ``run_fold`` does, side by side; an error takes a place.

    Each has an equal share of the seconds of all fits, and the peak memory of all.
    """
    reset_peak_memory()
    curves: list[dict[str, list[float]]] = [{} for _ in places]
    given = [
        _attempt(
            prepare_fold,
            *(dataset, labels, row),
            fold=fold,
            folds=folds,
            seed=seed,
            audit=audit,
            callback=_keeping(curve) if fold == 0 else None,
        )
        for (row, fold), curve in zip(places, curves, strict=True)
    ]
    ready = [each for each in given if not isinstance(each, Exception)]
    fitted = iter(fit_folds(ready))
    found = [each if isinstance(each, Exception) else next(fitted) for each in given]
    return [
        fit
        if isinstance(fit, Exception)
        else _attempt(
            *(_measured, fit, dataset, labels),
            curves=curve if fold == 0 else None,
            criteria=criteria,
            score=score,
        )
        for fit, curve, (_, fold) in zip(found, curves, places, strict=True)
    ]


def _keeping(curves: dict[str, list[float]]) -> Callable[[str, int, int, float], None]:
    def on_epoch(stage: str, _epoch: int, _epochs: int, loss: float) -> None:
        if stage != "search":  # this stage counts settings, not epochs
            curves.setdefault(stage, []).append(round(loss, _CURVE_DIGITS))

    return on_epoch


def _attempt(do: Callable[..., T], *given: Any, **how: Any) -> T | Exception:
    try:
        return do(*given, **how)
    except Exception as error:  # a method may raise anything
        return error


def _or_raise(found: T | Exception) -> T:
    if isinstance(found, Exception):
        raise found
    return found


def _measured(
    fitted: FittedFold,
    dataset: MultiLabelDataset,
    labels: GivenLabels,
    *,
    curves: dict[str, list[float]] | None,
    criteria: bool,
    score: bool,
) -> Outcome:
    """Measure a fitted fold; ``curves`` is None if its details are not kept."""
    classifier, test = fitted.classifier, fitted.test
    measured = {}
    if criteria:
        # Rows without true labels are left out; rows with none or all of them cannot be ranked.
        seen = slice(None) if dataset.known is None else dataset.known[test]
        measured = metrics.evaluate(
            dataset.Y[test][seen],
            fitted.probabilities[seen],
            fitted.predicted[seen],
            skip_trivial_rows=True,
        )
    if score and classifier.learns_from == "complementary":
        X: Any = dataset.X
        with one_thread():
            measured["score"] = classifier.score(X[test], labels[test])
            if isinstance(labels, Answers):
                with contextlib.suppress(AnnotationError):  # no answer rules a label out
                    measured["held_out_ranking"] = metrics.complementary_ranking_scorer(
                        classifier, X[test], labels[test]
                    )
    return Outcome(
        metrics=measured,
        fit_seconds=fitted.fit_seconds,
        predict_seconds=fitted.predict_seconds,
        fitted=fitted_scalars(classifier),
        details={} if curves is None else fitted_details(classifier, dataset, curves),
        peak_memory_mb=peak_memory_mb(),
        machine=describe_machine(),
    )


def prepare_fold(
    dataset: MultiLabelDataset,
    labels: GivenLabels,
    row: Row,
    *,
    fold: int,
    folds: int,
    seed: int,
    audit: int = 0,
    callback: Callable[[str, int, int, float], None] | None = None,
) -> _GivenToFit:
    """Return a classifier and what :func:`fit_fold` may see: no other labels of the dataset.

    A reference learns from the relevant labels instead of ``labels``, and gets no audit. Parameters
    that the row does not set are those that the paper states for the dataset.
    """
    classifier = make_paper_classifier(row.method, dataset.name, **row.settings)
    given: dict[str, Any] = {"random_state": fold_seed(seed, fold)}
    if callback is not None:
        given["callback"] = callback
    known_parameters = classifier.get_params(deep=False)
    classifier.set_params(**{k: given[k] for k in given.keys() & known_parameters})
    train, test = split_folds(dataset, n_folds=folds, seed=seed)[fold]
    if classifier.learns_from == "relevant":
        if dataset.known is not None:
            train = train[dataset.known[train]]
        return classifier, dataset.X, dataset.Y, None, train, test
    # Of the true labels, only K shares over the training part are used, and only if the row asks.
    told = dataset.Y[train].mean(axis=0, dtype=np.float64) if row.label_frequencies else "auto"
    if row.match_frequencies:
        classifier = methods.FrequencyMatchedClassifier(
            classifier=classifier, label_frequencies=told
        )
    elif row.label_frequencies:
        classifier.set_params(label_frequencies=told)
    if audit:
        others = labels if isinstance(labels, Answers) else Answers.from_complementary(labels)
        own = draw_audit(dataset, train, audit, fold=fold, seed=seed)
        labels = Answers.concatenate([others, own])
    relevant = draw_known(dataset, row, seed=seed)
    if relevant is not None and isinstance(labels, Answers):
        labels, relevant = with_known(labels, relevant), None
    return classifier, dataset.X, labels, relevant, train, test


def fit_fold(
    classifier: ComplementaryClassifier,
    X: Any,
    labels: GivenLabels,
    relevant: NDArray[np.uint8] | None,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
) -> FittedFold:
    """Fit a method to the training part of a fold, and predict for the test part."""
    return _or_raise(fit_folds([(classifier, X, labels, relevant, train, test)])[0])


def fit_folds(given: Sequence[_GivenToFit]) -> list[FittedFold | Exception]:
    """Fit methods to folds as ``fit_fold`` does, side by side; an error takes a place."""
    parts = [
        (X[train], labels[train], {} if relevant is None else {"relevant": relevant[train]})
        for _, X, labels, relevant, train, _ in given
    ]
    with one_thread():  # sums then have the same order, however many folds run at once
        started = time.perf_counter()
        errors = methods.fit_side_by_side([each[0] for each in given], parts)
        seconds = (time.perf_counter() - started) / max(1, len(given))
        return [
            _attempt(_predicted, *each, seconds) if error is None else error
            for each, error in zip(given, errors, strict=True)
        ]


def _predicted(
    classifier: ComplementaryClassifier,
    X: Any,
    _labels: GivenLabels,
    _relevant: NDArray[np.uint8] | None,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    fit_seconds: float,
) -> FittedFold:
    X_test = X[test]
    started = time.perf_counter()
    predicted, probabilities = classifier.predict_with_proba(X_test)
    seconds = time.perf_counter() - started
    return FittedFold(classifier, train, test, predicted, probabilities, fit_seconds, seconds)
