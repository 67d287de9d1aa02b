"""The page about the paper's theory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup
from research.theory import CRITERIA, WORLDS
from research.theory._theory_charts import (
    MARKERS,
    cost_charts,
    figure_2_charts,
    gap_chart,
    growth_chart,
    label_charts,
    ranking_charts,
    risk_charts,
)
from research.theory._theory_text import (
    MATRIX_NAMES,
    by_number,
    counted,
    nearer,
    ranking_errors,
    said_slope,
)

from complabel import __version__
from complabel.reports import environment_of

if TYPE_CHECKING:
    from research.theory import TheoryResults


def render_theory(results: TheoryResults, *, left_out: Mapping[str, str] | None = None) -> str:
    """Render the results on the paper's theory as one HTML page.

    Parameters
    ----------
    results : TheoryResults
    left_out : mapping of str to str or None, default=None
        Datasets that were not found, with the reason.

    Returns
    -------
    str
        A complete HTML document that loads no other files.

    Raises
    ------
    InputError
        If Jinja2 or matplotlib is not installed.
    """
    findings = results.findings
    theorem_1 = counted(findings, "Theorem 1")
    theorem_2 = counted(findings, "Theorem 2", "Corollary")
    fails = {row.short: row for row in (*theorem_1, *theorem_2)}
    here = Path(__file__).parent
    text = (here / "theory.html.j2").read_text(encoding="utf-8")
    style = (here / "theory.css").read_text(encoding="utf-8")
    # The template extends those of the reports.
    template = environment_of(escapes_html=True).from_string(text)
    return template.render(
        style=Markup(style),  # our own file
        results=results,
        left_out=left_out or {},
        theorem_1=theorem_1,
        theorem_2=theorem_2,
        assumption=counted(findings, "Assumption"),
        fails=fails,
        gaps=gap_chart(theorem_1, title="Theorem 1"),
        growth=by_number(findings),
        growth_chart=growth_chart(
            by_number(findings),
            title="Share of the cases that fail, %",
            axis="labels that depend on each other",
        ),
        figure=figure_2_charts(results.figure),
        ranked=ranking_errors(findings),
        ranking=ranking_charts(findings),
        nearer=nearer(findings),
        methods=list(dict.fromkeys(curve.method for curve in results.curves)),
        risks=risk_charts(results.curves),
        matrices=MATRIX_NAMES,
        costs=cost_charts(results.costs),
        labels=label_charts(results.costs),
        markers=[letter for _, letter in MARKERS],
        criteria=CRITERIA,
        worlds=WORLDS,
        said_slope=said_slope,
        complabel=__version__,
    )
