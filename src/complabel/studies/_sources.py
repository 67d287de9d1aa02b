"""Where the datasets of a plan come from: the catalog, or files of one's own."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from pathlib import Path

from complabel.datasets import (
    MultiLabelDataset,
    files_of_dataset,
    load_dataset,
    load_file,
    preprocess,
)
from complabel.errors import ComplabelError, InputError

# A study goes through its datasets one after the other; two overlap where one ends.
KEPT = 2
_FEWEST_LABELS = 3


def fetch(
    name: str, file: str | Sequence[str] = "", *, data_dir: str | Path | None = None
) -> MultiLabelDataset:
    """Load a dataset of a plan; the latest two stay in memory.

    Parameters
    ----------
    name : str
    file : str or sequence of str, default=""
        A file of one's own, or the files of one dataset, as for
        :func:`complabel.datasets.load_file`. All its labels are kept; instances for which none or
        all of them are relevant are left out, unless the file has excluded labels.
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
    files = (file,) if isinstance(file, str) else tuple(file)
    written = []
    if file:
        with contextlib.suppress(OSError, ComplabelError):  # load_file says what is wrong
            written = [(one, Path(one).stat().st_mtime_ns) for one in files_of_dataset(files)]
    return _loaded(name, files if file else (), data_dir, tuple(written))


@functools.lru_cache(maxsize=KEPT)
def _loaded(
    name: str,
    files: tuple[str, ...],
    data_dir: str | Path | None,
    _written: tuple[tuple[str, int], ...],
) -> MultiLabelDataset:
    """Load a dataset; files that were written since are loaded again."""
    if not files:
        return load_dataset(name, data_dir=data_dir)
    dataset = load_file(files, name)
    if dataset.n_labels < _FEWEST_LABELS:
        labels = ", ".join(dataset.label_names)
        raise InputError(
            f"{files[0]}: a dataset with the labels {labels}; learning from complementary labels"
            f" needs at least {_FEWEST_LABELS}, as with two, 'not a' means 'b'"
        )
    if dataset.excluded is not None:
        return dataset
    return preprocess(dataset, max_labels=dataset.n_labels)
