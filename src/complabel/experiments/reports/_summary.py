"""What a report says of a study, as data frames: means, tests, ranks, costs.

Ranks and their tests are those of J. Demsar, "Statistical comparisons of classifiers over multiple
data sets", Journal of Machine Learning Research 7, 2006, section 3.2.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scipy import stats

from complabel.experiments.reports._libraries import pandas, posthocs
from complabel.experiments.statistics import judge
from complabel.experiments.studies import Draw, Plan, Row, StudyResults, UnitResult
from complabel.metrics import METRICS

if TYPE_CHECKING:
    from complabel.experiments.reports._libraries import DataFrame, Series

CRITERION = "average_precision"
"""The criterion of headlines, and of the charts of answers."""

_LEVEL = 0.05
_PRINTED_PRECISION = 0.0005  # largest standard deviation that is printed as 0.000
_DIGITS = 12  # so that rounding alone, which depends on the order of folds, makes no rank
_MANY_DRAWS = 4  # up to this many draws, each draw has its own tables and charts
_PLACE = ["draw", "dataset", "row"]


@dataclass(frozen=True)
class Ranking:
    """Average ranks of the rows that compete, by one criterion under one draw; 1 is best.

    First, rows without a complete dataset are left out; then, datasets that are not complete for
    all other rows.

    Parameters
    ----------
    draw, metric : str
    ranks : Series
        The average rank of each row.
    datasets : list of str
    left_out : list of str
        Rows and datasets that are left out.
    friedman : float or None
        The p-value of Friedman's test; None if no difference could be significant.
    nemenyi : DataFrame or None
        P. Nemenyi's p-value of each pair of rows.
    difference : float
        The least difference of two ranks that is significant at the 5 % level.
    reason : str
        Why there is no test, or an empty text.
    """

    draw: str
    metric: str
    ranks: Series
    datasets: Sequence[str]
    left_out: Sequence[str]
    friedman: float | None
    nemenyi: DataFrame | None
    difference: float
    reason: str


@dataclass(frozen=True)
class Summary:
    """All figures of a study's report; each form of the report is a rendering of them.

    Parameters
    ----------
    plan : Plan
    missing : mapping of str to str
        Datasets that were not at hand, with the reason.
    units : sequence of UnitResult
    folds : DataFrame
        A line for each unit; the columns are those of ``StudyResults.lines``.
    cells : DataFrame
        A line for each draw, dataset, row and criterion with a finished fold: ``folds``, ``mean``
        and ``std``; ``published`` and ``published_std`` of the paper, with ``advantage``, the
        published standard deviations by which our mean is better; ``plain`` and ``corrected``, the
        two tests of the reference row against this one; ``best`` of the rows that compete.
    rankings : sequence of Ranking
    """

    plan: Plan
    missing: Mapping[str, str]
    units: Sequence[UnitResult]
    folds: DataFrame
    cells: DataFrame
    rankings: Sequence[Ranking]

    @functools.cached_property
    def rows(self) -> Mapping[str, Row]:
        """The rows of the tables, by title."""
        return {row.title: row for row in self.plan.expanded_rows()}

    @functools.cached_property
    def draws(self) -> Mapping[str, Draw]:
        """The draws, by name."""
        return {draw.name: draw for draw in self.plan.draws}

    @property
    def datasets(self) -> list[str]:
        """The datasets that were at hand."""
        return [name for name in self.plan.datasets if name not in self.missing]

    @property
    def reference(self) -> str:
        """The title of the row that the others are tested against."""
        return self.plan.reference or next(iter(self.rows))

    @property
    def has_many_draws(self) -> bool:
        """Whether tables have a line for each draw, because separate tables would be too many."""
        return len(self.draws) > _MANY_DRAWS

    def labels_of(self, draw: str) -> str:
        """Return a draw's labels as captions call them: its name, and what was asked."""
        asked = self.draws[draw]
        return f"{draw} labels" if asked.is_plain else f"{draw}: {self.plan.title_of(asked)}"

    @functools.cached_property
    def wins(self) -> DataFrame:
        """How often the reference row was better, equal and worse, by draw, row and test."""
        tested = self.cells.dropna(subset=["plain"])
        counts = tested.melt(_PLACE, ["plain", "corrected"], "test", "judgement")
        counts = counts.groupby(["draw", "row", "test", "judgement"], sort=False).size()
        lines = counts.index.droplevel("judgement").unique()  # in the order of the plan
        wide = counts.unstack("judgement").reindex(lines, columns=["better", "tie", "worse"])
        return wide.fillna(0).astype(int)

    @functools.cached_property
    def costs(self) -> DataFrame:
        """Mean seconds to fit and to predict a fold, and the peak memory, by place.

        To record a learning curve takes time: a fold with one counts only if all others have one.
        """
        done = self.folds[self.folds["status"] == "done"]
        recorded = {unit.key for unit in self.units if unit.details.get("curves")}
        done = done.assign(recorded=done["key"].isin(recorded))
        others = done.groupby(_PLACE)["recorded"].transform("all")
        fitted = done["fit_seconds"].where(~done["recorded"] | others)
        means = done.assign(fit_seconds=fitted).groupby(_PLACE, sort=False)
        return means.agg(
            fit_seconds=("fit_seconds", "mean"),
            predict_seconds=("predict_seconds", "mean"),
            peak_memory_mb=("peak_memory_mb", "max"),
        )


