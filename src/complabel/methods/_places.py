"""The table of methods: their titles, classes and grids.

Classes are texts, so that nothing is imported before it is used. A new method is a line
of ``TABLE``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

Grid = Mapping[str, Sequence[Any]]
"""The values to try for each parameter."""

_LOSS = "gradient.complementary_loss:"
_CONDITIONAL = "gradient.class_conditional:"
_RATES: Grid = {"learning_rate": (1e-3, 1e-2, 1e-1), "weight_decay": (1e-3, 1e-4)}
_MLCL: Grid = {**_RATES, "beta": (1.0, 0.5)}
_FPML: Grid = {"rank": (2, None), "lambda3": (100.0, 10.0, 1.0), "lambda1": (1.0, 0.1)}
_REFINED: Grid = {"C2": (1e-3, 1e-2, 0.1, 1.0, 10.0)}
_LRS: Grid = {"gamma": (100.0, 50.0, 10.0, 1.0), "eta": (1.0, 0.1)}

# By name: title, class and grid, in the order in which tables list the methods.
TABLE: Mapping[str, tuple[str, str, Grid]] = {
    "mlcl": ("MLCL", "gradient.mlcl:MLCLClassifier", _MLCL),
    "selection-likelihood": (
        "Selection likelihood",
        "selection._classifier:SelectionLikelihoodClassifier",
        {},
    ),
    "ridge": ("Ridge", "baselines.ridge:ComplementaryRidgeClassifier", {}),
    "prior": ("Prior", "baselines.prior:PriorClassifier", {}),
    "ml-knn": ("ML-KNN", "candidates.mlknn:MLKNNClassifier", {"n_neighbors": (40, 20, 10, 5)}),
    "lift": ("LIFT (squared hinge)", "candidates.lift:LIFTClassifier", {"ratio": (0.05, 0.1, 0.2)}),
    "fpml": ("fPML", "candidates.fpml:FPMLClassifier", _FPML),
    "pml-lc": ("PML-lc", "candidates.pml:PMLLCClassifier", _REFINED),
    "pml-fp": ("PML-fp", "candidates.pml:PMLFPClassifier", _REFINED),
    "pml-lrs": ("PML-LRS", "candidates.pml_lrs:PMLLRSClassifier", _LRS),
    "l-uw": ("L-UW", _LOSS + "LUWClassifier", _RATES),
    "gdf": ("GDF", _LOSS + "GDFClassifier", _RATES),
    "unbiased-bce": ("Unbiased BCE", _LOSS + "UnbiasedBCEClassifier", _RATES),
    "ctl": ("CTL", _LOSS + "CTLClassifier", _RATES),
    "comrank": ("ComRank", _LOSS + "ComRankClassifier", _RATES),
    # The loss of gdf under other settings, as its class says.
    "bce": ("BCE", _LOSS + "BCEClassifier", _RATES),
    "ccmn": ("CCMN", _CONDITIONAL + "CCMNClassifier", _RATES),
    "comes-hl": ("COMES-HL", _CONDITIONAL + "COMESHammingClassifier", _RATES),
    "comes-rl": ("COMES-RL", _CONDITIONAL + "COMESRankingClassifier", _RATES),
    "supervised": ("Supervised", "selection.supervised:SupervisedClassifier", {}),
    "supervised-bce": ("Supervised BCE", "gradient.complementary_loss:SupervisedBCEClassifier", {}),
}
_CLASSES = {name: place for name, (_, place, _) in TABLE.items()} | {
    "complementary-loss": _LOSS + "ComplementaryLossClassifier",
    "network-likelihood": "gradient.network_likelihood:NetworkLikelihoodClassifier",
    "frequency-matched": "matched:FrequencyMatchedClassifier",
}

PLACES: Mapping[str, str] = MappingProxyType(
    {name: f"complabel.methods.{place}" for name, place in _CLASSES.items()}
)
"""The place of each class of the package, ``"module:Class"``, by its name in model files."""

PREDICTORS: Mapping[str, str] = MappingProxyType(
    {"selection-likelihood": "complabel.methods.selection._model:SelectionModel"}
)
"""The places of those that predict as these classifiers, and load no scikit-learn."""
