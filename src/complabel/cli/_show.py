"""`complabel show`: what a model file says: how it was made, what it chose, what it knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import explain, new_table, save_json, say, show, shown, working
from complabel.cli._options import target
from complabel.errors import InputError

_MOST = 20  # rows of a table


@options.with_examples(
    "show model.safetensors",
    "show model.safetensors --html page.html --features X.csv",
)
def show_(
    model: Path = options.MODEL,
    features: Path | None = options.FEATURES_IF_ANY,
    items: Path | None = options.ITEMS,
    html: Path | None = target(
        "Also write a web page with charts to this file. With --features, it shows the likeliest"
        " items of each label.",
        page=True,
    ),
    json_file: Path | None = options.JSON_FILE,
) -> None:
    """Show what a model was trained on, what it chose, and what it knows of labels and people.

    Nothing in the file is run, so a stranger's file is safe to look at.
    """
    from complabel.methods import load, read_header
    from complabel.reports import describe_model, likeliest_items, model_facts, write_model_page

    if features is None and items is not None:
        raise InputError("--items is given without --features; give both or neither")
    if features is not None and html is None and json_file is None:
        raise InputError(
            "--features is given, but nothing is written; add --html or --json, which get the"
            " likeliest items of each label"
        )
    classifier = load(model)
    described = describe_model(classifier, read_header(model))
    if features is not None:
        found = own.read_own_features(features, items, classifier.n_features_in_, model=model)
        with working(f"predicting {len(found.items):,} items"):
            probabilities = classifier.predict_proba(own.for_model(found, classifier))
        names = [str(name) for name in classifier.classes_]
        described["items"] = likeliest_items(probabilities, found.items, names)
    facts = model_facts(described)
    widest = max(map(len, facts))
    for title, text in facts.items():
        say(f"{_plain(title):{widest}}  {_plain(text)}")
    _show_rows(described["labels"], "label", "Labels")
    if "low" in described["labels"][0]:
        explain(
            "frequency: the estimated share of the items to which the label applies; low, high: its"
            " interval of 95 %; those that are known least come first."
        )
    _show_rows(described["people"], "annotator", "People")
    if html is not None:
        write_model_page(described, html)
        say(f"wrote {html}")
    save_json(json_file, described)


def _show_rows(rows: Sequence[Mapping[str, Any]], name: str, title: str) -> None:
    """Print a table of figures with a line for each label or person, if there are figures."""
    if not rows or len(rows[0]) == 1:
        return
    figures = [*rows[0]][1:]
    table = new_table(title, name, numbers=(each.replace("_", " ") for each in figures))
    for row in rows[:_MOST]:
        table.add_row(Text(_plain(row[name])), *(_figure(row[each]) for each in figures))
    show(table)
    if len(rows) > _MOST:
        explain(f"{len(rows) - _MOST:,} more are not shown; --json FILE writes all of them")


def _figure(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _plain(text: str) -> str:
    """Return a text of the file on one line, without control characters."""
    return shown(" ".join(text.split()))
