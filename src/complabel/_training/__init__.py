"""Training of linear maps and networks: mini-batch gradient descent on CPU or GPU, and L-BFGS."""

from complabel._training._coordinates import Scaling, Spread
from complabel._training._descent import Schedule
from complabel._training._device import one_thread, resolve_device, torch_as_released
from complabel._training._full_batch import (
    IterationCallback,
    LinearFits,
    LogitObjective,
    minimize_linear,
)
from complabel._training._linear import LinearMap, train_linear
from complabel._training._network import (
    descend,
    network_outputs,
    set_output_bias,
    train_network,
)
from complabel._training._saved import DeviceKind, FactoryKind, NetworkKind, linear_map_kind

__all__ = [
    "DeviceKind",
    "FactoryKind",
    "IterationCallback",
    "LinearFits",
    "LinearMap",
    "LogitObjective",
    "NetworkKind",
    "Scaling",
    "Schedule",
    "Spread",
    "descend",
    "linear_map_kind",
    "minimize_linear",
    "network_outputs",
    "one_thread",
    "resolve_device",
    "set_output_bias",
    "torch_as_released",
    "train_linear",
    "train_network",
]
