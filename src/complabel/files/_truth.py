"""Reading true labels from a table with a column of zeros and ones per label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.errors import DatasetFormatError
from complabel.files._matrices import MatrixTable, open_table
from complabel.files._names import as_items, refuse_repeated
from complabel.files._source import TABLE_ENDINGS, StrPath, some_of, source_of


@dataclass(frozen=True, eq=False)
class Truth:
    """True labels of items.

    Attributes
    ----------
    items : ndarray of shape (n,), dtype object
        Names of the rows, as str.
    Y : ndarray of shape (n, n_labels), dtype uint8
        1 if the label applies, else 0.
    label_names : tuple of str
        Names of the columns.
    """

    items: NDArray[Any]
    Y: NDArray[np.uint8]
    label_names: tuple[str, ...]


def read_truth(
    path: StrPath, *, label_names: Sequence[str] | None = None, name_column: str = "item"
) -> Truth:
    r"""Read a table of true labels: a column of ids, and one of zeros and ones for each label.

    Parameters
    ----------
    path : path
        The file, which ends in ``.csv``, ``.csv.gz``, ``.tsv``, ``.tsv.gz`` or ``.parquet``.
    label_names : sequence of str, or None, default=None
        All labels, in the order of the columns. By default the labels of the file, in its order.
    name_column : str, default="item"
        Name of the column of ids.

    Returns
    -------
    Truth

    Raises
    ------
    DatasetNotFoundError
        If there is no such file.
    DatasetFormatError
        If the file cannot be parsed; if a label is missing or unknown; if a value is neither 0 nor
        1; if a row has no id, or two rows have the same id.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "truth.csv"
    >>> _ = path.write_text("item,sea,city\na.jpg,1,0\nb.jpg,0,0\n")
    >>> read_truth(path, label_names=["city", "sea"]).Y
    array([[0, 1],
           [0, 0]], dtype=uint8)
    """
    file, ending = source_of("path", path, TABLE_ENDINGS, "tables of true labels")
    table = open_table(file, ending)
    if name_column not in table.columns:
        raise DatasetFormatError(
            f"{file}: there is no column {name_column!r} that names the items, only"
            f" {some_of(table.columns)}; add it"
        )
    found = [name for name in table.columns if name != name_column]
    names = found if label_names is None else list(label_names)
    missing = [name for name in names if name not in found]
    unknown = [name for name in found if name not in names]
    if missing or unknown or not names:
        lacks = [f"no column for label {some_of(missing)}"] if missing else []
        extra = [f"a column {some_of(unknown)}, which is not a label"] if unknown else []
        raise DatasetFormatError(
            f"{file}: there is {' and '.join(lacks + extra) or 'no column but the ids'}; give one "
            "column for each label, named after it"
        )
    matrices = MatrixTable(table, name_column, tuple(names), "give 1 if the label applies, else 0")
    ids: list[str] = []
    blocks: list[NDArray[np.uint8]] = []
    for own, block in matrices.pieces():
        wrong = (block != 0) & (block != 1)
        if wrong.any():
            row, column = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            value = block[row, column]
            raise DatasetFormatError(
                f"{file}, {table.place(len(ids) + int(row))}: column {names[column]!r} "
                f"{'is blank' if np.isnan(value) else f'holds {value:g}'}; give 1 if the label "
                "applies, else 0"
            )
        ids += own or ()
        blocks.append(block.astype(np.uint8))
    if not ids:
        raise DatasetFormatError(f"{file}: there are no rows; add one for each item")
    refuse_repeated(file, ids, table.place)
    return Truth(as_items(ids), np.concatenate(blocks), tuple(names))
