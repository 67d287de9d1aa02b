"""Loads the datasets of a plan, from the catalog or from the user's files."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Sequence
from pathlib import Path

from complabel.answers import UnlistedLabelsWarning
from complabel.datasets import (
    MultiLabelDataset,
    files_of_dataset,
    load_dataset,
    load_file,
    load_tables,
    preprocess,
)
from complabel.errors import ComplabelError, InputError
from complabel.files import UnmatchedItemsWarning
from complabel.studies._own_tables import OwnTables, paths_of

# A study takes its datasets one after the other. Two are in use when one ends and the next begins.
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
        Your own file, or the files of one dataset, as for :func:`complabel.datasets.load_file`.
        All its labels are kept. Instances with none or all of the labels are left out, unless
        the file has excluded labels. Or tables, as ``Plan.file_of`` returns them; tables with
        answers are kept whole.
    data_dir : path or None, default=None
        Folder with the files of the catalog's datasets.

    Returns
    -------
    MultiLabelDataset

    Raises
    ------
    DatasetNotFoundError
        If a file does not exist.
    DatasetFormatError
        If a file does not parse.
    InputError
        If a file of yours has fewer than three labels.
    """
    files = file if isinstance(file, OwnTables) else paths_of(file)
    written = []
    if files:
        with contextlib.suppress(OSError, ComplabelError):  # reading them says more
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
    """Load a dataset; ``_written`` makes the cache load changed files again."""
    if not files:
        return load_dataset(name, data_dir=data_dir)
    dataset = _from_tables(files, name) if isinstance(files, OwnTables) else load_file(files, name)
    if dataset.answers is not None:
        return dataset  # answers are useful for any instance and any number of labels
    if dataset.n_labels < _FEWEST_LABELS:
        labels = ", ".join(dataset.label_names)
        raise InputError(
            f"{paths_of(files)[0]}: this dataset has only the labels {labels}; learning from"
            f" complementary labels needs at least {_FEWEST_LABELS}, because with two, 'not a'"
            " means 'b'"
        )
    if dataset.excluded is not None:
        return dataset
    return preprocess(dataset, max_labels=dataset.n_labels)


def _from_tables(tables: OwnTables, name: str) -> MultiLabelDataset:
    """Load tables without warnings about their content, which every process would repeat."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnlistedLabelsWarning)
        warnings.simplefilter("ignore", UnmatchedItemsWarning)
        return load_tables(
            tables.features,
            answers=tables.answers or None,
            truth=tables.truth,
            items=tables.items,
            label_names=tables.label_names,
            question=tables.question,
            contradictions=tables.contradictions,
            name=name,
        )
