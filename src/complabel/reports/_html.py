"""The report of a study as one page."""

from __future__ import annotations

from complabel.reports import _notes, _terms
from complabel.reports._drawings import study_drawings
from complabel.reports._environment import get_template
from complabel.reports._summary import summarize_study
from complabel.reports._tables import (
    cost_tables,
    criterion_tables,
    rank_tables,
    standing_tables,
)
from complabel.reports._terms import FAR, Record
from complabel.studies import StudyResults

# Published standard deviations from which a difference gets the next stronger colour.
_SHADES = (1.0, FAR, 4.0)


def render_report(results: StudyResults) -> str:
    """Render a study as one HTML page that needs nothing from outside.

    Parameters
    ----------
    results : StudyResults
        Need not be complete; what is missing is said on the page.

    Returns
    -------
    str
        A complete HTML document.

    Raises
    ------
    InputError
        If Jinja2 or matplotlib is not installed.
    """
    return render_page(summarize_study(results))


def render_page(summary: Record) -> str:
    """Render what :func:`summarize_study` returned; see :func:`render_report`."""
    template = get_template("report.html.j2")
    return template.render(
        summary,
        facts=_facts(summary),
        headline=_notes.headline(summary),
        missing_notes=_notes.missing_notes(summary),
        notes=_notes,
        terms=_terms,
        criteria=_by_draw(summary, criterion_tables(summary)),
        standing=standing_tables(summary),
        ranks=rank_tables(summary),
        cost=cost_tables(summary),
        drawings=study_drawings(summary),
        shade=shade,
        summary=summary,
    )


def shade(advantage: float) -> str:
    """Return the CSS class of a difference to the paper, such as ``"better-2"``."""
    strength = sum(abs(advantage) > bound for bound in _SHADES)
    if strength == 0:
        return "near"
    return f"{'better' if advantage > 0 else 'worse'}-{strength}"


def _by_draw(summary: Record, tables: list[Record]) -> list[Record]:
    """Group tables by the draw of complementary labels."""
    return [
        {"draw": draw, "tables": of_draw}
        for draw in summary["study"]["draws"]
        for of_draw in [[table for table in tables if table["draw"] == draw["name"]]]
        if of_draw
    ]


def _facts(summary: Record) -> list[Record]:
    """Return the figures that the page starts with."""
    units = summary["units"]
    facts = [
        {"term": "rows", "value": str(len(summary["rows"]))},
        {
            "term": "datasets at hand",
            "value": f"{len(summary['datasets'])} of {len(summary['study']['datasets'])}",
        },
        {"term": "folds", "value": str(summary["study"]["folds"])},
        {"term": "units done", "value": f"{units['done']:,} of {units['planned']:,}"},
    ]
    held = [c["advantage"] for c in summary["cells"] if c["advantage"] is not None]
    if held:
        near = sum(abs(advantage) <= FAR for advantage in held)
        facts.append(
            {
                "term": f"within {FAR:g} published standard deviations",
                "value": f"{near} of {len(held)}",
            }
        )
    return facts
