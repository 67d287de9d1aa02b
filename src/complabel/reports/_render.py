"""The forms of a report: one function for each returns the text of a file."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from complabel._writing import write_texts
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
"""Returns the text of one form, from the summary and the results."""


def render_page(summary: Summary, _: StudyResults) -> str:
    """Render the HTML page."""
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
    """Return tables with a line for each draw if the study has many draws, else None."""
    return factor_tables(summary) if summary.study.has_many_draws else None


def render_summary(summary: Summary, _: StudyResults) -> str:
    """Return the summary as JSON, with an object for each of its parts."""
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
"""The forms of a report: the name of each file, and the function that returns its text."""


def write_report(
    results: StudyResults, folder: str | Path, *, formats: Mapping[str, Renderer] = FORMATS
) -> list[Path]:
    """Write the report of a study in all its forms.

    Parameters
    ----------
    results : StudyResults
        May be incomplete; the report lists what is missing.
    folder : path
        Made if it does not exist. An older report in it is replaced after the new one is written.
    formats : mapping of str to callable, default=FORMATS
        Maps the name of each file to a function that takes the summary and the results and
        returns its text.

    Returns
    -------
    list of Path
        ``report.html``, ``tables.md``, ``tables.tex``, ``results.csv`` (every unit) and
        ``summary.json``, or what ``formats`` names.

    Raises
    ------
    InputError
        If Jinja2 or matplotlib is not installed; then nothing is written.
    OutputError
        If a file cannot be written; then an older report is unchanged.
    """
    summary = summarize_study(results)
    texts = {name: render(summary, results) for name, render in formats.items()}
    write_texts(folder, texts)
    return [Path(folder) / name for name in texts]


def render_report(results: StudyResults) -> str:
    """Render a study as one HTML page without external files.

    Parameters
    ----------
    results : StudyResults
        May be incomplete; the page lists what is missing.

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
