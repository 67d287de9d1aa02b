"""Losses and likelihoods of complementary labels and answers, as functions and modules of torch."""

from complabel.losses._answers import answers_log_likelihood
from complabel.losses._answers_likelihood import AnswersLikelihood
from complabel.losses._base import LogitLoss
from complabel.losses._ccmn import CCMNLoss
from complabel.losses._comes import COMESHammingLoss, COMESRankingLoss
from complabel.losses._complementary import (
    ComplementaryCrossEntropy,
    MLCLLoss,
    complementary_bce,
    complementary_mse,
    implied_complementary,
)
from complabel.losses._cross_entropy import BinaryCrossEntropy, GDFLoss, UnbiasedBCELoss
from complabel.losses._ctl import CTLLoss
from complabel.losses._evaluation import Evaluation
from complabel.losses._luw import LUWLoss
from complabel.losses._ranking import ExponentialRankingLoss
from complabel.losses._saved import loss_of, loss_parts
from complabel.losses._selection import SelectionLikelihoodLoss, selection_log_likelihood
from complabel.losses._settings import check_propensities, check_rates

__all__ = [
    "AnswersLikelihood",
    "BinaryCrossEntropy",
    "CCMNLoss",
    "COMESHammingLoss",
    "COMESRankingLoss",
    "CTLLoss",
    "ComplementaryCrossEntropy",
    "Evaluation",
    "ExponentialRankingLoss",
    "GDFLoss",
    "LUWLoss",
    "LogitLoss",
    "MLCLLoss",
    "SelectionLikelihoodLoss",
    "UnbiasedBCELoss",
    "answers_log_likelihood",
    "check_propensities",
    "check_rates",
    "complementary_bce",
    "complementary_mse",
    "implied_complementary",
    "loss_of",
    "loss_parts",
    "selection_log_likelihood",
]
