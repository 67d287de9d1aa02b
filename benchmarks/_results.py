"""What benchmarks found, as data: docs/evidence/results/NAME.jsonl.

A line ``{"run": ...}`` says how the rows below it were measured: command, commit, date, processor,
versions, seconds, and a fingerprint of each room of the package that ran. A row has what varies,
``draw``, and ``figures``. A run that is ``transcribed`` holds means that an older page printed; its
rows go as soon as their cell is measured again.

A figure of a page is named by a text such as ``positives[set=scene,bias=0].fit:.3f`` or
``rivals.count(asked>best(AN,ROLE))``: the result, which cells, an expression of figures (their
means over draws), and a format. ``best`` and ``least`` compare figures within a cell; ``mean``,
``min``, ``max``, ``sum``, ``count`` and ``se`` (of the mean of one cell, over draws) reduce cells;
``cells`` and ``draws`` count. Without one of these, exactly one cell must be left.
"""

from __future__ import annotations

import ast
import hashlib
import json
import operator
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from complabel._writing import write_text

CHECKOUT = Path(__file__).parents[1]
RESULTS = CHECKOUT / "docs" / "evidence" / "results"
SPEC = re.compile(r"([\w-]+)(?:\[([^\]]*)\])?\.(.+?)(?::([^:]*))?")
REDUCES = re.compile(r"(mean|min|max|sum|count|se)\((.*)\)")
RELATIONS = {">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt}
RELATIONS |= {"<": operator.lt}


class NoFigureError(ValueError):
    """A text names no figure that is stored."""


@dataclass
class Result:
    """The runs and rows of one benchmark."""

    name: str
    runs: list[dict[str, Any]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)  # with "run", a place in ``runs``

    def factors(self) -> list[str]:
        """Return what varies, in the order of the file."""
        return [*{each: None for row in self.rows for each in cell_of(row)}]

    def frame(self) -> pd.DataFrame:
        """Return a row for each cell and draw: what varies, and the figures."""
        return pd.DataFrame([{**cell_of(row), **row["figures"]} for row in self.rows])

    def chosen(self, where: str | None) -> pd.DataFrame:
        """Return the rows of the cells that ``where`` names ("set=scene,bias!=0")."""
        unknown = [
            part for part in re.findall(r"([\w-]+)!?=", where or "") if part not in self.factors()
        ]
        if unknown:
            raise NoFigureError(f"{self.name} has no {unknown}; it has {self.factors()}")
        frame = self.frame()[[within(row, where) for row in self.rows]]
        frame = frame.dropna(axis="columns", how="all")  # what varies in other cells only
        if not len(frame):
            raise NoFigureError(f"{self.name}: no cell is [{where}]")
        return frame

    def table(self, where: str | None = None) -> pd.DataFrame:
        """Return the means over draws, a row for each cell."""
        frame = self.chosen(where)
        factors = [each for each in self.factors() if each in frame]
        if not factors:
            return frame.mean().to_frame().T
        return frame.groupby(factors, sort=False, dropna=False).mean()

    def add(self, run: dict[str, Any], rows: Iterable[dict[str, Any]]) -> None:
        """Take the rows of a run; they replace rows of the same cell and draw."""
        rows = list(rows)
        clash = {name for row in rows for name in cell_of(row).keys() & row["figures"].keys()}
        if clash:  # a table has one column of a name
            raise NoFigureError(f"{self.name}: {clash} vary and are figures, too; rename one")
        new = {key_of(row): row for row in rows}
        cells = {key[0] for key in new}
        # A cell that has lost or got a factor since is another cell; old ones go by hand.
        kept = [
            row
            for row in self.rows
            if key_of(row) not in new
            and not (self.runs[row["run"]].get("transcribed") and key_of(row)[0] in cells)
        ]
        self.runs.append(run)
        self.rows = [*kept, *({**row, "run": len(self.runs) - 1} for row in new.values())]

    def write(self) -> None:
        """Write the file anew; runs without rows go."""
        lines = []
        for at, run in enumerate(self.runs):
            rows = [row for row in self.rows if row["run"] == at]
            if rows:
                lines.append(json.dumps({"run": run}))
            for row in rows:
                plain = {key: value for key, value in row.items() if key != "run"}
                lines.append(json.dumps({**plain, "figures": short(row["figures"])}))
        RESULTS.mkdir(parents=True, exist_ok=True)
        write_text(RESULTS / f"{self.name}.jsonl", "\n".join(lines) + "\n")
        read.cache_clear()


def cell_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what varies in a row."""
    return {key: value for key, value in row.items() if key not in ("figures", "draw", "run")}


def key_of(row: Mapping[str, Any]) -> tuple[str, Any]:
    """Return what tells a row from others: its cell and its draw."""
    return json.dumps(cell_of(row), sort_keys=True), row.get("draw", 0)


def short(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return figures with five digits."""
    return {
        key: value if isinstance(value, int) else float(f"{float(value):.5g}")
        for key, value in figures.items()
    }


def text_of(value: Any) -> str:
    """Return a value of a cell as it is typed."""
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:g}"
    return str(value)


