"""Tables of pages, from stored results: which rows and columns, and how figures are printed."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._results import NoFigureError, evaluated, printed, read, text_of


def source(run: Mapping[str, Any]) -> str:
    """Return in one line how rows were measured."""
    if run.get("transcribed"):
        return f"from {run['transcribed']}; `{run['command']}`"
    hours = run["seconds"] / 3600
    took = f"{hours:.1f} hours" if hours >= 1 else f"{run['seconds'] / 60:.1f} minutes"
    return f"`{run['command']}` at `{run['commit']}`, {run['date']}, {took} of a processor"


def markdown(
    table: pd.DataFrame,
    columns: Mapping[str, str] = {},
    *,
    format_: str | None = None,
    across: str | None = None,
    bold: str | None = None,
    rows: str | None = None,
    error: str | None = None,
) -> str:
    """Return a table of Markdown: what varies, then the figures under the titles of ``columns``.

    ``across`` names what varies from column to column in place of row to row; ``rows`` makes a row
    of each figure, under this title. ``bold`` ("max" or "min") marks the best of a row, or of a
    column if figures are rows. With ``error`` "_sd", NAME is shown ± NAME_sd where there is one.
    A figure of ``columns`` may have a format of its own behind a colon.
    """
    table = table.dropna(axis=1, how="all")
    figures = columns or {name: name.replace("_", " ") for name in main_figures(table)}
    formats = {title: each.partition(":")[2] for each, title in figures.items()}
    figures = {each.partition(":")[0]: title for each, title in figures.items()}
    values = arranged(figures, table, rows, across)
    beside = {f"{each}{error}": title for each, title in figures.items()}
    blank = table.assign(**{each: np.nan for each in beside if each not in table})
    errors = arranged(beside, blank, rows, across).reindex_like(values) if error else None
    varies = [*values.index.names] if values.index.names != [None] else []
    shown = values.astype(object)
    best = getattr(values, bold)(axis=0 if rows else 1) if bold else None
    for column in values:
        alone = len(formats) == 1  # a column has the name of what varies
        own = [of for each, of in formats.items() if alone or f"{column} ".startswith(f"{each} ")]
        how = next(filter(None, own), format_) or format_of(values[column])
        texts = ["–" if np.isnan(x) else printed(x, how) for x in values[column]]  # noqa: RUF001
        if bold:
            marked = values[column] == (best[column] if rows else best)
            texts = [f"**{x}**" if is_ else x for x, is_ in zip(texts, marked, strict=True)]
        if errors is not None:
            more = [printed(x, how) for x in errors[column]]
            texts = [f"{x} ± {e}" if e != "nan" else x for x, e in zip(texts, more, strict=True)]
        shown[column] = texts
    if varies:
        shown = shown.reset_index()
        for each in varies:
            shown[each] = shown[each].map(text_of)
    lines = [[*map(str, shown.columns)], *shown.astype(str).to_numpy().tolist()]
    lines = [f"| {' | '.join(line)} |" for line in lines]
    rule = f"|{'---|' * len(varies)}{'--:|' * (len(shown.columns) - len(varies))}"
    return "\n".join([lines[0], rule, *lines[1:]])


def format_of(values: pd.Series) -> str:
    """Return the format of a column: counts are whole, others have three decimals."""
    known = values.dropna()
    return ",.0f" if (known % 1 == 0).all() and known.abs().max() >= 2 else ".3f"


def main_figures(table: pd.DataFrame) -> list[str]:
    """Return the figures without those that only stand beside another, such as its deviation."""
    beside = ("_sd", "_off", "_printed", "_is_bound")
    return [
        name
        for name in table.columns
        if not any(name.endswith(each) and name.removesuffix(each) in table for each in beside)
    ]


def arranged(
    figures: Mapping[str, str], table: pd.DataFrame, rows: str | None, across: str | None
) -> pd.DataFrame:
    """Return figures with a row for each cell, or for each figure, and columns by ``across``."""
    values = pd.DataFrame(
        {title: evaluated(each, table, each) for each, title in figures.items()}, index=table.index
    )
    titles = [*values.columns]
    if rows:
        values = values.rename_axis(columns=rows).stack(future_stack=True).to_frame("value")
        titles = ["value"]
    if across:
        if values.index.nlevels == 1:
            values = values.set_index(pd.Index([""] * len(values), name=""), append=True)
        order = [*dict.fromkeys(values.index.get_level_values(across))]
        kept = [*dict.fromkeys(values.index.droplevel(across))]
        values = values.unstack(across).reindex(kept)
        pairs = [(title, value) for title in titles for value in order]
        values = values[pairs]
        values.columns = [
            text_of(value) if len(titles) == 1 else f"{title} {text_of(value)}"
            for title, value in pairs
        ]
    return values.dropna(how="all") if rows else values


def without_fixed(table: pd.DataFrame, whole: pd.DataFrame) -> pd.DataFrame:
    """Drop from the index what differs in the whole result, but not in these cells."""
    n_values = {name: len(whole.index.unique(name)) for name in whole.index.names if name}
    fixed = [name for name, n in n_values.items() if n > 1 and name in table.index.names]
    fixed = [name for name in fixed if len(table.index.unique(name)) == 1]
    return table.droplevel(fixed[: table.index.nlevels - 1])


def of_page(text: str, options: Mapping[str, str]) -> str:
    """Return the Markdown of a table that a page asks for, and a line that says its source."""
    name, where = re.fullmatch(r"([\w-]+)(?:\[(.*)\])?", text.strip()).groups()
    result = read(name)
    words = [each.partition("=") for each in options.get("columns", "").split()]
    columns = {each: (title or each.split(":")[0]).replace("_", " ") for each, _, title in words}
    if len({*columns.values()}) < len(columns):
        raise NoFigureError(f"{text}: two columns have one title, so one would not be shown")
    how = {each: options.get(each) for each in ("across", "bold", "rows", "error")}
    table = without_fixed(result.table(where), result.table())
    made = markdown(table, columns, format_=options.get("format"), **how)
    sources = [source(run) for run in result.runs_of(where)]
    return f"{made}\n\n*{'; '.join(dict.fromkeys(sources))}*\n"
