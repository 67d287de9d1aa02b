"""`complabel methods`: the methods that come with complabel."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from complabel.cli import _options as options
from complabel.cli._console import (
    complain,
    errors,
    explain,
    new_table,
    show,
)
from complabel.cli._options import flag

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
