"""`complabel methods`: the methods that come with complabel."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from complabel.cli import _options as options
from complabel.cli._console import complain, errors, explain, new_table, show
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


@options.with_examples("methods", "methods --as-json")
def methods(as_json: bool = flag("Print JSON instead of a table.", "--as-json")) -> None:
    """List the methods: their names, what they learn from, and their references."""
    from importlib import metadata

    from complabel.errors import InputError
    from complabel.methods import METHODS, get_method

    listed, problems = [*METHODS.values()], []
    for entry in metadata.entry_points(group=_HOME):
        try:
            listed.append(get_method(entry.name))
        except InputError as problem:
            problems.append(str(problem))
    names = {method.place.rpartition(":")[2]: method.name for method in METHODS.values()}
    if as_json:
        with errors().status("loading the methods"):
            described = [_describe(each, names) | _as_class(each) for each in listed]
        typer.echo(json.dumps(described, indent=1))
    else:
        _show_methods([_describe(each, names) for each in listed])
    for problem_text in problems:
        complain(problem_text)


def _describe(method: Method, names: Mapping[str, str]) -> dict[str, Any]:
    """Return what is known of a method without its class; references name others as methods."""
    text = _docstring(method)
    references = _REFERENCES.search(text)
    return {
        "name": method.name,
        "title": method.title,
        "summary": _without_markup(text.partition("\n\n")[0]),
        "learns_from": method.learns,
        "references": references
        and _without_markup(_ROLE.sub(lambda role: names.get(role[1], role[1]), references[1])),
    }


def _docstring(method: Method) -> str:
    """Return the docstring of a method's class.

    A class of complabel's is read, not imported: most of them need torch, which takes seconds.
    """
    module, _, name = method.place.partition(":")
    if not module.startswith("complabel."):
        return inspect.getdoc(method.classifier) or ""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text("utf-8"))
    (node,) = (each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == name)
    return ast.get_docstring(node) or ""


def _as_class(method: Method) -> dict[str, Any]:
    from complabel.methods import home_of

    cls = method.classifier
    parameters = [*inspect.signature(cls).parameters]
    return {"class": f"{home_of(cls)}.{cls.__name__}", "parameters": parameters}


def _without_markup(text: str) -> str:
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
