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

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from operator import eq, ge, gt, le, lt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from complabel._writing import write_text

CHECKOUT = Path(__file__).parents[1]
RESULTS = CHECKOUT / "docs" / "evidence" / "results"
SPEC = re.compile(r"([\w-]+)(?:\[([^\]]*)\])?\.(.+?)(?::([^:]*))?")
REDUCES = re.compile(r"(mean|min|max|sum|count|se)\((.*)\)")
RELATIONS = {">=": ge, "<=": le, "==": eq, ">": gt, "<": lt}
SIGN, NUMBER = re.compile(r" (>=|<=|==|>|<) "), re.compile(r"-?[\d.]+")


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
        unknown = [each for each, *_ in conditions(where) if each not in self.factors()]
        if unknown:
            raise NoFigureError(f"{self.name} has no {unknown}; it has {self.factors()}")
        frame = self.frame()[[within(row, where) for row in self.rows]]
        frame = frame.dropna(axis="columns", how="all")  # what varies in other cells only
        if not len(frame):
            raise NoFigureError(f"{self.name}: no cell is [{where}]")
        return frame

    def runs_of(self, where: str | None) -> list[dict[str, Any]]:
        """Return how the cells that ``where`` names were measured."""
        return [
            self.runs[at] for at in sorted({row["run"] for row in self.rows if within(row, where)})
        ]

    def table(self, where: str | None = None) -> pd.DataFrame:
        """Return the means over draws, a row for each cell."""
        frame = self.chosen(where)
        factors = [each for each in self.factors() if each in frame]
        if not factors:
            return frame.mean().to_frame().T
        return frame.groupby(factors, sort=False, dropna=False).mean()

    def add(self, run: dict[str, Any], rows: Iterable[dict[str, Any]]) -> None:
        """Take the rows of a run; they replace rows of the same cell and draw."""
        new = {key_of(row): row for row in rows}
        clash = {name for row in new.values() for name in {*cell_of(row)} & {*row["figures"]}}
        if clash:  # a table has one column of a name
            raise NoFigureError(f"{self.name}: {clash} vary and are figures, too; rename one")
        cells = {cell for cell, _ in new}
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
                told = {"draw": row["draw"], "figures": short(row["figures"])}
                lines.append(json.dumps({**cell_of(row), **told}))
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
        key: int(value) if isinstance(value, int) else float(f"{float(value):.5g}")
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
    if expression == "cells":
        return len(table)
    if expression == "draws":
        told = [run["draws"] for run in result.runs if run.get("draws")]  # of transcribed means
        return max([len({row["draw"] for row in result.rows if within(row, where)}), *told])
    reduces = REDUCES.fullmatch(expression)
    how, inner = reduces.groups() if reduces else ("one", expression)
    if how in ("one", "se") and len(table) != 1:
        raise NoFigureError(f"{text!r} names {len(table)} cells; name one, or say mean(...)")
    values = np.atleast_1d(evaluated(inner, rows if how == "se" else table, text))
    if how == "se":
        value = values.std(ddof=1) / np.sqrt(len(values))
    else:
        value = getattr(np, "sum" if how in ("one", "count") else how)(values)
    if np.isnan(value):
        raise NoFigureError(f"{text!r}: a figure was not measured in one of these cells")
    return value


def evaluated(expression: str, table: pd.DataFrame, text: str) -> Any:
    """Return an expression of figures, a number for each row of a table."""
    columns = {name: table[name].to_numpy() for name in table.columns}
    for each in ast.walk(ast.parse(expression, mode="eval")):
        if isinstance(each, ast.Name) and each.id not in {*columns, "best", "least", "abs"}:
            raise NoFigureError(f"{text!r}: no figure {each.id!r}; there are {[*columns]}")
    functions = {"best": lambda *of: np.fmax.reduce(of), "least": lambda *of: np.fmin.reduce(of)}
    with np.errstate(divide="ignore", invalid="ignore"):  # a table shows no figure there
        return eval(expression, {"__builtins__": {}}, functions | {"abs": np.abs} | columns)


def figure(text: str) -> str:
    """Return the figure that a text names, as a page prints it."""
    value = number(text)
    return printed(value, SPEC.fullmatch(text.strip()).group(4))


def printed(value: Any, format_: str | None = None) -> str:
    """Return a number as pages print it: counts whole, others with three decimals."""
    if format_ is None:
        whole = isinstance(value, (int, np.integer)) or (value == int(value) and abs(value) >= 2)
        format_ = ",.0f" if whole else ".3f"
    return re.sub(r"^([+-]?)0\.(?=\d)", r"\1.", format(value, format_))


def holds(relation: str) -> bool:
    """Return whether ``FIGURE >= NUMBER`` (or another relation) holds."""
    left, sign, right = SIGN.split(relation)
    of = [float(each) if NUMBER.fullmatch(each) else number(each) for each in (left, right)]
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
    """Return the rooms whose code differs from the code that a run measured, or checked last."""
    code = run.get("checked", run).get("code", {})
    return [room for room, was in code.items() if fingerprint(room, source) != was]


def conditions(where: str | None) -> list[tuple[str, bool, list[str]]]:
    """Return what ``where`` names: a factor, whether it must differ, and its values."""
    found = re.findall(r"([\w-]+)(!?)=([^,]*)", where or "")
    return [(name, differs != "", values.strip().split("|")) for name, differs, values in found]


def within(row: Mapping[str, Any], where: str | None) -> bool:
    """Return whether a row is of the cells that ``where`` names."""
    return all(
        (text_of(row.get(name)) in values) != differs for name, differs, values in conditions(where)
    )
