"""Multi-label datasets: file readers, a catalog of benchmarks, embedded and synthetic data."""

from complabel.datasets._arff import read_meka as read_meka
from complabel.datasets._arff import read_mulan as read_mulan
from complabel.datasets._catalog import CATALOG, download_dataset
from complabel.datasets._catalog import EMBEDDED as EMBEDDED
from complabel.datasets._catalog import CatalogEntry as CatalogEntry
from complabel.datasets._dataset import MultiLabelDataset, preprocess
from complabel.datasets._dataset import dataset_fingerprint as dataset_fingerprint
from complabel.datasets._generated import make_digits, make_synthetic
from complabel.datasets._load import describe_datasets, load_dataset, load_released
from complabel.datasets._matrices import read_pml as read_pml
from complabel.datasets._matrices import read_svmlight as read_svmlight
from complabel.datasets._matrices import save_file
from complabel.datasets._own import dataset_entries as dataset_entries
from complabel.datasets._own import describe_file as describe_file
from complabel.datasets._own import files_of_dataset as files_of_dataset
from complabel.datasets._own import load_file, load_tables
from complabel.datasets._own import other_half as other_half

__all__ = [
    "CATALOG",
    "MultiLabelDataset",
    "describe_datasets",
    "download_dataset",
    "load_dataset",
    "load_file",
    "load_released",
    "load_tables",
    "make_digits",
    "make_synthetic",
    "preprocess",
    "save_file",
]
