"""How good a model is, and which of its predictions can be used, from answers alone."""

from complabel.trust._metrics import Figure, Figures, MetricEstimates, estimate_metrics
from complabel.trust._questions import suggest_evaluation_questions
from complabel.trust._reliability import Reliability, reliability

__all__ = [
    "Figure",
    "Figures",
    "MetricEstimates",
    "Reliability",
    "estimate_metrics",
    "reliability",
    "suggest_evaluation_questions",
]
