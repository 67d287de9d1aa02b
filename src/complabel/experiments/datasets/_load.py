"""Find the files of datasets and of released labels, load them, and describe them.

A list of datasets reads none that is not at hand, so nothing here loads NumPy before it is used.
"""

from __future__ import annotations

import csv
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from complabel._opening import StrPath, as_path, fault, is_file, read_text
from complabel._settings import setting
from complabel.errors import ComplabelError, DatasetNotFoundError, InputError
from complabel.experiments.datasets._catalog import (
    CATALOG,
    EMBEDDED,
    CatalogEntry,
    Layout,
    Progress,
    catalog_entry,
    download_dataset,
    sha256_of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from complabel.answers import Answers
    from complabel.datasets import Features, MultiLabelDataset
    from complabel.simulate import Scheme

_DATA_VARIABLE = "COMPLABEL_DATA"
_SIZES = ("n_samples", "n_features", "n_labels", "label_cardinality")
_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Located:
    """A folder where a layout may be, and the names of the files that are missing there."""

    layout: Layout
    folder: Path
    missing: Sequence[str]


def load_dataset(
    name: str,
    *,
    data_dir: StrPath | None = None,
    download: bool = False,
    preprocessed: bool = True,
    verify: bool = True,
    random_state: int = 0,
    progress: Progress | None = None,
) -> MultiLabelDataset:
    """Load a dataset by name.

    Parameters
    ----------
    name : str
        A name in ``CATALOG``, or "digits" or "synthetic", which need no files.
    data_dir : path or None, default=None
        Directory to search before ``$COMPLABEL_DATA`` and the user's cache directory.
    download : bool, default=False
        Whether to download missing files to the first of these directories.
    preprocessed : bool, default=True
        Whether to apply :func:`preprocess`. A dataset with ``excluded`` labels keeps all labels and
        instances, because the exclusions say something about each of them.
    verify : bool, default=True
        Whether to compare files with the catalog's checksums, as far as it has them.
    random_state : int, default=0
        Seed of "digits" and "synthetic".
    progress : callable or None, default=None
        Called during downloads as ``progress(bytes_done, bytes_total)``.

    Returns
    -------
    MultiLabelDataset
        X is sparse if the files are.

    Raises
    ------
    DatasetNotFoundError
        If the name is unknown or files are missing. The message lists all searched places, and
        what to do.
    DatasetFormatError
        If a file cannot be parsed or unpacked, or its checksum differs from the catalog's.
    DownloadError
        If ``download`` was asked for and failed.

    Examples
    --------
    >>> load_dataset("synthetic").Y.shape
    (1000, 6)
    """
    entry = catalog_entry(name, embedded=True)
    if entry.make:
        return entry.generate(random_state)
    directories = dataset_directories(data_dir)
    located = locate(entry, directories)
    if located is None and download:
        download_dataset(name, directories[0], progress=progress)
        located = locate(entry, directories)
    if located is None:
        raise not_found(entry, directories)
    if verify:
        _verify(located)
    from complabel.experiments.datasets._own import DatasetFiles, read_files
    from complabel.experiments.datasets._preprocess import preprocess

    layout, folder = located.layout, located.folder
    parts = tuple(folder / file.name for file in layout.files)
    labels = None if layout.labels is None else folder / layout.labels.name
    dataset = read_files(DatasetFiles(name, layout.format, parts, labels, layout.n_features))
    if not preprocessed:
        return dataset
    if dataset.excluded is None:
        dataset = preprocess(dataset)
    _compare(entry, dataset, located.folder)
    return dataset


def load_excluded(name: str, *, data_dir: StrPath | None = None) -> tuple[Answers, Features]:
    """Return what people ruled out, and the features, of a dataset that is a name or a file."""
    from complabel.answers import Answers
    from complabel.experiments.datasets._own import load_file

    path = Path(name)
    if not path.exists() and (path.suffix or path.name != name):
        raise DatasetNotFoundError(f"{name}: no such file; check the path")
    data = load_file(path) if path.is_file() else load_dataset(name, data_dir=data_dir)
    if data.excluded is None:
        raise InputError(
            f"{data.name} has no labels that people ruled out, so there are no answers to inspect;"
            " take mirflickr or yeastbp, or a file of yours with an array 'excluded'"
        )
    answers = Answers.from_arrays(
        excluded=data.excluded, question="excluded", label_names=data.label_names
    )
    return answers, data.X


def describe_datasets(
    data_dir: StrPath | None = None, *, names: Sequence[str] = (*CATALOG, *EMBEDDED)
) -> list[dict[str, Any]]:
    """Describe datasets: whether they are available, their size, source and licence.

    Parameters
    ----------
    data_dir : path or None, default=None
        As in :func:`load_dataset`.
    names : sequence of str, default=all

    Returns
    -------
    list of dict
        For each dataset, str, numbers, bool or None:

        - ``name``, ``title``, ``source``, ``citation``, ``licence``, ``note``;
        - ``available``, ``downloadable``, and ``location``, the folder of its files;
        - ``n_samples``, ``n_features``, ``n_labels``, ``label_cardinality``: measured after
          preprocessing; None if the dataset is not available;
        - the same four with the prefix ``expected_``: as published, or None;
        - ``problem``: why a file could not be read, or None.

    Raises
    ------
    DatasetNotFoundError
        If a name is unknown.
    """
    entries = [catalog_entry(name, embedded=True) for name in names]
    return [_describe(entry, data_dir) for entry in entries]


def dataset_directories(data_dir: StrPath | None = None) -> list[Path]:
    """List the directories to search: ``data_dir``, $COMPLABEL_DATA, the user's cache."""
    asked = None if data_dir in (None, "") else as_path("data_dir", data_dir)
    given = [Path(place) for place in (asked, os.environ.get(_DATA_VARIABLE)) if place]
    return [*given, platformdirs.user_cache_path("complabel") / "datasets"]


def locate(entry: CatalogEntry, directories: Sequence[Path]) -> Located | None:
    """Return the first folder and layout with all files; None if there is none."""
    places = (place for directory in directories for place in _places(entry, directory))
    return next((place for place in places if not place.missing), None)


def not_found(entry: CatalogEntry, directories: Sequence[Path]) -> DatasetNotFoundError:
    lines = [f"dataset {entry.name!r} was not found. Looked in"]
    lines += [f"  {_what_is_there(entry, directory)}" for directory in directories]
    named = sorted({sub for layout in entry.layouts for sub in _subfolders(entry.name, layout)})
    subfolders = " or ".join(map(repr, filter(None, named)))
    lines.append(f"for one of these sets of files, there or in a subfolder {subfolders}:")
    lines += [f"  {layout}" for layout in entry.layouts]
    if entry.downloadable:
        lines.append(
            f"To download it: complabel datasets --download {entry.name},"
            f" or load_dataset({entry.name!r}, download=True) in Python."
        )
    lines.append(
        f"By hand: get the files from {entry.source}, unpack .rar archives (not .zip), and put "
        f"them in one of these directories, or give their folder as {setting('data_dir')} or "
        f"${_DATA_VARIABLE}."
    )
    return DatasetNotFoundError("\n".join(lines))


def _places(entry: CatalogEntry, directory: Path) -> Iterator[Located]:
    """Yield each layout with each folder of a directory where its files may be."""
    for layout in entry.layouts:
        names = [file.name for file in layout.all_files]
        for folder in (directory / sub for sub in _subfolders(entry.name, layout)):
            yield Located(layout, folder, [name for name in names if not is_file(folder / name)])


def _subfolders(name: str, layout: Layout) -> list[str]:
    """List the subfolders where the files may be; the last one is the directory itself."""
    return [name, *filter(None, [layout.folder]), ""]


def _what_is_there(entry: CatalogEntry, directory: Path) -> str:
    if not directory.is_dir():
        return f"{directory} (no such directory)"
    for at in _places(entry, directory):
        if len(at.missing) < len(at.layout.all_files):
            return f"{directory} ({at.folder} has some files but lacks {', '.join(at.missing)})"
    return str(directory)


def _describe(entry: CatalogEntry, data_dir: StrPath | None) -> dict[str, Any]:
    located = locate(entry, dataset_directories(data_dir))
    measured: Any
    measured, problem = entry.expected if entry.make else None, None
    try:
        if located is not None:
            measured = load_dataset(entry.name, data_dir=data_dir)
    except ComplabelError as found:
        problem = str(found)
    return {
        "name": entry.name,
        "title": entry.title,
        "available": bool(entry.make) or located is not None,
        "downloadable": entry.downloadable,
        "location": None if located is None else str(located.folder),
        **{size: None if measured is None else getattr(measured, size) for size in _SIZES},
        **{f"expected_{size}": value for size, value in asdict(entry.expected).items()},
        **{key: getattr(entry, key) for key in ("source", "citation", "licence", "note")},
        "problem": problem,
    }


def _verify(located: Located) -> None:
    for file in located.layout.all_files:
        path = located.folder / file.name
        if problem := file.problem(path, sha256_of(path)):
            raise fault(
                path,
                f"{problem}; the file is damaged or another version: download it again, "
                "or use it as it is with verify=False",
            )


def _compare(entry: CatalogEntry, dataset: MultiLabelDataset, folder: Path) -> None:
    """Log a warning if a dataset does not have its published size (another version)."""
    for what in _SIZES[:3]:
        published, found = getattr(entry.expected, what), getattr(dataset, what)
        if published is not None and found != published:
            _logger.warning(
                "%s in %s: %s is %d, published %d", entry.name, folder, what, found, published
            )


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
    import numpy as np

    from complabel._parameters import check_choice
    from complabel.simulate import SCHEMES

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
    lines, rows, labels = np.array([*_records_of(path, scheme)]).T
    (n, n_labels), total = dataset.Y.shape, len(rows)

    def refuse(wrong: NDArray[np.bool_], told: str) -> None:
        if wrong.any():
            line, row, label = (int(each[wrong.argmax()]) for each in (lines, rows, labels))
            title = dataset.label_names[label] if label < n_labels else "unknown"
            what = told.format(row=row, label=f"{label} ({title})")
            raise fault(path, f"{what} (so {wrong.sum()} of {total} lines): {_AGAIN}", line=line)

    refuse(rows >= n, f"row {{row}}, but {name} has {n} rows, numbered from 0")
    refuse(labels >= n_labels, f"label {{label}}, but {name} has {n_labels}, numbered from 0")
    twice = np.ones(total, dtype=np.bool_)
    twice[np.unique(rows, return_index=True)[1]] = False
    refuse(twice, "row {row} has a second label, expected one for each row")
    told = "label {label} is said not to apply to row {row}, but it does; rows of the dataset may"
    refuse(dataset.Y[rows, labels] == 1, f"{told} be in another order, or labels numbered from 1")
    if total < n:
        first = np.setdiff1d(np.arange(n), rows)[0]
        told = f"{n - total} of the {n} rows of {name} have no label, the first is row {first}"
        raise fault(path, f"{told}: {_AGAIN}")
    released = np.zeros_like(dataset.Y)
    released[rows, labels] = 1
    return released


def _records_of(path: Path, scheme: str) -> Iterator[tuple[int, int, int]]:
    """Yield the line of each record, its row and its label."""
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
    line = 0
    for record in reader:
        line, fields = reader.line_num, [(record[name] or "").strip() for name in (_ROW, scheme)]
        for field in fields:
            # A number of more digits than 2**31 is no row of any dataset.
            if not (field.isascii() and field.isdecimal() and len(field) <= 10):
                raise fault(
                    path, f"found {field[:40]!r}, expected a whole number from 0", line=line
                )
        yield line, int(fields[0]), int(fields[1])
    if not line:
        raise fault(path, f"no labels are in the file; {_AGAIN}")
