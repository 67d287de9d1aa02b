"""The page about answers: first the findings, then charts of the answers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from complabel import __version__
from complabel._writing import write_text
from complabel.asking import DEPENDS, Inspection, LabelSummary
from complabel.reports._inspection_text import (
    SIGNS,
    about_agreement,
    about_frequencies,
    about_questions,
    headline,
    labels_by_answers,
)
from complabel.reports._templates import get_template

# Most lines of a chart; nobody can read a chart with a thousand.
_MOST_LABELS = 60
_MOST_ANNOTATORS = 40
_MOST_CONTRADICTIONS = 20
_TOPS = (
    0.001,
    0.002,
    0.005,
    0.01,
    0.02,
    0.05,
    0.1,
    0.15,
    0.2,
    0.3,
    0.4,
    0.6,
    0.8,
)  # ends of a scale

KINDS = {
    "named": "named: does not apply, chosen by somebody",
    "excluded": "excluded by a rule",
    "absent": "judged: does not apply",
    "relevant": "applies",
}
"""What answers say about a label, in the order of the stacked bars."""


def render_inspection(inspection: Inspection) -> str:
    """Render the findings as one HTML page without external files.

    Parameters
    ----------
    inspection : Inspection

    Returns
    -------
    str
        A complete HTML document.

    Raises
    ------
    InputError
        If Jinja2 or matplotlib is not installed.
    """
    labels = labels_by_answers(inspection, _MOST_LABELS)
    kinds = {
        kind: text
        for kind, text in KINDS.items()
        if any(getattr(label, kind) for label in inspection.labels)
    }
    return get_template("inspection.html.j2").render(
        seen=inspection,
        headline=headline(inspection),
        questions=about_questions(inspection),
        frequencies=about_frequencies(inspection),
        agreement=about_agreement(inspection) if inspection.agreement is not None else "",
        labels=labels,
        most=max([label.mentioned for label in labels], default=0) or 1,
        kinds=kinds,
        depends=DEPENDS,
        top=_top_of_scale(labels),
        annotators=inspection.annotators[:_MOST_ANNOTATORS],
        contradictions=inspection.contradictions[:_MOST_CONTRADICTIONS],
        signs=SIGNS,
        complabel=__version__,
    )


def _top_of_scale(labels: Sequence[LabelSummary]) -> float:
    """Return the share at the end of the scale: a round number that holds all that is drawn."""
    ends = [label.at_most if label.high is None else label.high for label in labels]
    most = max(ends, default=1.0)
    return next((top for top in _TOPS if top >= most), 1.0)


def write_inspection_page(inspection: Inspection, path: str | os.PathLike[str]) -> None:
    """Write the findings as one HTML page; an error leaves an older file unchanged.

    Parameters
    ----------
    inspection : Inspection
    path : path
        The file to write; an older one is replaced.

    Raises
    ------
    InputError
        If Jinja2 or matplotlib is not installed.
    OutputError
        If the file cannot be written.
    """
    write_text(Path(path), render_inspection(inspection))
