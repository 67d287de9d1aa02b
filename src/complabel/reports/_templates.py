"""How numbers, names and texts are written, the same in every form; and the templates."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from complabel.errors import InputError

if TYPE_CHECKING:
    from jinja2 import Template

    from complabel.reports._summary import Cell, Row
    from complabel.statistics import Judgement

DAGGER: Final = "†"
MINUS: Final = "−"  # noqa: RUF001  # for negative numbers; a hyphen would be too short
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


_TOPS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8)


def top_of_scale(shares: Iterable[float]) -> float:
    """Return a round number at or above the largest share, at which its scale ends."""
    most = max(shares, default=1.0)
    return next((top for top in _TOPS if top >= most), 1.0)


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


def number(value: float) -> str:
    """Format a criterion with three digits, as the paper does."""
    return f"{value:.3f}"


def signed(advantage: float) -> str:
    """Format an advantage in published standard deviations, with its sign."""
    return f"{round(advantage, 1) + 0.0:+.1f}".replace("-", MINUS)


def ahead(difference: float | None) -> str:
    """Format by how much a criterion is ahead, with its sign; unknown differences as "n/a"."""
    if difference is None:
        return "n/a"
    return f"{round(difference, 3) + 0.0:+.3f}".replace("-", MINUS)


def quantity(value: float | None, *, digits: int = 3) -> str:
    if value is None:
        return "n/a"
    return f"{value:.{digits}g}" if abs(value) < 1000 else f"{value:,.0f}"


def p_value(value: float | None) -> str:
    """Format a p-value; small ones as an upper bound."""
    if value is None:
        return "n/a"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


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
_FILTERS = (
    *("ahead", "capitalized", "mark_of", "number", "p_value", "quantity", "said_of", "shade_of"),
    *("signed", "title_of"),
)
# So that each format shows texts unchanged.
_ESCAPES: dict[str, Callable[[str], str]] = {
    ".md.j2": lambda text: _MARKDOWN.sub(r"\\\1", text.replace("\n", " ")),
    ".tex.j2": lambda text: text.translate(_LATEX),
}


def get_template(name: str) -> Template:
    """Return a template, such as ``"tables.md.j2"``; the ending determines how texts are escaped.

    HTML is escaped automatically; in other formats, text must pass through the filter ``escape``.
    """
    try:
        import matplotlib  # noqa: F401  # only to find out whether it is installed
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise InputError(
            f"a page needs {error.name}, which is not installed:"
            ' run pip install "complabel[report]"'
        ) from error
    environment = Environment(
        loader=PackageLoader("complabel.reports"),
        autoescape=name.endswith(".html.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = environment.globals["words"] = sys.modules[__name__]
    environment.filters |= {name: getattr(words, name) for name in _FILTERS}
    numbers = itertools.count(1)
    environment.filters["svg"] = lambda chart: chart.svg(f"figure-{next(numbers)}")
    for ending, escape in _ESCAPES.items():
        if name.endswith(ending):
            environment.filters["escape"] = escape
    return environment.get_template(name)
