"""Saving and loading of networks of torch's usual layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from complabel._training._device import torch_as_released
from complabel.errors import InputError

# The layers that a file may hold, with the arguments of their constructors. A layer has an
# attribute of each name with the argument's value, but ``bias`` as an attribute holds weights.
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


def network_parts(network: nn.Module) -> dict[str, Any]:
    state = nn.Sequential(*_leaves(network)).state_dict()
    weights = {name: tensor.detach().cpu().numpy() for name, tensor in state.items()}
    return {"layers": layers_of(network), "weights": weights}


def trained_network(layers: Any, weights: Mapping[str, Any]) -> nn.Module:
    """Make a network in evaluation mode; refuse weights of other names, shapes or types."""
    network = network_of(layers, device="meta")  # takes no memory, whatever a file claims
    tensors = {name: torch.from_numpy(array.copy()) for name, array in weights.items()}
    for name, tensor in network.state_dict().items():
        if name in tensors and tensors[name].dtype != tensor.dtype:
            raise InputError(f"the weights {name!r} of the network hold {tensors[name].dtype}")
    network.load_state_dict(tensors, assign=True)  # refuses other names and shapes
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
    return None if parts is None else LayersAgain(**parts)


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
    with torch_as_released(), torch.device(device):
        return nn.Sequential(*map(_layer, layers))


def _layer(described: dict[str, Any]) -> nn.Module:
    made = _BY_NAME[described["layer"]]
    return made(**{setting: described[setting] for setting in LAYERS[made]})


def _hooked(layer: nn.Module) -> bool:
    """Tell whether hooks or parametrizations change what the layer computes."""
    hooks = (layer._forward_hooks, layer._forward_pre_hooks)
    return any(hooks) or hasattr(layer, "parametrizations") or "forward" in vars(layer)
