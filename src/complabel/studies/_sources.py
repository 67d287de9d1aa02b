"""Where the datasets of a plan come from: the catalog, or files of one's own."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Sequence
from pathlib import Path

from complabel.annotations import UnlistedLabelsWarning
from complabel.datasets import (
    MultiLabelDataset,
    files_of_dataset,
    load_dataset,
    load_file,
    load_tables,
    preprocess,
)
from complabel.errors import ComplabelError, InputError
from complabel.studies._own_tables import OwnTables, paths_of
from complabel.tables import UnmatchedItemsWarning

# A study goes through its datasets one after the other; two overlap where one ends.
KEPT = 2
_FEWEST_LABELS = 3


def fetch(
    name: str,
    file: str | Sequence[str] | OwnTables = "",
    *,
    data_dir: str | Path | None = None,
) -> MultiLabelDataset:
    """Load a dataset of a plan; the latest two stay in memory.

    Parameters
    ----------
    name : str
    file : str, sequence of str or tables, default=""
        A file of one's own, or the files of one dataset, as for
        :func:`complabel.datasets.load_file`. All its labels are kept; instances for which none or
        all of them are relevant are left out, unless the file has excluded labels. Or tables, as
        ``Plan.file_of`` gives them; those with answers are kept whole, too.
    data_dir : path or None, default=None
        Folder with the files of datasets of the catalog.

    Returns
    -------
    MultiLabelDataset

    Raises
    ------
    DatasetNotFoundError
        If a file is not there.
    DatasetFormatError
        If a file does not parse.
    InputError
        If a file of one's own has fewer than three labels.
    """
    files = file if isinstance(file, OwnTables) else paths_of(file)
    written = []
    if files:
        with contextlib.suppress(OSError, ComplabelError):  # whoever reads them says what is wrong
            read = files.paths if isinstance(files, OwnTables) else files_of_dataset(files)
            written = [(one, Path(one).stat().st_mtime_ns) for one in read]
    return _loaded(name, files, data_dir, tuple(written))


@functools.lru_cache(maxsize=KEPT)
def _loaded(
    name: str,
    files: tuple[str, ...] | OwnTables,
    data_dir: str | Path | None,
    _written: tuple[tuple[str, int], ...],
) -> MultiLabelDataset:
    """Load a dataset; files that were written since are loaded again."""
    if not files:
        return load_dataset(name, data_dir=data_dir)
    dataset = _from_tables(files, name) if isinstance(files, OwnTables) else load_file(files, name)
    if dataset.answers is not None:
        return dataset  # whatever was asked, each answer tells something
    if dataset.n_labels < _FEWEST_LABELS:
        labels = ", ".join(dataset.label_names)
        raise InputError(
            f"{paths_of(files)[0]}: a dataset with the labels {labels}; learning from complementary"
            f" labels needs at least {_FEWEST_LABELS}, as with two, 'not a' means 'b'"
        )
    if dataset.excluded is not None:
        return dataset
    return preprocess(dataset, max_labels=dataset.n_labels)


def _from_tables(tables: OwnTables, name: str) -> MultiLabelDataset:
    """Load tables; each process does, so that warnings about what is in them would be repeated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnlistedLabelsWarning)
        warnings.simplefilter("ignore", UnmatchedItemsWarning)
        return load_tables(
            tables.features,
            answers=tables.answers or None,
            truth=tables.truth,
            items=tables.items,
            label_names=tables.label_names,
            contradictions=tables.contradictions,
            name=name,
        )
