"""Inspect answers before a fit, and draw the questions to ask next."""

from complabel.asking._inspect import inspect_answers
from complabel.asking._inspection import DEPENDS as DEPENDS
from complabel.asking._inspection import SEVERITIES as SEVERITIES
from complabel.asking._inspection import Finding, Inspection
from complabel.asking._inspection import Knowledge as Knowledge
from complabel.asking._inspection import LabelSummary as LabelSummary
from complabel.asking._plan import AnswersPlan, PlannedGoal, plan_answers
from complabel.asking._questions import suggest_questions
from complabel.asking._questions import table_of_pairs as table_of_pairs
from complabel.asking._statistics import break_even as break_even
from complabel.asking._statistics import form_of as form_of

__all__ = [
    "AnswersPlan",
    "Finding",
    "Inspection",
    "PlannedGoal",
    "inspect_answers",
    "plan_answers",
    "suggest_questions",
]
