"""The forms of a report: one function each, from the summary to the text of a file."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from complabel._files import write_texts
from complabel.reports._answer_charts import answer_charts
from complabel.reports._csv import results_csv
from complabel.reports._factor_tables import FactorTables, factor_tables
from complabel.reports._headline import headline
from complabel.reports._study_charts import study_charts
from complabel.reports._summarize import summarize_study
from complabel.reports._summary import Summary
from complabel.reports._tables import study_tables
from complabel.reports._templates import get_template
from complabel.studies import StudyResults

Renderer: TypeAlias = Callable[[Summary, StudyResults], str]
"""Writes a report in one form: from the summary, and the results it was made from."""


def render_page(summary: Summary, _: StudyResults) -> str:
    """Render the page."""
    tables = study_tables(summary)
    return get_template("report.html.j2").render(
        complabel=summary.complabel,
        summary=summary,
        study=summary.study,
        tables=tables,
        factors=_factors(summary),
        headline=headline(summary),
        answer_charts=answer_charts(summary),
        charts=study_charts(summary, tables),
    )


def render_tables(template: str, summary: Summary, _: StudyResults) -> str:
    """Render all tables of a study with a template."""
    text = get_template(template).render(
        summary=summary,
        study=summary.study,
        tables=study_tables(summary),
        factors=_factors(summary),
        headline=headline(summary),
    )
    return text.rstrip("\n") + "\n"


def _factors(summary: Summary) -> FactorTables | None:
    """Return tables with a line for each draw, of a study with many."""
    return factor_tables(summary) if summary.study.has_many_draws else None


def render_summary(summary: Summary, _: StudyResults) -> str:
    """Write the summary as JSON, an object for each part of it."""
    return json.dumps(summary, indent=1, allow_nan=False, default=vars) + "\n"


FORMATS: Final[Mapping[str, Renderer]] = MappingProxyType(
    {
        "report.html": render_page,
        "tables.md": functools.partial(render_tables, "tables.md.j2"),
        "tables.tex": functools.partial(render_tables, "tables.tex.j2"),
        "results.csv": lambda _, results: results_csv(results),
        "summary.json": render_summary,
    }
)
"""The forms of a report: from the name of the file to the function that writes its text."""


def write_report(
    results: StudyResults, folder: str | Path, *, formats: Mapping[str, Renderer] = FORMATS
) -> list[Path]:
    """Write the report of a study in all its forms.

    Parameters
    ----------
    results : StudyResults
        Need not be complete; what is missing is said.
    folder : path
        Made where it is not there. A report in it is replaced once the new one has been written.
    formats : mapping of str to callable, default=FORMATS
        From the name of a file to the function that writes its text from the summary and the
        results.

    Returns
    -------
    list of Path
        ``report.html``, ``tables.md``, ``tables.tex``, ``results.csv`` (every unit) and
        ``summary.json``, or what ``formats`` names.

    Raises
    ------
    InputError
        If Jinja2 or matplotlib is not installed; nothing is written then.
    OutputError
        If a file cannot be written; a report that was there before is unchanged.
    """
    summary = summarize_study(results)
    texts = {name: render(summary, results) for name, render in formats.items()}
    write_texts(folder, texts)
    return [Path(folder) / name for name in texts]


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
    return FORMATS["report.html"](summarize_study(results), results)
