"""Methods that learn from complementary labels, as scikit-learn classifiers.

Classes are imported when they are first used, because some of them need torch.
"""

from typing import TYPE_CHECKING

from complabel._lazy import lazily
from complabel.methods._places import PLACES
from complabel.methods._registry import (
    METHODS,
    Grid,
    Method,
    check_parameter,
    get_method,
    make_classifier,
)

if TYPE_CHECKING:
    from complabel.methods._base import ComplementaryClassifier, load
    from complabel.methods._held_out import HeldOutScore, held_out_score
    from complabel.methods._saving import read_header
    from complabel.methods.baselines.prior import PriorClassifier
    from complabel.methods.baselines.ridge import ComplementaryRidgeClassifier
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
    from complabel.methods.gradient.supervised_bce import SupervisedBCEClassifier
    from complabel.methods.matched._classifier import FrequencyMatchedClassifier
    from complabel.methods.selection._classifier import SelectionLikelihoodClassifier
    from complabel.methods.selection.supervised import SupervisedClassifier

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
    "SupervisedBCEClassifier",
    "SupervisedClassifier",
    "UnbiasedBCEClassifier",
    "check_parameter",
    "get_method",
    "held_out_score",
    "load",
    "make_classifier",
    "read_header",
]
_PLACES = {place.partition(":")[2]: place for place in PLACES.values()} | {
    "ComplementaryClassifier": "complabel.methods._base:ComplementaryClassifier",
    "HeldOutScore": "complabel.methods._held_out:HeldOutScore",
    "held_out_score": "complabel.methods._held_out:held_out_score",
    "load": "complabel.methods._base:load",
    "read_header": "complabel.methods._saving:read_header",
}
__getattr__, __dir__ = lazily(__name__, _PLACES)
