"""Training of linear maps and networks: mini-batch gradient descent on CPU or GPU, and L-BFGS.

What needs torch is imported when it is first used.
"""

from typing import TYPE_CHECKING

from complabel._lazy import lazily, places_in
from complabel._training._map import LinearMap as LinearMap
from complabel._training._map import one_thread as one_thread

if TYPE_CHECKING:
    from complabel._training._blocks import Blocks as Blocks
    from complabel._training._blocks import Moments as Moments
    from complabel._training._blocks import dask_client as dask_client
    from complabel._training._descent import Schedule as Schedule
    from complabel._training._descent import descend as descend
    from complabel._training._descent import network_outputs as network_outputs
    from complabel._training._descent import set_output_bias as set_output_bias
    from complabel._training._descent import train_network as train_network
    from complabel._training._device import CPU as CPU
    from complabel._training._device import MUCH_WORK as MUCH_WORK
    from complabel._training._device import device_for as device_for
    from complabel._training._device import full_precision as full_precision
    from complabel._training._device import resolve_device as resolve_device
    from complabel._training._device import torch_as_released as torch_as_released
    from complabel._training._dual import DualFits as DualFits
    from complabel._training._dual import DualNewton as DualNewton
    from complabel._training._full_batch import CellProducts as CellProducts
    from complabel._training._full_batch import IterationCallback as IterationCallback
    from complabel._training._full_batch import LinearFits as LinearFits
    from complabel._training._full_batch import LogitObjective as LogitObjective
    from complabel._training._full_batch import MapObjective as MapObjective
    from complabel._training._full_batch import Scaling as Scaling
    from complabel._training._full_batch import Spread as Spread
    from complabel._training._full_batch import minimize_linear as minimize_linear
    from complabel._training._full_batch import minimize_maps as minimize_maps
    from complabel._training._full_batch import products_of as products_of
    from complabel._training._linear import LinearTraining as LinearTraining
    from complabel._training._linear import train_linear as train_linear
    from complabel._training._linear import train_side_by_side as train_side_by_side
    from complabel._training._newton import LabelNewton as LabelNewton
    from complabel._training._newton import NormalPrior as NormalPrior
    from complabel._training._saved import factory_of as factory_of
    from complabel._training._saved import factory_parts as factory_parts
    from complabel._training._saved import network_parts as network_parts
    from complabel._training._saved import trained_network as trained_network

_PLACES = places_in(
    __name__,
    {
        "_blocks": "Blocks Moments dask_client",
        "_descent": "Schedule descend network_outputs set_output_bias train_network",
        "_device": "CPU MUCH_WORK device_for full_precision resolve_device torch_as_released",
        "_dual": "DualFits DualNewton",
        "_full_batch": "CellProducts IterationCallback LinearFits LogitObjective MapObjective"
        " Scaling Spread minimize_linear minimize_maps products_of",
        "_linear": "LinearTraining train_linear train_side_by_side",
        "_newton": "LabelNewton NormalPrior",
        "_saved": "factory_of factory_parts network_parts trained_network",
    },
)
__getattr__, __dir__ = lazily(__name__, _PLACES)
