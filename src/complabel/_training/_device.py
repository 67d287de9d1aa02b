"""Where tensors live, how many threads work on them, and how small numbers are treated."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from threadpoolctl import threadpool_limits

from complabel.errors import InputError


def resolve_device(device: str) -> torch.device:
    """Turn ``"auto"`` or a name that torch knows into a device that is there, or refuse it."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        resolved = torch.device(device)
        torch.empty(0, device=resolved)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise InputError(
            f"device={device!r} cannot be used here: {str(error).splitlines()[0]}"
            " Use 'auto' or 'cpu'."
        ) from error
    return resolved


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let torch and BLAS use one thread inside the block: for several fits at once."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def torch_as_released() -> Iterator[None]:
    """Make a network without the default type, device and gradient mode that the caller has set."""
    before = torch.get_default_dtype()
    if before != torch.float32:  # it belongs to the whole process: touched only where it differs
        torch.set_default_dtype(torch.float32)
    try:
        with torch.device("cpu"), torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        if before != torch.float32:
            torch.set_default_dtype(before)


def no_autocast(device: torch.device) -> contextlib.AbstractContextManager[object]:
    """Compute in the types that tensors have, whatever the caller's program has set."""
    try:
        return torch.autocast(device.type, enabled=False)
    except RuntimeError:  # there is no autocast for such a device, so nobody can have set it
        return contextlib.nullcontext()


@contextlib.contextmanager
def denormals_as_zero() -> Iterator[None]:
    """Let the processor treat denormal numbers as 0 inside the block.

    Saturated scores make gradients below 1e-38, which are slow to compute with and teach nothing.
    """
    already = not bool(torch.tensor(1e-40, dtype=torch.float32, device="cpu") * 1.0)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(already)
