"""Complementary labels that the paper's group released for datasets of the catalog."""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from complabel._opening import StrPath, fault, is_file, read_text
from complabel._parameters import check_choice
from complabel.datasets._dataset import MultiLabelDataset
from complabel.datasets._load import dataset_directories
from complabel.errors import DatasetNotFoundError
from complabel.simulate import SCHEMES, Scheme

_FOLDER = "released"
_ROW = "row"
_AGAIN = "get the file again, or take labels uniform or biased, which are simulated"


def load_released(
    dataset: MultiLabelDataset, *, scheme: Scheme = "uniform", data_dir: StrPath | None = None
) -> NDArray[np.uint8]:
    """Load the complementary labels that the paper's group released for a dataset.

    The file is ``released/NAME.csv``, a table with the columns ``row`` (the number of a row of
    the dataset after preprocessing, from 0), ``uniform`` and ``biased`` (the number of a label,
    from 0). Lines may have any order. Other columns are not used.

    Parameters
    ----------
    dataset : MultiLabelDataset
        A dataset from :func:`load_dataset`. Its true labels are only used to check the file.
    scheme : {"uniform", "biased"}, default="uniform"
    data_dir : path or None, default=None
        Where to look for the folder ``released`` before ``$COMPLABEL_DATA`` and the user's cache
        directory.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 at the complementary label, one in each row.

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError
        If the file is missing or cannot be parsed, its rows are not those of the dataset, or a
        label does not exist or applies to its row.
    """
    check_choice("scheme", scheme, SCHEMES)
    name = dataset.name
    # Users choose the names of their own datasets, so a name may be a path to another folder.
    places = [each / _FOLDER / f"{Path(name).name}.csv" for each in dataset_directories(data_dir)]
    path = next(filter(is_file, places), None)
    if path is None:
        raise DatasetNotFoundError(
            f"there are no released labels of {name}. Looked for"
            f" {', '.join(map(str, places))}. The paper's group released some for scene and yeast:"
            " put a table with the columns row, uniform and biased there, or name the folder that"
            f" holds {_FOLDER}/{name}.csv as data folder; for other datasets take labels uniform"
            " or biased, which are simulated"
        )
    lines, rows, labels = _read(path, scheme)
    for place, problem in _problems(lines, rows, labels, dataset):
        raise fault(f"{path}{place}", f"{problem}: {_AGAIN}")
    released = np.zeros_like(dataset.Y)
    released[rows, labels] = 1
    return released


def _read(path: Path, scheme: str) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the line of each record, its row and its label."""
    reader = csv.DictReader(read_text(path).splitlines(), skipinitialspace=True)
    header = [name.strip() for name in reader.fieldnames or ()]
    reader.fieldnames = header
    for name in (_ROW, scheme):
        if header.count(name) != 1:
            raise fault(
                path,
                f"found the columns {', '.join(header)[:100]}, expected one that is called {name}",
                line=1,
            )
    lines, numbers = [], []
    for record in reader:
        fields = [(record[name] or "").strip() for name in (_ROW, scheme)]
        for field in fields:
            # A number of more digits than 2**31 is no row of any dataset.
            if not (field.isascii() and field.isdecimal() and len(field) <= 10):
                problem = f"found {field[:40]!r}, expected a whole number from 0"
                raise fault(path, problem, line=reader.line_num)
        lines.append(reader.line_num)
        numbers.append([int(field) for field in fields])
    if not lines:
        raise fault(path, f"no labels are in the file; {_AGAIN}")
    rows, labels = np.array(numbers, dtype=np.intp).T
    return np.array(lines), rows, labels


def _problems(
    lines: NDArray[np.intp],
    rows: NDArray[np.intp],
    labels: NDArray[np.intp],
    dataset: MultiLabelDataset,
) -> Iterator[tuple[str, str]]:
    """Yield what does not fit the dataset, and where; later checks rely on earlier ones."""
    name, n, n_labels = dataset.name, dataset.n_samples, dataset.n_labels
    for at in np.flatnonzero(rows >= n):
        yield (
            f", line {lines[at]}",
            f"row {rows[at]}, but {name} has {n} rows, numbered from 0, and the file"
            f" {len(rows)} lines of labels; it is about another version of the dataset",
        )
    counts = np.bincount(rows, minlength=n)
    for row in np.flatnonzero(counts > 1):
        places = ", ".join(str(lines[at]) for at in np.flatnonzero(rows == row)[:5])
        yield f", lines {places}", f"row {row} has several labels, expected one for each row"
    missing = np.flatnonzero(counts == 0)
    if len(missing):
        told = f"{len(missing)} of the {n} rows of {name} have no label, the first is row"
        yield "", f"{told} {missing[0]}"
    for at in np.flatnonzero(labels >= n_labels):
        told = f"label {labels[at]}, but {name} has {n_labels} labels, numbered from 0"
        yield f", line {lines[at]}", told
    relevant = np.flatnonzero(dataset.Y[rows, labels])
    for at in relevant:
        row, label = rows[at], labels[at]
        yield (
            f", line {lines[at]}",
            f"label {label} ({dataset.label_names[label]}) is said not to apply to row {row}, but"
            f" it does (so in {len(relevant)} of {len(rows)} lines); rows of the dataset may be in"
            " another order, or labels be numbered from 1",
        )
