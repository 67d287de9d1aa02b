"""Inspect answers before a fit, and draw the questions to ask next."""

from complabel.asking._inspect import inspect_answers
from complabel.asking._inspection import (
    DEPENDS,
    SEVERITIES,
    Agreement,
    AnnotatorSummary,
    ChoiceTest,
    Contradiction,
    FeatureSummary,
    Finding,
    Inspection,
    Knowledge,
    LabelSummary,
    Severity,
)
from complabel.asking._questions import suggest_questions

__all__ = [
    "DEPENDS",
    "SEVERITIES",
    "Agreement",
    "AnnotatorSummary",
    "ChoiceTest",
    "Contradiction",
    "FeatureSummary",
    "Finding",
    "Inspection",
    "Knowledge",
    "LabelSummary",
    "Severity",
    "inspect_answers",
    "suggest_questions",
]
