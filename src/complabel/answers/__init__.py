"""Answers about labels, and indicator matrices: checks and conversions."""

from complabel.answers._answers import Answers
from complabel.answers._arrays import BY_CHOICE as BY_CHOICE
from complabel.answers._arrays import STATEMENT_KINDS, Statements
from complabel.answers._arrays import mirrored as mirrored
from complabel.answers._checks import (
    AssumedUniformWarning,
    ClassPerRowWarning,
    IgnoredAnswersWarning,
    ReadAsComplementaryWarning,
    UnansweredRowWarning,
    UnchosenLabelWarning,
)
from complabel.answers._checks import check_complementary as check_complementary
from complabel.answers._checks import check_known as check_known
from complabel.answers._checks import check_positions as check_positions
from complabel.answers._checks import check_relevant as check_relevant
from complabel.answers._codes import COLUMNS as COLUMNS
from complabel.answers._codes import USED_COLUMNS as USED_COLUMNS
from complabel.answers._codes import CodedTable as CodedTable
from complabel.answers._codes import Column as Column
from complabel.answers._codes import refuse_odd_labels as refuse_odd_labels
from complabel.answers._codes import sort_labels as sort_labels
from complabel.answers._masks import IndicatorLike as IndicatorLike
from complabel.answers._masks import as_mask as as_mask
from complabel.answers._masks import check_indicator as check_indicator
from complabel.answers._masks import name_some as name_some
from complabel.answers._merging import merge_labels as merge_labels
from complabel.answers._names import ALL_APPLY as ALL_APPLY
from complabel.answers._names import ANSWER_WORDS as ANSWER_WORDS
from complabel.answers._names import (
    QUESTIONS,
    indicator_from_indices,
    indicator_from_names,
    names_from_indicator,
)
from complabel.answers._names import Question as Question
from complabel.answers._names import check_label_names as check_label_names
from complabel.answers._names import label_names_of as label_names_of
from complabel.answers._names import pair_rows as pair_rows
from complabel.answers._names import text_of as text_of
from complabel.answers._statements import CONTRADICTION_POLICIES as CONTRADICTION_POLICIES
from complabel.answers._statements import ContradictionPolicy as ContradictionPolicy
from complabel.answers._statements import about_positives as about_positives
from complabel.answers._statements import contradictions_table, resolve_contradictions
from complabel.answers._statements import sure_statements as sure_statements
from complabel.answers._table import UnlistedLabelsWarning
from complabel.answers._table import table_of as table_of

__all__ = [
    "QUESTIONS",
    "STATEMENT_KINDS",
    "Answers",
    "AssumedUniformWarning",
    "ClassPerRowWarning",
    "IgnoredAnswersWarning",
    "ReadAsComplementaryWarning",
    "Statements",
    "UnansweredRowWarning",
    "UnchosenLabelWarning",
    "UnlistedLabelsWarning",
    "contradictions_table",
    "indicator_from_indices",
    "indicator_from_names",
    "names_from_indicator",
    "resolve_contradictions",
]
