"""Methods that learn from complementary labels, as scikit-learn classifiers.

Classes are imported when they are first used, because some of them need torch.
"""

from typing import TYPE_CHECKING

from complabel._lazy import lazily
from complabel.methods._places import PLACES
from complabel.methods._places import Grid as Grid
from complabel.methods._registry import METHODS, get_method, make_classifier
from complabel.methods._registry import Method as Method
from complabel.methods._registry import check_parameter as check_parameter
from complabel.methods._registry import literal as literal

if TYPE_CHECKING:  # a type checker cannot follow the registry's strings
    from complabel.methods._base import ComplementaryClassifier
    from complabel.methods._base import load as load
    from complabel.methods._held_out import HeldOutScore as HeldOutScore
    from complabel.methods._held_out import Predictions as Predictions
    from complabel.methods._held_out import cross_fit_probabilities, held_out_score
    from complabel.methods._onnx import save_onnx
    from complabel.methods._saving import read_header as read_header
    from complabel.methods._saving import read_model as read_model
    from complabel.methods.baselines.prior import PriorClassifier
    from complabel.methods.baselines.ridge import ComplementaryRidgeClassifier
    from complabel.methods.candidates.fpml import FPMLClassifier
    from complabel.methods.candidates.lift import LIFTClassifier
    from complabel.methods.candidates.mlknn import MLKNNClassifier
    from complabel.methods.candidates.pml import PMLFPClassifier, PMLLCClassifier
    from complabel.methods.candidates.pml_lrs import PMLLRSClassifier
    from complabel.methods.gradient._side_by_side import fit_side_by_side as fit_side_by_side
    from complabel.methods.gradient.class_conditional import (
        CCMNClassifier,
        COMESHammingClassifier,
        COMESRankingClassifier,
    )
    from complabel.methods.gradient.complementary_loss import (
        BCEClassifier,
        ComplementaryLossClassifier,
        ComRankClassifier,
        CTLClassifier,
        GDFClassifier,
        LUWClassifier,
        SupervisedBCEClassifier,
        UnbiasedBCEClassifier,
    )
    from complabel.methods.gradient.mlcl import MLCLClassifier
    from complabel.methods.gradient.network_likelihood import NetworkLikelihoodClassifier
    from complabel.methods.matched import FrequencyMatchedClassifier
    from complabel.methods.selection._classifier import SelectionLikelihoodClassifier
    from complabel.methods.selection._constant import (
        constant_log_likelihood as constant_log_likelihood,
    )
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
    "LIFTClassifier",
    "LUWClassifier",
    "MLCLClassifier",
    "MLKNNClassifier",
    "NetworkLikelihoodClassifier",
    "PMLFPClassifier",
    "PMLLCClassifier",
    "PMLLRSClassifier",
    "PriorClassifier",
    "SelectionLikelihoodClassifier",
    "SupervisedBCEClassifier",
    "SupervisedClassifier",
    "UnbiasedBCEClassifier",
    "cross_fit_probabilities",
    "get_method",
    "held_out_score",
    "make_classifier",
    "save_onnx",
]
_PLACES = {place.partition(":")[2]: place for place in PLACES.values()} | {
    "ComplementaryClassifier": "complabel.methods._base:ComplementaryClassifier",
    "HeldOutScore": "complabel.methods._held_out:HeldOutScore",
    "Predictions": "complabel.methods._held_out:Predictions",
    "constant_log_likelihood": "complabel.methods.selection._constant:constant_log_likelihood",
    "fit_side_by_side": "complabel.methods.gradient._side_by_side:fit_side_by_side",
    "cross_fit_probabilities": "complabel.methods._held_out:cross_fit_probabilities",
    "held_out_score": "complabel.methods._held_out:held_out_score",
    "load": "complabel.methods._base:load",
    "read_model": "complabel.methods._saving:read_model",
    "read_header": "complabel.methods._saving:read_header",
    "save_onnx": "complabel.methods._onnx:save_onnx",
}
__getattr__, __dir__ = lazily(__name__, _PLACES)
