"""`complabel study report`: a study as a web page and as tables."""

from __future__ import annotations

from complabel.cli._options import STORE, ReportFolder, StorePath, StudyName
from complabel.cli._running import opened_results, write_reports


def report(
    study_name: StudyName = None, store: StorePath = STORE, folder: ReportFolder = None
) -> None:
    """Write a web page, and the tables as Markdown, LaTeX and CSV."""
    write_reports(opened_results(store, study_name, with_criteria=True), folder)
