"""Reports of studies, of answers and of models: a summary as data, and its renderings.

One kind of report does not load what the others need.
"""

from typing import TYPE_CHECKING

from complabel._lazy import lazily

if TYPE_CHECKING:
    from complabel.reports._demo import render_demo as render_demo
    from complabel.reports._demo import run_demo as run_demo
    from complabel.reports._evaluation import render_evaluation as render_evaluation
    from complabel.reports._inspection import inspection_lines as inspection_lines
    from complabel.reports._inspection import render_inspection as render_inspection
    from complabel.reports._inspection import write_inspection_page as write_inspection_page
    from complabel.reports._model import describe_model as describe_model
    from complabel.reports._model import likeliest_items as likeliest_items
    from complabel.reports._model import model_facts as model_facts
    from complabel.reports._model import notes_of as notes_of
    from complabel.reports._model import render_model as render_model
    from complabel.reports._render import FORMATS as FORMATS
    from complabel.reports._render import render_report as render_report
    from complabel.reports._render import results_csv as results_csv
    from complabel.reports._render import write_report as write_report
    from complabel.reports._summarize import summarize_study as summarize_study
    from complabel.reports._summary import Summary as Summary
    from complabel.reports._tables import headline as headline

__all__ = [
    "Summary",
    "inspection_lines",
    "render_report",
    "summarize_study",
    "write_inspection_page",
    "write_report",
]
_NAMES_IN = {
    "_demo": ("render_demo", "run_demo"),
    "_evaluation": ("render_evaluation",),
    "_inspection": ("inspection_lines", "render_inspection", "write_inspection_page"),
    "_model": (
        *("describe_model", "likeliest_items", "model_facts", "notes_of"),
        "render_model",
    ),
    "_render": ("FORMATS", "render_report", "results_csv", "write_report"),
    "_summarize": ("summarize_study",),
    "_summary": ("Summary",),
    "_tables": ("headline",),
}
_PLACES = {name: f"{__name__}.{at}:{name}" for at, names in _NAMES_IN.items() for name in names}
__getattr__, __dir__ = lazily(__name__, _PLACES)
