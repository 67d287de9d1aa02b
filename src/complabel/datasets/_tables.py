"""From ARFF tables to a dataset: joining parts, splitting labels from features."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from complabel.datasets._arff import ArffTable
from complabel.datasets._dataset import CSR, Features, MultiLabelDataset
from complabel.errors import DatasetFormatError


def build_dataset(
    tables: Sequence[ArffTable], label_columns: NDArray[np.intp], name: str
) -> MultiLabelDataset:
    """Stack the parts of a dataset, and split off the columns that are labels."""
    names = _common_names(tables)
    is_label = np.zeros(len(names), dtype=bool)
    is_label[label_columns] = True
    if is_label.all():
        raise DatasetFormatError(
            f"{tables[0].source}: all {len(names)} attributes are labels, so that none is left as "
            "a feature; check which attributes are the labels"
        )
    features = [_columns(table, ~is_label) for table in tables]
    labels = [_label_matrix(table, is_label) for table in tables]
    return MultiLabelDataset(
        name=name,
        X=_stack(features),
        Y=np.concatenate(labels),
        label_names=tuple(names[i] for i in np.flatnonzero(is_label)),
        feature_names=tuple(names[i] for i in np.flatnonzero(~is_label)),
    )


def _common_names(tables: Sequence[ArffTable]) -> tuple[str, ...]:
    """Return the attributes all parts share, in order."""
    first = tables[0]
    for other in tables[1:]:
        if other.names != first.names:
            raise DatasetFormatError(
                f"{other.source}: its attributes differ from those of {first.source}; "
                "only parts of one dataset can be joined"
            )
    return first.names


def _columns(table: ArffTable, wanted: NDArray[np.bool_]) -> Features:
    """Copy some columns, so that the rest of the table can be freed."""
    if isinstance(table.values, np.ndarray):
        return np.ascontiguousarray(table.values[:, wanted])
    return table.values[:, np.flatnonzero(wanted)]


def _label_matrix(table: ArffTable, is_label: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return the label columns as an indicator matrix (n, K)."""
    columns = _columns(table, is_label)
    values = columns if isinstance(columns, np.ndarray) else columns.data
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        raise DatasetFormatError(
            f"{table.source}: found {values[wrong][0]:g} in a label column, expected 0 or 1; "
            "check which attributes are the labels"
        )
    labels = columns.astype(np.uint8)
    return labels if isinstance(labels, np.ndarray) else labels.toarray()


def _stack(parts: Sequence[Features]) -> Features:
    """Put the parts of a dataset below each other; sparse if one is."""
    if len(parts) == 1:
        return parts[0]
    dense = [part for part in parts if isinstance(part, np.ndarray)]
    if len(dense) == len(parts):
        return np.concatenate(dense)
    stacked: CSR = sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    return stacked
