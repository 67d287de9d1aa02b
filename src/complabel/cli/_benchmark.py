"""`complabel benchmark`: methods on datasets, beside what the paper printed."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from complabel.cli._console import errors, output, progress_bar

if TYPE_CHECKING:
    from rich.table import Table

    from complabel.datasets import MultiLabelDataset
    from complabel.studies import BenchmarkResult


class Scheme(StrEnum):
    """How complementary labels are drawn."""

    uniform = "uniform"
    biased = "biased"


def benchmark(
    names: Annotated[
        list[str],
        typer.Argument(metavar="DATASET...", help="Datasets; 'complabel datasets' lists them."),
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(help="A method; repeat for more. [default: prior and mlcl]"),
    ] = None,
    labels: Annotated[
        Scheme, typer.Option(help="How complementary labels are drawn.")
    ] = Scheme.uniform,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw, folds and methods.")] = 0,
    jobs: Annotated[int, typer.Option(help="Folds at once; -1 for all cores.")] = 1,
    data_dir: Annotated[Path | None, typer.Option(help="Folder with dataset files.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the results to this file.")
    ] = None,
) -> None:
    """Cross-validate methods: train on complementary labels, test on true ones."""
    from complabel.datasets import load_dataset
    from complabel.errors import InputError
    from complabel.studies import run_benchmark

    methods = method or ["prior", "mlcl"]
    if json_file is not None and not json_file.parent.is_dir():
        raise InputError(f"--json {json_file}: there is no folder {json_file.parent}")
    with errors().status("reading datasets"):
        datasets = [load_dataset(name, data_dir=data_dir) for name in names]
    results: list[BenchmarkResult] = []
    try:
        with progress_bar("folds", total=len(datasets) * len(methods) * folds) as on_fold:
            for result in run_benchmark(
                datasets,
                methods,
                scheme=labels.value,
                n_folds=folds,
                seed=seed,
                n_jobs=jobs,
                on_fold=on_fold,
            ):
                results.append(result)
                _save(results, json_file)
    finally:
        # Also after Ctrl-C: what is done stays done, and is shown.
        for dataset in datasets:
            finished = [result for result in results if result.dataset == dataset.name]
            if finished:
                output().print(_table(dataset, finished))
        if results:
            _explain(json_file)


def _save(results: list[BenchmarkResult], json_file: Path | None) -> None:
    """Write what is done so far, so that an interruption costs only what was running."""
    from complabel._files import write_text
    from complabel.studies import results_as_json

    if json_file is not None:
        write_text(json_file, results_as_json(results))


def _table(dataset: MultiLabelDataset, results: list[BenchmarkResult]) -> Table:
    """Lay out one dataset's results, each method above what the paper printed for it."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from complabel import paper
    from complabel.methods import get_method
    from complabel.metrics import METRIC_TITLES

    first = results[0]
    table = Table(
        title=f"{dataset.name}: {dataset.n_samples} x {dataset.n_features}, {dataset.n_labels}"
        f" labels, {first.labels} complementary labels, {first.folds} folds, seed {first.seed}",
        title_justify="left",
        box=SIMPLE_HEAD,
    )
    table.add_column("method")
    for title in METRIC_TITLES.values():
        table.add_column(title.replace(" ", "\n", 1), justify="right", no_wrap=True)
    table.add_column("seconds", justify="right")
    printed = paper.published_results(first.labels)
    for result in results:
        method = get_method(result.method)
        name = method.title + (" †" if result.learns_from == "relevant" else "")
        cells = [f"{result.mean(m):.3f}±{result.std(m):.3f}" for m in METRIC_TITLES]
        table.add_row(name, *cells, f"{result.seconds:.1f}")
        published = {
            column: printed.get((dataset.name, paper.printed_name(method.base), metric))
            for column, metric in paper.printed_criteria(method.base).items()
        }
        if any(published.values()):
            cells = [
                f"{cell.mean:.3f}±{cell.std:.3f}" if (cell := published.get(m)) else ""
                for m in METRIC_TITLES
            ]
            table.add_row("  published", *cells, "", style="dim")
    return table


def _explain(json_file: Path | None) -> None:
    """Say how to read the tables."""
    output().print(
        "Mean±standard deviation over folds; average precision: higher is better, all others:"
        " lower. †: learns from true labels.\nHamming: the method's own rule; min-max: f > 0.5"
        " after scaling each row to [0, 1], the rule behind MLCL's published figures.",
        highlight=False,
    )
    if json_file is not None:
        output().print(f"wrote {json_file}", highlight=False)
