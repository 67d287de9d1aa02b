"""Criteria of multi-label learning, and criteria that need only complementary labels."""

from complabel.metrics._criteria import (
    CRITERIA,
    Criterion,
    average_precision,
    evaluate,
    evaluate_labels,
)
from complabel.metrics._criteria import METRICS as METRICS
from complabel.metrics._criteria import threshold_minmax as threshold_minmax
from complabel.metrics._scorers import (
    TrueLabelScorer,
    average_precision_scorer,
    complementary_log_likelihood_scorer,
    complementary_ranking_error,
    complementary_ranking_scorer,
    least_cardinality,
)
from complabel.metrics._scorers import (
    complementary_log_likelihood_of_rows as complementary_log_likelihood_of_rows,
)
from complabel.metrics._scorers import (
    complementary_ranking_error_of_rows as complementary_ranking_error_of_rows,
)
from complabel.metrics._scorers import refuse_labels_after_answers as refuse_labels_after_answers

__all__ = [
    "CRITERIA",
    "Criterion",
    "TrueLabelScorer",
    "average_precision",
    "average_precision_scorer",
    "complementary_log_likelihood_scorer",
    "complementary_ranking_error",
    "complementary_ranking_scorer",
    "evaluate",
    "evaluate_labels",
    "least_cardinality",
]
