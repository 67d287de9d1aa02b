"""Searching a method's settings with complementary labels only."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel import paper
from complabel.errors import InputError, StoreError
from complabel.methods import check_parameter, get_method, make_classifier
from complabel.studies._benchmark import plan_of_command
from complabel.studies._outcome import plain
from complabel.studies._run import Monitor, run_study
from complabel.studies._sources import dataset_entry
from complabel.studies._store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.annotations import Scheme
    from complabel.methods import Grid
    from complabel.studies._results import UnitResult

# What the scores of a search are, for methods that model the choice of a complementary label ...
LOG_LIKELIHOOD = "complementary log-likelihood"
# ... and for all others; the two cannot be compared.
RANKING_ERROR = "minus complementary ranking error"


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

    def record(self) -> dict[str, Any]:
        """Return the setting as plain data, with None for what is not a number."""
        record = {
            "parameters": dict(self.parameters),
            "score": self.score,
            "standard_error": self.standard_error,
            "folds": self.scores.tolist(),
            "seconds": self.seconds,
            "error": self.error,
        }
        if self.average_precision is not None:
            record["average_precision"] = self.average_precision.tolist()
        return {**plain(record), "parameters": dict(self.parameters)}


@dataclass(frozen=True)
class TuningResult:
    """A finished search.

    Parameters
    ----------
    dataset, method, labels : str
        ``labels`` is the scheme by which the complementary labels were drawn.
    seed, folds : int
    criterion : str
        What ``scores`` are: ``"complementary log-likelihood"`` for methods that model which label
        is chosen as complementary, else ``"minus complementary ranking error"``.
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
        name, module = type(classifier).__name__, type(classifier).__module__
        own = "complabel.methods" if module.startswith("complabel.") else module
        return f"from {own} import {name}\nclassifier = {classifier!r}"

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
        record["settings"] = [setting.record() for setting in self.settings]
        return json.dumps(record, indent=1, allow_nan=False) + "\n"


def tune(
    dataset: str,
    method: str,
    *,
    grid: Grid | None = None,
    scheme: Scheme = "uniform",
    n_folds: int = 3,
    seed: int = 0,
    reveal: bool = False,
    store: Store | None = None,
    data_dir: str | Path | None = None,
    n_jobs: int = 1,
    monitor: Monitor | None = None,
) -> TuningResult:
    """Search settings of a method by its ``score`` on held-out complementary labels.

    True labels serve to draw the complementary ones and, with ``reveal``, to show what a choice
    by them would have seen; the choice never depends on them.

    Parameters
    ----------
    dataset : str
        A name of the catalog, or the path of a file of one's own; see
        :func:`complabel.datasets.load_file`.
    method : str
        As for :func:`complabel.methods.get_method`.
    grid : mapping of str to sequence, optional
        The values to try of each parameter; by default the grid of the method.
    scheme : {"uniform", "biased"}, default="uniform"
        How complementary labels are drawn.
    n_folds : int, default=3
    seed : int, default=0
        Seed of the label draw, the folds and the method; all settings share them.
    reveal : bool, default=False
        Also compute average precision on the true labels of the held-out parts.
    store : Store or None, default=None
        Keeps the folds that are done, so that an interrupted search goes on; by default nothing
        is kept.
    data_dir, n_jobs, monitor
        See :func:`run_study`.

    Returns
    -------
    TuningResult

    Raises
    ------
    InputError
        If the grid, scheme or number of folds is not possible, before anything runs; or if
        every setting failed, with the first complaint.
    StoreError
        If another run is at work on the same search.
    """
    settings = expand_grid(method, grid)
    # The paper's settings for a dataset were chosen with true labels: a search starts without.
    plain_method = make_classifier(method).get_params(deep=False)
    entry = dataset_entry(dataset)
    stated = paper.settings(get_method(method).base, entry if isinstance(entry, str) else "")
    unset = {name: plain_method[name] for name in stated}
    plan = plan_of_command(
        "tune",
        {
            "title": f"Settings of {get_method(method).title}, by held-out complementary labels",
            "datasets": [entry],
            "draws": [{"name": scheme, "scheme": scheme}],
            "rows": [
                {"method": method, "title": _title(method, setting), "settings": unset | setting}
                for setting in settings
            ],
            "folds": n_folds,
            "seed": seed,
            "criteria": reveal,
            "score": True,
        },
    )
    with contextlib.ExitStack() as stack:
        opened = store or stack.enter_context(Store(":memory:"))
        run_study(
            plan,
            opened,
            data_dir=data_dir,
            n_jobs=n_jobs,
            retry_failed=True,
            allow_missing=False,
            monitor=monitor,
        )
        units = opened.results(plan.name).units
        if any(unit.status not in ("done", "failed") for unit in units):
            raise StoreError(
                f"another run is at work on this search in {opened.path}: give the same command"
                " again when it has ended"
            )
    tuned = [
        _summarize(setting, units[first : first + n_folds], reveal=reveal)
        for setting, first in zip(settings, range(0, len(units), n_folds), strict=True)
    ]
    if all(math.isnan(setting.score) for setting in tuned):
        raise InputError(f"no setting of {method} could be scored: {tuned[0].error}")
    criterion = LOG_LIKELIHOOD if make_classifier(method).models_the_choice else RANKING_ERROR
    return TuningResult(plan.datasets[0], method, scheme, seed, n_folds, criterion, tuple(tuned))


def expand_grid(method: str, grid: Grid | None = None) -> list[dict[str, Any]]:
    """List the settings of a grid, by default the method's; the last parameter varies fastest."""
    found = get_method(method)
    if found.learns_from == "relevant":
        raise InputError(f"{method} learns from true labels; a search without them is not for it")
    if grid is None:
        if not found.grid:
            known = make_classifier(method).get_params(deep=False)
            raise InputError(
                f"{method} chooses what matters by itself; to search all the same, give a grid"
                f" over some of its parameters: {', '.join(known) or 'it has none'}"
            )
        grid = found.grid
    for name, values in grid.items():
        check_parameter(found, name)
        if len(values) == 0:
            raise InputError(f"the grid has no value for {name}; give at least one")
    # A store keeps plain numbers, where a grid may come from np.logspace.
    lists = ([v.item() if isinstance(v, np.generic) else v for v in grid[name]] for name in grid)
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*lists)]


def _title(method: str, setting: Mapping[str, Any]) -> str:
    """Write what progress calls a setting; braces stand for themselves."""
    values = [f"{name}={value}" for name, value in setting.items()]
    return ", ".join([method, *values]).replace("{", "{{").replace("}", "}}")


def _summarize(
    parameters: Mapping[str, Any], units: Sequence[UnitResult], *, reveal: bool
) -> TunedSetting:
    """Collect the folds of one setting."""

    def measured(name: str) -> NDArray[np.float64]:
        return np.array([unit.metrics.get(name, math.nan) for unit in units])

    times = np.array([(unit.fit_seconds, unit.predict_seconds) for unit in units])
    return TunedSetting(
        parameters=parameters,
        scores=measured("score"),
        seconds=float(np.nansum(times)),
        average_precision=measured("average_precision") if reveal else None,
        error=next((unit.reason for unit in units if unit.error), ""),
    )
