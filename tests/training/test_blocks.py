"""Rows in blocks: passes over them, their moments, and what cannot be read."""

from dataclasses import dataclass

import dask.array as da
import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler
from tests.refusals import raises

from complabel._training import Blocks, Moments
from complabel.errors import InputError

X = np.random.default_rng(0).normal(size=(103, 5)) * np.arange(1, 6) + 1e4


@dataclass
class Pieces:
    """Rows that are read in pieces, as those of a Parquet file."""

    rows: object
    size: int
    feature_names: None = None

    @property
    def sizes(self):
        n = self.rows.shape[0]
        return [min(self.size, n - start) for start in range(0, n, self.size)]

    shape = property(lambda self: self.rows.shape)
    dtype = property(lambda self: self.rows.dtype)

    def pieces(self):
        for start in range(0, self.shape[0], self.size):
            yield self.rows[start : start + self.size]


SOURCES = {
    "pieces": lambda rows: Pieces(rows, 10),
    "a single piece": lambda rows: Pieces(rows, 1000),
    "dask": lambda rows: da.from_array(rows, chunks=(30, 2)),
}


def total(block, own, factor):
    return factor * float(block.sum()) + (own or 0)


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_pass_calls_a_function_for_each_block(source):
    blocks = Blocks.of(source(X))
    assert blocks.shape == X.shape
    found = list(blocks.map(total, 2.0, each=range(len(blocks.sizes))))
    several = sum(range(len(blocks.sizes)))
    assert sum(found) == pytest.approx(2 * X.sum() + several, rel=1e-12)


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_some_rows_are_in_use_and_some_are_gathered(source):
    rng = np.random.default_rng(1)
    first, second = rng.random(103) < 0.8, rng.random(103) < 0.7
    first[10:20] = False  # a whole block
    blocks = Blocks.of(source(X))[first][second[first]]
    expected = X[first & second]
    assert blocks.shape == expected.shape
    rows = np.sort(rng.choice(len(expected), 17, replace=False))
    np.testing.assert_array_equal(blocks.gather(rows), expected[rows])
    assert sum(blocks.map(total, 1.0)) == pytest.approx(expected.sum(), rel=1e-12)


@pytest.mark.parametrize("rows", [X, sparse.csr_array(X - 1e4)], ids=["dense", "sparse"])
def test_moments_are_those_of_all_rows(rows):
    found = Blocks.of(Pieces(rows, 10)).moments()
    dense = rows.toarray() if sparse.issparse(rows) else rows
    by_sklearn = StandardScaler().fit(dense)
    for name in ("mean_", "var_", "scale_"):
        assert getattr(found, name) == pytest.approx(getattr(by_sklearn, name), rel=1e-11)
    if not sparse.issparse(rows):
        assert found.about / len(X) == pytest.approx(np.cov(X.T, bias=True), rel=1e-9, abs=1e-9)
    assert found.largest == np.abs(dense).max()


def test_constant_features_keep_their_scale():
    rows = np.column_stack([X[:, 0], np.full(len(X), 0.1)])
    assert Moments.of(rows).scale_ == pytest.approx(StandardScaler().fit(rows).scale_)
    assert Moments.of(rows).scale_[1] == 1


def test_the_moments_of_many_features_are_variances():
    wide = np.random.default_rng(0).normal(size=(7, 2049))
    found = Blocks.of(Pieces(wide, 3)).moments()
    assert found.about.shape == (2049,)
    assert found.var_ == pytest.approx(wide.var(axis=0), rel=1e-12)


def test_a_value_that_is_missing_is_found_in_its_row():
    rows = X.copy()
    rows[57, 3] = np.nan
    used = np.ones(103, dtype=bool)
    used[[3, 51]] = False
    with raises(InputError, "row 57", "column 3"):
        Blocks.of(Pieces(rows, 10))[used].moments()


def test_a_source_that_changes_is_refused():
    source = Pieces(X, 10)
    blocks = Blocks.of(source)
    source.size = 12
    with raises(InputError, "block 0", "12 rows", "10"):
        blocks.moments()


def test_a_memory_map_is_read_in_blocks_if_it_is_large(tmp_path):
    shape = (140_000, 2_000)  # 1.04 GiB, hardly any of which is written
    mapped = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, shape)
    rows = np.array([0, 65_535, 65_536, 139_999])
    mapped[rows] = np.arange(8_000).reshape(4, -1)
    assert Blocks.of(X) is None
    assert Blocks.of(mapped[:-20_000]) is None
    blocks = Blocks.of(mapped)
    assert blocks.sizes == (65_536, 65_536, 8_928)
    assert blocks.dtype == np.float32
    np.testing.assert_array_equal(blocks.gather(rows), mapped[rows])


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (da.from_array(X, chunks=50)[:, 0], "shape"),
        (da.from_array(X, chunks=50)[da.from_array(X[:, 0], chunks=50) > 0], "compute_chunk_sizes"),
        (da.from_array(X.astype(str), chunks=50), "X"),
    ],
    ids=["one axis", "unknown sizes", "texts"],
)
def test_other_arrays_of_dask_are_refused(array, told):
    with raises(InputError, told):
        Blocks.of(array)
