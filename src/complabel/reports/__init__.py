"""Reports of studies and of answers: a summary as data, and its renderings.

One kind of report does not load what the others need.
"""

from typing import TYPE_CHECKING

from complabel._lazy import lazily

if TYPE_CHECKING:
    from complabel.reports._csv import results_csv
    from complabel.reports._demo import run_demo
    from complabel.reports._demo_page import render_demo
    from complabel.reports._demo_text import demo_meaning, demo_titles
    from complabel.reports._headline import headline
    from complabel.reports._inspection_page import render_inspection, write_inspection_page
    from complabel.reports._inspection_text import inspection_lines
    from complabel.reports._render import FORMATS, render_report, write_report
    from complabel.reports._summarize import summarize_study
    from complabel.reports._summary import Summary

__all__ = [
    "FORMATS",
    "Summary",
    "demo_meaning",
    "demo_titles",
    "headline",
    "inspection_lines",
    "render_demo",
    "render_inspection",
    "render_report",
    "results_csv",
    "run_demo",
    "summarize_study",
    "write_inspection_page",
    "write_report",
]
_NAMES_IN = {
    "_csv": ("results_csv",),
    "_demo": ("run_demo",),
    "_demo_page": ("render_demo",),
    "_demo_text": (
        "demo_meaning",
        "demo_titles",
    ),
    "_headline": ("headline",),
    "_inspection_page": (
        "render_inspection",
        "write_inspection_page",
    ),
    "_inspection_text": ("inspection_lines",),
    "_render": (
        "FORMATS",
        "render_report",
        "write_report",
    ),
    "_summarize": ("summarize_study",),
    "_summary": ("Summary",),
}
_PLACES = {
    name: f"{__name__}.{module}:{name}" for module, names in _NAMES_IN.items() for name in names
}
__getattr__, __dir__ = lazily(__name__, _PLACES)
