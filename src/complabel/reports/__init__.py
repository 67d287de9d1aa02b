"""Reports of studies: first a summary as data, then its renderings."""

from complabel.reports._csv import results_csv
from complabel.reports._demo import DEMO_METHODS, run_demo
from complabel.reports._demo_page import render_demo
from complabel.reports._html import render_report
from complabel.reports._render import write_report
from complabel.reports._summary import summarize_study

__all__ = [
    "DEMO_METHODS",
    "render_demo",
    "render_report",
    "results_csv",
    "run_demo",
    "summarize_study",
    "write_report",
]
