"""Methods that are only compared with, as scikit-learn classifiers.

Classes are imported when they are first used, because some of them need torch.
"""

from typing import TYPE_CHECKING

from complabel._lazy import lazily
from complabel.experiments.methods._places import METHODS as METHODS
from complabel.experiments.methods._places import PLACES as PLACES
from complabel.experiments.methods._places import POSITIVE_METHODS as POSITIVE_METHODS
from complabel.experiments.methods._places import make_paper_classifier

if TYPE_CHECKING:  # a type checker cannot follow the registry's strings
    from complabel.experiments.methods.candidates.fpml import FPMLClassifier
    from complabel.experiments.methods.candidates.lift import LIFTClassifier
    from complabel.experiments.methods.candidates.mlknn import MLKNNClassifier
    from complabel.experiments.methods.candidates.pml import PMLFPClassifier, PMLLCClassifier
    from complabel.experiments.methods.candidates.pml_lrs import PMLLRSClassifier
    from complabel.experiments.methods.class_conditional import (
        CCMNClassifier,
        COMESHammingClassifier,
        COMESRankingClassifier,
    )
    from complabel.experiments.methods.complementary_loss import (
        BCEClassifier,
        ComplementaryLossClassifier,
        ComRankClassifier,
        CTLClassifier,
        GDFClassifier,
        LUWClassifier,
        SupervisedBCEClassifier,
        UnbiasedBCEClassifier,
    )
    from complabel.experiments.methods.positives import SinglePositiveClassifier
    from complabel.experiments.methods.supervised import SupervisedClassifier

__all__ = [
    "BCEClassifier",
    "CCMNClassifier",
    "COMESHammingClassifier",
    "COMESRankingClassifier",
    "CTLClassifier",
    "ComRankClassifier",
    "ComplementaryLossClassifier",
    "FPMLClassifier",
    "GDFClassifier",
    "LIFTClassifier",
    "LUWClassifier",
    "MLKNNClassifier",
    "PMLFPClassifier",
    "PMLLCClassifier",
    "PMLLRSClassifier",
    "SinglePositiveClassifier",
    "SupervisedBCEClassifier",
    "SupervisedClassifier",
    "UnbiasedBCEClassifier",
    "make_paper_classifier",
]
_PLACES = {place.partition(":")[2]: place for place in PLACES.values()}
__getattr__, __dir__ = lazily(__name__, _PLACES)
