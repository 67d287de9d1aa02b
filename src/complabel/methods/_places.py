"""Where the classes of methods are: texts, so that nothing is imported before it is used."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_AT = "complabel.methods."
_LOSS = _AT + "gradient.complementary_loss:"

PLACES: Mapping[str, str] = MappingProxyType(
    {
        "mlcl": _AT + "gradient.mlcl:MLCLClassifier",
        "selection-likelihood": _AT + "selection._classifier:SelectionLikelihoodClassifier",
        "ridge": _AT + "baselines.ridge:ComplementaryRidgeClassifier",
        "prior": _AT + "baselines.prior:PriorClassifier",
        "ml-knn": _AT + "candidates.mlknn:MLKNNClassifier",
        "lift": _AT + "candidates.lift:LIFTClassifier",
        "fpml": _AT + "candidates.fpml:FPMLClassifier",
        "pml-lc": _AT + "candidates.pml:PMLLCClassifier",
        "pml-fp": _AT + "candidates.pml:PMLFPClassifier",
        "pml-lrs": _AT + "candidates.pml_lrs:PMLLRSClassifier",
        "l-uw": _LOSS + "LUWClassifier",
        "gdf": _LOSS + "GDFClassifier",
        "unbiased-bce": _LOSS + "UnbiasedBCEClassifier",
        "ctl": _LOSS + "CTLClassifier",
        "comrank": _LOSS + "ComRankClassifier",
        "bce": _AT + "gradient.bce:BCEClassifier",
        "ccmn": _AT + "gradient.ccmn:CCMNClassifier",
        "comes-hl": _AT + "gradient.comes:COMESHammingClassifier",
        "comes-rl": _AT + "gradient.comes:COMESRankingClassifier",
        "supervised": _AT + "selection.supervised:SupervisedClassifier",
        "supervised-bce": _AT + "gradient.supervised_bce:SupervisedBCEClassifier",
        "complementary-loss": _LOSS + "ComplementaryLossClassifier",
        "network-likelihood": _AT + "gradient.network_likelihood:NetworkLikelihoodClassifier",
        "frequency-matched": _AT + "matched._classifier:FrequencyMatchedClassifier",
    }
)
"""The place of each class of the package, ``"module:Class"``, by its name in model files."""
