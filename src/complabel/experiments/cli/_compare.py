"""`complabel benchmark` and `tune`: compare methods, and the settings of one method."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table
from rich.text import Text

from complabel.cli import (
    DATA_DIR,
    JSON_FILE,
    MATCH_FREQUENCIES,
    METHOD_HELP,
    command,
    complain,
    explain,
    flag,
    new_table,
    option,
    remark,
    save,
    save_json,
    say,
    show,
    with_examples,
)
from complabel.experiments.cli import _options as options
from complabel.experiments.cli._own import datasets_of

if TYPE_CHECKING:
    from complabel.experiments.studies import StudyResults, TunedSetting, TuningResult

_RANKING = "held_out_ranking"


@with_examples(
    "benchmark synthetic --method ridge",
    "benchmark scene yeast --data-dir data --method ridge --method mlcl",
    "benchmark mine.arff --method ridge --folds 5",
    "benchmark mine-train.arff mine-test.arff --method ridge",
    "benchmark answers.csv --features X.csv --truth truth.csv",
)
@options.with_tables_and_draw
def benchmark(
    names: list[str] | None = options.DATASETS,
    method: list[str] | None = option(
        "METHOD",
        f"Method to run; repeat for more. {METHOD_HELP} [default: prior and mlcl]",
        autocompletion=options.complete_method,
    ),
    *,
    tables: dict[str, Any],
    draw: dict[str, Any],
    match_frequencies: bool = MATCH_FREQUENCIES,
    folds: int = options.folds(10),
    seed: int = options.SEED,
    jobs: int = options.jobs(1),
    data_dir: Path | None = DATA_DIR,
    store: Path = options.STORE,
    json_file: Path | None = JSON_FILE,
) -> None:
    """Cross-validate methods: train on complementary labels, test on true ones.

    With --features, train on people's answers. Test on held-out answers, and on true labels if
    --truth gives some.

    After an interruption, the same command continues where it stopped.
    """
    from complabel.experiments.cli._running import claim_store, say_failed, watched
    from complabel.experiments.studies import Store, benchmark_plan, run_study

    claim_store(store)
    datasets = datasets_of(names, tables)
    plan = benchmark_plan(
        datasets,
        method or ["prior", "mlcl"],
        draw=draw,
        match_frequencies=match_frequencies,
        n_folds=folds,
        seed=seed,
    )
    with Store(store) as opened:
        try:
            with watched(plan.name, store) as progress:
                how: Any = {"data_dir": data_dir, "n_jobs": jobs, "monitor": progress}
                run_study(plan, opened, retry_failed=True, allow_missing=False, **how)
        finally:
            # After Ctrl-C, too: finished folds are in the store, so show them.
            if plan.name in opened.studies():
                _show(opened.results(plan.name))
        results = opened.results(plan.name)
    # Not after Ctrl-C: the same command would find the file and refuse to continue.
    save_json(json_file, results.records() or None)
    if plan.criteria:
        say(f"next: {command('study', 'report', plan.name, store=options.at(store))}")
    if results.having("failed"):
        say_failed(results)
        raise typer.Exit(1)


def _show(results: StudyResults) -> None:
    from complabel.metrics import METRICS

    records = results.records()
    for name in results.plan.datasets:
        finished = [record for record in records if record["dataset"] == name]
        if finished and results.plan.criteria:
            size = next(u.details for u in results.units if u.dataset == name and u.details)
            about = f"{size['n_samples']} x {size['n_features']}, {size['n_labels']} labels, "
            titles = {x: each.title.replace(" ", "\n", 1) for x, each in METRICS.items()}
            show(_table(results, finished, about, titles, digits=3))
        if finished and results.plan.score:
            show(_table(results, finished, "", {_RANKING: "held-out answers"}, digits=4))
            _say_best(finished)
    if records and results.plan.criteria:
        explain(
            "Each cell: mean±standard deviation over folds. Average precision: higher is better;"
            " all other criteria: lower. †: learns from true labels.\nHamming: with the method's"
            " own decisions. Min-max: each row of scores is scaled to [0, 1] and a label is"
            " predicted above 0.5; MLCL's published figures use this rule.\nSeconds: the sum over"
            " all fits and predictions."
        )


def _table(
    results: StudyResults,
    records: Sequence[Mapping[str, Any]],
    about: str,
    titles: Mapping[str, str],
    *,
    digits: int,
) -> Table:
    """Return a table of one dataset's results; the paper's figures stand below each method."""
    plan, first = results.plan, records[0]
    size = f"{first['folds']} folds, seed {first['seed']}"
    title = f"{first['dataset']}: {about}{plan.title_of(plan.draws[0])}, {size}"
    table = new_table(title, "method")
    for heading in titles.values():
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("seconds", justify="right")

    def cells(figures: Sequence[Mapping[str, float] | None], gap: str) -> list[str]:
        return [f"{x['mean']:.{digits}f}±{x['std']:.{digits}f}" if x else gap for x in figures]

    for record in records:
        mark = "" if record["learns_from"] == "complementary" else " †"
        figures = [record["metrics"].get(each) for each in titles]
        table.add_row(Text(record["row"] + mark), *cells(figures, "-"), f"{record['seconds']:.1f}")
        theirs = results.published(record["dataset"], record["draw"], record["row"])
        printed = [vars(theirs[each]) if each in theirs else None for each in titles]
        if any(printed):
            table.add_row("  published", *cells(printed, ""), "", style="dim")
    return table


def _say_best(records: Sequence[Mapping[str, Any]]) -> None:
    figures = {record["row"]: record["metrics"].get(_RANKING) for record in records}
    scores = {row: figure["mean"] for row, figure in figures.items() if figure}
    if not scores:
        remark(
            "methods cannot be compared: in one fold at least, no answer says that a label does not"
            " apply"
        )
        return
    say(f"best by held-out answers: {max(scores, key=scores.__getitem__)}", style="bold")
    say(
        "Held-out answers: minus the complementary ranking error. Higher is better; -0.5 is what a"
        " random order gets."
    )


@with_examples(
    "tune synthetic --method ml-knn",
    "tune mine.arff --method lift --grid ratio=0.05,0.1,0.2",
    "tune answers.csv --features X.csv --method ml-knn",
)
@options.with_tables_and_draw
def tune(
    names: list[str] | None = options.DATASETS,
    method: str = option(
        "METHOD",
        f"Method to tune. {METHOD_HELP}",
        default="mlcl",
        autocompletion=options.complete_method,
    ),
    grid: list[str] | None = option(
        "NAME=VALUE,...",
        "Values to try for a parameter; repeat the option for more parameters. [default:"
        " depends on the method]",
    ),
    *,
    tables: dict[str, Any],
    draw: dict[str, Any],
    match_frequencies: bool = MATCH_FREQUENCIES,
    folds: int = options.folds(3),
    seed: int = options.SEED,
    jobs: int = options.jobs(1),
    data_dir: Path | None = DATA_DIR,
    store: Path = options.STORE,
    reveal: bool = flag(
        "Also show average precision on true labels; it does not influence the choice.", "--reveal"
    ),
    json_file: Path | None = JSON_FILE,
) -> None:
    """Choose a method's settings by their score on held-out labels or answers.

    After an interruption, the same command continues where it stopped.
    """
    from complabel.experiments import studies
    from complabel.experiments.cli._running import claim_store, watched

    values = parse_grid(grid) if grid else None
    claim_store(store)
    datasets = datasets_of(names, tables)
    with studies.Store(store) as opened, watched("tune", store) as progress:
        result = studies.tune(
            datasets,
            method,
            grid=values,
            draw=draw,
            match_frequencies=match_frequencies,
            n_folds=folds,
            seed=seed,
            reveal=reveal,
            store=opened,
            data_dir=data_dir,
            n_jobs=jobs,
            monitor=progress,
        )
    _show_settings(result, answered="features" in tables and bool(names))
    if json_file is not None:
        save(json_file, result.as_json())


def parse_grid(texts: list[str]) -> dict[str, list[Any]]:
    """Return the values of each parameter, read as those after a method's name."""
    from complabel.errors import InputError
    from complabel.methods import literal

    grid: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip().replace("-", "_")
        if not (equals and name) or "" in (found := [v.strip() for v in values.split(",")]):
            raise InputError(
                f"--grid {text}: this is no list of values; write NAME=VALUE,VALUE,..."
            )
        if name in grid:
            raise InputError(
                f"--grid {text}: {name} is given twice; give all its values in one --grid"
            )
        grid[name] = [literal(value) for value in found]
    return grid


