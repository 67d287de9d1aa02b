"""Criteria of multi-label learning, and criteria that need only complementary labels."""

from complabel.metrics._criteria import (
    CRITERIA,
    Criterion,
    average_precision,
    coverage,
    evaluate,
    evaluate_labels,
    hamming_loss,
    one_error,
    ranking_loss,
)
from complabel.metrics._criteria import HIGHER_IS_BETTER as HIGHER_IS_BETTER
from complabel.metrics._criteria import METRIC_NAMES as METRIC_NAMES
from complabel.metrics._criteria import METRIC_TITLES as METRIC_TITLES
from complabel.metrics._criteria import threshold_minmax as threshold_minmax
from complabel.metrics._scorers import (
    TrueLabelScorer,
    average_precision_scorer,
    complementary_log_likelihood,
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

__all__ = [
    "CRITERIA",
    "Criterion",
    "TrueLabelScorer",
    "average_precision",
    "average_precision_scorer",
    "complementary_log_likelihood",
    "complementary_log_likelihood_scorer",
    "complementary_ranking_error",
    "complementary_ranking_scorer",
    "coverage",
    "evaluate",
    "evaluate_labels",
    "hamming_loss",
    "least_cardinality",
    "one_error",
    "ranking_loss",
]
