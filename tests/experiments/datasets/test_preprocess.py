"""The usual preprocessing of benchmark datasets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from tests.examples import examples

from complabel.datasets import MultiLabelDataset
from complabel.errors import InputError
from complabel.experiments.datasets import preprocess


def dataset(Y, *, groups=None, convert=np.asarray, excluded=None):
    Y = np.asarray(Y, dtype=np.uint8)
    X = np.arange(len(Y) * 2, dtype=np.float64).reshape(-1, 2)
    names = tuple(f"l{k}" for k in range(Y.shape[1]))
    return MultiLabelDataset("toy", convert(X), Y, names, ("x", "y"), groups, excluded)


def test_sparse_features_stay_sparse():
    found = preprocess(dataset([[1, 0, 0], [0, 0, 0], [1, 0, 1]], convert=sparse.csr_array))
    assert isinstance(found.X, sparse.csr_array)
    np.testing.assert_array_equal(found.X.toarray(), [[0, 1], [4, 5]])


def test_nothing_to_do_returns_the_dataset_itself():
    data = dataset([[1, 0, 0], [0, 1, 1]])
    assert preprocess(data) is data


@examples(25)
@given(
    Y=arrays(np.uint8, st.tuples(st.integers(1, 12), st.integers(3, 8)), elements=st.integers(0, 1))
)
def test_agrees_with_a_plain_loop(Y):
    by_frequency = sorted(range(Y.shape[1]), key=lambda k: (-int(Y[:, k].sum()), k))
    kept = sorted(by_frequency[:5])
    rows = [i for i in range(len(Y)) if 0 < sum(Y[i, k] for k in kept) < len(kept)]
    if not rows:
        with pytest.raises(InputError, match="none or all"):
            preprocess(dataset(Y), max_labels=5)
        return
    excluded = np.arange(Y.size, dtype=np.uint8).reshape(Y.shape) % 3 % 2
    found = preprocess(dataset(Y, excluded=excluded), max_labels=5)
    np.testing.assert_array_equal(found.Y, Y[np.ix_(rows, kept)])
    np.testing.assert_array_equal(found.excluded, excluded[np.ix_(rows, kept)])
    np.testing.assert_array_equal(found.X[:, 0], [2 * i for i in rows])
    assert found.label_names == tuple(f"l{k}" for k in kept)
    assert preprocess(found, max_labels=5) is found
