"""Figures as inline SVG that takes its colours from the page, and images as data URIs."""

from __future__ import annotations

import base64
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

# Drawn by matplotlib as these, which no colour map yields, and then named after the page's own.
INK, ACCENT = "#010203", "#0a0b0c"
_PAGE_COLOURS = {INK: "currentColor", ACCENT: "var(--accent)"}

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


def off_diagonal(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entries beside the diagonal.

    Parameters
    ----------
    matrix : ndarray of shape (K, K)

    Returns
    -------
    ndarray of shape (K * (K - 1),)

    Examples
    --------
    >>> off_diagonal(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([2., 3.])
    """
    return matrix[~np.eye(len(matrix), dtype=bool)]


def heat_map(
    matrix: NDArray[np.float64],
    label_names: Sequence[str],
    *,
    ident: str,
    description: str,
    centre: float,
    centre_name: str,
    reach: float,
    axes: tuple[str, str],
) -> str:
    """Draw a matrix of label pairs, coloured by how far each entry is from a reference value.

    Parameters
    ----------
    matrix : ndarray of shape (K, K)
        The diagonal, which is known by definition, is hatched and has no colour.
    label_names : sequence of str, length K
    ident : str
        Unique on the page.
    description : str
        What a reader who cannot see the figure is told.
    centre : float
        The value that gets the neutral colour.
    centre_name : str
        How the colour bar names it.
    reach : float
        Greatest distance from ``centre`` that the colours tell apart; positive.
    axes : (str, str)
        What rows and columns stand for.

    Returns
    -------
    str
        An ``<svg>`` element.
    """
    n_labels = len(matrix)
    with new_figure(3.9, 3.4) as figure:
        plot = figure.add_subplot()
        image = plot.pcolormesh(
            np.ma.masked_array(matrix, mask=np.eye(n_labels, dtype=bool)),
            cmap="PuOr_r",
            vmin=centre - reach,
            vmax=centre + reach,
            edgecolors="face",  # else the page shows through between the cells
            linewidth=0.3,
        )
        plot.set_aspect("equal")
        plot.invert_yaxis()
        plot.spines[:].set_visible(False)
        _hatch_diagonal(plot, n_labels)
        ticks = np.arange(n_labels) + 0.5
        plot.set_xticks(ticks, label_names)
        plot.set_yticks(ticks, label_names)
        plot.tick_params(length=0)
        plot.set_ylabel(axes[0])
        plot.set_xlabel(axes[1])
        bar = figure.colorbar(image, shrink=0.8)
        bar.outline.set_visible(False)
        bar.set_ticks(
            [centre - reach, centre, centre + reach],
            labels=[
                f"{centre - reach:.3f}",
                f"{centre:.3f}\n{centre_name}",
                f"{centre + reach:.3f}",
            ],
        )
        bar.ax.axhline(centre, color=INK, linewidth=1.5)
        return inline_svg(figure, ident=ident, description=description)


def fold_strip(
    folds: Mapping[str, Sequence[float]], *, ident: str, description: str, axis: str
) -> str:
    """Draw a criterion's value on each fold as a dot, one row per method, and the mean as a bar.

    Parameters
    ----------
    folds : mapping of str to sequence of float
        From the method's title to its values, each in [0, 1].
    ident : str
        Unique on the page.
    description : str
        What a reader who cannot see the figure is told.
    axis : str
        What is shown.

    Returns
    -------
    str
        An ``<svg>`` element.
    """
    with new_figure(4.6, 0.6 + 0.36 * len(folds)) as figure:
        plot = figure.add_subplot()
        for row, values in enumerate(folds.values()):
            mean = float(np.mean(values))
            plot.plot([0, 1], [row, row], color=INK, alpha=0.15, linewidth=1, zorder=0)
            plot.plot([mean, mean], [row - 0.3, row + 0.3], color=INK, linewidth=2)
            plot.plot(values, [row] * len(values), "o", color=ACCENT, markersize=5, alpha=0.7)
        plot.set_yticks(range(len(folds)), list(folds))
        plot.set_ylim(len(folds) - 0.5, -0.5)
        plot.set_xlim(0, 1)
        plot.set_xlabel(axis)
        plot.spines["left"].set_visible(False)
        plot.tick_params(axis="y", length=0)
        return inline_svg(figure, ident=ident, description=description)


def grey_image(pixels: NDArray[np.float64]) -> str:
    """Return an image as a data URI.

    Parameters
    ----------
    pixels : ndarray of shape (height, width)
        From 0, white, to 1, black.

    Returns
    -------
    str
        A PNG of one pixel per entry, ``data:image/png;base64,...``.
    """
    from matplotlib.image import imsave

    buffer = io.BytesIO()
    imsave(buffer, pixels, cmap="gray_r", vmin=0, vmax=1, format="png")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


@contextmanager
def new_figure(width: float, height: float) -> Iterator[Figure]:
    """Give a transparent figure (inches) in the pages' style, without pyplot's global state."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()  # a matplotlibrc must not reach the page
        mpl.rcParams.update(_STYLE)
        yield Figure(figsize=(width, height), layout="constrained", facecolor="none")


def _hatch_diagonal(plot: Any, n_labels: int) -> None:
    """Draw each entry of the diagonal as a slash, which no value looks like."""
    for k in range(n_labels):
        plot.plot([k + 0.25, k + 0.75], [k + 0.75, k + 0.25], color=INK, alpha=0.4, linewidth=1)


def inline_svg(figure: Figure, *, ident: str, description: str) -> str:
    """Turn a figure into an SVG element that can stand beside others in an HTML page."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    root = ET.fromstring(buffer.getvalue())
    _drop(root, {"metadata", "style"})
    _localize(root, ident)
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.set("role", "img")
    root.set("aria-label", description)
    return ET.tostring(root, encoding="unicode")


def _drop(root: ET.Element, names: set[str]) -> None:
    """Remove elements that would describe, or style, the whole page."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in names:
                parent.remove(child)


def _localize(root: ET.Element, ident: str) -> None:
    """Make ids unique on the page, colours the page's own, and names those of HTML."""
    reference = re.compile(r"(?<=url\(#)[^)]+|(?<=^#).+")
    used: dict[str, str] = {}
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        # HTML knows xlink:href as href, and namespaces not at all.
        for name in [name for name in element.attrib if name.startswith("{")]:
            element.set(name.rpartition("}")[2], element.attrib.pop(name))
        for name in ("href", "clip-path"):
            if name in element.attrib:
                element.set(name, reference.sub(_renamer(used, ident), element.attrib[name]))
        style = element.get("style")
        if style is not None:
            for drawn, shown in _PAGE_COLOURS.items():
                style = style.replace(drawn, shown)
            element.set("style", style)
    for element in root.iter():
        own = element.attrib.pop("id", None)
        if own in used:
            element.set("id", used[own])


def _renamer(used: dict[str, str], ident: str) -> Any:
    """Return a substitution that numbers the ids it meets."""

    def rename(match: re.Match[str]) -> str:
        return used.setdefault(match.group(), f"{ident}-{len(used)}")

    return rename
