"""`complabel benchmark`: methods on datasets, beside what the paper printed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from complabel.cli._console import new_table, output, remark, say
from complabel.cli._options import (
    DATASET_HELP,
    METHOD_HELP,
    STORE,
    DataDir,
    Folds,
    Jobs,
    JsonFile,
    Labels,
    Scheme,
    Seed,
    StorePath,
    check_folder,
)
from complabel.cli._running import at, say_failed, watched

if TYPE_CHECKING:
    from rich.table import Table

    from complabel.studies import StudyResults


def benchmark(
    names: Annotated[list[str], typer.Argument(metavar="DATASET...", help=DATASET_HELP)],
    method: Annotated[
        list[str] | None,
        typer.Option(help=f"Repeat for more: {METHOD_HELP}. [default: prior and mlcl]"),
    ] = None,
    labels: Labels = Scheme.uniform,
    folds: Folds = 10,
    seed: Seed = 0,
    jobs: Jobs = 1,
    data_dir: DataDir = None,
    store: StorePath = STORE,
    json_file: JsonFile = None,
) -> None:
    """Cross-validate methods: train on complementary labels, test on true ones.

    Interrupted, the same command goes on from where it was.
    """
    from complabel.studies import Store, benchmark_plan, run_study

    if json_file is not None:
        check_folder(json_file, "--json")
    plan = benchmark_plan(
        names, method or ["prior", "mlcl"], scheme=labels.value, n_folds=folds, seed=seed
    )
    check_folder(store, "--store")
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
            # Also after Ctrl-C: what is done stays done, and is shown.
            if plan.name in opened.studies():
                _show(opened.results(plan.name), data_dir, json_file)
        results = opened.results(plan.name)
    say(f"next: complabel study report {plan.name}{at(store)}")
    if running := results.having("running"):
        remark(f"another run is at work on {len(running)} folds; then give this command again")
    if results.having("failed"):
        say_failed(results)
        raise typer.Exit(1)


def _show(results: StudyResults, data_dir: Path | None, json_file: Path | None) -> None:
    """Print a table for each dataset, of the rows whose folds are all done, and how to read it."""
    from complabel._files import write_text

    records = results.records()
    for name in results.plan.datasets:
        finished = [record for record in records if record["dataset"] == name]
        if finished:
            output().print(_table(results, finished, data_dir))
    if records:
        say(
            "Mean±standard deviation over folds; average precision: higher is better, all others:"
            " lower. †: learns from true labels.\nHamming: the method's own rule; min-max: f > 0.5"
            " after scaling each row to [0, 1], the rule behind MLCL's published figures.\nSeconds:"
            " all fits and predictions, one after the other."
        )
    if records and json_file is not None:
        write_text(json_file, json.dumps(records, indent=1) + "\n")
        say(f"wrote {json_file}")


def _table(
    results: StudyResults, records: Sequence[Mapping[str, Any]], data_dir: Path | None
) -> Table:
    """Lay out one dataset's results, each method above what the paper printed for it."""
    from complabel.methods import get_method
    from complabel.metrics import METRIC_TITLES
    from complabel.studies import fetch

    plan, first = results.plan, records[0]
    name = first["dataset"]
    dataset = fetch(name, plan.files.get(name, ""), data_dir=data_dir)
    table = new_table(
        f"{name}: {dataset.n_samples} x {dataset.n_features}, {dataset.n_labels} labels,"
        f" {first['labels']} complementary labels, {first['folds']} folds, seed {first['seed']}"
    )
    table.add_column("method")
    for title in METRIC_TITLES.values():
        table.add_column(title.replace(" ", "\n", 1), justify="right", no_wrap=True)
    table.add_column("seconds", justify="right")
    published = _published(results)
    for record in records:
        title = get_method(record["method"]).title
        mark = " †" if record["learns_from"] == "relevant" else ""
        cells = [_cell(record["metrics"][metric]) for metric in METRIC_TITLES]
        table.add_row(title + mark, *cells, f"{record['seconds']:.1f}")
        printed = [_cell(published[name, title, metric]) for metric in METRIC_TITLES]
        if any(printed):
            table.add_row("  published", *printed, "", style="dim")
    return table


def _published(results: StudyResults) -> Mapping[tuple[str, str, str], Mapping[str, float] | None]:
    """Return the paper's figure for each dataset, row and criterion, as a report shows them."""
    from complabel.reports import summarize_study

    summary: Any = summarize_study(results)
    plain = summary if isinstance(summary, dict) else dataclasses.asdict(summary)
    return {
        (cell["dataset"], cell["row"], cell["metric"]): cell["published"] for cell in plain["cells"]
    }


def _cell(figure: Mapping[str, float] | None) -> str:
    """Write a mean and its standard deviation."""
    return f"{figure['mean']:.3f}±{figure['std']:.3f}" if figure else ""
