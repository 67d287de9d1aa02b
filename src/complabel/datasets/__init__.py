"""Multi-label datasets in memory: their class, embedded and synthetic data."""

from complabel.datasets._dataset import Features as Features
from complabel.datasets._dataset import MultiLabelDataset
from complabel.datasets._generated import make_digits, make_synthetic

__all__ = ["MultiLabelDataset", "make_digits", "make_synthetic"]
