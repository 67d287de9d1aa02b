"""`complabel tune`: choose settings without any true label."""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import complain, new_table, save, say, show
from complabel.cli._options import flag, option
from complabel.cli._outputs import claim_store

if TYPE_CHECKING:
    from complabel.studies import TunedSetting, TuningResult


@options.with_examples(
    "tune synthetic --method ml-knn",
    "tune mine.arff --method lift --grid ratio=0.05,0.1,0.2",
    "tune answers.csv --features X.csv --method ml-knn",
)
@options.with_tables_and_draw
def tune(
    names: list[str] | None = options.DATASETS,
    method: str = option(
        "METHOD",
        f"Method to tune. {options.METHOD_HELP}",
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
    match_frequencies: bool = options.MATCH_FREQUENCIES,
    folds: int = options.folds(3),
    seed: int = options.SEED,
    jobs: int = options.jobs(1),
    data_dir: Path | None = options.DATA_DIR,
    store: Path = options.STORE,
    reveal: bool = flag(
        "Also show average precision on true labels; it does not influence the choice.", "--reveal"
    ),
    json_file: Path | None = options.JSON_FILE,
) -> None:
    """Choose a method's settings by their score on held-out labels or answers.

    After an interruption, the same command continues where it stopped.
    """
    from complabel import studies
    from complabel.cli._running import watched

    values = parse_grid(grid) if grid else None
    claim_store(store)
    datasets = own.datasets_of(names, tables, draw)
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
    _show(result, answered="features" in tables and bool(names))
    if json_file is not None:
        save(json_file, result.as_json())


def parse_grid(texts: list[str]) -> dict[str, list[Any]]:
    """Return the values of each parameter: Python literals where possible, else text."""
    from complabel.errors import InputError

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
        grid[name] = [_literal(value) for value in found]
    return grid


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def _show(result: TuningResult, *, answered: bool) -> None:
    best = result.best
    show(_table(result, result.draw.title_with(answers=answered)))
    for complaint in dict.fromkeys(setting.error for setting in result.settings if setting.error):
        complain(f"failed: {complaint}")
    chosen = ", ".join(f"{name}={value}" for name, value in best.parameters.items())
    by = " by held-out answers" if answered else ""
    say(f"chosen{by}: {chosen or 'the defaults'}", style="bold")
    say(result.code())
    say(
        f"\nHeld-out score: {result.criterion}{_on(result)}, higher is better;"
        " mean±standard error over folds."
    )
    if best.average_precision is not None:
        say(
            "Average precision needs true labels. It is shown for comparison and was not used for"
            " the choice."
        )


def _on(result: TuningResult) -> str:
    """Return what the scores are computed on, unless their name says it."""
    if result.criterion.endswith("answers"):
        return ""
    return " on complementary labels" if result.draw.is_plain else " on answers"


def _table(result: TuningResult, asked: str) -> Table:
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
