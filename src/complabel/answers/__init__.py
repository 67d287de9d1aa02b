"""Answers about labels, and indicator matrices: checks and conversions."""

from complabel.answers._answers import Answers
from complabel.answers._answers_masks import as_mask as as_mask
from complabel.answers._answers_table import UnlistedLabelsWarning
from complabel.answers._checks import (
    AssumedUniformWarning,
    ClassPerRowWarning,
    IgnoredAnswersWarning,
    UnansweredRowWarning,
    UnchosenLabelWarning,
    check_complementary,
    check_known,
    check_relevant,
    warn_unchosen,
)
from complabel.answers._checks import (
    check_sets as check_sets,
)
from complabel.answers._forms import (
    candidates_from_complementary,
    indicator_from_indices,
    indicator_from_names,
    indices_from_indicator,
    names_from_indicator,
)
from complabel.answers._indicator import IndicatorLike, check_indicator
from complabel.answers._indicator import name_some as name_some
from complabel.answers._names import check_label_names, label_names_of, pair_rows
from complabel.answers._questions import (
    ALL_APPLY,
    ANSWER_WORDS,
    QUESTIONS,
    AllApply,
    Question,
)
from complabel.answers._statements import (
    CONTRADICTION_POLICIES,
    STATEMENT_KINDS,
    ContradictionPolicy,
    Statements,
    contradictions_table,
    find_contradictions,
    resolve_contradictions,
    sure_statements,
)

__all__ = [
    "ALL_APPLY",
    "ANSWER_WORDS",
    "CONTRADICTION_POLICIES",
    "QUESTIONS",
    "STATEMENT_KINDS",
    "AllApply",
    "Answers",
    "AssumedUniformWarning",
    "ClassPerRowWarning",
    "ContradictionPolicy",
    "IgnoredAnswersWarning",
    "IndicatorLike",
    "Question",
    "Statements",
    "UnansweredRowWarning",
    "UnchosenLabelWarning",
    "UnlistedLabelsWarning",
    "candidates_from_complementary",
    "check_complementary",
    "check_indicator",
    "check_known",
    "check_label_names",
    "check_relevant",
    "contradictions_table",
    "find_contradictions",
    "indicator_from_indices",
    "indicator_from_names",
    "indices_from_indicator",
    "label_names_of",
    "names_from_indicator",
    "pair_rows",
    "resolve_contradictions",
    "sure_statements",
    "warn_unchosen",
]
