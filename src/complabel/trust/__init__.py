"""How good a model is, and which of its predictions can be used, from answers alone."""

from complabel.trust._metrics import Figure, Figures, MetricEstimates, estimate_metrics

__all__ = ["Figure", "Figures", "MetricEstimates", "estimate_metrics"]
