"""Compute everything that the page about the theory shows, with several processes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import joblib
from research.theory._choice import uniform_choice
from research.theory._example import Figure2, worked_example
from research.theory._joint import JointDistribution
from research.theory._real_data import MOST_LABELS, MatrixCost, compare_fold, matrix_costs
from research.theory._simulation import WORLDS, RiskCurve, risk_curves, simulate_once
from research.theory._survey import Finding, survey_theory
from research.theory._theorem_1 import Theorem1, check_theorem_1

from complabel._parameters import check_integer
from complabel.errors import InputError
from complabel.simulate import SCHEMES

if TYPE_CHECKING:
    from complabel.datasets import MultiLabelDataset

Key: TypeAlias = tuple[Any, ...]
Task: TypeAlias = tuple[Key, Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""The key of a result, the function that computes it, and its arguments."""


class _Extent(NamedTuple):
    """The numbers of items, repeats and folds of a run."""

    sizes: tuple[int, ...]
    n_repeats: int
    n_folds: int


_FULL = _Extent((100, 1000, 10_000, 100_000, 1_000_000), 8, 3)
_QUICK = _Extent((100, 1000, 10_000), 2, 1)


@dataclass(frozen=True, eq=False)
class TheoryResults:
    """All results that the page about the theory shows."""

    findings: tuple[Finding, ...]
    """Counts over random distributions."""
    counterexample: Theorem1
    """Both sides of Theorem 1 for three labels, if exactly labels 0 and 1 always apply."""
    figure: Figure2
    """Figure 2 as a worked example."""
    curves: tuple[RiskCurve, ...]
    """Excess risks by simulation."""
    costs: tuple[MatrixCost, ...]
    """Distances and average precisions of matrices on real data."""
    n_distributions: int
    n_repeats: int
    n_folds: int
    seed: int
    seconds: float
    """Wall time of the whole run."""


def run_theory(
    datasets: Sequence[MultiLabelDataset] = (),
    *,
    n_distributions: int = 1000,
    quick: bool = False,
    random_state: int = 0,
    n_jobs: int = -1,
    tell: Callable[[str], None] | None = None,
) -> TheoryResults:
    """Check the paper's theory with random distributions, simulations and real data.

    Parameters
    ----------
    datasets : sequence of MultiLabelDataset, default=()
        Datasets of at most 15 labels each.
    n_distributions : int, default=1000
        Number of random distributions of each setting of the survey, at least 20.
    quick : bool, default=False
        Whether to simulate at most 10,000 items, repeat each simulation twice, and fit one fold
        instead of three.
    random_state : int, default=0
        Seed of everything that is drawn.
    n_jobs : int, default=-1
        Number of processes with one thread each. -1 uses all cores, and 1 uses this process.
    tell : callable or None, default=None
        Function that is called with a line of text after each finished part.

    Returns
    -------
    TheoryResults

    Raises
    ------
    InputError
        If a dataset has too many labels, or a number is out of its range.
    """
    check_integer("random_state", random_state, at_least=0)
    if n_jobs < 1 and n_jobs != -1:
        raise InputError(f"jobs must be a positive integer, or -1 for all cores, got {n_jobs}")
    for dataset in datasets:
        if dataset.n_labels > MOST_LABELS:
            raise InputError(
                f"{dataset.name} has {dataset.n_labels} labels; exact matrices take at most"
                f" {MOST_LABELS}"
            )
    started = time.perf_counter()
    extent = _QUICK if quick else _FULL
    tasks = [*_tasks(datasets, extent, n_distributions, random_state)]
    done: dict[Key, Any] = {}
    for key, result in _results(tasks, n_jobs):
        done[key] = result
        if tell is not None:
            tell(f"{len(done)} of {len(tasks)} parts")
    curves = [
        curve
        for world in WORLDS
        for curve in risk_curves(
            world,
            extent.sizes,
            [done[world, repeat] for repeat in range(extent.n_repeats)],
            done[world, None],
        )
    ]
    costs = [
        cost
        for dataset in datasets
        for scheme in SCHEMES
        for cost in matrix_costs(
            dataset, scheme, [done[dataset.name, scheme, fold] for fold in range(extent.n_folds)]
        )
    ]
    always = JointDistribution.dependent([[0, 0, 1]], n_labels=3)
    return TheoryResults(
        findings=done["survey",],
        counterexample=check_theorem_1(always, uniform_choice(3)),
        figure=worked_example(),
        curves=tuple(curves),
        costs=tuple(costs),
        n_distributions=n_distributions,
        n_repeats=extent.n_repeats,
        n_folds=extent.n_folds,
        seed=random_state,
        seconds=time.perf_counter() - started,
    )


def _tasks(
    datasets: Sequence[MultiLabelDataset], extent: _Extent, n_distributions: int, seed: int
) -> Iterator[Task]:
    """Yield all tasks, beginning with those that take long."""
    yield ("survey",), survey_theory, (n_distributions,), {"random_state": seed}
    for dataset in datasets:
        for scheme in SCHEMES:
            for fold in range(extent.n_folds):
                key = (dataset.name, scheme, fold)
                settings = {"n_folds": _FULL.n_folds, "random_state": seed}
                yield key, compare_fold, (dataset, scheme, fold), settings
    for world in WORLDS:
        yield (world, None), simulate_once, (world, [None]), {"random_state": seed}
        for repeat in range(extent.n_repeats):
            settings = {"repeat": repeat, "random_state": seed}
            yield (world, repeat), simulate_once, (world, extent.sizes), settings


def _results(tasks: Sequence[Task], n_jobs: int) -> Iterator[tuple[Key, Any]]:
    """Yield results as they finish, and stop the processes if the caller stops early."""
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
        results = parallel(joblib.delayed(_run)(*task) for task in tasks)
        try:
            for result in results:  # noqa: UP028  (delegating would close it in our place)
                yield result
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # joblib warns if a caller stops early
                results.close()


def _run(
    key: Key,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    settings: dict[str, Any],
) -> tuple[Key, Any]:
    """Run one task with one thread."""
    from complabel._training import one_thread

    with one_thread():
        return key, function(*arguments, **settings)
