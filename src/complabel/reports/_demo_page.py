"""The demonstration's page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.metrics import HIGHER_IS_BETTER
from complabel.reports import _figures
from complabel.reports._environment import get_template

if TYPE_CHECKING:
    from markupsafe import Markup
    from numpy.typing import NDArray

Record = dict[str, Any]

# Title and meaning of each criterion, in the page's order.
_CRITERIA = {
    "average_precision": (
        "Average precision",
        "among the labels ranked at or above a true one, the share that is true",
    ),
    "ranking_loss": ("Ranking loss", "how often a false label outranks a true one"),
    "one_error": ("One-error", "how often the top label is false"),
    "coverage": ("Coverage", "how far down the ranking the last true label is found"),
    "hamming_loss": ("Hamming loss", "share of wrong yes/no answers, by each method's own rule"),
    "hamming_loss_minmax": (
        "Hamming loss, min–max",  # noqa: RUF001  # an en dash joins two names
        "the same after scaling the scores of each canvas to [0, 1]",
    ),
}


def render_demo(summary: dict[str, Any]) -> str:
    """Render the demonstration as one HTML page that needs nothing from outside.

    Parameters
    ----------
    summary : dict
        From :func:`complabel.studies.run_demo`.

    Returns
    -------
    str
        A complete HTML document.

    Raises
    ------
    InputError
        If Jinja2 or matplotlib is not installed.
    """
    template = get_template("demo.html.j2")
    methods, example = summary["methods"], summary["example"]
    transition = np.array(example["transition"])
    return template.render(
        summary,
        by_name={record["method"]: record for record in methods},
        criteria=_criteria(methods),
        strip=_strip(methods),
        matrices=_matrices(summary),
        transition_error=_distance(transition, 1 / (len(transition) - 1)),
        training=_with_images(example["training"]),
        test=_with_images(example["test"]),
    )


def _criteria(methods: Sequence[Record]) -> list[Record]:
    """Return the criteria with their titles, directions and best learned methods."""
    learned = [record for record in methods if record["learns_from"] == "complementary"]
    rows = []
    for name, (title, meaning) in _CRITERIA.items():
        higher = name in HIGHER_IS_BETTER
        means = {record["method"]: record["metrics"][name]["mean"] for record in learned}
        best = max(means.values()) if higher else min(means.values())
        rows.append(
            {
                "name": name,
                "title": title,
                "meaning": meaning,
                "higher": higher,
                "best": [method for method, mean in means.items() if mean == best],
            }
        )
    return rows


def _strip(methods: Sequence[Record]) -> Markup:
    """Draw the average precision of every fold."""
    measured = {
        record["title"] + ("" if record["learns_from"] == "complementary" else " †"): record[
            "metrics"
        ]["average_precision"]
        for record in methods
    }
    means = ", ".join(f"{title} {values['mean']:.3f}" for title, values in measured.items())
    return _safe(
        _figures.fold_strip(
            {title: values["folds"] for title, values in measured.items()},
            ident="folds",
            description=f"Average precision on each fold. Means: {means}.",
            axis="average precision",
        )
    )


def _matrices(summary: Record) -> list[Record]:
    """Draw S and T on one scale, and C on its own."""
    example, names = summary["example"], summary["dataset"]["label_names"]
    S, C, T = (
        np.array(example[name])
        for name in ("initial_transition", "label_correlation", "transition")
    )
    K = len(names)
    uniform, chance = 1 / (K - 1), (K - 2) / (K - 1)
    choice = {
        "axes": ("canvas has this digit", "“not this one” was answered"),
        "centre": uniform,
        "centre_name": f"= 1/{K - 1}",
        "reach": max(_distance(S, uniform), _distance(T, uniform)),
    }
    candidates = {
        "axes": ("canvas may have this digit", "and also this one"),
        "centre": chance,
        "centre_name": f"= {K - 2}/{K - 1}",
        "reach": _distance(C, chance),
    }
    return [
        _drawn("S", "as first estimated", S, names, choice),
        _drawn("C", "which labels stay possible together", C, names, candidates),
        _drawn("T", "corrected, used for learning", T, names, choice),
    ]


def _drawn(
    symbol: str, meaning: str, matrix: NDArray[np.float64], names: Sequence[str], scale: Record
) -> Record:
    """Return a matrix with its figure."""
    beside = _figures.off_diagonal(matrix)
    description = (
        f"Heat map of {symbol}, {len(names)} by {len(names)} labels. Beside the diagonal, values"
        f" from {beside.min():.3f} to {beside.max():.3f} around {scale['centre']:.3f}."
    )
    figure = _figures.heat_map(
        matrix, names, ident=f"matrix-{symbol}", description=description, **scale
    )
    return {"symbol": symbol, "meaning": meaning, "rows": matrix.tolist(), "svg": _safe(figure)}


def _distance(matrix: NDArray[np.float64], value: float) -> float:
    """Return how far an entry beside the diagonal is from a value at most."""
    return float(np.abs(_figures.off_diagonal(matrix) - value).max())


def _with_images(canvases: Sequence[Record]) -> list[Record]:
    """Return canvases with a data URI for their pixels."""
    return [
        {**canvas, "image": _figures.grey_image(np.array(canvas["pixels"]))} for canvas in canvases
    ]


def _safe(svg: str) -> Markup:
    """Mark what an XML serializer wrote as escaped already."""
    from markupsafe import Markup

    return Markup(svg)