def _show_settings(result: TuningResult, *, answered: bool) -> None:
    best = result.best
    show(_table_of_settings(result, result.draw.title_with(answers=answered)))
    for complaint in dict.fromkeys(setting.error for setting in result.settings if setting.error):
        complain(f"failed: {complaint}")
    chosen = ", ".join(f"{name}={value}" for name, value in best.parameters.items())
    by = " by held-out answers" if answered else ""
    say(f"chosen{by}: {chosen or 'the defaults'}", style="bold")
    say(result.code())
    on = " on complementary labels" if result.draw.is_plain else " on answers"
    on = "" if result.criterion.endswith("answers") else on
    say(
        f"\nHeld-out score: {result.criterion}{on}, higher is better;"
        " mean±standard error over folds."
    )
    if best.average_precision is not None:
        say(
            "Average precision needs true labels. It is shown for comparison and was not used for"
            " the choice."
        )


def _table_of_settings(result: TuningResult, asked: str) -> Table:
    best = result.best
    table = new_table(
        f"{result.method}{', matched frequencies,' if result.match_frequencies else ''} on"
        f" {result.dataset}: {asked}, {result.folds} folds, seed {result.seed}",
        "",
    )
    for name in best.parameters:
        table.add_column(name, justify="right")
    table.add_column("held-out score", justify="right", no_wrap=True)
    if best.average_precision is not None:
        table.add_column("average precision\n(not used)", justify="right", style="dim")
    table.add_column("seconds", justify="right")
    best_first = sorted(result.settings, key=lambda each: (math.isnan(each.score), -each.score))
    for setting in best_first:
        chosen = setting is best
        cells = map(Text, _cells(setting, chosen=chosen))  # Text: brackets must not become markup
        table.add_row(*cells, style="bold" if chosen else "")
    return table


def _cells(setting: TunedSetting, *, chosen: bool) -> list[str]:
    cells = ["→" if chosen else "", *map(str, setting.parameters.values())]
    failed = math.isnan(setting.score)
    cells.append("failed" if failed else f"{setting.score:.4f}±{setting.standard_error:.4f}")
    if setting.average_precision is not None:
        cells.append("" if failed else f"{setting.average_precision.mean():.3f}")
    return [*cells, f"{setting.seconds:.1f}"]
