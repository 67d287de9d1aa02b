"""Reports of answers and of models: a summary as data, and its renderings.

One kind of report does not load what the others need.
"""

from typing import TYPE_CHECKING

from complabel._lazy import lazily, places_in

if TYPE_CHECKING:
    from complabel.reports._audit import agreement as agreement
    from complabel.reports._audit import audit_headline as audit_headline
    from complabel.reports._audit import audit_sentences as audit_sentences
    from complabel.reports._audit import render_audit as render_audit
    from complabel.reports._audit import verdicts as verdicts
    from complabel.reports._changes import CHANGED as CHANGED
    from complabel.reports._changes import change_rows as change_rows
    from complabel.reports._charts import ACCENT as ACCENT
    from complabel.reports._charts import INK as INK
    from complabel.reports._charts import SERIES as SERIES
    from complabel.reports._charts import WHISKER as WHISKER
    from complabel.reports._charts import WIDTH as WIDTH
    from complabel.reports._charts import Chart as Chart
    from complabel.reports._charts import LabelFrequencyDisplay as LabelFrequencyDisplay
    from complabel.reports._charts import ReliabilityDisplay as ReliabilityDisplay
    from complabel.reports._charts import ThresholdDisplay as ThresholdDisplay
    from complabel.reports._charts import new_axes as new_axes
    from complabel.reports._evaluation import render_evaluation as render_evaluation
    from complabel.reports._inspection import inspection_lines as inspection_lines
    from complabel.reports._inspection import render_inspection as render_inspection
    from complabel.reports._inspection import write_inspection_page as write_inspection_page
    from complabel.reports._model import describe_model as describe_model
    from complabel.reports._model import held_out_in_words as held_out_in_words
    from complabel.reports._model import likeliest_items as likeliest_items
    from complabel.reports._model import model_facts as model_facts
    from complabel.reports._model import render_model as render_model
    from complabel.reports._templates import MINUS as MINUS
    from complabel.reports._templates import ahead as ahead
    from complabel.reports._templates import environment_of as environment_of
    from complabel.reports._templates import get_template as get_template
    from complabel.reports._templates import number as number

__all__ = [
    "LabelFrequencyDisplay",
    "ReliabilityDisplay",
    "ThresholdDisplay",
    "inspection_lines",
    "write_inspection_page",
]
_PLACES = places_in(
    __name__,
    {
        "_audit": "agreement audit_headline audit_sentences render_audit verdicts",
        "_changes": "CHANGED change_rows",
        "_charts": "ACCENT INK SERIES WHISKER WIDTH Chart new_axes"
        " LabelFrequencyDisplay ReliabilityDisplay ThresholdDisplay",
        "_evaluation": "render_evaluation",
        "_inspection": "inspection_lines render_inspection write_inspection_page",
        "_model": "describe_model held_out_in_words likeliest_items model_facts render_model",
        "_templates": "MINUS ahead environment_of get_template number",
    },
)
__getattr__, __dir__ = lazily(__name__, _PLACES)
