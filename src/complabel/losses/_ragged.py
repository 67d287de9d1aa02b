"""The entries of each item in tensors that are sorted by item."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Ragged:
    """Where the entries of n owners lie in a tensor that is sorted by owner."""

    start: Tensor  # (n,)
    count: Tensor  # (n,)
    same: int | None  # the number of entries of each owner; None if it differs

    @classmethod
    def of(cls, owner: Tensor, n: int) -> Ragged:
        """Find the entries of owners 0 to n - 1; ``owner`` is in ascending order."""
        count = torch.bincount(owner, minlength=n)
        alike = n > 0 and bool((count == count[0]).all())
        return cls(count.cumsum(0) - count, count, int(count[0]) if alike else None)

    def of_rows(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the places of the entries of some owners (b,), and each entry's row in ``rows``.

        Both are (number of entries,), in the order of ``rows``.
        """
        row = torch.arange(len(rows), device=rows.device)
        if self.same == 1:
            return rows, row
        if self.same is not None:
            within = torch.arange(self.same, device=rows.device)
            places = (rows.unsqueeze(1) * self.same + within).flatten()
            return places, row.repeat_interleave(self.same)
        count = self.count.index_select(0, rows)
        row = row.repeat_interleave(count)
        shift = self.start.index_select(0, rows) - (count.cumsum(0) - count)
        return torch.arange(len(row), device=rows.device) + shift.index_select(0, row), row