@cache
def read(name: str) -> Result:
    """Read the results of a benchmark; an empty one if nothing is stored."""
    result, path = Result(name), RESULTS / f"{name}.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        entry = json.loads(line)
        if "run" in entry:
            result.runs.append(entry["run"])
        else:
            result.rows.append({**entry, "run": len(result.runs) - 1})
    return result


def number(text: str) -> Any:
    """Return the figure that a text without a format names."""
    found = SPEC.fullmatch(text.strip())
    if found is None:
        raise NoFigureError(f"{text!r} names no figure: write NAME[factor=value].FIGURE")
    name, where, expression = found.group(1, 2, 3)
    result = read(name)
    if not result.rows:
        raise NoFigureError(f"{text!r}: no results of {name!r} are stored")
    rows, table = result.chosen(where), result.table(where)
    if expression in ("cells", "draws"):
        told = [run["draws"] for run in result.runs if run.get("draws")]  # of transcribed means
        draws = max([rows_of_cell(result, where), *told])
        return len(table) if expression == "cells" else draws
    reduces = REDUCES.fullmatch(expression)
    how, inner = reduces.groups() if reduces else ("one", expression)
    values = np.atleast_1d(evaluated(inner, rows if how == "se" else table, text))
    if how == "one" and len(values) != 1:
        raise NoFigureError(f"{text!r} names {len(values)} cells; name one, or say mean(...)")
    if how == "se" and len(table) != 1:
        raise NoFigureError(f"{text!r} names {len(table)} cells; an error is that of one")
    if how == "se":
        return values.std(ddof=1) / np.sqrt(len(values))
    if np.isnan(values).any():
        raise NoFigureError(f"{text!r}: {np.isnan(values).sum()} of these cells lack this figure")
    return {"one": np.sum, "count": np.sum}.get(how, getattr(np, how, np.sum))(values)


def rows_of_cell(result: Result, where: str | None) -> int:
    """Return how many draws the chosen rows have."""
    return len({str(row["draw"]) for row in result.rows if within(row, where)})


def evaluated(expression: str, table: pd.DataFrame, text: str) -> Any:
    """Return an expression of figures, a number for each row of a table."""
    columns = {name: table[name].to_numpy() for name in table.columns}
    for each in ast.walk(ast.parse(expression, mode="eval")):
        if isinstance(each, ast.Name) and each.id not in {*columns, "best", "least", "abs"}:
            raise NoFigureError(f"{text!r}: no figure {each.id!r}; there are {[*columns]}")
    functions = {
        "best": lambda *of: np.fmax.reduce(of),
        "least": lambda *of: np.fmin.reduce(of),
        "abs": np.abs,
    }
    with np.errstate(divide="ignore", invalid="ignore"):  # a table shows no figure there
        return eval(expression, {"__builtins__": {}}, functions | columns)


