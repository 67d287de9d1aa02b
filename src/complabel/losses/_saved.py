"""Saving and loading of the package's losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from complabel._parameters import Real
from complabel.losses._base import LogitLoss
from complabel.losses._complementary import (
    BinaryCrossEntropy,
    ComplementaryCrossEntropy,
    CTLLoss,
    ExponentialRankingLoss,
    GDFLoss,
    LUWLoss,
    MLCLLoss,
    UnbiasedBCELoss,
)
from complabel.losses._naming_rates import CCMNLoss, COMESHammingLoss, COMESRankingLoss
from complabel.losses._selection import SelectionLikelihoodLoss
from complabel.persistence import Context, Kind, Kinds, Numbers, OrNone, RefusedError, Scalar

_LOSSES: Mapping[str, type[LogitLoss]] = {
    made.__name__: made
    for made in (
        *(BinaryCrossEntropy, CCMNLoss, COMESHammingLoss, COMESRankingLoss),
        *(ComplementaryCrossEntropy, CTLLoss, ExponentialRankingLoss),
        *(GDFLoss, LUWLoss, MLCLLoss, SelectionLikelihoodLoss, UnbiasedBCELoss),
    )
}
_RATES: Kinds = {"naming_rates": Numbers("K")}
_SETTINGS: Mapping[type[LogitLoss], Kinds] = {
    CCMNLoss: _RATES,
    COMESHammingLoss: {**_RATES, "corrected": Scalar(True, False)},
    COMESRankingLoss: {**_RATES, "flooding": Scalar(Real(at_least=0))},
    MLCLLoss: {"transition": Numbers("K", "K"), "beta": Scalar(Real())},
    SelectionLikelihoodLoss: {
        "cardinality": Scalar(None, Real(above=0)),
        "propensities": OrNone(Numbers("K")),
    },
}


class LossKind(Kind):
    """The parameter ``loss``: a loss of the package, or its class."""

    def plain(self, value: Any, context: Context) -> Any:
        """Return the name of the class, and the settings of a loss (None for a class)."""
        made = value if isinstance(value, type) else type(value)
        if _LOSSES.get(made.__name__) is not made:
            raise RefusedError(
                f"the loss is a class of your own, {made.__module__}.{made.__qualname__}, and a"
                " file holds no code. Predictions do not need the loss: call"
                " set_params(loss=complabel.losses.GDFLoss) and save, or keep coef_ and intercept_"
            )
        if made is value:
            return {"name": made.__name__, "settings": None}
        given = {}
        for name, kind in _SETTINGS.get(made, {}).items():
            setting = getattr(value, name)
            if isinstance(setting, torch.Tensor):
                setting = setting.detach().cpu().numpy().astype(np.float64)
            given[name] = kind.plain(setting, context)
        return {"name": made.__name__, "settings": given}

    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Return the class, or a loss made with the saved settings."""
        if not isinstance(value, dict) or value.keys() != {"name", "settings"}:
            raise RefusedError(f"{place} is no loss")
        name, settings = value["name"], value["settings"]
        if not isinstance(name, str) or name not in _LOSSES:
            raise RefusedError(f"{place} is an unknown loss, {name!r:.80}")
        made: Callable[..., LogitLoss] = _LOSSES[name]
        if settings is None:
            return made
        kinds = _SETTINGS.get(_LOSSES[name], {})
        if not isinstance(settings, dict) or settings.keys() != kinds.keys():
            raise RefusedError(f"{place} has settings that do not belong to {name}")
        given = {at: kind.restored(settings[at], place, context) for at, kind in kinds.items()}
        if "transition" in given:
            given["transition"] = torch.from_numpy(given["transition"])
        try:
            return made(**given)
        except ValueError as error:
            raise RefusedError(f"{place} has a wrong setting: {error}") from error
