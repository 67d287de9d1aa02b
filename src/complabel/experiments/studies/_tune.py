"""Search of a method's settings without true labels, and its result."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.errors import InputError
from complabel.experiments import paper
from complabel.experiments.datasets import dataset_entries
from complabel.experiments.studies._draw import Draw, Labels
from complabel.experiments.studies._plan import Row
from complabel.experiments.studies._plan_files import (
    draw_of_command,
    plan_of_command,
    row_of_command,
)
from complabel.experiments.studies._results import UnitResult, plain
from complabel.experiments.studies._run import Monitor, run_study
from complabel.experiments.studies._store import Store
from complabel.methods import (
    FrequencyMatchedClassifier,
    Grid,
    check_parameter,
    get_method,
    home_of,
    make_classifier,
)

# What a method's score is, by what it models; values of different criteria cannot be compared.
_LOG_LIKELIHOOD = "complementary log-likelihood"  # which label is chosen as complementary
_ANSWERS = "log-likelihood of the answers"  # answers to every question
_RANKING_ERROR = "minus complementary ranking error"  # neither


@dataclass(frozen=True)
class TunedSetting:
    """One setting and its ``scores`` (folds,) on held-out labels: higher is better, NaN if failed.

    ``average_precision`` (folds,), on true labels, does not change the choice.
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
        """Standard error of ``score``, from the standard deviation (n - 1) over the folds."""
        return float(self.scores.std(ddof=1) / math.sqrt(len(self.scores)))

    def record(self) -> dict[str, Any]:
        """Return the setting as plain data."""
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
        return record


@dataclass(frozen=True)
class TuningResult:
    """A finished search; ``settings`` are in the order of the grid."""

    dataset: str
    method: str
    draw: Draw
    seed: int
    folds: int
    criterion: str
    settings: tuple[TunedSetting, ...]
    match_frequencies: bool = False

    @property
    def best(self) -> TunedSetting:
        """The setting with the highest score; the first one if several are equal."""
        return self.settings[int(np.nanargmax([setting.score for setting in self.settings]))]

    def code(self) -> str:
        """Return the best setting as Python code."""
        classifier = make_classifier(self.method, **self.best.parameters)
        made = [type(classifier)]
        if self.match_frequencies:
            classifier = FrequencyMatchedClassifier(classifier=classifier)
            made.insert(0, type(classifier))
        imports = [f"from {home_of(each)} import {each.__name__}" for each in reversed(made)]
        return "\n".join([*imports, f"classifier = {classifier!r}"])

    def as_json(self) -> str:
        """Return the search as a JSON object; ``best`` has the parameters of the best setting."""
        told = ("dataset", "method", "match_frequencies", "seed", "folds", "criterion")
        record = {
            **{name: getattr(self, name) for name in told},
            **self.draw.settings(),
            "best": dict(self.best.parameters),
            "settings": [each.record() for each in self.settings],
        }
        return json.dumps(plain(record), indent=1, allow_nan=False) + "\n"


