"""Benchmark datasets: a catalog with downloads, the paper's preprocessing, released labels."""

from typing import TYPE_CHECKING

from complabel._lazy import lazily
from complabel.experiments.datasets._catalog import CATALOG, download_dataset
from complabel.experiments.datasets._catalog import EMBEDDED as EMBEDDED
from complabel.experiments.datasets._catalog import CatalogEntry as CatalogEntry
from complabel.experiments.datasets._entries import dataset_entries as dataset_entries
from complabel.experiments.datasets._entries import other_half as other_half
from complabel.experiments.datasets._load import describe_datasets, load_dataset, load_released

if TYPE_CHECKING:
    from complabel.experiments.datasets._preprocess import preprocess

__all__ = [
    "CATALOG",
    "describe_datasets",
    "download_dataset",
    "load_dataset",
    "load_released",
    "preprocess",
]
# It needs NumPy, which a list of datasets does not.
_PLACES = {"preprocess": "complabel.experiments.datasets._preprocess:preprocess"}
__getattr__, __dir__ = lazily(__name__, _PLACES)