def figure(text: str) -> str:
    """Return the figure that a text names, as a page prints it."""
    format_ = SPEC.fullmatch(text.strip())
    value = number(text)
    if np.isnan(value):
        raise NoFigureError(f"{text!r}: a figure was not measured in one of these cells")
    return printed(value, format_.group(4) if format_ else None)


def printed(value: Any, format_: str | None = None) -> str:
    """Return a number as pages print it: counts whole, others with three decimals."""
    if format_ is None:
        whole = isinstance(value, (int, np.integer)) or (value == int(value) and abs(value) >= 2)
        format_ = ",.0f" if whole else ".3f"
    return re.sub(r"^([+-]?)0\.(?=\d)", r"\1.", format(value, format_)) or "0"


def holds(relation: str) -> bool:
    """Return whether ``FIGURE >= NUMBER`` (or another relation) holds."""
    left, sign, right = re.fullmatch(r"(.+?) (>=|<=|==|>|<) (.+)", relation).groups()
    of = [
        float(each) if re.fullmatch(r"-?[\d.]+", each) else number(each) for each in (left, right)
    ]
    return bool(RELATIONS[sign](*of))


def bare(source: str) -> str:
    """Return code without comments, docstrings and empty lines."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            continue
        if isinstance(node.value.value, str):
            length = node.end_lineno - node.lineno + 1
            lines[node.lineno - 1 : node.end_lineno] = [""] * length
    return "\n".join(line for line in lines if line.strip() and not line.strip().startswith("#"))


@cache
def fingerprint(room: str, source: Path = CHECKOUT / "src" / "complabel") -> str:
    """Return eight digits that change with the code of a room, but not with its comments."""
    if room.startswith("benchmarks."):
        source = CHECKOUT
    place = source.joinpath(*room.split("."))
    paths = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    code = [bare(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
    return hashlib.sha256("\n".join(code).encode()).hexdigest()[:8]


def changed(run: Mapping[str, Any], source: Path = CHECKOUT / "src" / "complabel") -> list[str]:
    """Return the rooms whose code differs from the code that a run measured."""
    return [room for room, was in run.get("code", {}).items() if fingerprint(room, source) != was]


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
        own = [formats[each] for each in formats if f"{column} ".startswith(f"{each} ")]
        own = own or ([*formats.values()] if len(formats) == 1 else [])
        how = next(filter(None, own), format_) or format_of(values[column])
        texts = ["–" if np.isnan(x) else printed(x, how) for x in values[column]]  # noqa: RUF001
        marked = [False] * len(texts)
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
    for name in [*table.index.names]:
        several = name and whole.index.get_level_values(name).nunique(dropna=False) > 1
        if several and table.index.nlevels > 1:
            alike = table.index.get_level_values(name).nunique(dropna=False) == 1
            table = table.droplevel(name) if alike else table
    return table


def of_page(text: str, options: Mapping[str, str]) -> str:
    """Return the Markdown of a table that a page asks for, and a line that says its source."""
    name, where = re.fullmatch(r"([\w-]+)(?:\[(.*)\])?", text.strip()).groups()
    result = read(name)
    words = [each.partition("=") for each in options.get("columns", "").split()]
    columns = {each: (title or each.split(":")[0]).replace("_", " ") for each, _, title in words}
    how = {each: options.get(each) for each in ("across", "bold", "rows", "error")}
    table = without_fixed(result.table(where), result.table())
    made = markdown(table, columns, format_=options.get("format"), **how)
    runs = {row["run"] for row in result.rows if within(row, where)}
    sources = [source(result.runs[at]) for at in sorted(runs)]
    return f"{made}\n\n*{'; '.join(dict.fromkeys(sources))}*\n"


def within(row: Mapping[str, Any], where: str | None) -> bool:
    """Return whether a row is of the cells that ``where`` names."""
    parts = [re.fullmatch(r"([\w-]+)(!?)=(.*)", each.strip()) for each in (where or "").split(",")]
    return all(
        (text_of(row.get(part[1])) in part[3].split("|")) != bool(part[2]) for part in parts if part
    )
