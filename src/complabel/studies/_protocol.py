"""Cross-validation that keeps the true labels of training instances away from every method."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from sklearn.model_selection import GroupKFold, KFold

from complabel import metrics
from complabel._training import one_thread
from complabel.annotations import draw_complementary, draw_relevant
from complabel.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.datasets import MultiLabelDataset
    from complabel.methods import ComplementaryClassifier

SCHEMES = ("uniform", "biased")

MakeClassifier = Callable[[], "ComplementaryClassifier"]


@dataclass(frozen=True)
class FoldResult:
    """What one fold gave.

    Parameters
    ----------
    fold : int
        From 0.
    metrics : mapping of str to float
        The criteria of :data:`complabel.metrics.METRIC_NAMES` on the test part.
    fit_seconds, predict_seconds : float
        Wall time.
    """

    fold: int
    metrics: Mapping[str, float]
    fit_seconds: float
    predict_seconds: float


def draw_labels(
    dataset: MultiLabelDataset,
    *,
    scheme: str,
    seed: int,
    labels_per_row: int = 1,
    sharpness: float = 1.0,
) -> NDArray[np.uint8]:
    """Draw complementary labels for every instance of a dataset.

    Parameters
    ----------
    dataset : MultiLabelDataset
    scheme : {"uniform", "biased"}
    seed : int
        The same seed gives the same labels on every machine.
    labels_per_row : int, default=1
        Complementary labels of each instance.
    sharpness : float, default=1.0
        Of ``"biased"``.

    Returns
    -------
    ndarray of shape (n_samples, K), uint8

    Raises
    ------
    InputError
        If there is no such scheme.
    """
    if scheme not in SCHEMES:
        raise InputError(f"labels must be one of {', '.join(SCHEMES)}, got {scheme!r}")
    return draw_complementary(
        dataset.Y,
        scheme="uniform" if scheme == "uniform" else "biased",
        n_per_row=labels_per_row,
        sharpness=sharpness,
        random_state=seed,
    )


def draw_known(
    dataset: MultiLabelDataset, *, labels_per_row: int = 0, share: float = 0.0, seed: int
) -> NDArray[np.uint8]:
    """Draw relevant labels that are known, independently of the complementary ones.

    Parameters
    ----------
    dataset : MultiLabelDataset
    labels_per_row : int, default=0
        Relevant labels of each instance that are known.
    share : float, default=0.0
        Of all relevant labels, how many are known besides, wherever they are.
    seed : int

    Returns
    -------
    ndarray of shape (n_samples, K), uint8
    """
    # A stream of its own: with the seed alone the draw would follow that of draw_labels.
    stream = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    known = np.zeros_like(dataset.Y)
    if labels_per_row:
        known |= draw_relevant(dataset.Y, n_per_row=labels_per_row, random_state=stream)
    known |= dataset.Y & (stream.random(dataset.Y.shape) < share)
    return known


def split_folds(
    dataset: MultiLabelDataset, *, n_folds: int, seed: int
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Split the instances into folds, never dividing a group between training and test.

    Parameters
    ----------
    dataset : MultiLabelDataset
    n_folds : int
        At least 2 and at most the number of instances, or of groups where there are some.
    seed : int

    Returns
    -------
    list of (train, test)
        Row indices of each fold.

    Raises
    ------
    InputError
        If there cannot be that many folds.
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


def cross_validate(
    dataset: MultiLabelDataset,
    make_classifier: MakeClassifier,
    *,
    scheme: str = "uniform",
    n_folds: int = 10,
    seed: int = 0,
    n_jobs: int = 1,
) -> Iterator[FoldResult]:
    """Train on complementary labels and test on relevant sets, fold by fold.

    Complementary labels are drawn once for the dataset, before it is split. ``fit`` is given the
    features and complementary labels of the training instances and nothing else; a reference that
    declares ``learns_from = "relevant"`` is given their relevant labels instead.

    Parameters
    ----------
    dataset : MultiLabelDataset
    make_classifier : callable
        Makes an unfitted classifier; if it has a ``random_state`` parameter, that is set from
        the seed and the fold.
    scheme : {"uniform", "biased"}, default="uniform"
    n_folds : int, default=10
    seed : int, default=0
        Of the draw, the folds and the classifiers.
    n_jobs : int, default=1
        Folds that run at once, each in a process of its own with one thread.

    Yields
    ------
    FoldResult
        In the order of the folds, each as soon as it and those before it are done.

    Raises
    ------
    InputError
        If the scheme or the number of folds is not possible; before anything is trained.
    """
    complementary = draw_labels(dataset, scheme=scheme, seed=seed)
    folds = split_folds(dataset, n_folds=n_folds, seed=seed)
    classifiers = [seeded(make_classifier(), seed=seed, fold=fold) for fold in range(n_folds)]
    labels = dataset.Y if classifiers[0].learns_from == "relevant" else complementary
    tasks = (
        joblib.delayed(predict_fold)(classifier, dataset.X, train, labels[train], test)
        for classifier, (train, test) in zip(classifiers, folds, strict=True)
    )
    predictions = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    return (
        FoldResult(
            fold,
            metrics.evaluate(dataset.Y[test], prediction.scores, prediction.predicted),
            prediction.fit_seconds,
            prediction.predict_seconds,
        )
        for fold, ((_, test), prediction) in enumerate(zip(folds, predictions, strict=True))
    )


@dataclass(frozen=True)
class Prediction:
    """A fitted method's answers for the test part.

    Parameters
    ----------
    scores : ndarray of shape (n_test, K), float64
    predicted : ndarray of shape (n_test, K), int64
    fit_seconds, predict_seconds : float
        Wall time.
    """

    scores: NDArray[np.float64]
    predicted: NDArray[np.int64]
    fit_seconds: float
    predict_seconds: float


def predict_fold(
    classifier: ComplementaryClassifier,
    X: Any,
    train: NDArray[np.intp],
    train_labels: NDArray[np.uint8],
    test: NDArray[np.intp],
    train_known: NDArray[np.uint8] | None = None,
) -> Prediction:
    """Fit to the training part and predict for the test part.

    Runs in a worker process, to which no true label is sent but for a declared reference.
    """
    X_train, X_test = X[train], X[test]
    known = {} if train_known is None else {"relevant": train_known}
    with one_thread():  # the same sums in the same order, however many folds run at once
        started = time.perf_counter()
        classifier.fit(X_train, train_labels, **known)
        fitted = time.perf_counter()
        predicted, scores = classifier.predict_with_proba(X_test)
        done = time.perf_counter()
    return Prediction(scores, predicted, fitted - started, done - fitted)


def seeded(classifier: ComplementaryClassifier, *, seed: int, fold: int) -> ComplementaryClassifier:
    """Give a classifier that draws random numbers a seed of its own."""
    if "random_state" in classifier.get_params(deep=False):
        state = int(np.random.SeedSequence([seed, fold]).generate_state(1)[0])
        classifier.set_params(random_state=state)
    return classifier
