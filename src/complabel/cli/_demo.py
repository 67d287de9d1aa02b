"""`complabel demo`: compare five ways of asking, in a table and on a web page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from complabel._writing import write_text
from complabel.cli import _options as options
from complabel.cli._console import command, errors, new_table, output, remark, say
from complabel.cli._options import option, target


@options.with_examples("demo", "demo --seed 1 --output page.html")
def demo(
    report: Path = target(
        "File to write the page to.", "--output", default=Path("complabel-demo.html"), page=True
    ),
    seed: int = option("N", "Seed of the pictures, the answers and the methods.", default=0, min=0),
) -> None:
    """Ask about the same pictures in five ways, and compare what is learned from each.

    The pictures show handwritten digits and come with complabel. The answers are simulated. The
    demo takes about 20 seconds.
    """
    from complabel.reports import render_demo, run_demo

    with errors().status("composing pictures") as status:
        tell = status.update if errors().is_terminal else remark
        summary = run_demo(seed=seed, tell=tell)
        status.update("drawing the page")
        write_text(report, render_demo(summary))
    _print(summary)
    say(summary["meaning"])
    say(f"wrote {report.resolve()}: open it in a browser")
    say(f"next: {command('import', '--help')}")


def _print(summary: Mapping[str, Any]) -> None:
    table = new_table(
        f"{summary['n_train']:,} pictures, at most one answer each; tested on"
        f" {summary['n_test']:,} others",
        "way of asking",
        numbers=("average precision", "digits found"),
    )
    for part in (summary["ways"], summary["references"]):
        for name, figures in part.items():
            found = f"{100 * figures['found']:.0f} %"
            table.add_row(summary["titles"][name], f"{figures['average_precision']:.3f}", found)
        table.add_section()
    output().print(table)
