"""Searching a method's settings with complementary labels only."""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from complabel._training import one_thread
from complabel.errors import ComplabelError, InputError
from complabel.methods import Grid, make_classifier
from complabel.metrics import average_precision
from complabel.studies._benchmark import OnFold
from complabel.studies._grids import expand_grid
from complabel.studies._protocol import FoldResult, draw_labels, seeded, split_folds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.datasets import MultiLabelDataset
    from complabel.methods import ComplementaryClassifier

LOG_LIKELIHOOD = "complementary log-likelihood"
"""What is compared of methods that model which label is chosen as complementary."""

RANKING_ERROR = "minus complementary ranking error"
"""What is compared of all other methods."""


@dataclass(frozen=True)
class TunedSetting:
    """One setting and how it did.

    Parameters
    ----------
    parameters : mapping of str to object
    scores : ndarray of shape (folds,)
        On held-out complementary labels, greater is better; NaN where the fit failed.
    seconds : float
        Wall time of fits and predictions of all folds.
    average_precision : ndarray of shape (folds,) or None
        On the true labels of the held-out parts, if asked for; no choice depends on it.
    error : str
        The first complaint, empty if there was none.
    """

    parameters: Mapping[str, Any]
    scores: NDArray[np.float64]
    seconds: float
    average_precision: NDArray[np.float64] | None
    error: str

    @property
    def score(self) -> float:
        """Mean over the folds; NaN if one failed."""
        return float(self.scores.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of that mean, from the sample standard deviation over the folds."""
        return float(self.scores.std(ddof=1) / math.sqrt(len(self.scores)))


@dataclass(frozen=True)
class TuningResult:
    """A finished search.

    Parameters
    ----------
    dataset, method, labels : str
        ``labels`` is the scheme the complementary labels were drawn by.
    seed, folds : int
    criterion : str
        What ``scores`` are: :data:`LOG_LIKELIHOOD` or :data:`RANKING_ERROR`.
    settings : tuple of TunedSetting
        In the order of the grid.
    """

    dataset: str
    method: str
    labels: str
    seed: int
    folds: int
    criterion: str
    settings: tuple[TunedSetting, ...]

    @property
    def best(self) -> TunedSetting:
        """The setting of the greatest score; of equal ones the first."""
        return self.settings[int(np.nanargmax([setting.score for setting in self.settings]))]

    def code(self) -> str:
        """Return Python that makes the classifier with the chosen setting.

        Returns
        -------
        str
            Two lines, an import and an assignment.
        """
        classifier = make_classifier(self.method, **self.best.parameters)
        name = type(classifier).__name__
        return f"from complabel.methods import {name}\nclassifier = {classifier!r}"

    def as_json(self) -> str:
        """Return the search as a JSON object.

        Returns
        -------
        str
            ``settings`` is a list of objects with ``parameters``, ``score``,
            ``standard_error``, ``folds``, ``seconds``, ``error`` and, if it was asked for,
            ``average_precision``; ``best`` is the chosen one's ``parameters``.
        """
        head = ("dataset", "method", "labels", "seed", "folds", "criterion")
        record = {name: getattr(self, name) for name in head}
        record["best"] = dict(self.best.parameters)
        record["settings"] = [_setting_record(setting) for setting in self.settings]
        return json.dumps(record, indent=1, allow_nan=False) + "\n"


def _setting_record(setting: TunedSetting) -> dict[str, Any]:
    """Return a setting as plain data, with null for what is not a number."""
    record = {
        "parameters": dict(setting.parameters),
        "score": _finite(setting.score),
        "standard_error": _finite(setting.standard_error),
        "folds": [_finite(score) for score in setting.scores],
        "seconds": setting.seconds,
        "error": setting.error,
    }
    if setting.average_precision is not None:
        record["average_precision"] = [_finite(value) for value in setting.average_precision]
    return record


def _finite(value: float) -> float | None:
    """Return a number that JSON knows."""
    return float(value) if math.isfinite(value) else None


def tune(
    dataset: MultiLabelDataset,
    method: str,
    *,
    grid: Grid | None = None,
    scheme: str = "uniform",
    n_folds: int = 3,
    seed: int = 0,
    n_jobs: int = 1,
    reveal: bool = False,
    on_fold: OnFold | None = None,
) -> TuningResult:
    """Search settings by their score on held-out complementary labels.

    True labels serve to draw the complementary ones and, with ``reveal``, to show what a choice
    by them would have seen; the choice never depends on them.

    Parameters
    ----------
    dataset : MultiLabelDataset
    method : str
        A key of :data:`complabel.methods.METHODS`.
    grid : mapping of str to sequence, optional
        See :func:`expand_grid`.
    scheme : {"uniform", "biased"}, default="uniform"
        How complementary labels are drawn.
    n_folds : int, default=3
    seed : int, default=0
        Of the draw, the folds and the classifiers; all settings share them.
    n_jobs : int, default=1
        Fits at once, each in a process of its own with one thread.
    reveal : bool, default=False
        Also compute average precision on the true labels of the held-out parts.
    on_fold : callable or None, default=None
        Called after every fold of a setting with the dataset's name, the setting as text and
        its result, whose ``metrics`` holds the score under ``"score"``.

    Returns
    -------
    TuningResult

    Raises
    ------
    InputError
        If the grid, scheme or number of folds is not possible, before anything runs; or if
        every setting failed, with the first complaint.
    """
    settings = expand_grid(method, grid)
    complementary = draw_labels(dataset, scheme=scheme, seed=seed)
    folds = split_folds(dataset, n_folds=n_folds, seed=seed)
    tasks = (
        joblib.delayed(_held_out)(
            seeded(make_classifier(method, **setting), seed=seed, fold=fold),
            dataset.X,
            complementary,
            train,
            test,
            reveal,
        )
        for setting in settings
        for fold, (train, test) in enumerate(folds)
    )
    outcomes = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    relevant = [dataset.Y[test] for _, test in folds] if reveal else None
    tuned = []
    for setting in settings:
        text = ", ".join([method, *(f"{name}={value}" for name, value in setting.items())])
        of_folds = []
        for fold, outcome in enumerate(itertools.islice(outcomes, n_folds)):
            of_folds.append(outcome)
            if on_fold is not None:
                on_fold(dataset.name, text, outcome.as_fold(fold))
        tuned.append(_summarize(setting, of_folds, relevant))
    if all(math.isnan(setting.score) for setting in tuned):
        raise InputError(f"no setting of {method} could be scored: {tuned[0].error}")
    criterion = _criterion(method)
    return TuningResult(dataset.name, method, scheme, seed, n_folds, criterion, tuple(tuned))


def _criterion(method: str) -> str:
    """Return what the method's ``score`` is."""
    modelled = make_classifier(method).models_the_choice
    return LOG_LIKELIHOOD if modelled else RANKING_ERROR


@dataclass(frozen=True)
class _Outcome:
    """What one setting gave on one fold."""

    score: float
    decision: NDArray[np.float64] | None
    fit_seconds: float
    score_seconds: float
    error: str = ""

    def as_fold(self, fold: int) -> FoldResult:
        """Return what progress is told."""
        return FoldResult(fold, {"score": self.score}, self.fit_seconds, self.score_seconds)


def _held_out(
    classifier: ComplementaryClassifier,
    X: Any,
    complementary: NDArray[np.uint8],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    with_decision: bool,
) -> _Outcome:
    """Fit to the training part and score on the other; no true label is sent here."""
    started = fitted = time.perf_counter()
    try:
        with one_thread():
            classifier.fit(X[train], complementary[train])
            fitted = time.perf_counter()
            score = classifier.score(X[test], complementary[test])
            decision = classifier.decision_function(X[test]) if with_decision else None
    except ComplabelError as error:
        # A setting out of range or one that diverges must not cost the others.
        return _Outcome(math.nan, None, time.perf_counter() - started, 0.0, str(error))
    return _Outcome(score, decision, fitted - started, time.perf_counter() - fitted)


def _summarize(
    parameters: Mapping[str, Any],
    outcomes: Sequence[_Outcome],
    relevant: Sequence[NDArray[np.uint8]] | None,
) -> TunedSetting:
    """Collect the folds of one setting."""
    precision = None
    if relevant is not None:
        precision = np.array(list(_precisions(outcomes, relevant)))
    return TunedSetting(
        parameters=parameters,
        scores=np.array([outcome.score for outcome in outcomes]),
        seconds=sum(outcome.fit_seconds + outcome.score_seconds for outcome in outcomes),
        average_precision=precision,
        error=next((outcome.error for outcome in outcomes if outcome.error), ""),
    )


def _precisions(
    outcomes: Sequence[_Outcome], relevant: Sequence[NDArray[np.uint8]]
) -> Iterator[float]:
    """Yield average precision on each fold, NaN where the fit failed."""
    for outcome, labels in zip(outcomes, relevant, strict=True):
        decision = outcome.decision
        yield math.nan if decision is None else average_precision(labels, decision)
