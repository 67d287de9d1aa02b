"""Figures with intervals, from answers to random questions, as `complabel evaluate` shows them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from complabel.cli._console import explain, new_table, remark, say, show
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.methods import ComplementaryClassifier
    from complabel.trust import Figure, Figures

_TITLES = {
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "average_precision": "Average precision",
    "share": "Share of labels that apply",
}
# Labels whose figures are known least are shown, so many of them.
_MOST_LABELS = 5


def show_estimates(
    answers: Answers,
    probabilities: Any,
    classifier: ComplementaryClassifier,
    *,
    missed: float,
    invented: float,
    html: Path | None,
    about: str,
) -> dict[str, Any] | None:
    """Print figures with intervals, and return them; None if no question was random.

    The page says what is known ``about`` how the model learned.
    """
    from complabel.errors import AnnotationError
    from complabel.trust import estimate_metrics, reliability

    own = getattr(classifier, "thresholds_", None)
    # Without thresholds of its own, a model predicts above the cut, and not at it.
    threshold = math.nextafter(classifier.cut, 1) if own is None else own
    rates: Mapping[str, Any] = {"missed": missed, "invented": invented}
    try:
        found = estimate_metrics(answers, probabilities, threshold=threshold, **rates)
    except AnnotationError as error:
        problem = (
            "precision and recall need answers to random questions, and none of these is one: ask"
            " some with complabel ask, about these items, and keep the column probability"
        )
        if html is not None:
            raise InputError(f"--html: {problem}") from error
        remark(problem)
        return None
    say(
        f"{found.n_judgements:,} random judgements of labels, of {found.n_items:,} among"
        f" {answers.n_items:,} items:"
    )
    table = new_table("", "figure", numbers=["estimate", "95 % interval", "judgements", "to halve"])
    for name, title in _TITLES.items():
        figure = getattr(found, name)
        more = "more items" if figure.more_questions is None else f"{figure.more_questions:+,}"
        table.add_row(title, *_cells(figure), f"{figure.n_judgements:,}", more)
    show(table)
    least = (
        f"above {threshold:g}" if own is None else "at least the model's threshold of this label"
    )
    rule = f"A label is predicted if its probability is {least}."
    explain(
        f"{rule} The figures hold for all items of which these are a random sample, if the"
        " questions were drawn from all of these. To halve an interval, ask so many more random"
        " questions, or fewer with complabel ask --to-evaluate."
    )
    notes = [about]
    other = "the most probable class alone" if classifier._single else "threshold=minmax"
    if classifier._single or (own is None and classifier.threshold != "probability"):
        notes.append(f"warning: the model itself predicts by another rule: {other}")
        remark(notes[-1])
    _show_least_known(found.labels)
    if html is not None:
        from complabel.reports import write_evaluation_page

        notes.append(
            f"People are taken to miss {100 * missed:g} % of the labels that apply, and to invent"
            f" {100 * invented:g} % of the others. If this is wrong, so are the figures"
        )
        reliable = reliability(answers, probabilities, **rates)
        write_evaluation_page(found, reliable, html, rule=rule, notes=notes)
    return {
        "figures": _plain(found),
        "n_judgements": found.n_judgements,
        "figures_by_label": {name: _plain(each) for name, each in found.labels.items()},
    }


def _show_least_known(labels: Any) -> None:
    widest = sorted(labels, key=lambda name: labels[name].f1.low - labels[name].f1.high)
    if len(widest) < 2:
        return
    shown = widest[:_MOST_LABELS]
    columns = ("precision", "recall", "f1")
    numbers = [text for name in columns for text in (_TITLES[name], f"{_TITLES[name]} from, to")]
    table = new_table("The labels that are known least", "label", numbers=["judged", *numbers])
    for name in shown:
        figures = [getattr(labels[name], column) for column in columns]
        cells = [cell for figure in figures for cell in _cells(figure)]
        table.add_row(Text(name), f"{labels[name].share.n_judgements:,}", *cells)
    show(table)


def _cells(figure: Figure) -> tuple[str, str]:
    value = "-" if math.isnan(figure.value) else f"{figure.value:.3f}"
    return value, f"{figure.low:.3f} to {figure.high:.3f}"


def _plain(found: Figures) -> dict[str, Any]:
    """Return the figures as JSON can hold them: no NaN."""
    figures = {name: asdict(getattr(found, name)) for name in _TITLES}
    for each in figures.values():
        each["value"] = None if math.isnan(each["value"]) else each["value"]
    return figures
