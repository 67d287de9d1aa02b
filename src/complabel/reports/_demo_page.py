"""The demonstration's page."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from complabel.metrics import HIGHER_IS_BETTER, METRIC_TITLES
from complabel.reports._charts import Chart, Scale, fold_strip, matrix_charts
from complabel.reports._templates import get_template
from complabel.reports._words import DAGGER, MATRICES

if TYPE_CHECKING:
    from numpy.typing import NDArray

Record: TypeAlias = Mapping[str, Any]
"""An object of the JSON that the demonstration is handed over in."""

# What each criterion means to somebody who never met it, in the page's order.
_MEANINGS = {
    "average_precision": "among the labels ranked at or above a true one, the share that is true",
    "ranking_loss": "how often a false label outranks a true one",
    "one_error": "how often the top label is false",
    "coverage": "how far down the ranking the last true label is found",
    "hamming_loss": "share of wrong yes/no answers, by each method's own rule",
    "hamming_loss_minmax": "the same after scaling the scores of each canvas to [0, 1]",
}


def render_demo(summary: Record) -> str:
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
    choice = Scale(
        1 / (K - 1), f"= 1/{K - 1}", ("canvas has this digit", "“not this one” was answered")
    )
    together = Scale(
        (K - 2) / (K - 1), f"= {K - 2}/{K - 1}", ("canvas may have this digit", "and also this one")
    )
    matrices = {name: np.array(example[name.removesuffix("_")]) for name in MATRICES}
    heat_maps = matrix_charts(matrices, label_names, choice=choice, together=together)
    shown = zip(heat_maps, matrices.values(), strict=True)
    return template.render(
        summary,
        by_name={record["method"]: record for record in methods},
        criteria=_criteria(methods),
        strip=_strip(methods),
        matrices=[{"chart": chart, "rows": matrix.tolist()} for chart, matrix in shown],
        transition_error=choice.reach([matrices["transition_"]]),
        training=_with_images(example["training"]),
        test=_with_images(example["test"]),
    )


def _criteria(methods: Sequence[Record]) -> list[Record]:
    """Return the criteria with their titles, directions and best learned methods."""
    learned = [record for record in methods if record["learns_from"] == "complementary"]
    rows: list[Record] = []
    for name, meaning in _MEANINGS.items():
        means = {record["method"]: record["metrics"][name]["mean"] for record in learned}
        best = (max if name in HIGHER_IS_BETTER else min)(means.values())
        rows.append(
            {
                "name": name,
                "title": METRIC_TITLES[name],
                "meaning": meaning,
                "higher": name in HIGHER_IS_BETTER,
                "best": [method for method, mean in means.items() if mean == best],
            }
        )
    return rows


def _strip(methods: Sequence[Record]) -> Chart:
    """Return the average precision of every fold as a chart."""
    daggers = {"complementary": "", "relevant": f" {DAGGER}"}
    measured = {
        f"{record['title']}{daggers[record['learns_from']]}": record["metrics"]["average_precision"]
        for record in methods
    }
    means = ", ".join(f"{title} {values['mean']:.3f}" for title, values in measured.items())
    return fold_strip(
        {title: values["folds"] for title, values in measured.items()},
        axis="average precision",
        description=f"Average precision on each fold. Means: {means}.",
    )


def _with_images(canvases: Sequence[Record]) -> list[Record]:
    """Return canvases with a data URI for their pixels."""
    return [{**canvas, "image": grey_image(np.array(canvas["pixels"]))} for canvas in canvases]


def grey_image(pixels: NDArray[np.float64]) -> str:
    """Return pixels (height, width), from 0 (white) to 1 (black), as the data URI of a PNG."""
    from matplotlib.image import imsave

    buffer = io.BytesIO()
    imsave(buffer, pixels, cmap="gray_r", vmin=0, vmax=1, format="png")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
