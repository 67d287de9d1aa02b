"""Losses that are only compared with, as modules of torch."""

from complabel.experiments.losses._complementary import (
    BinaryCrossEntropy,
    CTLLoss,
    ExponentialRankingLoss,
    GDFLoss,
    LUWLoss,
    UnbiasedBCELoss,
)
from complabel.experiments.losses._naming_rates import CCMNLoss, COMESHammingLoss, COMESRankingLoss
from complabel.experiments.losses._positives import AssumedNegativeLoss as AssumedNegativeLoss
from complabel.experiments.losses._positives import (
    EntropyMaximizationLoss as EntropyMaximizationLoss,
)
from complabel.experiments.losses._positives import HillLoss as HillLoss
from complabel.experiments.losses._positives import LargeLoss as LargeLoss
from complabel.experiments.losses._positives import PositiveLoss as PositiveLoss
from complabel.experiments.losses._positives import ROLELoss as ROLELoss
from complabel.experiments.losses._positives import SPLCLoss as SPLCLoss
from complabel.experiments.losses._saved import loss_of as loss_of
from complabel.experiments.losses._saved import loss_parts as loss_parts

__all__ = [
    "BinaryCrossEntropy",
    "CCMNLoss",
    "COMESHammingLoss",
    "COMESRankingLoss",
    "CTLLoss",
    "ExponentialRankingLoss",
    "GDFLoss",
    "LUWLoss",
    "UnbiasedBCELoss",
]
