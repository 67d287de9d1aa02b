"""`complabel tune`: settings chosen without a single true label."""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from complabel.cli._benchmark import Scheme
from complabel.cli._console import errors, output, progress_bar

if TYPE_CHECKING:
    from rich.table import Table

    from complabel.studies import TunedSetting, TuningResult


def tune(
    name: Annotated[
        str, typer.Argument(metavar="DATASET", help="'complabel datasets' lists them.")
    ],
    method: Annotated[str, typer.Option(help="The method to tune.")] = "mlcl",
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE,...",
            help="Values of a parameter; repeat for more. [default: depends on the method]",
        ),
    ] = None,
    labels: Annotated[
        Scheme, typer.Option(help="How complementary labels are drawn.")
    ] = Scheme.uniform,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw, folds and methods.")] = 0,
    jobs: Annotated[int, typer.Option(help="Fits at once; -1 for all cores.")] = 1,
    data_dir: Annotated[Path | None, typer.Option(help="Folder with dataset files.")] = None,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Also show average precision on true labels.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the results to this file.")
    ] = None,
) -> None:
    """Choose a method's settings by how well they explain held-out complementary labels."""
    from complabel import studies
    from complabel._files import write_text
    from complabel.datasets import load_dataset
    from complabel.errors import InputError

    values = parse_grid(grid) if grid else None
    n_settings = len(studies.expand_grid(method, values))
    if json_file is not None and not json_file.parent.is_dir():
        raise InputError(f"--json {json_file}: there is no folder {json_file.parent}")
    with errors().status("reading the dataset"):
        dataset = load_dataset(name, data_dir=data_dir)
    with progress_bar("fits", total=n_settings * folds) as on_fold:
        result = studies.tune(
            dataset,
            method,
            grid=values,
            scheme=labels.value,
            n_folds=folds,
            seed=seed,
            n_jobs=jobs,
            reveal=reveal,
            on_fold=on_fold,
        )
    _show(result)
    if json_file is not None:
        write_text(json_file, result.as_json())
        output().print(f"wrote {json_file}", highlight=False)


def parse_grid(texts: list[str]) -> dict[str, list[Any]]:
    """Read the values of each parameter: numbers, None, True, False, or else text."""
    from complabel.errors import InputError

    grid: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip().replace("-", "_")
        if not (equals and name) or "" in (found := [v.strip() for v in values.split(",")]):
            raise InputError(f"--grid {text}: write it as NAME=VALUE,VALUE,...")
        if name in grid:
            raise InputError(f"--grid {text}: {name} is given twice; put its values together")
        grid[name] = [_literal(value) for value in found]
    return grid


def _literal(text: str) -> Any:
    """Read one value as Python would, or take it as it stands."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def _show(result: TuningResult) -> None:
    """Print the table, the choice and how to use it."""
    best = result.best
    output().print(_table(result))
    for complaint in dict.fromkeys(setting.error for setting in result.settings if setting.error):
        errors().print(
            f"failed: {complaint}", style="red", markup=False, highlight=False, soft_wrap=True
        )
    chosen = ", ".join(f"{name}={value}" for name, value in best.parameters.items())
    output().print(f"chosen: {chosen or 'the defaults'}", style="bold", highlight=False)
    output().print(result.code(), markup=False, highlight=False, soft_wrap=True)
    output().print(
        f"\nHeld-out score: {result.criterion} on complementary labels, higher is better;"
        " mean±standard error over folds.",
        highlight=False,
    )
    if best.average_precision is not None:
        output().print(
            "Average precision needs true labels: it is shown for comparison and was not used in"
            " the choice.",
            highlight=False,
        )


def _table(result: TuningResult) -> Table:
    """Lay the settings out, best first, failed ones last."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    best = result.best
    table = Table(
        title=f"{result.method} on {result.dataset}: {result.labels} complementary labels,"
        f" {result.folds} folds, seed {result.seed}",
        title_justify="left",
        box=SIMPLE_HEAD,
    )
    table.add_column("")
    for name in best.parameters:
        table.add_column(name, justify="right")
    table.add_column("held-out score", justify="right", no_wrap=True)
    if best.average_precision is not None:
        table.add_column("average precision\n(not used)", justify="right", style="dim")
    table.add_column("seconds", justify="right")
    worst_last = sorted(
        result.settings, key=lambda setting: (math.isnan(setting.score), -setting.score)
    )
    for setting in worst_last:
        chosen = setting is best
        table.add_row(*_cells(setting, chosen=chosen), style="bold" if chosen else "")
    return table


def _cells(setting: TunedSetting, *, chosen: bool) -> list[str]:
    """Write one setting's row."""
    cells = ["→" if chosen else "", *map(str, setting.parameters.values())]
    failed = math.isnan(setting.score)
    cells.append("failed" if failed else f"{setting.score:.4f}±{setting.standard_error:.4f}")
    if setting.average_precision is not None:
        cells.append("" if failed else f"{setting.average_precision.mean():.3f}")
    return [*cells, f"{setting.seconds:.1f}"]
