"""Benchmark datasets: a catalog with downloads, the paper's preprocessing, released labels."""

from complabel.experiments.datasets._catalog import CATALOG, download_dataset
from complabel.experiments.datasets._catalog import EMBEDDED as EMBEDDED
from complabel.experiments.datasets._catalog import CatalogEntry as CatalogEntry
from complabel.experiments.datasets._entries import dataset_entries as dataset_entries
from complabel.experiments.datasets._entries import other_half as other_half
from complabel.experiments.datasets._load import describe_datasets, load_dataset, load_released
from complabel.experiments.datasets._preprocess import preprocess

__all__ = [
    "CATALOG",
    "describe_datasets",
    "download_dataset",
    "load_dataset",
    "load_released",
    "preprocess",
]
