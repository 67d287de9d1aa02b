"""`complabel demo` and `methods`: what comes with complabel."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from complabel._writing import write_text
from complabel.cli import _options as options
from complabel.cli._console import (
    command,
    complain,
    errors,
    explain,
    new_table,
    output,
    remark,
    say,
    show,
)
from complabel.cli._options import flag, option, target

if TYPE_CHECKING:
    from complabel.methods import Method

_REFERENCES = re.compile(r"^References\n-+\n(.*?)(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)
_ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?(\w+)`")
_HOME = "complabel.methods"
_LEARNS_FROM = {
    "answers": "any answers",
    "complementary": "labels that do not apply",
    "relevant": "the true labels †",
}


@options.with_examples("methods", "methods --json")
def methods(
    as_json: bool = flag("Print JSON instead of a table.", "--json"),
) -> None:
    """List the methods: their names, what they learn from, and their references."""
    from importlib import metadata

    with errors().status("loading the methods"):
        from complabel.errors import InputError
        from complabel.methods import METHODS, get_method

        names = {method.classifier.__name__: method.name for method in METHODS.values()}
        described = [_describe(method, names) for method in METHODS.values()]
        problems = []
        for entry in metadata.entry_points(group=_HOME):
            try:
                described.append(_describe(get_method(entry.name), names))
            except InputError as problem:
                problems.append(str(problem))
    if as_json:
        typer.echo(json.dumps(described, indent=1))
    else:
        _show_methods(described)
    for said in problems:
        complain(said)


def _describe(method: Method, names: Mapping[str, str]) -> dict[str, Any]:
    """Return a method's description; references name other classes by their methods."""
    from complabel.methods import home_of

    cls = method.classifier
    text = inspect.cleandoc(cls.__doc__ or "")
    found = _REFERENCES.search(text)
    learns_from = method.learns_from
    if learns_from == "complementary" and cls.understands_answers:
        learns_from = "answers"
    return {
        "name": method.name,
        "title": method.title,
        "class": f"{home_of(cls)}.{cls.__name__}",
        "summary": _plain(text.partition("\n\n")[0]),
        "learns_from": learns_from,
        "references": _plain(_ROLE.sub(lambda role: names.get(role[1], role[1]), found[1]))
        if found
        else None,
        "parameters": [*inspect.signature(cls).parameters],
    }


def _plain(text: str) -> str:
    """Return a part of a docstring as one line without markup."""
    return " ".join(_ROLE.sub(r"\1", text).replace("``", "").split())


def _show_methods(described: list[dict[str, Any]]) -> None:
    table = new_table("", "method", "learns from", "references")
    table.columns[0].no_wrap = True
    for entry in described:
        learns_from = _LEARNS_FROM[entry["learns_from"]]
        table.add_row(Text(entry["name"]), learns_from, Text(entry["references"] or "-"))
    show(table)
    explain(
        "†: learns from true labels; shown for comparison, and marked † in tables, too.\n"
        "--method takes a name, a name with settings such as lift:solver=libsvm, or a class of\n"
        "yours such as package.module:Class."
    )


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
    say(summary["meaning"])
    say(f"wrote {report.resolve()}: open it in a browser")
    say(f"next: {command('import', '--help')}")
