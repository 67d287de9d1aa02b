"""How good a model is by answers to random questions, as a page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from complabel import __version__
from complabel.reports._charts import precision_recall_chart, reliability_chart
from complabel.reports._templates import get_template
from complabel.trust import COLUMNS, FIGURES, Evaluation, Figure, Figures

_DRAWN = 60  # labels; nobody can read a chart with a thousand
_OF_LABELS = ("f1", "average_precision")


def render_evaluation(measured: Evaluation, *, notes: Sequence[str] = ()) -> str:
    """Render an evaluation on random questions as one HTML page without external files.

    ``notes`` are what else the figures do not know, without the full stop; those that begin with
    "warning" stand on top.
    """
    estimates, reliable = measured.estimates, measured.reliability
    assert estimates is not None
    curve = precision_recall_chart(
        estimates.curve(),
        estimates,
        title="Precision and recall",
        description="Curve of precision over recall, with intervals of precision as a band."
        f" Average precision: {_percent(estimates.average_precision.value)}.",
    )
    diagram = reliability_chart(
        reliable,
        title="Reliability",
        description=f"The share that applies over the predicted probability, in"
        f" {len(reliable.share)} bins, with intervals. The mean gap is {_percent(reliable.error)}.",
    )
    return get_template(
        "evaluation.html.j2"
    ).render(
        headline=_evaluated(estimates),
        estimates=estimates,
        confidence=f"{100 * estimates.confidence:g} %",
        rule=measured.rule,
        figures={words: getattr(estimates, name) for name, words in FIGURES.items()},
        columns=COLUMNS[2:],  # the first two are drawn
        curve=curve,
        diagram=diagram,
        reliable=reliable,
        labels={name: estimates.labels[name] for name in measured.least_known[:_DRAWN]},
        n_labels=len(measured.least_known),
        of_labels={name: FIGURES[name][0] for name in _OF_LABELS},
        notes=notes,
        complabel=__version__,
    )


def _evaluated(figures: Figures) -> str:
    precision, recall = figures.precision, figures.recall
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
