"""`complabel benchmark`: compare methods on datasets, with each other and with the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table
from rich.text import Text

from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import command, explain, new_table, remark, save_json, say, show
from complabel.cli._options import option
from complabel.cli._outputs import claim_store

if TYPE_CHECKING:
    from complabel.studies import StudyResults

_RANKING = "held_out_ranking"


@options.with_examples(
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
        f"Method to run; repeat for more. {options.METHOD_HELP} [default: prior and mlcl]",
        autocompletion=options.complete_method,
    ),
    *,
    tables: dict[str, Any],
    draw: dict[str, Any],
    match_frequencies: bool = options.MATCH_FREQUENCIES,
    folds: int = options.folds(10),
    seed: int = options.SEED,
    jobs: int = options.jobs(1),
    data_dir: Path | None = options.DATA_DIR,
    store: Path = options.STORE,
    json_file: Path | None = options.JSON_FILE,
) -> None:
    """Cross-validate methods: train on complementary labels, test on true ones.

    With --features, train on people's answers. Test on held-out answers, and on true labels if
    --truth gives some.

    After an interruption, the same command continues where it stopped.
    """
    from complabel.cli._running import say_failed, watched
    from complabel.studies import Store, benchmark_plan, run_study

    claim_store(store)
    datasets = own.datasets_of(names, tables, draw)
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
                run_study(
                    plan,
                    opened,
                    data_dir=data_dir,
                    n_jobs=jobs,
                    retry_failed=True,
                    allow_missing=False,
                    monitor=progress,
                )
        finally:
            # After Ctrl-C, too: finished folds are in the store, so show them.
            if plan.name in opened.studies():
                _show(opened.results(plan.name), data_dir)
        results = opened.results(plan.name)
    # Not after Ctrl-C: the same command would find the file and refuse to continue.
    save_json(json_file, results.records() or None)
    if plan.criteria:
        say(f"next: {command('study', 'report', plan.name, store=options.at(store))}")
    if results.having("failed"):
        say_failed(results)
        raise typer.Exit(1)


def _show(results: StudyResults, data_dir: Path | None) -> None:
    records = results.records()
    for name in results.plan.datasets:
        finished = [record for record in records if record["dataset"] == name]
        if finished and results.plan.criteria:
            show(_table(results, finished, data_dir))
        if finished and results.plan.score:
            show(_scores(results, finished))
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
    results: StudyResults, records: Sequence[Mapping[str, Any]], data_dir: Path | None
) -> Table:
    """Return a table of one dataset's results; the paper's figures stand below each method."""
    from complabel.metrics import METRIC_TITLES
    from complabel.reports import summarize_study
    from complabel.studies import fetch

    plan, first = results.plan, records[0]
    name = first["dataset"]
    dataset = fetch(name, plan.file_of(name), data_dir=data_dir)
    table = new_table(
        f"{name}: {dataset.n_samples} x {dataset.n_features}, {dataset.n_labels} labels,"
        f" {plan.title_of(plan.draws[0])}, {first['folds']} folds, seed {first['seed']}",
        "method",
    )
    for title in METRIC_TITLES.values():
        table.add_column(title.replace(" ", "\n", 1), justify="right", no_wrap=True)
    table.add_column("seconds", justify="right")
    published = {
        (cell.dataset, cell.row, cell.metric): cell.published
        for cell in summarize_study(results).cells
    }
    for record in records:
        title = record["row"]
        mark = "" if record["learns_from"] == "complementary" else " †"
        figures = [record["metrics"][metric] for metric in METRIC_TITLES]
        cells = [f"{figure['mean']:.3f}±{figure['std']:.3f}" for figure in figures]
        table.add_row(Text(title + mark), *cells, f"{record['seconds']:.1f}")
        printed = [published[name, title, metric] for metric in METRIC_TITLES]
        if any(printed):
            cells = [f"{cell.mean:.3f}±{cell.std:.3f}" if cell else "" for cell in printed]
            table.add_row("  published", *cells, "", style="dim")
    return table


def _scores(results: StudyResults, records: Sequence[Mapping[str, Any]]) -> Table:
    plan, first = results.plan, records[0]
    size = f"{first['folds']} folds, seed {first['seed']}"
    title = f"{first['dataset']}: {plan.title_of(plan.draws[0])}, {size}"
    table = new_table(title, "method")
    table.add_column("held-out answers", justify="right", no_wrap=True)
    table.add_column("seconds", justify="right")
    for record in records:
        figure = record["metrics"].get(_RANKING)
        shown = f"{figure['mean']:.4f}±{figure['std']:.4f}" if figure else "-"
        table.add_row(Text(record["row"]), shown, f"{record['seconds']:.1f}")
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
