"""`complabel study report`: a study as a web page and as tables."""

from __future__ import annotations

from complabel.cli import _options as options
from complabel.cli._running import opened_results, write_reports


def report(
    study_name: options.StudyName = None,
    store: options.StorePath = options.STORE,
    folder: options.ReportFolder = None,
) -> None:
    """Write a web page, and the tables as Markdown, LaTeX and CSV."""
    write_reports(opened_results(store, study_name, with_criteria=True), folder)
