"""Loads datasets by name, wherever they come from, and describes them all."""

import logging
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from complabel.datasets._catalog import CATALOG, EMBEDDED, CatalogEntry, catalog_entry
from complabel.datasets._dataset import MultiLabelDataset
from complabel.datasets._download import Progress, download_dataset, sha256_of
from complabel.datasets._locate import Located, dataset_directories, locate, not_found
from complabel.datasets._meka import read_meka
from complabel.datasets._mulan import read_mulan
from complabel.datasets._paths import StrPath, check_options
from complabel.datasets._pml import read_pml
from complabel.datasets._preprocess import preprocess
from complabel.datasets._reading import MAX_UNPACKED
from complabel.datasets._svmlight import read_svmlight
from complabel.errors import ComplabelError, DatasetFormatError

_SIZES = ("n_samples", "n_features", "n_labels", "label_cardinality")
_logger = logging.getLogger(__name__)


def load_dataset(
    name: str,
    *,
    data_dir: StrPath | None = None,
    download: bool = False,
    preprocessed: bool = True,
    verify: bool = True,
    random_state: int = 0,
    progress: Progress | None = None,
    max_unpacked: int = MAX_UNPACKED,
) -> MultiLabelDataset:
    """Load a dataset by name.

    Parameters
    ----------
    name : str
        A name in ``CATALOG``, or "digits" or "synthetic", which need no files.
    data_dir : path or None, default=None
        Searched first; then ``$COMPLABEL_DATA``, then the user's cache directory.
    download : bool, default=False
        Fetch missing files to the first of these directories.
    preprocessed : bool, default=True
        Apply ``preprocess``: at most 15 labels, no instance with none or all of them. A dataset
        with ``excluded`` labels keeps all labels and instances: that somebody ruled a label out
        tells something of each of them.
    verify : bool, default=True
        Compare files with the catalog's checksums, where it has any.
    random_state : int, default=0
        For "digits" and "synthetic"; the same number gives the same dataset.
    progress : callable or None, default=None
        Told about downloads as ``progress(bytes_done, bytes_total)``.
    max_unpacked : int, default=2**30
        The most bytes that an archive may unpack to.

    Returns
    -------
    MultiLabelDataset
        Sparse where its files are.

    Raises
    ------
    DatasetNotFoundError
        If the name is unknown or files are missing; the message lists every place looked at,
        and what to do.
    DatasetFormatError
        If a file does not parse or unpack, or its checksum differs from the catalog's.
    DownloadError
        If ``download`` was asked for and failed.
    InputError
        If an argument is of the wrong type.

    Examples
    --------
    >>> load_dataset("synthetic").Y.shape
    (1000, 6)
    """
    check_options(max_unpacked)
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
    dataset = _read(entry.name, located, max_unpacked)
    if not preprocessed:
        return dataset
    if dataset.excluded is None:
        dataset = preprocess(dataset)
    _compare(entry, dataset, located.folder)
    return dataset


def describe_datasets(
    data_dir: StrPath | None = None, *, names: Sequence[str] = (*CATALOG, *EMBEDDED)
) -> list[dict[str, Any]]:
    """Describe datasets: which are at hand, how large, where from, on what terms.

    Parameters
    ----------
    data_dir : path or None, default=None
        Searched first, as in :func:`load_dataset`.
    names : sequence of str, default=all
        Which to describe.

    Returns
    -------
    list of dict
        For each dataset ``name``, ``title``, ``available``, ``downloadable``, ``location``,
        ``n_samples``, ``n_features``, ``n_labels``, ``label_cardinality`` (measured after
        preprocessing; None where not available), the same four with the prefix ``expected_``
        (published, or None), ``source``, ``citation``, ``licence``, ``note``, and ``problem``:
        why a file at hand could not be read, or None. All values are plain strings, numbers,
        booleans or None.

    Raises
    ------
    DatasetNotFoundError
        If there is no dataset of such a name.
    """
    directories = dataset_directories(data_dir)
    entries = [catalog_entry(name, embedded=True) for name in names]
    return [_describe(entry, locate(entry, directories), data_dir) for entry in entries]


def _describe(
    entry: CatalogEntry, located: Located | None, data_dir: StrPath | None
) -> dict[str, Any]:
    """Describe one dataset, which is read if it is at hand."""
    available = bool(entry.make) or located is not None
    dataset, problem = None, None
    try:
        if available:
            dataset = load_dataset(entry.name, data_dir=data_dir)
    except ComplabelError as found:
        problem = str(found)
    return {
        "name": entry.name,
        "title": entry.title,
        "available": available,
        "downloadable": entry.downloadable,
        "location": None if located is None else str(located.folder),
        **{size: None if dataset is None else getattr(dataset, size) for size in _SIZES},
        **{f"expected_{size}": value for size, value in asdict(entry.expected).items()},
        **{key: getattr(entry, key) for key in ("source", "citation", "licence", "note")},
        "problem": problem,
    }


def _read(name: str, located: Located, limit: int) -> MultiLabelDataset:
    """Read the files of a layout."""
    layout, folder = located.layout, located.folder
    paths = [folder / file.name for file in layout.files]
    if layout.labels is not None:
        return read_mulan(paths, folder / layout.labels.name, name=name, max_unpacked=limit)
    if layout.format == "pml":
        return read_pml(paths[0], name=name, max_unpacked=limit)
    if layout.format == "meka":
        return read_meka(paths, name=name, max_unpacked=limit)
    return read_svmlight(paths, n_features=layout.n_features, name=name, max_unpacked=limit)


def _verify(located: Located) -> None:
    """Compare the files with their checksums; report what the catalog does not know."""
    for file in located.layout.all_files:
        path = located.folder / file.name
        if problem := file.problem(path, sha256_of(path)):
            raise DatasetFormatError(
                f"{path}: {problem}; the file is damaged or another version: get it again, or use "
                "it as it is with verify=False"
            )


def _compare(entry: CatalogEntry, dataset: MultiLabelDataset, folder: Path) -> None:
    """Log where a dataset is not of the published size: another version of its files."""
    for what in _SIZES[:3]:
        published, found = getattr(entry.expected, what), getattr(dataset, what)
        if published is not None and found != published:
            _logger.warning(
                "%s in %s: %s is %d, published %d", entry.name, folder, what, found, published
            )
