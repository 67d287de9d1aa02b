"""Losses and likelihoods of complementary labels and answers, as functions and modules of torch."""

from complabel.losses._answers_likelihood import AnswersLikelihood, answers_log_likelihood
from complabel.losses._base import LogitLoss
from complabel.losses._base import check_mistakes as check_mistakes
from complabel.losses._base import check_propensities as check_propensities
from complabel.losses._base import check_rates as check_rates
from complabel.losses._base import loss_of as loss_of
from complabel.losses._base import loss_parts as loss_parts
from complabel.losses._complementary import (
    BinaryCrossEntropy,
    ComplementaryCrossEntropy,
    CTLLoss,
    ExponentialRankingLoss,
    GDFLoss,
    LUWLoss,
    MLCLLoss,
    UnbiasedBCELoss,
)
from complabel.losses._complementary import implied_complementary as implied_complementary
from complabel.losses._evaluation import Evaluation as Evaluation
from complabel.losses._naming_rates import CCMNLoss, COMESHammingLoss, COMESRankingLoss
from complabel.losses._selection import SelectionLikelihoodLoss, selection_log_likelihood
from complabel.losses._stacked import likeness_of as likeness_of
from complabel.losses._stacked import stacked as stacked

__all__ = [
    "AnswersLikelihood",
    "BinaryCrossEntropy",
    "CCMNLoss",
    "COMESHammingLoss",
    "COMESRankingLoss",
    "CTLLoss",
    "ComplementaryCrossEntropy",
    "ExponentialRankingLoss",
    "GDFLoss",
    "LUWLoss",
    "LogitLoss",
    "MLCLLoss",
    "SelectionLikelihoodLoss",
    "UnbiasedBCELoss",
    "answers_log_likelihood",
    "selection_log_likelihood",
]
