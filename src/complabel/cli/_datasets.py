"""`complabel datasets`: what there is, what is at hand, and how to get the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from complabel.cli import _options as options
from complabel.cli._console import complain, errors, new_table, output, say

if TYPE_CHECKING:
    from rich.table import Table


def datasets(
    data_dir: options.DataDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    download: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Download this dataset first; repeat for more."),
    ] = None,
) -> None:
    """List the datasets: sizes, where they are or come from, and their licences."""
    from complabel.datasets import describe_datasets

    for name in download or []:
        _download(name, data_dir)
    with errors().status("reading datasets"):
        described = describe_datasets(data_dir)
    if as_json:
        typer.echo(json.dumps(described, indent=1))
        return
    output().print(_table(described))
    for entry in described:
        if entry["problem"]:
            complain(f"{entry['name']}: {entry['problem']}")
    say(
        "Sizes are those after preprocessing: at most 15 labels, no instance with none or all;\n"
        "mirflickr and yeastbp, in which labels were really ruled out, are kept whole.\n"
        "Missing ones are fetched with: complabel datasets --download NAME"
    )


def _table(described: list[dict[str, Any]]) -> Table:
    """Lay out the datasets; sizes of those not at hand are the published ones, dimmed."""
    table = new_table("", "dataset", "at hand")
    for heading in ("instances", "features", "labels", "cardinality"):
        table.add_column(heading, justify="right")
    table.add_column("where", overflow="fold")
    for entry in described:
        prefix = "" if entry["available"] and not entry["problem"] else "expected_"
        sizes = [
            _size(entry[prefix + key])
            for key in ("n_samples", "n_features", "n_labels", "label_cardinality")
        ]
        table.add_row(
            entry["name"],
            "yes" if entry["available"] else "no",
            *sizes,
            entry["location"] or entry["source"],
            style="" if entry["available"] else "dim",
        )
    return table


def _size(value: float | int | None) -> str:
    """Write a count, a cardinality, or that it is not known."""
    if value is None:
        return "?"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _download(name: str, data_dir: Path | None) -> None:
    """Fetch a dataset to where it will be looked for first, with a progress bar."""
    from rich.progress import DownloadColumn, Progress, TransferSpeedColumn

    from complabel.datasets import load_dataset

    columns = (*Progress.get_default_columns(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=errors(), transient=True) as progress:
        task = progress.add_task(name, total=None)

        def on_bytes(done: int, total: int | None) -> None:
            progress.update(task, completed=done, total=total)

        load_dataset(name, data_dir=data_dir, download=True, progress=on_bytes)
