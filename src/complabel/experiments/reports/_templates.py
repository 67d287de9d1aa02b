"""How figures of studies are written, the same in every form; and the templates of the forms."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from complabel.reports import MINUS, environment_of

if TYPE_CHECKING:
    from jinja2 import Template

    from complabel.experiments.reports._summary import Cell, Row
    from complabel.experiments.statistics import Judgement

DAGGER: Final = "†"
MARKS: Final[Mapping[Judgement, str]] = {"better": "▼", "worse": "▲", "tie": ""}
"""The mark of a cell, by how the reference row compares with it: ▼ if the reference is better."""

FAR: Final = 2.0
"""A difference counts if it is larger than this many published standard deviations."""

SHADES: Final = (1.0, FAR, 4.0)
"""Numbers of published standard deviations at which the colour of a difference changes."""

MATRICES: Final = {
    "initial_transition_": ("S", "transition, as first estimated"),
    "label_correlation_": ("C", "which labels stay possible together"),
    "transition_": ("T", "transition, corrected"),
}
"""Symbol and caption of each matrix, by the attribute of the fitted classifier."""


def title_of(row: Row) -> str:
    return row.title if row.competes else f"{row.title} {DAGGER}"


def mark_of(cell: Cell) -> str:
    """Return a cell's mark; in brackets if only the plain test says so."""
    if cell.plain is None or cell.plain == "tie":
        return ""
    mark = MARKS[cell.plain]
    return mark if cell.plain == cell.corrected else f"({mark})"


def said_of(cell: Cell) -> str:
    return {"better": "worse", "worse": "better"}.get(cell.plain or "", "")


def shade_of(cell: Cell) -> str:
    """Return the CSS class of a cell, such as ``"better-2"``; empty without a published figure."""
    if cell.advantage is None:
        return ""
    strength = sum(abs(cell.advantage) > bound for bound in SHADES)
    return f"{'better' if cell.advantage > 0 else 'worse'}-{strength}" if strength else "near"


def signed(advantage: float) -> str:
    """Format an advantage in published standard deviations, with its sign."""
    return f"{round(advantage, 1) + 0.0:+.1f}".replace("-", MINUS)


def quantity(value: float | None, *, digits: int = 3) -> str:
    if value is None:
        return "n/a"
    return f"{value:.{digits}g}" if abs(value) < 1000 else f"{value:,.0f}"


_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>&|#~$])")
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "†": r"\textsuperscript{$\dagger$}",
        "±": r"$\pm$",
        "×": r"$\times$",  # noqa: RUF001
        "▼": r"$\bigtriangledown$",
        "▲": r"$\bigtriangleup$",
        MINUS: r"$-$",
        "\n": " ",
    }
)
_FILTERS = (*("mark_of", "quantity", "said_of", "shade_of", "signed", "title_of"),)
# So that each format shows texts unchanged.
_ESCAPES: dict[str, Callable[[str], str]] = {
    ".md.j2": lambda text: _MARKDOWN.sub(r"\\\1", text.replace("\n", " ")),
    ".tex.j2": lambda text: text.translate(_LATEX),
}


def get_template(name: str) -> Template:
    """Return a template, such as ``"tables.md.j2"``; the ending determines how texts are escaped.

    HTML is escaped automatically; in other formats, text must pass through the filter ``escape``.
    """
    environment = environment_of(__package__, escapes_html=name.endswith(".html.j2"))
    words = environment.globals["words"] = sys.modules[__name__]
    environment.filters |= {name: getattr(words, name) for name in _FILTERS}
    for ending, escape in _ESCAPES.items():
        if name.endswith(ending):
            environment.filters["escape"] = escape
    return environment.get_template(name)
