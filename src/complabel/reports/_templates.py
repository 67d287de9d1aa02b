"""How numbers and texts are written, the same on every page; and the templates."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from complabel.errors import InputError

if TYPE_CHECKING:
    from jinja2 import Environment, Template

MINUS: Final = "−"  # noqa: RUF001  # for negative numbers; a hyphen would be too short

_TOPS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8)


def top_of_scale(shares: Iterable[float]) -> float:
    """Return a round number at or above the largest share, at which its scale ends."""
    most = max(shares, default=1.0)
    return next((top for top in _TOPS if top >= most), 1.0)


def number(value: float) -> str:
    """Format a criterion with three digits, as the paper does."""
    return f"{value:.3f}"


def ahead(difference: float | None) -> str:
    """Format by how much a criterion is ahead, with its sign; unknown differences as "n/a"."""
    if difference is None:
        return "n/a"
    return f"{round(difference, 3) + 0.0:+.3f}".replace("-", MINUS)


def p_value(value: float | None) -> str:
    """Format a p-value; small ones as an upper bound."""
    if value is None:
        return "n/a"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def get_template(name: str) -> Template:
    """Return a template of a page, such as ``"model.html.j2"``."""
    return environment_of(escapes_html=True).get_template(name)


def environment_of(*packages: str, escapes_html: bool) -> Environment:
    """Return what finds templates in these packages, or else in this one; with filters for all."""
    try:
        import matplotlib  # noqa: F401  # only to find out whether it is installed
        from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as error:
        raise InputError(
            f"a page needs {error.name}, which is not installed:"
            ' run pip install "complabel[report]"'
        ) from error
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(each) for each in (*packages, "complabel.reports")]),
        autoescape=escapes_html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = ahead, capitalized, number, p_value
    environment.filters |= {each.__name__: each for each in filters}
    numbers = itertools.count(1)
    environment.filters["svg"] = lambda chart: chart.svg(f"figure-{next(numbers)}")
    return environment
