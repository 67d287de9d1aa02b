"""However a sparse matrix is written down, methods learn the same and leave it as it was."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from tests.methods.small import FAMILIES, brief, targets_of

from complabel.datasets import make_synthetic
from complabel.errors import InputError
from complabel.methods import make_classifier
from complabel.simulate import draw_complementary

PROBLEM = make_synthetic(60, n_features=6, n_labels=4, signal=6.0, random_state=2)
X = np.where(np.abs(PROBLEM.X) < 0.4, 0.0, PROBLEM.X)
COMPLEMENTARY = draw_complementary(PROBLEM.Y, random_state=0)
NEW = X[::-1] * 1.5


def untidy(dense, *, index=np.int64):
    """Write each entry as two halves apart, backwards, with zeros stored and wide indices."""
    n_samples, n_features = dense.shape
    backwards = np.arange(n_features)[::-1]
    columns = np.tile(np.concatenate([backwards, backwards]), n_samples)
    data = np.concatenate([dense[:, ::-1] / 2, dense[:, ::-1] / 2], axis=1).ravel()
    rows = np.arange(0, len(data) + 1, 2 * n_features)
    matrix = sparse.csr_array((n_samples, n_features), dtype=dense.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, columns.astype(index), rows.astype(index)
    assert_array_equal(matrix.toarray(), dense)
    return matrix


def learned(name, features, new):
    """What a method says of new rows, with its seed fixed and without a search."""
    classifier = brief(name, epochs=3)
    classifier.fit(features, targets_of(name, PROBLEM.Y, COMPLEMENTARY))
    return classifier.decision_function(new)


def arrays(matrix):
    return [matrix.data, matrix.indices, matrix.indptr]


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("name", ["prior", *FAMILIES])
def test_untidy_sparse_features_are_the_same_features_and_left_as_they_were(name, index):
    tidy = learned(name, sparse.csr_array(X), sparse.csr_array(NEW))
    given = untidy(X, index=index), untidy(NEW, index=index)
    before = [[part.copy() for part in arrays(matrix)] for matrix in given]
    assert_array_equal(learned(name, *given), tidy)
    for matrix, parts in zip(given, before, strict=True):
        for part, same in zip(arrays(matrix), parts, strict=True):
            assert part.dtype == same.dtype
            assert part.tobytes() == same.tobytes()


def test_entries_for_one_place_that_overflow_are_refused():
    huge = untidy(X)
    huge.data[:] = 1e308
    with pytest.raises(InputError, match="several entries for row 0, column 0, whose sum overflow"):
        make_classifier("prior").fit(huge, COMPLEMENTARY)
