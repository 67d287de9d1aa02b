"""Where tensors live."""

from __future__ import annotations

import torch

from complabel.errors import InputError


def resolve_device(device: str) -> torch.device:
    """Turn a device name into a device that is there.

    Parameters
    ----------
    device : str
        ``"auto"`` (CUDA if there is one, else CPU) or any name torch knows.

    Returns
    -------
    torch.device

    Raises
    ------
    InputError
        If torch does not know the name or the machine has no such device.
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        resolved = torch.device(device)
        torch.empty(0, device=resolved)
    except (RuntimeError, AssertionError) as error:
        raise InputError(
            f"device={device!r} cannot be used here: {str(error).splitlines()[0]}"
            " Use 'auto' or 'cpu'."
        ) from error
    return resolved
