"""Criteria of multi-label learning, and criteria that need complementary labels only."""

from complabel.metrics._criteria import (
    average_precision,
    coverage,
    hamming_loss,
    one_error,
    ranking_loss,
)
from complabel.metrics._evaluate import HIGHER_IS_BETTER, METRIC_NAMES, evaluate
from complabel.metrics._label_free import (
    complementary_log_likelihood,
    complementary_ranking_error,
)
from complabel.metrics._thresholds import threshold_minmax, threshold_probability

__all__ = [
    "HIGHER_IS_BETTER",
    "METRIC_NAMES",
    "average_precision",
    "complementary_log_likelihood",
    "complementary_ranking_error",
    "coverage",
    "evaluate",
    "hamming_loss",
    "one_error",
    "ranking_loss",
    "threshold_minmax",
    "threshold_probability",
]
