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
    first = tables[0]
    for other in tables[1:]:
        if other.names != first.names:
            raise DatasetFormatError(
                f"{other.source}: its attributes differ from those of {first.source}; "
                "only parts of one dataset can be joined"
            )
    feature_columns = np.setdiff1d(np.arange(len(first.names)), label_columns)
    if not feature_columns.size:
        raise DatasetFormatError(
            f"{first.source}: all {len(first.names)} attributes are labels, so that none is left "
            "as a feature; check which attributes are the labels"
        )
    return MultiLabelDataset(
        name=name,
        X=_stack([_columns(table, feature_columns) for table in tables]),
        Y=np.concatenate([_labels(table, label_columns) for table in tables]),
        label_names=tuple(first.names[i] for i in label_columns),
        feature_names=tuple(first.names[i] for i in feature_columns),
    )


def _columns(table: ArffTable, wanted: NDArray[np.intp]) -> Features:
    """Copy some columns, so that the rest of the table can be freed."""
    columns = table.values[:, wanted]
    return np.ascontiguousarray(columns) if isinstance(columns, np.ndarray) else columns


def _labels(table: ArffTable, wanted: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Return the label columns as an indicator matrix (n, K)."""
    columns = _columns(table, wanted)
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
