"""Reports of studies: first a summary as data, then its renderings."""

from complabel.reports._csv import results_csv
from complabel.reports._demo import DEMO_METHODS, run_demo
from complabel.reports._demo_page import render_demo
from complabel.reports._render import FORMATS, render_report, write_report
from complabel.reports._summarize import summarize_study
from complabel.reports._summary import Summary

__all__ = [
    "DEMO_METHODS",
    "FORMATS",
    "Summary",
    "render_demo",
    "render_report",
    "results_csv",
    "run_demo",
    "summarize_study",
    "write_report",
]
