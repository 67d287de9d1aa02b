"""Where the datasets of a plan come from: the catalog, or a file of one's own."""

from __future__ import annotations

import contextlib
import functools
import re
from pathlib import Path

from complabel.datasets import (
    CATALOG,
    EMBEDDED,
    MultiLabelDataset,
    load_dataset,
    load_file,
    preprocess,
)

# A study goes through its datasets one after the other; two overlap where one ends.
KEPT = 2


def dataset_entry(text: str) -> str | dict[str, str]:
    """Return what a plan writes for a dataset that a command was given by name or as a file.

    A file is called by its name without the ending. What is neither is refused.
    """
    path = Path(text)
    if text not in (*CATALOG, *EMBEDDED):
        if not path.suffix and not path.is_file():
            load_dataset(text)  # which says what may have been meant
        name = re.sub(r"\W+", "-", path.name.partition(".")[0], flags=re.ASCII).strip("-_")
        return {"name": name or "dataset", "file": str(path.absolute())}
    return text


def fetch(name: str, file: str = "", *, data_dir: str | Path | None = None) -> MultiLabelDataset:
    """Load a dataset of a plan; the latest two stay in memory.

    Parameters
    ----------
    name : str
    file : str, default=""
        A file of one's own. All its labels are kept; instances for which none or all of them
        are relevant are left out, unless the file has excluded labels.
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
    """
    written = 0
    if file:
        with contextlib.suppress(OSError):  # load_file says what is wrong
            written = Path(file).stat().st_mtime_ns
    return _loaded(name, file, data_dir, written)


@functools.lru_cache(maxsize=KEPT)
def _loaded(name: str, file: str, data_dir: str | Path | None, _written: int) -> MultiLabelDataset:
    """Load a dataset; a file that was written since is loaded again."""
    if not file:
        return load_dataset(name, data_dir=data_dir)
    dataset = load_file(file, name)
    if dataset.excluded is not None:
        return dataset
    return preprocess(dataset, max_labels=dataset.n_labels)
