"""The demonstration's page."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.metrics import HIGHER_IS_BETTER, METRIC_TITLES
from complabel.reports._charts import Chart, Scale, beside_diagonal, fold_strip, matrix_charts
from complabel.reports._templates import get_template
from complabel.reports._words import DAGGER, MATRICES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def render_demo(summary: Mapping[str, Any]) -> str:
    """Render the demonstration as one HTML page that needs nothing from outside.

    Parameters
    ----------
    summary : mapping
        From :func:`run_demo`.

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
    label_names = summary["dataset"]["label_names"]
    K = len(label_names)
    matrices = {name: np.array(example[name.removesuffix("_")]) for name in MATRICES}
    heat_maps = matrix_charts(
        matrices,
        label_names,
        choice=("canvas has this digit", "“not this one” was answered"),
        together=Scale(
            (K - 2) / (K - 1),
            f"= {K - 2}/{K - 1}",
            ("canvas may have this digit", "and also this one"),
        ),
    )
    return template.render(
        summary,
        by_name={record["method"]: record for record in methods},
        metric_titles=METRIC_TITLES,
        higher_is_better=HIGHER_IS_BETTER,
        strip=_strip(methods),
        matrices=list(zip(heat_maps, matrices.values(), strict=True)),
        transition_error=np.abs(beside_diagonal(matrices["transition_"]) - 1 / (K - 1)).max(),
        image=grey_image,
    )


def _strip(methods: Sequence[Mapping[str, Any]]) -> Chart:
    """Return the average precision of every fold as a chart."""
    measured = {}
    for record in methods:
        dagger = f" {DAGGER}" if record["learns_from"] == "relevant" else ""
        measured[record["title"] + dagger] = record["metrics"]["average_precision"]
    means = ", ".join(f"{title} {values['mean']:.3f}" for title, values in measured.items())
    return fold_strip(
        {title: values["folds"] for title, values in measured.items()},
        axis="average precision",
        description=f"Average precision on each fold. Means: {means}.",
    )


def grey_image(pixels: ArrayLike) -> str:
    """Return pixels (height, width), from 0 (white) to 1 (black), as the data URI of a PNG."""
    from matplotlib.image import imsave

    buffer = io.BytesIO()
    imsave(buffer, np.asarray(pixels), cmap="gray_r", vmin=0, vmax=1, format="png")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
