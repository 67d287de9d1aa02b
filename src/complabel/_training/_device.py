"""Settings of torch: the device, default types and denormal numbers."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator

import torch

from complabel.errors import InputError

CPU = torch.device("cpu")
# Number of multiplications in a product of all rows, above which a GPU, or several threads, pay.
MUCH_WORK = 10**9


def resolve_device(device: str) -> torch.device:
    """Return a device of torch that can be used here; ``"auto"`` is CUDA if available, else CPU."""
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


def device_for(device: str, work: float) -> torch.device:
    """Return the device for a fit: ``"auto"`` is CUDA only if it is available and much is to do.

    ``work`` are the multiplications in a product of all rows.
    """
    return resolve_device("cpu" if device == "auto" and work < MUCH_WORK else device)


def bytes_for_rows(device: torch.device) -> float:
    """Return how much memory features may take on a device: half of what is free on a GPU."""
    if device.type != "cuda":
        return math.inf
    free, _ = torch.cuda.mem_get_info(device)
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return (free + kept) / 2


@contextlib.contextmanager
def full_precision() -> Iterator[None]:
    """Let torch multiply with all digits of single precision inside the block."""
    # The caller may have allowed fewer, which are too few for a full-batch minimum.
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@contextlib.contextmanager
def torch_as_released() -> Iterator[None]:
    """Undo, inside the block, the caller's changes of default type, device and gradient mode."""
    before = torch.get_default_dtype()
    if before != torch.float32:  # the default is shared by all threads: set it only if needed
        torch.set_default_dtype(torch.float32)
    try:
        with torch.device("cpu"), torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        if before != torch.float32:
            torch.set_default_dtype(before)


@contextlib.contextmanager
def denormals_as_zero() -> Iterator[None]:
    """Let the processor treat denormal numbers as 0 inside the block."""
    # Saturated scores have gradients below 1e-38. They slow the processor down and change nothing.
    already = not bool(torch.tensor(1e-40, dtype=torch.float32, device="cpu") * 1.0)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(already)
