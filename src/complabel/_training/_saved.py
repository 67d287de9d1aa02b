"""Saving and loading of networks of torch's usual layers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from complabel._parameters import Integer, Real, meets
from complabel._training._device import torch_as_released
from complabel.errors import InputError

_SIZE, _POSITIVE, _FLAG = Integer(at_least=1), Real(above=0), (True, False)
# What the arguments of layers may be. A layer has an attribute of each name with the argument's
# value; only ``bias`` is an argument of True or False and an attribute that holds weights.
_SETTINGS: Mapping[str, tuple[object, ...]] = {
    **dict.fromkeys(("in_features", "out_features", "num_features"), (_SIZE,)),
    **dict.fromkeys(("bias", "affine", "track_running_stats", "elementwise_affine"), _FLAG),
    **dict.fromkeys(("alpha", "negative_slope", "threshold"), (Real(),)),
    **dict.fromkeys(("eps", "beta"), (_POSITIVE,)),
    "momentum": (None, Real()),
    "normalized_shape": (tuple,),
    "p": (Real(at_least=0, at_most=1),),
    "approximate": ("none", "tanh"),
}
# The layers that a file may hold, with the arguments of their constructors.
LAYERS: Mapping[type[nn.Module], tuple[str, ...]] = {
    nn.Linear: ("in_features", "out_features", "bias"),
    nn.BatchNorm1d: ("num_features", "eps", "momentum", "affine", "track_running_stats"),
    nn.LayerNorm: ("normalized_shape", "eps", "elementwise_affine", "bias"),
    nn.Dropout: ("p",),
    nn.LeakyReLU: ("negative_slope",),
    nn.ELU: ("alpha",),
    nn.GELU: ("approximate",),
    nn.Softplus: ("beta", "threshold"),
    **dict.fromkeys((nn.ReLU, nn.SELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Identity), ()),
}
_BY_NAME = {made.__name__: made for made in LAYERS}
# A layer has at most this many weights: 32 GB in float32. A forged file must not claim more.
_MOST = 2**33


def network_parts(network: nn.Module) -> dict[str, Any]:
    state = nn.Sequential(*_leaves(network)).state_dict()
    weights = {name: tensor.detach().cpu().numpy() for name, tensor in state.items()}
    return {"layers": layers_of(network), "weights": weights}


def trained_network(layers: Any, weights: Mapping[str, Any]) -> nn.Module:
    """Make a network in evaluation mode; refuse weights of other names, shapes, types or values."""
    network = network_of(layers, device="meta")
    expected = network.state_dict()
    if weights.keys() != expected.keys():
        raise InputError("the network has weights that do not belong to its layers")
    found = {}
    for name, tensor in expected.items():
        kind = np.int64 if tensor.dtype == torch.int64 else np.float32
        array, shape = weights[name], tuple(tensor.shape)
        if not isinstance(array, np.ndarray) or array.dtype != kind or array.shape != shape:
            raise InputError(
                f"the weights {name} of the network are not {np.dtype(kind)} of shape {shape}"
            )
        if not np.isfinite(array).all():
            raise InputError(f"the weights {name} of the network are not finite")
        found[name] = torch.from_numpy(array.copy())
    network.load_state_dict(found, assign=True)
    return network.eval()


@dataclass(frozen=True)
class LayersAgain:
    """The parameter ``network`` of a loaded classifier; it makes the saved layers, untrained."""

    layers: list[Any]
    n_features: int
    n_labels: int

    def __call__(self, n_features: int, n_labels: int) -> nn.Module:
        """Make the network; the numbers of features and labels must be those that were saved."""
        if (n_features, n_labels) != (self.n_features, self.n_labels):
            raise InputError(
                f"the network of this loaded classifier is for {self.n_features} features and"
                f" {self.n_labels} labels, got {n_features} and {n_labels}; give your own factory"
                " by set_params(network=...)"
            )
        return network_of(self.layers)


def factory_parts(factory: Any, n_features: int, n_labels: int) -> Any:
    if factory is None or isinstance(factory, LayersAgain):
        return None if factory is None else vars(factory)
    with torch.random.fork_rng(), torch_as_released():
        layers = layers_of(factory(n_features, n_labels))
    return {"layers": layers, "n_features": n_features, "n_labels": n_labels}


def factory_of(parts: Any) -> LayersAgain | None:
    if parts is None:
        return None
    if not isinstance(parts, dict) or parts.keys() != {"layers", "n_features", "n_labels"}:
        raise InputError("network is no list of layers")
    network_of(parts["layers"], device="meta")
    return LayersAgain(**parts)


def layers_of(network: nn.Module) -> list[Any]:
    """Describe a chain of layers; refuse a network that is more than a chain of known layers."""
    return [_described(layer) for layer in _leaves(network)]


def _leaves(network: nn.Module) -> list[nn.Module]:
    if type(network) is nn.Sequential and not _hooked(network):
        return [each for layer in network for each in _leaves(layer)]
    return [network]


def _described(network: nn.Module) -> dict[str, Any]:
    made = type(network)
    if made not in LAYERS or _hooked(network):
        names = ", ".join(sorted(_BY_NAME))
        raise InputError(
            f"the network has a layer of its own, {made.__module__}.{made.__qualname__}, and a file"
            f" holds no code. Only torch.nn.Sequential of {names} can be saved. For other networks,"
            " keep the class in your code and save its state_dict()"
        )
    settings = {name: getattr(network, name) for name in LAYERS[made]}
    if "bias" in settings:
        settings["bias"] = settings["bias"] is not None
    if "normalized_shape" in settings:
        settings["normalized_shape"] = tuple(map(int, settings["normalized_shape"]))
    return {"layer": made.__name__, **settings}


def network_of(layers: Any, *, device: str = "cpu") -> nn.Sequential:
    if not isinstance(layers, list) or not all(isinstance(layer, dict) for layer in layers):
        raise InputError("the layers of a network are no list")
    with torch_as_released(), torch.device(device):
        return nn.Sequential(*map(_layer, layers))


def _layer(described: dict[str, Any]) -> nn.Module:
    name = described.get("layer")
    made = _BY_NAME.get(name) if isinstance(name, str) else None
    if made is None or described.keys() != {"layer", *LAYERS[made]}:
        raise InputError(f"a network has an unknown layer, {name!r:.80}, or unknown settings")
    given = {each: described[each] for each in LAYERS[made]}
    sizes = [each for name, each in given.items() if name.endswith("_features")]
    fine = all(meets(value, *_SETTINGS[each]) for each, value in given.items())
    sizes += given.get("normalized_shape", ()) if fine else ()
    if not fine or not all(meets(n, _SIZE) for n in sizes) or math.prod(sizes) > _MOST:
        raise InputError(f"a layer {name} of a network has a setting out of range")
    return made(**given)


def _hooked(layer: nn.Module) -> bool:
    """Tell whether hooks or parametrizations change what the layer computes."""
    hooks = (layer._forward_hooks, layer._forward_pre_hooks)
    return any(hooks) or hasattr(layer, "parametrizations") or "forward" in vars(layer)
