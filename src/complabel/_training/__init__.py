"""Training of linear maps and networks: mini-batch gradient descent on CPU or GPU, and L-BFGS.

What needs torch is imported when it is first used.
"""

from typing import TYPE_CHECKING

from complabel._lazy import lazily
from complabel._training._map import LinearMap, one_thread

if TYPE_CHECKING:
    from complabel._training._blocks import Blocks, Moments, dask_client
    from complabel._training._descent import (
        Schedule,
        descend,
        network_outputs,
        set_output_bias,
        train_network,
    )
    from complabel._training._device import resolve_device, torch_as_released
    from complabel._training._full_batch import (
        IterationCallback,
        LinearFits,
        LogitObjective,
        MapObjective,
        Scaling,
        Spread,
        minimize_linear,
        minimize_maps,
        products_of,
    )
    from complabel._training._linear import LinearTraining, train_linear, train_side_by_side
    from complabel._training._newton import LabelNewton, NormalPrior
    from complabel._training._saved import factory_of, factory_parts, network_parts, trained_network

__all__ = [
    "Blocks",
    "IterationCallback",
    "LabelNewton",
    "LinearFits",
    "LinearMap",
    "LinearTraining",
    "LogitObjective",
    "MapObjective",
    "Moments",
    "NormalPrior",
    "Scaling",
    "Schedule",
    "Spread",
    "dask_client",
    "descend",
    "factory_of",
    "factory_parts",
    "minimize_linear",
    "minimize_maps",
    "network_outputs",
    "network_parts",
    "one_thread",
    "products_of",
    "resolve_device",
    "set_output_bias",
    "torch_as_released",
    "train_linear",
    "train_network",
    "train_side_by_side",
    "trained_network",
]
_NAMES_IN = {
    "_blocks": "Blocks Moments dask_client",
    "_descent": "Schedule descend network_outputs set_output_bias train_network",
    "_device": "resolve_device torch_as_released",
    "_full_batch": "IterationCallback LinearFits LogitObjective MapObjective Scaling Spread"
    " minimize_linear minimize_maps products_of",
    "_linear": "LinearTraining train_linear train_side_by_side",
    "_newton": "LabelNewton NormalPrior",
    "_saved": "factory_of factory_parts network_parts trained_network",
}
_PLACES = {
    name: f"{__name__}.{module}:{name}"
    for module, names in _NAMES_IN.items()
    for name in names.split()
}
__getattr__, __dir__ = lazily(__name__, _PLACES)
