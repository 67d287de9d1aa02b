"""Describes every dataset, at hand or not, in plain data."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from complabel.datasets._catalog import CATALOG, EMBEDDED, CatalogEntry
from complabel.datasets._load import read_located
from complabel.datasets._locate import dataset_directories, locate
from complabel.datasets._paths import StrPath
from complabel.errors import ComplabelError

_SIZES = ("n_samples", "n_features", "n_labels", "label_cardinality")


def describe_datasets(data_dir: StrPath | None = None) -> list[dict[str, Any]]:
    """Describe every dataset: which are at hand, how large, where from, on what terms.

    Parameters
    ----------
    data_dir : path or None, default=None
        Searched first, as in ``load_dataset``.

    Returns
    -------
    list of dict
        For each dataset ``name``, ``title``, ``available``, ``downloadable``, ``location``,
        ``n_samples``, ``n_features``, ``n_labels``, ``label_cardinality`` (measured after
        preprocessing; None where not available), the same four with the prefix ``expected_``
        (published, or None), ``source``, ``citation``, ``licence``, ``note``, and ``problem``:
        why a file at hand could not be read, or None. All values are plain strings, numbers,
        booleans or None.
    """
    directories = dataset_directories(data_dir)
    return [_describe(entry, directories) for entry in (*CATALOG.values(), *EMBEDDED.values())]


def _describe(entry: CatalogEntry, directories: list[Path]) -> dict[str, Any]:
    """Describe one dataset."""
    located = locate(entry, directories)
    dataset, problem = None, None
    try:
        if entry.make:
            dataset = entry.generate(random_state=0)
        elif located is not None:
            dataset = read_located(entry, located, preprocessed=True, verify=True)
    except ComplabelError as found:
        problem = str(found)
    return {
        "name": entry.name,
        "title": entry.title,
        "available": bool(entry.make) or located is not None,
        "downloadable": entry.downloadable,
        "location": None if located is None else str(located.folder),
        **{size: None if dataset is None else getattr(dataset, size) for size in _SIZES},
        **{f"expected_{size}": value for size, value in asdict(entry.expected).items()},
        "source": entry.source,
        "citation": entry.citation,
        "licence": entry.licence,
        "note": entry.note,
        "problem": problem,
    }
