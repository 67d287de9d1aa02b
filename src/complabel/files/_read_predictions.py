"""Reading predictions from files that ``PredictionWriter`` wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.errors import DatasetFormatError
from complabel.files._csv import CsvTable
from complabel.files._matrices import MatrixTable, open_table
from complabel.files._names import as_items
from complabel.files._parquet import ParquetTable
from complabel.files._prediction_rows import is_top
from complabel.files._predictions import PREDICTION_ENDINGS
from complabel.files._source import StrPath, explained, some_of, source_of


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions from a file.

    Attributes
    ----------
    items : ndarray of shape (n,), dtype object
        Names of the items, as str.
    probabilities : ndarray of shape (n, n_labels), dtype float32 or float64
        The probabilities. If the file lists only the most probable labels, the others are NaN. If
        it lists predicted labels instead of probabilities, the values are 0 and 1.
    label_names : tuple of str
        Names of the columns.
    """

    items: NDArray[Any]
    probabilities: NDArray[Any]
    label_names: tuple[str, ...]


def read_predictions(path: StrPath, *, label_names: Sequence[str] | None = None) -> Predictions:
    """Read a file of predictions that :class:`PredictionWriter` wrote.

    Parameters
    ----------
    path : path
        The file, which ends in ``.csv``, ``.csv.gz``, ``.parquet`` or ``.jsonl``.
    label_names : sequence of str, or None, default=None
        All labels, in the order of the columns. By default the labels of the file, in its order, or
        sorted if its rows list only some labels.

    Returns
    -------
    Predictions

    Raises
    ------
    DatasetNotFoundError
        If there is no such file.
    DatasetFormatError
        If the file cannot be parsed, or has labels that are not in ``label_names``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from complabel.files import PredictionWriter
    >>> path = Path(tempfile.mkdtemp()) / "predictions.jsonl"
    >>> with PredictionWriter(path, ["city", "sea"]) as writer:
    ...     writer.write(["a.jpg"], [[0.25, 0.5]])
    >>> print(path.read_text(), end="")
    {"item": "a.jpg", "labels": {"city": 0.25, "sea": 0.5}}
    >>> read_predictions(path).probabilities
    array([[0.25, 0.5 ]])
    """
    file, ending = source_of("path", path, PREDICTION_ENDINGS, "files of predictions")
    if ending == ".jsonl":
        return _from_json(file, label_names)
    table = open_table(file, ending)
    if "item" not in table.columns or len(table.columns) < 2:
        raise DatasetFormatError(
            f"{file}: found the columns {some_of(table.columns)}; predictions need a column 'item'"
            " and one for each label"
        )
    found = [name for name in table.columns if name != "item"]
    if is_top(found):
        return _from_top(table, len(found) // 2, label_names)
    names = _names(file, found, label_names)
    _refuse_missing(file, found, names)
    matrices = MatrixTable(table, "item", names, "give probabilities")
    ids: list[str] = []
    blocks = [np.zeros((0, len(names)), dtype=np.float32)]
    for own, block in matrices.pieces():
        ids += own or ()
        blocks.append(block)
    return Predictions(as_items(ids), np.concatenate(blocks), names)


def _from_top(
    table: CsvTable | ParquetTable, top: int, label_names: Sequence[str] | None
) -> Predictions:
    """Read a table that lists the most probable labels."""
    labels = [f"label_{at}" for at in range(1, top + 1)]
    numbers = [f"probability_{at}" for at in range(1, top + 1)]
    if isinstance(table, CsvTable):
        pieces = table.pieces(texts=["item", *labels], numbers=numbers)
    else:
        pieces = table.pieces(["item", *labels, *numbers])
    ids: list[str] = []
    rows: list[dict[str, float]] = []
    for piece in pieces:
        with explained(table.path, "write the predictions again"):
            columns = {name: values.to_pylist() for name, values in piece.items()}
        ids += map(str, columns["item"])
        listed = zip(*(columns[name] for name in labels), strict=True)
        values = zip(*(columns[name] for name in numbers), strict=True)
        rows += [dict(zip(*row, strict=True)) for row in zip(listed, values, strict=True)]
    return _of_rows(table.path, ids, rows, label_names, np.nan, in_order=False)


def _from_json(path: Path, label_names: Sequence[str] | None) -> Predictions:
    """Read JSON lines."""
    ids: list[str] = []
    rows: list[dict[str, float]] = []
    only_names = False
    with explained(path, "write the predictions again"), path.open(encoding="utf-8") as file:
        for line, text in enumerate(file, start=1):
            try:
                row = json.loads(text)
                labels = row["labels"]
                only_names = isinstance(labels, list)
                rows.append(dict.fromkeys(labels, 1.0) if only_names else _floats(labels))
                ids.append(str(row["item"]))
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as cause:
                raise DatasetFormatError(
                    f'{path}, line {line}: expected {{"item": ..., "labels": ...}}; found '
                    f"{text[:60]!r}"
                ) from cause
    complete = bool(rows) and not only_names and all(row.keys() == rows[0].keys() for row in rows)
    gap = 0.0 if only_names else np.nan
    return _of_rows(path, ids, rows, label_names, gap, in_order=complete)


def _floats(labels: dict[str, Any]) -> dict[str, float]:
    """Return probabilities by label."""
    return {name: float(value) for name, value in labels.items()}


def _of_rows(
    path: Path,
    ids: Sequence[str],
    rows: Sequence[dict[str, float]],
    label_names: Sequence[str] | None,
    gap: float,
    *,
    in_order: bool,
) -> Predictions:
    """Join rows that list different labels into one matrix."""
    found = list(rows[0]) if in_order else sorted({name for row in rows for name in row})
    names = _names(path, found, label_names)
    column = {name: at for at, name in enumerate(names)}
    probabilities = np.full((len(rows), len(names)), gap)
    for at, row in enumerate(rows):
        probabilities[at, [column[name] for name in row]] = list(row.values())
    return Predictions(as_items(ids), probabilities, names)


def _names(path: Path, found: Iterable[str], label_names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the columns; refuse labels that are not among those given."""
    if label_names is None:
        return tuple(found)
    unknown = [name for name in found if name not in set(label_names)]
    if unknown:
        raise DatasetFormatError(
            f"{path}: label {some_of(unknown)} is not among label_names; give all labels"
        )
    return tuple(label_names)


def _refuse_missing(path: Path, found: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a table that lacks labels."""
    missing = [name for name in names if name not in found]
    if missing:
        raise DatasetFormatError(f"{path}: there is no column for label {some_of(missing)}; add it")
