"""How good a model is, and which of its predictions can be used, from answers alone."""

from complabel.trust._metrics import (
    Figure,
    Figures,
    MetricEstimates,
    estimate_metrics,
    suggest_evaluation_questions,
)
from complabel.trust._reliability import Reliability, reliability
from complabel.trust._thresholds import ChosenThresholds, choose_thresholds

__all__ = [
    "ChosenThresholds",
    "Figure",
    "Figures",
    "MetricEstimates",
    "Reliability",
    "choose_thresholds",
    "estimate_metrics",
    "reliability",
    "suggest_evaluation_questions",
]
