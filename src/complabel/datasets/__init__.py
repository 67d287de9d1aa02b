"""Multi-label datasets: readers of files and tables, embedded and synthetic data."""

from complabel.datasets._arff import read_meka as read_meka
from complabel.datasets._arff import read_mulan as read_mulan
from complabel.datasets._dataset import MultiLabelDataset
from complabel.datasets._generated import make_digits, make_synthetic
from complabel.datasets._matrices import read_pml as read_pml
from complabel.datasets._matrices import read_svmlight as read_svmlight
from complabel.datasets._matrices import save_file
from complabel.datasets._own import DatasetFiles as DatasetFiles
from complabel.datasets._own import find_own_files as find_own_files
from complabel.datasets._own import load_file, load_tables
from complabel.datasets._own import read_files as read_files

__all__ = [
    "MultiLabelDataset",
    "load_file",
    "load_tables",
    "make_digits",
    "make_synthetic",
    "save_file",
]
