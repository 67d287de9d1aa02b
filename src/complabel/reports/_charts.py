"""Charts of models. A chart is drawn as inline SVG only when a page needs it."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from complabel._parameters import Array
    from complabel.trust import Figures, Reliability


# Matplotlib draws with these colours, which no colour map has. Later they become the page's
# colours.
INK, ACCENT = "#010203", "#0a0b0c"
SERIES = tuple(f"#0b0c{place:02x}" for place in range(1, 7))
"""Colours for lines, which become the page's series colours."""
_PAGE_COLOURS = {INK: "currentColor", ACCENT: "var(--accent)"} | {
    colour: f"var(--series-{place})" for place, colour in enumerate(SERIES, start=1)
}
_REFERENCE = re.compile(r"(?<=url\(#)[^)]+|(?<=^#).+")  # the id in url(#id) and in #id

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 9.0,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10.0,
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK
    ),
}


def _inline_svg(figure: Figure, *, ident: str, description: str) -> Markup:
    """Turn a figure into an ``<svg>`` that can stand beside others in an HTML page.

    ``ident`` must be unique on the page; ids inside the element start with it. The XML serializer
    escapes all texts.
    """
    from markupsafe import Markup

    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    root = ET.fromstring(buffer.getvalue())
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):  # would apply to the whole page
                parent.remove(child)
    _localize(root, ident)
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.set("role", "img")
    root.set("aria-label", description)
    return Markup(ET.tostring(root, encoding="unicode"))


def _localize(root: ET.Element, ident: str) -> None:
    used: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        return used.setdefault(match.group(), f"{ident}-{len(used)}")

    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        # HTML has no namespaces, and its name for xlink:href is href.
        for name in [name for name in element.attrib if name.startswith("{")]:
            element.set(name.rpartition("}")[2], element.attrib.pop(name))
        for name in ("href", "clip-path"):
            if name in element.attrib:
                element.set(name, _REFERENCE.sub(rename, element.attrib[name]))
        style = element.get("style")
        if style is not None:
            for drawn, shown in _PAGE_COLOURS.items():
                style = style.replace(drawn, shown)
            element.set("style", style)
    for element in root.iter():
        own = element.attrib.pop("id", None)
        if own in used:
            element.set("id", used[own])


# Inches.
WIDTH = 3.5
_LETTER = 0.066

WHISKER: Mapping[str, Any] = {"fmt": "none", "ecolor": INK, "elinewidth": 1}


@dataclass(frozen=True)
class Chart:
    """A chart of a page: ``draw`` draws it into an empty figure of ``size`` in inches."""

    title: str
    description: str
    size: tuple[float, float]
    draw: Callable[[Figure], None]

    def svg(self, ident: str) -> Markup:
        import matplotlib as mpl
        from matplotlib.figure import Figure

        with mpl.rc_context():
            mpl.rcdefaults()  # a matplotlibrc must not reach the page
            mpl.rcParams.update(_STYLE)
            figure = Figure(figsize=self.size, layout="constrained", facecolor="none")
            self.draw(figure)
            return _inline_svg(figure, ident=ident, description=self.description)


def reliability_chart(found: Reliability, *, title: str, description: str) -> Chart:
    """Return a diagram of reliability: the share that applies over the probability, with intervals.

    Probabilities that can be believed lie on the diagonal.
    """

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, title, "predicted probability")
        axes.axline((0, 0), slope=1, color=INK, alpha=0.5, linewidth=1, linestyle="--")
        reach = np.abs(found.intervals.T - found.share)
        axes.errorbar(found.mean_probability, found.share, yerr=reach, **WHISKER)
        line: Mapping[str, Any] = {"color": ACCENT, "linewidth": 1.5, "marker": "o"}
        axes.plot(found.mean_probability, found.share, markersize=4, clip_on=False, **line)
        _as_shares(axes, "share that applies")

    return Chart(title, description, (WIDTH, WIDTH), draw)


def precision_recall_chart(
    curve: Mapping[str, Array], at: Figures, *, title: str, description: str
) -> Chart:
    """Return a curve of precision over recall, with a band for the intervals of precision.

    A cross shows precision and recall ``at`` the model's own thresholds, with both intervals; the
    dashed line is the precision of a random order. ``curve`` is that of ``MetricEstimates``.
    """

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, title, "recall")
        axes.axhline(at.share.value, color=INK, alpha=0.5, linewidth=1, linestyle="--")
        known = np.isfinite(curve["precision"]) & np.isfinite(curve["recall"])
        recall, precision, low, high = (
            curve[name][known]
            for name in ("recall", "precision", "precision_low", "precision_high")
        )
        # True recall falls as the threshold rises; estimates need not, and would tangle the band.
        recall = (np.maximum.accumulate(recall[::-1])[::-1] + np.minimum.accumulate(recall)) / 2
        axes.fill_between(recall, low, high, color=ACCENT, alpha=0.2, linewidth=0)
        axes.plot(recall, precision, color=ACCENT, linewidth=1.5)
        x, y = at.recall, at.precision
        across, along = ([[each.value - each.low], [each.high - each.value]] for each in (x, y))
        axes.errorbar([x.value], [y.value], xerr=across, yerr=along, **WHISKER)
        axes.plot([x.value], [y.value], "o", color=INK, markersize=5, clip_on=False)
        _as_shares(axes, "precision")

    return Chart(title, description, (WIDTH, WIDTH), draw)


def _as_shares(axes: Axes, ylabel: str) -> None:
    """Let both axes go from 0 to 1."""
    ticks = np.linspace(0, 1, 3)
    for set_ticks in (axes.set_xticks, axes.set_yticks):
        set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set(xlim=(0, 1), ylim=(0, 1), ylabel=ylabel)


def new_axes(
    figure: Figure, title: str, axis: str, *, names: Sequence[str] = (), bottom: float = 0.42
) -> Axes:
    """Return axes with fixed margins in inches; matplotlib's layout engine would take minutes."""
    figure.set_layout_engine("none")
    width, height = figure.get_size_inches()
    most = int((width / 2 - 0.15) / _LETTER)  # a longer name would leave no room to draw
    names = [name if len(name) <= most else f"{name[: most - 1]}…" for name in names]
    left = 0.15 + _LETTER * max(map(len, names)) if names else 0.55
    above = 0.28 if title else 0.08
    axes = figure.add_axes(
        (left / width, bottom / height, 1 - (left + 0.15) / width, 1 - (bottom + above) / height)
    )
    axes.set_title(title)
    axes.set_xlabel(axis)
    if names:
        axes.set_yticks(range(len(names)), names)
        axes.tick_params(axis="y", length=0)
    return axes
