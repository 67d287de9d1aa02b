"""Loads datasets by name, wherever they come from."""

import logging
from pathlib import Path

from complabel.datasets._catalog import EMBEDDED, CatalogEntry, catalog_entry, check_name
from complabel.datasets._dataset import MultiLabelDataset
from complabel.datasets._download import Progress, download_dataset, sha256_of
from complabel.datasets._locate import Located, dataset_directories, locate, not_found
from complabel.datasets._meka import read_meka
from complabel.datasets._mulan import read_mulan
from complabel.datasets._paths import StrPath
from complabel.datasets._preprocess import preprocess
from complabel.datasets._svmlight import read_svmlight
from complabel.datasets._unpack import MAX_UNPACKED, check_limit
from complabel.errors import DatasetFormatError

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
        Apply ``preprocess``: at most 15 labels, no instance with none or all of them.
    verify : bool, default=True
        Compare files with the catalog's checksums, where it has any.
    random_state : int, default=0
        For "digits" and "synthetic"; the same number gives the same dataset.
    progress : callable or None, default=None
        Told about downloads as ``progress(bytes_done, bytes_total)``.
    max_unpacked : int, default=2**30
        The most bytes that an archive may unpack to; the default is 1 GiB.

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
    check_name(name)
    check_limit(max_unpacked)
    if name in EMBEDDED:
        return EMBEDDED[name].generate(random_state)
    entry = catalog_entry(name)
    directories = dataset_directories(data_dir)
    located = locate(entry, directories)
    if located is None and download:
        download_dataset(name, directories[0], progress=progress)
        located = locate(entry, directories)
    if located is None:
        raise not_found(entry, directories)
    return read_located(
        entry, located, preprocessed=preprocessed, verify=verify, limit=max_unpacked
    )


def read_located(
    entry: CatalogEntry,
    located: Located,
    *,
    preprocessed: bool,
    verify: bool,
    limit: int = MAX_UNPACKED,
) -> MultiLabelDataset:
    """Read the files of a layout."""
    layout, folder = located.layout, located.folder
    if verify:
        _verify(located)
    paths = [folder / file.name for file in layout.files]
    if layout.labels is not None:
        xml = folder / layout.labels.name
        dataset = read_mulan(paths, xml, name=entry.name, max_unpacked=limit)
    elif layout.format == "meka":
        dataset = read_meka(paths, name=entry.name, max_unpacked=limit)
    else:
        dataset = read_svmlight(
            paths, n_features=layout.n_features, name=entry.name, max_unpacked=limit
        )
    if not preprocessed:
        return dataset
    dataset = preprocess(dataset)
    _compare(entry, dataset, folder)
    return dataset


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
    expected = entry.expected
    for what in ("n_samples", "n_features", "n_labels"):
        published, found = getattr(expected, what), getattr(dataset, what)
        if published is not None and found != published:
            _logger.warning(
                "%s in %s: %s is %d, published %d", entry.name, folder, what, found, published
            )