def tune(
    dataset: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]],
    method: str,
    *,
    grid: Grid | None = None,
    scheme: Labels | None = None,
    draw: Draw | Mapping[str, Any] | None = None,
    match_frequencies: bool = False,
    n_folds: int = 3,
    seed: int = 0,
    reveal: bool = False,
    store: Store | None = None,
    data_dir: str | Path | None = None,
    n_jobs: int = 1,
    monitor: Monitor | None = None,
) -> TuningResult:
    """Search a method's settings by its ``score`` on held-out complementary labels or answers.

    The choice never depends on true labels. They are only used to draw complementary labels and,
    with ``reveal``, to show average precision.

    Parameters
    ----------
    dataset : str, sequence of str or mapping
        A name in the catalog, the path of your own file, the paths of several files that make
        one dataset, or tables; as for :func:`benchmark_plan`.
    method : str
        As for :func:`complabel.methods.get_method`.
    grid : mapping of str to sequence, optional
        The values to try for each parameter; by default the grid of the method.
    scheme, draw
        How people are asked and how their answers are drawn; as for :func:`benchmark_plan`.
    match_frequencies : bool, default=False
        Match the method's scores to label frequencies, estimated from answers to random questions.
    n_folds : int, default=3
    seed : int, default=0
        Seed of the label draw, the folds and the method, which all settings share.
    reveal : bool, default=False
        Also compute average precision on the true labels of the held-out parts.
    store : Store or None, default=None
        Keeps finished folds, so that an interrupted search can continue.
    data_dir, n_jobs, monitor
        See :func:`run_study`.

    Returns
    -------
    TuningResult

    Raises
    ------
    InputError
        If the grid, the draw or the number of folds is not possible, or if every setting failed;
        the message has the first error.
    StoreError
        If the store cannot be written.
    """
    grid = grid_of(method, grid)
    given = [dataset] if isinstance(dataset, str | Mapping) else dataset
    answered = any(isinstance(each, Mapping) and bool(each.get("answers")) for each in given)
    asked = draw_of_command(scheme, draw, answered=answered)
    entry, *others = dataset_entries(given)
    if others:
        raise InputError(
            "a search needs one dataset, but several are given; give one. Two files count as one"
            " dataset if they are mine-train.arff and mine-test.arff, or an ARFF file and the XML"
            " file of its labels"
        )
    held_out = "complementary labels"
    if not asked.is_plain:
        held_out = f"answers: {asked.title_with(answers=answered)}"
    row = row_of_command(method, match=match_frequencies)
    plan = plan_of_command(
        "tune",
        title=f"Settings of {get_method(method).title}, by held-out {held_out}",
        datasets=[entry],
        draws=[asked],
        rows=[{**row, **_tried(method, entry, grid)}],
        folds=n_folds,
        seed=seed,
        criteria=reveal,
        score=True,
    )
    how: Any = {"data_dir": data_dir, "n_jobs": n_jobs, "monitor": monitor}
    with Store(":memory:") if store is None else contextlib.nullcontext(store) as opened:
        run_study(plan, opened, retry_failed=True, allow_missing=False, **how)
        units = opened.results(plan.name).units
    folds = (units[at : at + n_folds] for at in range(0, len(units), n_folds))
    rows = plan.expanded_rows()
    tuned = [_summarize(row, grid, of, reveal) for row, of in zip(rows, folds, strict=True)]
    if all(math.isnan(setting.score) for setting in tuned):
        raise InputError(f"no setting of {method} could be scored: {tuned[0].error}")
    return TuningResult(
        dataset=plan.datasets[0],
        method=method,
        draw=asked,
        seed=seed,
        folds=n_folds,
        criterion=_criterion(method, asked, match=match_frequencies),
        settings=tuple(tuned),
        match_frequencies=match_frequencies,
    )


def _tried(method: str, entry: str | Mapping[str, Any], grid: Grid) -> dict[str, Any]:
    """Return the row of a plan that stands for all settings; it fills each one into its title.

    The paper chose its settings for a dataset with true labels, so a search must not start there.
    """
    stated = paper.settings(get_method(method).base, entry if isinstance(entry, str) else "")
    defaults = make_classifier(method).get_params(deep=False)
    values = [f"{name}={{{name}}}" for name in grid]
    title = ", ".join([method.replace("{", "{{").replace("}", "}}"), *values])
    return {"title": title, "settings": {name: defaults[name] for name in stated}, "grid": grid}


def _criterion(method: str, asked: Draw, *, match: bool) -> str:
    classifier = make_classifier(method)
    if match:
        classifier = FrequencyMatchedClassifier(classifier=classifier)
    if classifier.understands_answers and not asked.is_plain:
        return _ANSWERS
    return _LOG_LIKELIHOOD if classifier.models_the_choice else _RANKING_ERROR


def grid_of(method: str, grid: Grid | None = None) -> dict[str, list[Any]]:
    """Return the values to try for each parameter, by default the method's grid."""
    found = get_method(method)
    if found.learns_from == "relevant":
        raise InputError(
            f"{method} learns from true labels, but a search has none; choose another method"
        )
    if grid is None:
        if not found.grid:
            known = make_classifier(method).get_params(deep=False)
            raise InputError(
                f"{method} has no grid, because it chooses its important settings by itself; to"
                " search anyway, give a grid over some of its parameters:"
                f" {', '.join(known) or 'it has none'}"
            )
        grid = found.grid
    for name, values in grid.items():
        check_parameter(found, name)
        if len(values) == 0:
            raise InputError(f"the grid has no value for {name}; give at least one")
    # A grid may have NumPy's numbers, for example from np.logspace, but a store keeps plain ones.
    return {
        name: [value.item() if isinstance(value, np.generic) else value for value in values]
        for name, values in grid.items()
    }


def _summarize(row: Row, grid: Grid, units: Sequence[UnitResult], reveal: bool) -> TunedSetting:
    def measured(name: str) -> NDArray[np.float64]:
        return np.array([unit.metrics.get(name, math.nan) for unit in units])

    times = np.array([(unit.fit_seconds, unit.predict_seconds) for unit in units])
    return TunedSetting(
        parameters={name: row.settings[name] for name in grid},
        scores=measured("score"),
        seconds=float(np.nansum(times)),
        average_precision=measured("average_precision") if reveal else None,
        error=next((unit.reason for unit in units if unit.error), ""),
    )
