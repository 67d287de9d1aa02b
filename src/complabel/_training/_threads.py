"""The number of threads of a fit; importing this loads no torch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from threadpoolctl import threadpool_limits


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let torch and BLAS use one thread inside the block, so that several fits can run at once."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        torch.set_num_threads(before)
