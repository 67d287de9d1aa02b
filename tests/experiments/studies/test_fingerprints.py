"""The checksum by which a store knows the dataset of its results."""

import numpy as np

from complabel.datasets import MultiLabelDataset
from complabel.experiments.studies._data import dataset_fingerprint


def test_excluded_labels_count_in_the_fingerprint():
    Y = np.array([[1, 0, 1], [0, 1, 0]], dtype=np.uint8)
    given = {"X": np.eye(2), "Y": Y, "label_names": ("a", "b", "c"), "feature_names": ("x", "y")}
    excluded = (None, None, 0 * Y, 1 - Y)
    found = [dataset_fingerprint(MultiLabelDataset("toy", **given, excluded=x)) for x in excluded]
    assert found[0] == found[1]
    assert len({*found}) == 3
