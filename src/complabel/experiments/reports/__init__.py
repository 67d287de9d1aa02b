"""Reports of studies: data frames of their figures, and the forms in which they are written."""

from complabel.experiments.reports._libraries import (
    refuse_without_libraries as refuse_without_libraries,
)
from complabel.experiments.reports._render import FORMATS as FORMATS
from complabel.experiments.reports._render import render_report, write_report
from complabel.experiments.reports._render import results_csv as results_csv
from complabel.experiments.reports._summary import Summary, summarize_study

__all__ = ["Summary", "render_report", "summarize_study", "write_report"]
