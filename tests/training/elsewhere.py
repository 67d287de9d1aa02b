"""A device that computes as the processor does, and refuses tensors of another one, as a GPU does.

Its tensors hold a tensor of the processor. Each operation on them is done there, after a check that
all are on the same device. Its name "lazy" is one that torch knows, and that no machine here has.
"""

import contextlib
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from complabel._training import _device

DEVICE, CPU = torch.device("lazy"), torch.device("cpu")


class _There(torch.Tensor):
    """A tensor on the device; NumPy cannot read it."""

    @staticmethod
    def __new__(cls, here):
        layout = {"strides": here.stride(), "storage_offset": here.storage_offset()}
        with torch.inference_mode(False):
            return torch.Tensor._make_wrapper_subclass(
                cls, here.shape, dtype=here.dtype, device=DEVICE, **layout
            )

    def __init__(self, here):
        self.here = here

    def tolist(self):
        return self.here.tolist()

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise AssertionError(f"{function} of a tensor of the device, outside of its block")


class Elsewhere(TorchDispatchMode):
    """The block in which the device exists; ``brought`` are the bytes of each copy to it."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else torch imports its compiler, which takes seconds

    def __init__(self, most_bytes):
        super().__init__()
        self.brought, self._most_bytes = [], most_bytes

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        given = [*args, *(kwargs or {}).values()]
        given += [each for values in given if isinstance(values, list | tuple) for each in values]
        there = [each for each in given if type(each) is _There]
        named = [each for each in given if isinstance(each, torch.device)]
        place = (*named, DEVICE if there else CPU)[0]
        copies = function.__name__.partition(".")[0] in ("_to_copy", "copy_", "to")
        if there and not copies and any(type(t) is torch.Tensor and t.ndim for t in given):
            raise AssertionError(f"{function} of tensors on two devices")
        named = {name: _here(value) for name, value in (kwargs or {}).items()}
        found = function(*map(_here, args), **named)
        if place == CPU:
            return found
        if copies and not there:
            self.brought.append(found.nbytes)
            if sum(self.brought) > self._most_bytes:
                raise torch.OutOfMemoryError("the device is full")
        known = {id(each.here): each for each in there}  # of tensors that were changed in place
        return _there(found, known)


def _here(value):
    if isinstance(value, list | tuple):
        return [*map(_here, value)]
    if isinstance(value, torch.device):
        return CPU
    return value.here if type(value) is _There else value


def _there(value, known):
    if isinstance(value, list | tuple):
        return type(value)(_there(each, known) for each in value)
    if not isinstance(value, torch.Tensor):
        return value
    return known[id(value)] if id(value) in known else _There(value)


@contextlib.contextmanager
def elsewhere(*, room=float("inf"), most_bytes=float("inf")):
    """Let fits with ``device="cuda"`` and ``"auto"`` use it, with ``room`` for features."""
    resolved = {"cuda": DEVICE, "auto": DEVICE, "cpu": CPU}.get
    of_rows = "complabel._training._full_batch.bytes_for_rows"
    with (
        mock.patch.multiple(_device, resolve_device=resolved, MUCH_WORK=0),
        mock.patch(of_rows, return_value=room),
        contextlib.ExitStack() as stack,
        Elsewhere(most_bytes) as found,
    ):
        torch._C._set_only_lift_cpu_tensors(True)  # torch.tensor copies one from here, too
        stack.callback(torch._C._set_only_lift_cpu_tensors, False)
        yield found
