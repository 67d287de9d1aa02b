"""Methods by datasets: the cross-validations behind a table, and their record."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.methods import get_method, make_classifier
from complabel.metrics import METRIC_NAMES
from complabel.studies._protocol import FoldResult, cross_validate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.datasets import MultiLabelDataset

OnFold = Callable[[str, str, FoldResult], None]
"""Called after every fold with the dataset's name, the method's name and the result."""


@dataclass(frozen=True)
class BenchmarkResult:
    """One method on one dataset.

    Parameters
    ----------
    dataset, labels, method : str
        ``labels`` is the scheme the complementary labels were drawn by.
    learns_from : str
        ``"complementary"``, or ``"relevant"`` for a reference.
    seed, folds : int
    seconds : float
        Wall time of all folds.
    metrics : dict of str to ndarray of shape (folds,)
        Each criterion on each fold.
    """

    dataset: str
    labels: str
    method: str
    learns_from: str
    seed: int
    folds: int
    seconds: float
    metrics: dict[str, NDArray[np.float64]]

    def mean(self, metric: str) -> float:
        """Return a criterion's mean over the folds."""
        return float(self.metrics[metric].mean())

    def std(self, metric: str) -> float:
        """Return a criterion's sample standard deviation (n - 1) over the folds."""
        return float(self.metrics[metric].std(ddof=1))

    def as_record(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "dataset": self.dataset,
            "labels": self.labels,
            "method": self.method,
            "learns_from": self.learns_from,
            "seed": self.seed,
            "folds": self.folds,
            "seconds": self.seconds,
            "metrics": {
                name: {
                    "mean": self.mean(name),
                    "std": self.std(name),
                    "folds": values.tolist(),
                }
                for name, values in self.metrics.items()
            },
        }


def run_benchmark(
    datasets: Iterable[MultiLabelDataset],
    methods: Sequence[str],
    *,
    scheme: str = "uniform",
    n_folds: int = 10,
    seed: int = 0,
    n_jobs: int = 1,
    on_fold: OnFold | None = None,
) -> Iterator[BenchmarkResult]:
    """Cross-validate methods on datasets.

    Parameters
    ----------
    datasets : iterable of MultiLabelDataset
        Taken one after the other, so that a generator keeps one in memory at a time.
    methods : sequence of str
        Names in :data:`complabel.methods.METHODS`; each runs with the paper's settings for the
        dataset where there are some.
    scheme : {"uniform", "biased"}, default="uniform"
    n_folds : int, default=10
    seed : int, default=0
    n_jobs : int, default=1
        Folds that run at once.
    on_fold : callable or None, default=None
        See :data:`OnFold`.

    Yields
    ------
    BenchmarkResult
        As soon as its last fold is done.

    Raises
    ------
    InputError
        If a method is not known; before anything runs.
    """
    for name in methods:
        get_method(name)
    return _results(datasets, methods, scheme, n_folds, seed, n_jobs, on_fold)


def _results(
    datasets: Iterable[MultiLabelDataset],
    methods: Sequence[str],
    scheme: str,
    n_folds: int,
    seed: int,
    n_jobs: int,
    on_fold: OnFold | None,
) -> Iterator[BenchmarkResult]:
    """Do the work of :func:`run_benchmark`, whose arguments are checked by then."""
    for dataset in datasets:
        for method in methods:
            started = time.perf_counter()
            folds = []
            for result in cross_validate(
                dataset,
                functools.partial(make_classifier, method, dataset=dataset.name),
                scheme=scheme,
                n_folds=n_folds,
                seed=seed,
                n_jobs=n_jobs,
            ):
                folds.append(result)
                if on_fold is not None:
                    on_fold(dataset.name, method, result)
            yield BenchmarkResult(
                dataset=dataset.name,
                labels=scheme,
                method=method,
                learns_from=get_method(method).learns_from,
                seed=seed,
                folds=n_folds,
                seconds=time.perf_counter() - started,
                metrics={
                    name: np.array([fold.metrics[name] for fold in folds]) for name in METRIC_NAMES
                },
            )


def results_as_json(results: Iterable[BenchmarkResult]) -> str:
    """Return results as a JSON list of objects.

    Parameters
    ----------
    results : iterable of BenchmarkResult

    Returns
    -------
    str
        One object each: ``dataset``, ``labels``, ``method``, ``learns_from``, ``seed``,
        ``folds``, ``seconds`` and ``metrics``, which maps each criterion to its ``mean``, ``std``
        and ``folds``.
    """
    return json.dumps([result.as_record() for result in results], indent=1) + "\n"
