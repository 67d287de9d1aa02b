"""`complabel theory`: check the paper's theorems and write a page with the results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from complabel.cli import _options as options
from complabel.cli._console import new_table, remark, save, say, show
from complabel.cli._help import with_examples
from complabel.cli._next import command
from complabel.cli._outputs import Output
from complabel.cli._running import say_missing
from complabel.cli._working import duration, working

if TYPE_CHECKING:
    from complabel.datasets import MultiLabelDataset

_NEED_FILES = ("scene", "yeast", "corel5k")
_QUICK = 100


@with_examples("theory", "theory --data-dir DIR", "theory --quick --output page.html")
def theory(
    report: Annotated[
        Path,
        typer.Option("--output", metavar="FILE", help="The page to write."),
        Output(page=True),
    ] = Path("complabel-theory.html"),
    data_dir: options.DataDir = None,
    distributions: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=20,
            help="Random distributions of each setting. [default: 1000; with --quick 100]",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Fewer distributions, simulated items and folds; digits alone."
        ),
    ] = False,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Seed of everything that is drawn.")
    ] = 0,
    jobs: options.Jobs = -1,
) -> None:
    """Check the paper's theorems; simulate and measure what its matrices cost.

    Both sides of each theorem are computed exactly for random distributions. Methods are simulated
    with up to a million items. The matrices are measured on digits, and on scene, yeast and corel5k
    if --data-dir has them. It takes less than 10 minutes on two cores; with --quick, about one.
    """
    from research.theory import run_theory

    from complabel.reports import render_theory, theory_lines

    datasets, left_out = _datasets(data_dir, quick=quick)
    say_missing(left_out)
    try:
        with working("checking the theory") as far:
            results = run_theory(
                datasets,
                n_distributions=distributions or (_QUICK if quick else 1000),
                quick=quick,
                random_state=seed,
                n_jobs=jobs,
                tell=far,
            )
    except KeyboardInterrupt:
        remark(f"stopped; {report} was not written")
        raise
    with working("drawing the page"):
        page = render_theory(results, left_out=left_out)
    table = new_table(f"checked in {duration(results.seconds)}", "what", "found")
    for what, found in theory_lines(results):
        table.add_row(what, found)
    show(table)
    save(report, page)
    if left_out and not quick:
        say("next: " + command("theory", data_dir="FOLDER") + " with these datasets in FOLDER")
    else:
        say(f"next: open {report.resolve()} in a browser")


def _datasets(
    data_dir: Path | None, *, quick: bool
) -> tuple[list[MultiLabelDataset], dict[str, str]]:
    """Return the datasets that were found, and the names of the others with the reason."""
    from complabel.datasets import load_dataset
    from complabel.errors import DatasetNotFoundError

    found, left_out = [load_dataset("digits")], {}
    for name in () if quick else _NEED_FILES:
        try:
            found.append(load_dataset(name, data_dir=data_dir))
        except DatasetNotFoundError:
            left_out[name] = "no file of it was found; --data-dir names a folder that has some"
    return found, left_out
