"""Datasets in files: a catalog with downloads, the paper's preprocessing, files of one's own."""

from typing import TYPE_CHECKING

from complabel._lazy import lazily, places_in
from complabel.experiments.datasets._catalog import CATALOG, download_dataset
from complabel.experiments.datasets._catalog import EMBEDDED as EMBEDDED
from complabel.experiments.datasets._catalog import CatalogEntry as CatalogEntry
from complabel.experiments.datasets._entries import dataset_entries as dataset_entries
from complabel.experiments.datasets._entries import other_half as other_half
from complabel.experiments.datasets._load import describe_datasets, load_dataset, load_released
from complabel.experiments.datasets._load import load_excluded as load_excluded

if TYPE_CHECKING:
    from complabel.experiments.datasets._matrices import save_file
    from complabel.experiments.datasets._own import find_own_files as find_own_files
    from complabel.experiments.datasets._own import load_file, load_tables
    from complabel.experiments.datasets._own import read_files as read_files
    from complabel.experiments.datasets._preprocess import preprocess

__all__ = [
    "CATALOG",
    "describe_datasets",
    "download_dataset",
    "load_dataset",
    "load_file",
    "load_released",
    "load_tables",
    "preprocess",
    "save_file",
]
# They need NumPy, which a list of datasets does not.
_PLACES = places_in(
    __name__,
    {
        "_matrices": "save_file",
        "_own": "find_own_files load_file load_tables read_files",
        "_preprocess": "preprocess",
    },
)
__getattr__, __dir__ = lazily(__name__, _PLACES)
