"""Datasets in memory: what fits together."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy import sparse
from tests.refusals import raises

from complabel.answers import Answers
from complabel.datasets import MultiLabelDataset
from complabel.errors import InputError

Y = np.array([[1, 0, 1], [0, 1, 0]], dtype=np.uint8)
GOOD = {
    "name": "toy",
    "X": np.array([[0.5, 1.0], [2.0, 0.0]]),
    "Y": Y,
    "label_names": ("a", "b", "c"),
    "feature_names": ("x", "y"),
}


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_sizes_dense_and_sparse(convert):
    data = MultiLabelDataset(**{**GOOD, "X": convert(GOOD["X"])}, groups=np.array([0, 1]))
    assert (data.n_samples, data.n_features, data.n_labels) == (2, 2, 3)
    assert data.label_cardinality == 1.5
    with pytest.raises(FrozenInstanceError):
        data.name = "other"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": GOOD["X"].astype(np.float32)}, ("X", "float32")),
        ({"X": [[0.5]]}, "X"),
        ({"X": sparse.coo_array(GOOD["X"])}, ("X", "coo_array")),
        ({"X": np.ones(2)}, "2-D float64"),
        ({"X": np.ones((0, 2))}, "X"),
        ({"X": np.array([[0.5, np.nan], [1, 1]])}, ("X", "nan", "row 0", "column 1")),
        ({"X": sparse.csr_array(np.array([[0.5, np.inf], [1, 1]]))}, ("X", "inf", "row 0")),
        ({"Y": Y.astype(int)}, "2-D uint8"),
        ({"Y": Y[:1]}, ("Y", "shape (1, 3)", "2 rows")),
        ({"Y": Y * 2}, ("Y", "2")),
        ({"label_names": ("a", "b")}, ("2 label", "3 labels")),
        ({"feature_names": ("x",)}, ("1 feature", "2 features")),
        ({"label_names": ("a", "b", "a")}, "name 'a'"),
        ({"X": np.ones((2, 0)), "feature_names": ()}, "X"),
        ({"groups": np.array([0])}, ("groups", "shape (1,)")),
        ({"groups": np.array([0.5, 1])}, "float64"),
        ({"excluded": Y.astype(bool)}, ("excluded", "2-D uint8")),
        ({"excluded": Y[:1]}, ("excluded", "shape (1, 3)", "2 rows")),
        ({"excluded": Y[:, :2]}, ("excluded", "shape (2, 2)", "(2, 3)")),
        ({"excluded": Y * 3}, ("excluded", "3")),
        ({"answers": Y}, "answers"),
        ({"answers": Answers.from_arrays(absent=Y[:, :2])}, ("answers", "shape (2, 2)")),
        ({"answers": Answers.from_arrays(absent=Y, label_names=("c", "b", "a"))}, "answers"),
        ({"known": np.array([1, 0])}, "known"),
        ({"known": np.array([True])}, ("known", "shape (1,)")),
        ({"known": np.array([False, True])}, ("Y", "row 0")),
    ],
)
def test_what_does_not_fit_together_is_refused(change, message):
    with raises(InputError, message):
        MultiLabelDataset(**{**GOOD, **change})


class CountingName(str):
    """A name that counts how often it is compared."""

    compared = 0

    def __eq__(self, other):
        CountingName.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_label_names_are_not_compared_in_pairs():
    names = tuple(CountingName(f"label {k}") for k in range(2000))
    MultiLabelDataset("wide", np.ones((1, 1)), np.ones((1, 2000), np.uint8), names, ("x",))
    assert CountingName.compared < 100 * len(names)
