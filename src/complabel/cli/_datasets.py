"""`complabel datasets`: what there is, what is at hand, and how to get the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from complabel.cli import _options as options
from complabel.cli._completion import complete_catalog, complete_dataset
from complabel.cli._console import complain, errors, explain, new_table, say, show
from complabel.cli._help import with_examples
from complabel.cli._running import hint_at_other_half

if TYPE_CHECKING:
    from rich.table import Table

# With two labels, "not this one" would mean the other.
_FEWEST_LABELS = 3
# Names of labels that are shown of one dataset.
_SHOWN = 12


@with_examples("datasets", "datasets mine.arff", "datasets --download scene")
def datasets(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATASET",
            help=f"{options.DATASET_HELP} [default: all that have a name]",
            autocompletion=complete_dataset,
        ),
    ] = None,
    data_dir: options.DataDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    download: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Download this dataset first; repeat for more.",
            autocompletion=complete_catalog,
        ),
    ] = None,
) -> None:
    """List datasets and their sizes, or show how a file of yours is read.

    Of datasets that have a name: sizes, where they are or come from, and their licences.
    """
    from complabel.datasets import (
        CATALOG,
        EMBEDDED,
        dataset_entries,
        describe_datasets,
        describe_file,
    )

    for name in download or []:
        _download(name, data_dir)
    hint_at_other_half(names or [])
    entries = dataset_entries(names or [*CATALOG, *EMBEDDED])
    known = [entry for entry in entries if isinstance(entry, str)]
    with errors().status("reading datasets"):
        described = describe_datasets(data_dir, names=known)
        own = [
            {**describe_file(entry["file"]), "name": entry["name"]}
            for entry in entries
            if not isinstance(entry, str)
        ]
    if as_json:
        typer.echo(json.dumps([*described, *own], indent=1))
        return
    if described:
        _show(described)
    for entry in own:
        _show_own(entry)


def _show(described: list[dict[str, Any]]) -> None:
    """Show datasets of the catalog, and how to get those that are missing."""
    show(_table(described))
    for entry in described:
        if entry["problem"]:
            complain(f"{entry['name']}: {entry['problem']}")
    explain(
        "Sizes are those after preprocessing: at most 15 labels, no instance with none or all;\n"
        "mirflickr and yeastbp, in which labels were really ruled out, are kept whole.\n"
        "Missing ones are fetched with: complabel datasets --download NAME"
    )


def _show_own(entry: Mapping[str, Any]) -> None:
    """Show how a dataset of one's own is read, and what of it is used."""
    say(f"{entry['name']}: {entry['format']}", style="bold")
    for file in entry["files"]:
        say(f"  {_short(Path(file))}")
    say(
        f"  {entry['n_samples']} instances, {entry['n_features']} features,"
        f" {entry['n_labels']} labels, {entry['label_cardinality']:.2f} of them on average"
    )
    say(f"  labels: {_some(entry['label_names'])}")
    n_left_out = entry["n_samples"] - entry["n_some_labels"]
    if entry["excluded"]:
        say("  somebody ruled labels out: --labels own uses them, and all instances are kept")
    elif n_left_out:
        say(
            f"  instances with none or all of the labels: {n_left_out}; benchmark, tune and study"
            " leave them out"
        )
    if entry["n_labels"] < _FEWEST_LABELS:
        complain(f"{entry['name']}: too few labels; learning from complementary labels needs 3")


def _short(file: Path) -> str:
    """Write a path as seen from the folder where the command runs, if that is shorter."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def _some(names: Sequence[str]) -> str:
    """List names, the first of them if there are many."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


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
