"""Answers about labels, and indicator matrices: checks, conversions and simulated draws."""

from complabel.annotations._answers import Answers
from complabel.annotations._answers_table import UnlistedLabelsWarning
from complabel.annotations._checks import (
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
from complabel.annotations._contradictions import (
    CONTRADICTION_POLICIES,
    ContradictionPolicy,
    contradictions_table,
    resolve_contradictions,
)
from complabel.annotations._draw_answers import draw_answers, draw_propensities
from complabel.annotations._draws import (
    SCHEMES,
    Scheme,
    cooccurrence,
    draw_complementary,
    draw_relevant,
)
from complabel.annotations._forms import (
    candidates_from_complementary,
    indicator_from_indices,
    indicator_from_names,
    indices_from_indicator,
    names_from_indicator,
)
from complabel.annotations._indicator import IndicatorLike, check_indicator
from complabel.annotations._names import check_label_names, label_names_of, pair_rows
from complabel.annotations._questions import (
    ALL_APPLY,
    ANSWER_WORDS,
    QUESTIONS,
    AllApply,
    Question,
)
from complabel.annotations._sharpness import SharpnessEstimate, estimate_sharpness

__all__ = [
    "ALL_APPLY",
    "ANSWER_WORDS",
    "CONTRADICTION_POLICIES",
    "QUESTIONS",
    "SCHEMES",
    "AllApply",
    "Answers",
    "AssumedUniformWarning",
    "ClassPerRowWarning",
    "ContradictionPolicy",
    "IgnoredAnswersWarning",
    "IndicatorLike",
    "Question",
    "Scheme",
    "SharpnessEstimate",
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
    "cooccurrence",
    "draw_answers",
    "draw_complementary",
    "draw_propensities",
    "draw_relevant",
    "estimate_sharpness",
    "indicator_from_indices",
    "indicator_from_names",
    "indices_from_indicator",
    "label_names_of",
    "names_from_indicator",
    "pair_rows",
    "resolve_contradictions",
    "warn_unchosen",
]
