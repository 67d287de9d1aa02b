"""A device that computes as the processor does, and refuses tensors of another one, as a GPU does.

Its tensors hold a tensor of the processor. Each operation on them is done there, after a check that
all are on the same device. It is called "lazy", a name of torch's that no machine here has.
"""

import contextlib
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from complabel._training import _device

DEVICE, CPU = torch.device("lazy"), torch.device("cpu")
_COPIES = {"_to_copy", "copy_"}


class _There(torch.Tensor):
    """A tensor on the device; NumPy cannot read it."""

    @staticmethod
    def __new__(cls, here):
        shape = {"strides": here.stride(), "storage_offset": here.storage_offset()}
        with torch.inference_mode(False):
            return torch.Tensor._make_wrapper_subclass(
                cls, here.shape, dtype=here.dtype, device=DEVICE, **shape
            )

    def __init__(self, here):
        self.here = here

    def tolist(self):
        return self.here.tolist()

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise AssertionError(f"{function} of a tensor that should not be on the device any more")


class Elsewhere(TorchDispatchMode):
    """The block in which the device exists; it counts what is brought there, and back, in bytes."""

    def __init__(self):
        super().__init__()
        self.brought = self.taken = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        given = (args, kwargs or {})
        leaves = tree_leaves(given)
        tensors = [each for each in leaves if isinstance(each, torch.Tensor)]
        there = [each for each in tensors if isinstance(each, _There)]
        place = next((each for each in leaves if isinstance(each, torch.device)), None)
        place = place or (DEVICE if there else CPU)
        copies = function.__name__.partition(".")[0] in _COPIES
        if there and not copies and any(t.ndim for t in tensors if not isinstance(t, _There)):
            raise AssertionError(f"{function} of tensors on two devices")
        args, kwargs = tree_map(_here, given)
        found = function(*args, **kwargs)
        if copies and place != (DEVICE if there else CPU):
            self.brought += found.nbytes * (place == DEVICE)
            self.taken += found.nbytes * (place == CPU)
        if place == CPU:
            return found
        known = {id(each.here): each for each in there}  # changed in place

        def placed(value):
            if not isinstance(value, torch.Tensor):
                return value
            return known[id(value)] if id(value) in known else _There(value)

        return tree_map(placed, found)


def _here(value):
    if isinstance(value, torch.device):
        return CPU
    return value.here if isinstance(value, _There) else value


@contextlib.contextmanager
def elsewhere(room=float("inf")):
    """Let fits with ``device="cuda"`` use the device, with so many bytes for features."""
    resolved = {"cuda": DEVICE, "cpu": CPU}
    with (
        mock.patch.object(_device, "resolve_device", resolved.get),
        mock.patch("complabel._training._full_batch.bytes_for_rows", lambda _: room),
        contextlib.ExitStack() as stack,
        Elsewhere() as found,
    ):
        torch._C._set_only_lift_cpu_tensors(True)  # torch.tensor copies one from here, too
        stack.callback(torch._C._set_only_lift_cpu_tensors, False)
        yield found
