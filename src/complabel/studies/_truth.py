"""Which plans need true labels that a dataset does not have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from complabel.errors import InputError
from complabel.methods import get_method

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from complabel.datasets import MultiLabelDataset
    from complabel.studies._plan import Plan
    from complabel.studies._rows import ExpandedRow


def refuse_without_truth(
    dataset: MultiLabelDataset, plan: Plan, test_parts: Sequence[NDArray[np.intp]]
) -> None:
    """Refuse what needs true labels of rows, or of all rows, for which they are not known."""
    known = dataset.known
    if known is None:
        return
    if plan.criteria and not known.any():
        raise InputError(
            f"{dataset.name} has no true labels, on which criteria are measured; give truth, or"
            " leave the criteria out and measure by held-out answers: criteria = false and"
            " score = true in a plan"
        )
    if plan.criteria and not all(known[test].any() for test in test_parts):
        raise InputError(
            f"{dataset.name} has true labels of {dataset.n_known} of its {dataset.n_samples} rows,"
            f" and in one of the {len(test_parts)} folds of none; take fewer folds, or leave the"
            " criteria out"
        )
    for row in plan.expanded_rows():
        if why := _needs_all(row):
            raise InputError(
                f"the row {row.title!r} {why}, and {dataset.name} has true labels of"
                f" {dataset.n_known} of its {dataset.n_samples} rows; leave that out"
            )
        if get_method(row.method).learns_from == "relevant" and not known.any():
            raise InputError(
                f"{row.method} learns from true labels, and {dataset.name} has none; leave it out"
            )


def _needs_all(row: ExpandedRow) -> str:
    """Say why a row needs true labels of all rows, if it does."""
    if row.label_frequencies:
        return "is told how often labels truly apply"
    return "is told relevant labels" if row.relevant_per_row or row.relevant_share else ""
