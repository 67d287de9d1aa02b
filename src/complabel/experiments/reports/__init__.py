"""Reports of studies: a typed summary, and its renderings."""

from complabel.experiments.reports._render import FORMATS as FORMATS
from complabel.experiments.reports._render import render_report, write_report
from complabel.experiments.reports._render import results_csv as results_csv
from complabel.experiments.reports._summarize import break_even as break_even
from complabel.experiments.reports._summarize import summarize_study
from complabel.experiments.reports._summary import Summary
from complabel.experiments.reports._tables import headline as headline

__all__ = ["Summary", "render_report", "summarize_study", "write_report"]
