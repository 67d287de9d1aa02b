"""`complabel datasets`: the datasets with a name, and how a file of the user's is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from complabel._opening import StrPaths
from complabel.cli import (
    DATA_DIR,
    Output,
    argument,
    complain,
    errors,
    explain,
    flag,
    new_table,
    option,
    say,
    show,
    with_examples,
)
from complabel.experiments.cli import _options as options
from complabel.experiments.cli._own import hint_at_other_half

# With two labels, "this one does not apply" would name the other one.
_FEWEST_LABELS = 3
_SHOWN = 12  # most label names of a dataset
_TITLES = {
    "npz": "NumPy archive",
    "mat": "MATLAB file",
    "svmlight": "svmlight",
    "mulan": "ARFF and XML (Mulan)",
    "meka": "ARFF (MEKA)",
}


@with_examples("datasets", "datasets mine.arff", "datasets --download scene")
def datasets(
    names: list[str] | None = argument(
        "DATASET",
        f"{options.DATASET_HELP} [default: all datasets with a name]",
        default=None,
        autocompletion=options.complete_dataset,
    ),
    data_dir: Path | None = DATA_DIR,
    as_json: bool = flag("Print JSON instead of a table.", "--as-json"),
    download: list[str] | None = option(
        "NAME",
        "Download this dataset first; repeat the option for more.",
        autocompletion=options.complete_catalog,
        output=Output(later=True),
    ),
) -> None:
    """List datasets and their sizes, or show how a file of yours is read.

    A dataset with a name is shown with its size and its folder, or the web address if it is
    missing. --as-json adds its licence.
    """
    from complabel.experiments.datasets import CATALOG, EMBEDDED, dataset_entries, describe_datasets

    for name in download or []:
        _download(name, data_dir)
    hint_at_other_half(names or [])
    entries = dataset_entries(names or [*CATALOG, *EMBEDDED])
    known = [entry for entry in entries if isinstance(entry, str)]
    with errors().status("reading datasets"):
        described = describe_datasets(data_dir, names=known)
        own = [entry for entry in entries if not isinstance(entry, str)]
        files = [{**describe_file(entry["file"]), "name": entry["name"]} for entry in own]
    if as_json:
        typer.echo(json.dumps([*described, *files], indent=1))
        return
    if described:
        _show(described)
    for entry in files:
        _show_own(entry)


def describe_file(path: StrPaths) -> dict[str, Any]:
    """Describe how ``load_file`` would read a dataset, and what it contains.

    ``n_some_labels`` is the number of instances that have some but not all labels.
    """
    from complabel.experiments.datasets import find_own_files, read_files

    files = find_own_files(path)
    dataset = read_files(files)
    n_relevant = dataset.Y.sum(axis=1, dtype=int)
    sizes = ("n_samples", "n_features", "n_labels", "label_cardinality")
    return {
        "name": dataset.name,
        "format": _TITLES[files.format],
        "files": [str(file) for file in files.all_files],
        **{size: getattr(dataset, size) for size in sizes},
        "label_names": list(dataset.label_names),
        "n_some_labels": int(((n_relevant > 0) & (n_relevant < dataset.n_labels)).sum()),
        "excluded": dataset.excluded is not None,
    }


def _show(described: list[dict[str, Any]]) -> None:
    show(_table(described))
    for entry in described:
        if entry["problem"]:
            complain(f"{entry['name']}: {entry['problem']}")
    explain(
        "Sizes are after preprocessing: at most 15 labels, and no instance with none or all of"
        " them.\nIn mirflickr and yeastbp, people really ruled labels out; these two are kept"
        " whole.\nTo get a missing dataset: complabel datasets --download NAME"
    )


def _show_own(entry: Mapping[str, Any]) -> None:
    say(f"{entry['name']}: {entry['format']}", style="bold")
    here = Path.cwd()
    for file in map(Path, entry["files"]):
        say(f"  {file.relative_to(here) if file.is_relative_to(here) else file}")
    say(
        f"  {entry['n_samples']} instances, {entry['n_features']} features,"
        f" {entry['n_labels']} labels, {entry['label_cardinality']:.2f} of them on average"
    )
    more = len(entry["label_names"]) - _SHOWN
    listed = ", ".join(entry["label_names"][:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    say(f"  labels: {listed}")
    n_left_out = entry["n_samples"] - entry["n_some_labels"]
    if entry["excluded"]:
        say("  people ruled labels out here: --scheme own uses that, and keeps all instances")
    elif n_left_out:
        say(
            f"  {n_left_out} instances have none or all of the labels; benchmark, tune and study"
            " leave them out"
        )
    if entry["n_labels"] < _FEWEST_LABELS:
        complain(
            f"{entry['name']}: it has too few labels; learning from complementary labels needs at"
            " least 3"
        )


def _table(described: list[dict[str, Any]]) -> Table:
    """Return a table of datasets; a missing one is dim and has its published size."""
    sizes = ("instances", "features", "labels", "cardinality")
    table = new_table("", "dataset", "at hand", numbers=sizes)
    table.add_column("where", overflow="fold")
    for entry in described:
        prefix = "" if entry["available"] and not entry["problem"] else "expected_"
        keys = ("n_samples", "n_features", "n_labels", "label_cardinality")
        found = [_size(entry[prefix + key]) for key in keys]
        table.add_row(
            entry["name"],
            "yes" if entry["available"] else "no",
            *found,
            entry["location"] or entry["source"],
            style="" if entry["available"] else "dim",
        )
    return table


def _size(value: float | int | None) -> str:
    if value is None:
        return "?"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _download(name: str, data_dir: Path | None) -> None:
    from rich.progress import DownloadColumn, Progress, TransferSpeedColumn

    from complabel.experiments.datasets import load_dataset

    columns = (*Progress.get_default_columns(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=errors(), transient=True) as progress:
        task = progress.add_task(name, total=None)

        def on_bytes(done: int, total: int | None) -> None:
            progress.update(task, completed=done, total=total)

        load_dataset(name, data_dir=data_dir, download=True, progress=on_bytes)
