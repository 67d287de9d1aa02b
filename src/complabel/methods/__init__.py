"""Methods that learn from complementary labels: scikit-learn classifiers, one file each."""

from complabel.methods._base import ComplementaryClassifier
from complabel.methods._registry import METHODS, Method, get_method, make_classifier
from complabel.methods.comrank import ComRankClassifier
from complabel.methods.ctl import CTLClassifier
from complabel.methods.fpml import FPMLClassifier
from complabel.methods.gdf import GDFClassifier
from complabel.methods.lift import LIFTClassifier
from complabel.methods.luw import LUWClassifier
from complabel.methods.mlcl import MLCLClassifier
from complabel.methods.mlknn import MLKNNClassifier
from complabel.methods.pml_fp import PMLFPClassifier
from complabel.methods.pml_lc import PMLLCClassifier
from complabel.methods.pml_lrs import PMLLRSClassifier
from complabel.methods.prior import PriorClassifier
from complabel.methods.ridge import ComplementaryRidgeClassifier
from complabel.methods.selection_likelihood import SelectionLikelihoodClassifier
from complabel.methods.supervised import SupervisedClassifier
from complabel.methods.unbiased_bce import UnbiasedBCEClassifier

__all__ = [
    "METHODS",
    "CTLClassifier",
    "ComRankClassifier",
    "ComplementaryClassifier",
    "ComplementaryRidgeClassifier",
    "FPMLClassifier",
    "GDFClassifier",
    "LIFTClassifier",
    "LUWClassifier",
    "MLCLClassifier",
    "MLKNNClassifier",
    "Method",
    "PMLFPClassifier",
    "PMLLCClassifier",
    "PMLLRSClassifier",
    "PriorClassifier",
    "SelectionLikelihoodClassifier",
    "SupervisedClassifier",
    "UnbiasedBCEClassifier",
    "get_method",
    "make_classifier",
]
