"""Losses and likelihoods of complementary labels and answers, as functions and modules of torch."""

from complabel.losses._answers_likelihood import AnswersLikelihood, answers_log_likelihood
from complabel.losses._base import LogitLoss
from complabel.losses._base import check_mistakes as check_mistakes
from complabel.losses._base import check_propensities as check_propensities
from complabel.losses._base import check_rates as check_rates
from complabel.losses._base import differentiable as differentiable
from complabel.losses._base import labelled_rows as labelled_rows
from complabel.losses._base import likeness_of as likeness_of
from complabel.losses._base import no_autocast as no_autocast
from complabel.losses._base import stacked as stacked
from complabel.losses._evaluation import Evaluation as Evaluation
from complabel.losses._mlcl import ComplementaryCrossEntropy, MLCLLoss
from complabel.losses._mlcl import implied_complementary as implied_complementary
from complabel.losses._selection import SelectionLikelihoodLoss, selection_log_likelihood

__all__ = [
    "AnswersLikelihood",
    "ComplementaryCrossEntropy",
    "LogitLoss",
    "MLCLLoss",
    "SelectionLikelihoodLoss",
    "answers_log_likelihood",
    "selection_log_likelihood",
]
