"""How good a model is by answers to random questions, as a page with pictures."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from complabel import __version__
from complabel._writing import write_text
from complabel.reports._charts import precision_recall_chart, reliability_chart
from complabel.reports._templates import get_template

if TYPE_CHECKING:
    from complabel.trust import Figure, Figures, MetricEstimates, Reliability

_DRAWN = 60  # labels; nobody can read a chart with a thousand
_FIGURES = {
    "precision": ("Precision", "of the predicted labels, the share that applies"),
    "recall": ("Recall", "of the labels that apply, the share that is predicted"),
    "f1": ("F1", "the harmonic mean of both"),
    "average_precision": ("Average precision", "of the order of all pairs; needs no threshold"),
    "share": ("Share that applies", "of all pairs; the precision of a random order"),
}
_OF_LABELS = {"f1": "F1", "average_precision": "average precision"}


def write_evaluation_page(
    found: MetricEstimates,
    reliable: Reliability,
    path: str | os.PathLike[str],
    *,
    rule: str,
    notes: Sequence[str] = (),
) -> None:
    """Write what ``render_evaluation`` returns; an error leaves an older file unchanged."""
    write_text(Path(path), render_evaluation(found, reliable, rule=rule, notes=notes))


def render_evaluation(
    found: MetricEstimates, reliable: Reliability, *, rule: str, notes: Sequence[str] = ()
) -> str:
    """Render estimates as one HTML page without external files.

    ``reliable`` is of the same answers and probabilities. ``rule`` says when a label is predicted.
    ``notes`` are what else the figures do not know, without the full stop; those that begin with
    "warning" stand on top.
    """
    least = {name: each.average_precision for name, each in found.labels.items()}
    names = sorted(least, key=lambda name: least[name].low - least[name].high)
    curve = precision_recall_chart(
        found.curve(),
        found,
        title="Precision and recall",
        description="Curve of precision over recall, with intervals of precision as a band."
        f" Average precision: {_percent(found.average_precision.value)}.",
    )
    diagram = reliability_chart(
        reliable,
        title="Reliability",
        description=f"The share that applies over the predicted probability, in"
        f" {len(reliable.share)} bins, with intervals. The mean gap is {_percent(reliable.error)}.",
    )
    return get_template("evaluation.html.j2").render(
        headline=_headline(found),
        found=found,
        confidence=f"{100 * found.confidence:g} %",
        rule=rule,
        figures={words: getattr(found, name) for name, words in _FIGURES.items()},
        curve=curve,
        diagram=diagram,
        reliable=reliable,
        labels={name: found.labels[name] for name in names[:_DRAWN]},
        n_labels=len(names),
        of_labels=_OF_LABELS,
        notes=notes,
        complabel=__version__,
    )


def _headline(found: Figures) -> str:
    """Say in a sentence what precision and recall are."""
    precision, recall = found.precision, found.recall
    if math.isnan(recall.value):
        return "The answers do not tell the recall of this model"
    finds = f"of 100 labels that apply, it predicts {_of_hundred(recall)}"
    if math.isnan(precision.value):
        return f"No answer is about a label that the model predicts; {finds}"
    return f"Of 100 labels that the model predicts, {_of_hundred(precision)} apply; {finds}"


def _of_hundred(figure: Figure) -> str:
    value, low, high = (f"{100 * share:.0f}" for share in (figure.value, figure.low, figure.high))
    return f"{value} ({low} to {high})".replace(" ", "\N{NO-BREAK SPACE}")


def _percent(share: float) -> str:
    return "not known" if math.isnan(share) else f"{100 * share:.0f} %"
