"""Losses in model files: the name of a class, and its settings."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import torch

from complabel.errors import InputError
from complabel.losses import LogitLoss


def loss_parts(loss: Any) -> dict[str, Any]:
    """Return the name of a loss's class, and its settings; None in place of them for a class."""
    made = loss if isinstance(loss, type) else type(loss)
    if _losses().get(made.__name__) is not made:
        raise InputError(
            f"the loss is a class of your own, {made.__module__}.{made.__qualname__}, and a"
            " file holds no code. Predictions do not need the loss: call"
            " set_params(loss=complabel.experiments.losses.GDFLoss) and save, or keep coef_ and"
            " intercept_"
        )
    if made is loss:
        return {"name": made.__name__, "settings": None}
    settings = {name: getattr(loss, name) for name in _settings_of(made)}
    for name, value in settings.items():
        if isinstance(value, torch.Tensor):
            settings[name] = value.detach().cpu().numpy().astype(np.float64)
    return {"name": made.__name__, "settings": settings}


def loss_of(parts: Any) -> Any:
    """Make what ``loss_parts`` described: a class of losses, or a loss."""
    if not isinstance(parts, dict) or parts.keys() != {"name", "settings"}:
        raise InputError("it is no loss")
    name, settings = parts["name"], parts["settings"]
    made: Any = _losses().get(name) if isinstance(name, str) else None
    if made is None:
        raise InputError(f"there is no loss {name!r:.80}")
    if settings is None:
        return made
    if not isinstance(settings, dict) or settings.keys() != _settings_of(made).keys():
        raise InputError(f"the loss has settings that do not belong to {name}")
    if isinstance(settings.get("transition"), np.ndarray):
        settings["transition"] = torch.from_numpy(settings["transition"])
    return made(**settings)


def _losses() -> dict[str, type[LogitLoss]]:
    found: list[Any] = [LogitLoss]
    for made in found:
        found += made.__subclasses__()
    rooms = {LogitLoss.__module__.rpartition(".")[0], __name__.rpartition(".")[0]}
    return {made.__name__: made for made in found if made.__module__.rpartition(".")[0] in rooms}


def _settings_of(made: type[LogitLoss]) -> Any:
    """Return the arguments of a loss by name; a loss has an attribute for each of them."""
    own = made.__init__ is not LogitLoss.__init__
    return inspect.signature(made).parameters if own else {}
