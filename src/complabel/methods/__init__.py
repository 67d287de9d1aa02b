"""Methods that learn from complementary labels, as scikit-learn classifiers."""

from complabel.methods._base import ComplementaryClassifier
from complabel.methods._held_out import HeldOutScore, held_out_score
from complabel.methods._registry import (
    METHODS,
    Grid,
    Method,
    check_parameter,
    get_method,
    make_classifier,
)
from complabel.methods._saving import load
from complabel.methods.bars.prior import PriorClassifier
from complabel.methods.bars.ridge import ComplementaryRidgeClassifier
from complabel.methods.candidates.fpml import FPMLClassifier
from complabel.methods.candidates.lift import LIFTClassifier
from complabel.methods.candidates.mlknn import MLKNNClassifier
from complabel.methods.candidates.pml import PMLFPClassifier, PMLLCClassifier
from complabel.methods.candidates.pml_lrs import PMLLRSClassifier
from complabel.methods.gradient.bce import BCEClassifier
from complabel.methods.gradient.ccmn import CCMNClassifier
from complabel.methods.gradient.comes import COMESHammingClassifier, COMESRankingClassifier
from complabel.methods.gradient.complementary_loss import (
    ComplementaryLossClassifier,
    ComRankClassifier,
    CTLClassifier,
    GDFClassifier,
    LUWClassifier,
    UnbiasedBCEClassifier,
)
from complabel.methods.gradient.mlcl import MLCLClassifier
from complabel.methods.gradient.network_likelihood import NetworkLikelihoodClassifier
from complabel.methods.gradient.supervised import SupervisedClassifier
from complabel.methods.matched._classifier import FrequencyMatchedClassifier
from complabel.methods.selection._classifier import SelectionLikelihoodClassifier

__all__ = [
    "METHODS",
    "BCEClassifier",
    "CCMNClassifier",
    "COMESHammingClassifier",
    "COMESRankingClassifier",
    "CTLClassifier",
    "ComRankClassifier",
    "ComplementaryClassifier",
    "ComplementaryLossClassifier",
    "ComplementaryRidgeClassifier",
    "FPMLClassifier",
    "FrequencyMatchedClassifier",
    "GDFClassifier",
    "Grid",
    "HeldOutScore",
    "LIFTClassifier",
    "LUWClassifier",
    "MLCLClassifier",
    "MLKNNClassifier",
    "Method",
    "NetworkLikelihoodClassifier",
    "PMLFPClassifier",
    "PMLLCClassifier",
    "PMLLRSClassifier",
    "PriorClassifier",
    "SelectionLikelihoodClassifier",
    "SupervisedClassifier",
    "UnbiasedBCEClassifier",
    "check_parameter",
    "get_method",
    "held_out_score",
    "load",
    "make_classifier",
]
