"""Losses as torch modules: tensors in, a scalar out; one file per family, each equation cited."""

from complabel.losses._base import LogitLoss
from complabel.losses._complementary import (
    ComplementaryCrossEntropy,
    MLCLLoss,
    complementary_bce,
    complementary_mse,
    implied_complementary,
)
from complabel.losses._cross_entropy import BinaryCrossEntropy, GDFLoss, UnbiasedBCELoss
from complabel.losses._ctl import CTLLoss
from complabel.losses._luw import LUWLoss
from complabel.losses._ranking import ExponentialRankingLoss
from complabel.losses._selection import (
    SelectionLikelihoodLoss,
    check_propensities,
    selection_log_likelihood,
)

__all__ = [
    "BinaryCrossEntropy",
    "CTLLoss",
    "ComplementaryCrossEntropy",
    "ExponentialRankingLoss",
    "GDFLoss",
    "LUWLoss",
    "LogitLoss",
    "MLCLLoss",
    "SelectionLikelihoodLoss",
    "UnbiasedBCELoss",
    "check_propensities",
    "complementary_bce",
    "complementary_mse",
    "implied_complementary",
    "selection_log_likelihood",
]
