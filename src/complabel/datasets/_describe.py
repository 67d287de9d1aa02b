"""Describes every dataset, at hand or not, in plain data."""

from pathlib import Path
from typing import Any

from complabel.datasets._catalog import CATALOG, EMBEDDED, CatalogEntry
from complabel.datasets._dataset import MultiLabelDataset
from complabel.datasets._load import make_embedded, read_located
from complabel.datasets._locate import dataset_directories, locate
from complabel.datasets._paths import StrPath
from complabel.errors import ComplabelError


def describe_datasets(data_dir: StrPath | None = None) -> list[dict[str, Any]]:
    """Describe every dataset: which are at hand, how large, where from, on what terms.

    Parameters
    ----------
    data_dir : path, optional
        Searched first, as in `load_dataset`.

    Returns
    -------
    list of dict
        For each dataset `name`, `title`, `available`, `downloadable`, `location`, `n_samples`,
        `n_features`, `n_labels`, `label_cardinality` (measured after preprocessing; None where
        not available), the same four with the prefix `expected_` (published, or None), `source`,
        `citation`, `licence`, `note`, and `problem`: why a file at hand could not be read, or
        None. All values are plain strings, numbers, booleans or None.
    """
    directories = dataset_directories(data_dir)
    return [_describe_entry(entry, directories) for entry in CATALOG.values()] + [
        _describe_embedded(name) for name in EMBEDDED
    ]


def _describe_entry(entry: CatalogEntry, directories: list[Path]) -> dict[str, Any]:
    """Describe a dataset of the catalog."""
    located = locate(entry, directories)
    dataset, problem = None, None
    if located is not None:
        try:
            dataset = read_located(entry, located, preprocessed=True, verify=True)
        except ComplabelError as found:
            problem = str(found)
    expected = entry.expected
    return {
        "name": entry.name,
        "title": entry.title,
        "available": located is not None,
        "downloadable": entry.downloadable,
        "location": None if located is None else str(located.folder),
        **_size(dataset),
        "expected_n_samples": expected.n_samples,
        "expected_n_features": expected.n_features,
        "expected_n_labels": expected.n_labels,
        "expected_label_cardinality": expected.label_cardinality,
        "source": entry.source,
        "citation": entry.citation,
        "licence": entry.licence,
        "note": entry.note,
        "problem": problem,
    }


def _describe_embedded(name: str) -> dict[str, Any]:
    """Describe a dataset that is made on the spot."""
    about = _EMBEDDED_FACTS[name]
    return {
        "name": name,
        "available": True,
        "downloadable": False,
        "location": None,
        **_size(make_embedded(name, random_state=0)),
        "expected_n_samples": None,
        "expected_n_features": None,
        "expected_n_labels": None,
        "expected_label_cardinality": None,
        "problem": None,
        **about,
    }


def _size(dataset: MultiLabelDataset | None) -> dict[str, int | float | None]:
    """Measure a dataset."""
    names = ("n_samples", "n_features", "n_labels", "label_cardinality")
    return {name: None if dataset is None else getattr(dataset, name) for name in names}


_EMBEDDED_FACTS = {
    "digits": {
        "title": "Digits: one to four handwritten digits on a canvas",
        "source": "scikit-learn, sklearn.datasets.load_digits",
        "citation": "Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI, 1998",
        "licence": "CC BY 4.0 (UCI Machine Learning Repository)",
        "note": "Canvases of one group share source images: split by group.",
    },
    "synthetic": {
        "title": "Synthetic: Gaussian features, logistic labels, everything known",
        "source": "complabel.datasets.make_synthetic",
        "citation": "complabel",
        "licence": "Made by this package; no restriction",
        "note": "make_synthetic_problem also returns the true probabilities and transition matrix.",
    },
}
