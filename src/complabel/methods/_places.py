"""The table of methods: their titles, classes and grids.

Classes are texts, so that nothing is imported before it is used. A new method is a line
of ``TABLE``. The methods that are only compared with have a table of their own, which is found by
its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from complabel._lazy import Tables

Grid = Mapping[str, Sequence[Any]]
"""The values to try for each parameter."""

RATES: Grid = {"learning_rate": (1e-3, 1e-2, 1e-1), "weight_decay": (1e-3, 1e-4)}
_MLCL: Grid = {**RATES, "beta": (1.0, 0.5)}

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
}
# What is not here learns from labels that do not apply.
LEARNS: Mapping[str, str] = {"selection-likelihood": "answers"}
_CLASSES = {name: place for name, (_, place, _) in TABLE.items()} | {
    "network-likelihood": "gradient.network_likelihood:NetworkLikelihoodClassifier",
    "frequency-matched": "matched:FrequencyMatchedClassifier",
}

OWN_PLACES: Mapping[str, str] = MappingProxyType(
    {name: f"complabel.methods.{place}" for name, place in _CLASSES.items()}
)
"""The place of each class of this room, ``"module:Class"``, by its name in model files."""

PLACES: Mapping[str, str] = Tables(OWN_PLACES, "complabel.experiments.methods:PLACES")
"""The places of all classes, also of those that are only compared with."""

PREDICTORS: Mapping[str, str] = Tables(
    {"selection-likelihood": "complabel.methods.selection._model:SelectionModel"},
    f"{__name__}:PLACES",
)
"""The same, but with those that predict as their classifiers, and load no scikit-learn."""
