"""The report of a study: one summary in plain data, and its renderings."""

from __future__ import annotations

import json
from pathlib import Path

from complabel._files import write_texts
from complabel.reports._csv import results_csv
from complabel.reports._html import render_page, render_report
from complabel.reports._latex import latex_tables
from complabel.reports._markdown import markdown_tables
from complabel.reports._summary import summarize_study
from complabel.studies import StudyResults

__all__ = [
    "latex_tables",
    "markdown_tables",
    "render_report",
    "results_csv",
    "summarize_study",
    "write_report",
]


def write_report(results: StudyResults, folder: str | Path) -> list[Path]:
    """Write the report of a study in all its forms.

    Parameters
    ----------
    results : StudyResults
        Need not be complete; what is missing is said.
    folder : path
        Made where it is not there. A report in it is replaced once the new one has been written.

    Returns
    -------
    list of Path
        ``report.html``, ``tables.md``, ``tables.tex``, ``results.csv`` (every unit) and
        ``summary.json``.

    Raises
    ------
    InputError
        If Jinja2 or matplotlib is not installed; nothing is written then.
    OutputError
        If a file cannot be written; a report that was there before is unchanged.
    """
    summary = summarize_study(results)
    texts = {
        "report.html": render_page(summary),
        "tables.md": markdown_tables(summary),
        "tables.tex": latex_tables(summary),
        "results.csv": results_csv(results),
        "summary.json": json.dumps(summary, indent=1, allow_nan=False) + "\n",
    }
    write_texts(folder, texts)
    return [Path(folder) / name for name in texts]