def summarize_study(results: StudyResults) -> Summary:
    """Summarize the results of a study so far.

    Parameters
    ----------
    results : StudyResults
        May be incomplete; the summary lists what is missing.

    Returns
    -------
    Summary

    Raises
    ------
    InputError
        If pandas is not installed.
    """
    plan = results.plan
    folds = pandas().DataFrame(results.lines(), columns=results.columns)
    cells = _cells(results, folds)
    return Summary(
        plan=plan,
        missing=dict(results.missing),
        units=results.units,
        folds=folds,
        cells=cells,
        rankings=list(_rankings(plan, cells)),
    )


def _cells(results: StudyResults, folds: DataFrame) -> DataFrame:
    plan = results.plan
    done = folds[folds["status"] == "done"].sort_values("fold", kind="stable")
    done = done.reindex(columns=[*_PLACE, "fold", *METRICS])
    values = done.melt([*_PLACE, "fold"], [*METRICS], "metric", "value")
    grouped = values.groupby([*_PLACE, "metric"], sort=False)["value"]
    cells = grouped.agg(folds="size", mean="mean", std="std").reset_index()
    for name in ("published", "published_std"):
        cells[name] = math.nan
    for (draw, dataset, row), part in cells.groupby(_PLACE):
        for metric, figure in results.published(dataset, draw, row).items():
            at = part.index[part["metric"] == metric]
            cells.loc[at, ["published", "published_std"]] = figure.mean, figure.std
    signs = cells["metric"].map({name: 2 * x.higher_is_better - 1 for name, x in METRICS.items()})
    signs = signs.astype(float)  # else an empty table has texts here
    spreads = cells["published_std"].clip(lower=_PRINTED_PRECISION)
    cells["advantage"] = signs * (cells["mean"] - cells["published"]) / spreads
    cells = cells.merge(_judgements(plan, values), "left", [*_PLACE, "metric"])
    competing = [row.title for row in plan.expanded_rows() if row.learns_from == "complementary"]
    rivals = cells["row"].isin(competing) & (cells["folds"] == plan.folds)
    printed = (signs * cells["mean"].round(3)).where(rivals)
    same_column = printed.groupby([cells[name] for name in ("draw", "dataset", "metric")])
    several = same_column.transform("count") > 1
    cells["best"] = several & (printed == same_column.transform("max"))
    return cells


def _judgements(plan: Plan, values: DataFrame) -> DataFrame:
    """Test the reference row against each other one, over the folds that both have."""
    reference = plan.reference or plan.expanded_rows()[0].title
    lines = []
    for (draw, dataset, metric), part in values.groupby(["draw", "dataset", "metric"], sort=False):
        wide = part.pivot(index="fold", columns="row", values="value")
        for row in wide.columns.drop(reference, errors="ignore"):
            both = wide.reindex(columns=[reference, row]).dropna()
            if len(both) > 1:
                given: Any = both[reference], both[row]
                better = {"higher_is_better": METRICS[metric].higher_is_better}
                plain = judge(*given, **better)
                corrected = judge(*given, **better, test_share=1 / plan.folds)
                lines.append((draw, dataset, row, metric, plain, corrected))
    return pandas().DataFrame(lines, columns=[*_PLACE, "metric", "plain", "corrected"])


def _rankings(plan: Plan, cells: DataFrame) -> Iterator[Ranking]:
    rows = [r.title for r in plan.expanded_rows() if r.learns_from == "complementary"]
    complete = cells[(cells["folds"] == plan.folds) & cells["row"].isin(rows)]
    for (draw, metric), part in complete.groupby(["draw", "metric"], sort=False):
        wide = part.pivot(index="dataset", columns="row", values="mean")
        datasets = [name for name in plan.datasets if name in {*cells["dataset"]}]
        wide = wide.reindex(index=datasets, columns=[row for row in rows if row in wide])
        means = wide.dropna().round(_DIGITS)
        ranks = means.rank(axis=1, ascending=not METRICS[metric].higher_is_better).mean()
        left_out = [each for each in (*rows, *datasets) if each not in {*wide, *means.index}]
        yield Ranking(draw, metric, ranks, [*means.index], left_out, *_tested(means))


def _tested(means: DataFrame) -> tuple[float | None, DataFrame | None, float, str]:
    """Test whether the ranks of rows (columns) over datasets (index) differ, and which."""
    n_datasets, n_rows = means.shape
    if not n_datasets:
        return None, None, math.inf, "No dataset is complete for every row."
    if n_rows < 3:
        return None, None, math.inf, "Ranks need three methods that are complete."
    quantile = float(stats.studentized_range.isf(_LEVEL, n_rows, math.inf)) / math.sqrt(2)
    difference = quantile * math.sqrt(n_rows * (n_rows + 1) / (6 * n_datasets))
    if difference >= n_rows - 1:
        needed = math.floor(n_datasets * (difference / (n_rows - 1)) ** 2) + 1
        reason = (
            f"With only {n_datasets} datasets, no difference between the ranks of {n_rows}"
            f" methods can be significant. A test needs at least {needed} datasets."
        )
        return None, None, difference, reason
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all methods tie on every dataset
        friedman = float(stats.friedmanchisquare(*means.to_numpy().T).pvalue)
    p_values = posthocs().posthoc_nemenyi_friedman(means.to_numpy())
    p_values = p_values.set_axis(means.columns, axis=0).set_axis(means.columns, axis=1)
    return (1.0 if math.isnan(friedman) else friedman), p_values, difference, ""
