"""How good a model is, and which of its predictions can be used, from answers alone."""

from complabel.trust._evaluation import COLUMNS as COLUMNS
from complabel.trust._evaluation import FIGURES as FIGURES
from complabel.trust._evaluation import Evaluation, evaluate_model
from complabel.trust._features import FeaturesTell, features_tell
from complabel.trust._features import LabelOrder as LabelOrder
from complabel.trust._features import area as area
from complabel.trust._features import some as some
from complabel.trust._goals import FREQUENCIES as FREQUENCIES
from complabel.trust._goals import MODEL as MODEL
from complabel.trust._goals import Goal, Standing, how_far
from complabel.trust._goals import Part as Part
from complabel.trust._goals import foreseen as foreseen
from complabel.trust._goals import quantiles_of as quantiles_of
from complabel.trust._goals import questions_left as questions_left
from complabel.trust._metrics import (
    Figure,
    Figures,
    MetricEstimates,
    estimate_metrics,
    suggest_evaluation_questions,
)
from complabel.trust._metrics import chances_after as chances_after
from complabel.trust._metrics import order_of_evaluation as order_of_evaluation
from complabel.trust._reliability import Reliability, reliability
from complabel.trust._thresholds import ChosenThresholds, choose_thresholds
from complabel.trust._truth import OnTruth as OnTruth
from complabel.trust._truth import evaluate_on_truth as evaluate_on_truth

__all__ = [
    "ChosenThresholds",
    "Evaluation",
    "FeaturesTell",
    "Figure",
    "Figures",
    "Goal",
    "MetricEstimates",
    "Reliability",
    "Standing",
    "choose_thresholds",
    "estimate_metrics",
    "evaluate_model",
    "features_tell",
    "how_far",
    "reliability",
    "suggest_evaluation_questions",
]
