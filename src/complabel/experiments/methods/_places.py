"""The table of methods that are only compared with: their titles, classes and grids.

Classes are texts, so that nothing is imported before it is used. A new method is a line
of ``TABLE``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from complabel.experiments import paper
from complabel.methods import RATES, Grid, Method, get_method, methods_of

if TYPE_CHECKING:
    from complabel.methods import ComplementaryClassifier

_LOSS = "complementary_loss:"
_CONDITIONAL = "class_conditional:"
_FPML: Grid = {"rank": (2, None), "lambda3": (100.0, 10.0, 1.0), "lambda1": (1.0, 0.1)}
_REFINED: Grid = {"C2": (1e-3, 1e-2, 0.1, 1.0, 10.0)}
_LRS: Grid = {"gamma": (100.0, 50.0, 10.0, 1.0), "eta": (1.0, 0.1)}

# By name: title, class and grid, in the order in which tables list the methods.
TABLE: Mapping[str, tuple[str, str, Grid]] = {
    "ml-knn": ("ML-KNN", "candidates.mlknn:MLKNNClassifier", {"n_neighbors": (40, 20, 10, 5)}),
    "lift": ("LIFT (squared hinge)", "candidates.lift:LIFTClassifier", {"ratio": (0.05, 0.1, 0.2)}),
    "fpml": ("fPML", "candidates.fpml:FPMLClassifier", _FPML),
    "pml-lc": ("PML-lc", "candidates.pml:PMLLCClassifier", _REFINED),
    "pml-fp": ("PML-fp", "candidates.pml:PMLFPClassifier", _REFINED),
    "pml-lrs": ("PML-LRS", "candidates.pml_lrs:PMLLRSClassifier", _LRS),
    "l-uw": ("L-UW", _LOSS + "LUWClassifier", RATES),
    "gdf": ("GDF", _LOSS + "GDFClassifier", RATES),
    "unbiased-bce": ("Unbiased BCE", _LOSS + "UnbiasedBCEClassifier", RATES),
    "ctl": ("CTL", _LOSS + "CTLClassifier", RATES),
    "comrank": ("ComRank", _LOSS + "ComRankClassifier", RATES),
    # The loss of gdf under other settings, as its class says.
    "bce": ("BCE", _LOSS + "BCEClassifier", RATES),
    "ccmn": ("CCMN", _CONDITIONAL + "CCMNClassifier", RATES),
    "comes-hl": ("COMES-HL", _CONDITIONAL + "COMESHammingClassifier", RATES),
    "comes-rl": ("COMES-RL", _CONDITIONAL + "COMESRankingClassifier", RATES),
    "supervised": ("Supervised", "supervised:SupervisedClassifier", {}),
    "supervised-bce": ("Supervised BCE", _LOSS + "SupervisedBCEClassifier", {}),
}
# What is not here learns from labels that do not apply.
_LEARNS = {
    **dict.fromkeys(("ccmn", "comes-hl", "comes-rl"), "answers"),
    **dict.fromkeys(("supervised", "supervised-bce"), "relevant"),
}
# These learn from labels that somebody named because they apply, and refuse what TABLE's methods
# learn from. By name: title and grid.
_DECAYS: Grid = {"weight_decay": (1.0, 0.1, 0.03, 3e-3), "learning_rate": (0.01, 0.1)}
_ENTROPIES: Grid = {**_DECAYS, "entropy": (0.1, 0.2, 0.01), "pseudo": (0.2, 0.02, 0.9)}
_POSITIVE: Mapping[str, tuple[str, Grid]] = {
    "an": ("AN", _DECAYS),
    "an-ls": ("AN-LS", _DECAYS),
    "wan": ("WAN", _DECAYS),
    "em-apl": ("EM-APL", _ENTROPIES),
    "role": ("ROLE", _DECAYS),
    "large-loss": ("LL-R", {**_DECAYS, "rejected": (0.02, 0.1)}),
    "large-loss-ct": ("LL-Ct", {**_DECAYS, "rejected": (0.02, 0.1)}),
    "hill": ("Hill", _DECAYS),
    "splc": ("SPLC", {**_DECAYS, "above": (0.6, 0.75, 0.9)}),
}
_CLASSES = {name: place for name, (_, place, _) in TABLE.items()} | {
    "complementary-loss": _LOSS + "ComplementaryLossClassifier",
    "single-positive": "positives:SinglePositiveClassifier",
}

PLACES: Mapping[str, str] = MappingProxyType(
    {name: f"complabel.experiments.methods.{place}" for name, place in _CLASSES.items()}
)
"""The place of each class of this room, ``"module:Class"``, by its name in model files."""

METHODS: Mapping[str, Method] = MappingProxyType(methods_of(TABLE, PLACES, _LEARNS))
"""The methods that are only compared with, by name, in the order in which tables list them."""

POSITIVE_METHODS: Mapping[str, Method] = MappingProxyType(
    {
        name: Method(name, title, PLACES["single-positive"], grid, {"loss": name}, "positives")
        for name, (title, grid) in _POSITIVE.items()
    }
)
"""The methods that learn from labels that somebody named because they apply, by name."""


def make_paper_classifier(name: str, dataset: str, **parameters: Any) -> ComplementaryClassifier:
    """Make a classifier with the settings that the paper used on a dataset.

    Parameters
    ----------
    name : str
        As for :func:`complabel.methods.get_method`.
    dataset : str
        For datasets that the paper does not use, the defaults are taken.
    **parameters
        They override these settings.

    Returns
    -------
    ComplementaryClassifier

    Raises
    ------
    InputError
        If there is no such method.

    Examples
    --------
    >>> make_paper_classifier("mlcl", "yeast").learning_rate
    0.1
    """
    method = get_method(name)
    settings = paper.settings(method.base, dataset)
    return method.classifier(**{**settings, **method.settings, **parameters})
