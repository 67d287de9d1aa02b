"""Features that stay in a Parquet file and are read in pieces."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.refusals import raises

from complabel.errors import DatasetFormatError
from complabel.files import read_features

N, GROUP = 160_000, 50_000
X = np.random.default_rng(0).normal(size=(N, 3)).astype(np.float32)
IDS = [f"i{row}" for row in range(N)]


def columns_of(X):
    return {name: X[:, at] for at, name in enumerate("abc")}


def lists_of(X):
    return {"x": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 3)}


@pytest.fixture(params=[columns_of, lists_of], ids=["columns", "lists"])
def path(request, tmp_path):
    """A file whose row groups have fewer rows than the pieces in which it is read."""
    table = pa.table({"item": IDS, **request.param(X)})
    pq.write_table(table, tmp_path / "X.parquet", row_group_size=GROUP)
    return tmp_path / "X.parquet"


def test_pieces_are_those_of_the_file_each_time(path):
    found, whole = read_features(path, in_pieces=True), read_features(path)
    assert found.X.shape == X.shape
    assert found.X.dtype == np.float32
    assert found.feature_names == found.X.feature_names == whole.feature_names
    assert found.items.tolist() == IDS
    for _ in range(2):
        pieces = list(found.X.pieces())
        assert [len(piece) for piece in pieces] == found.X.sizes == [65_536, 65_536, 28_928]
        np.testing.assert_array_equal(np.concatenate(pieces), X)


def test_a_dask_array_has_row_groups_as_blocks_small_ones_together(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    array = read_features(path.name, in_pieces=True).X.to_dask_array()
    assert array.chunks == ((100_000, 60_000), (3,))  # of two row groups
    monkeypatch.chdir("/")  # workers have folders of their own
    np.testing.assert_array_equal(array.compute(scheduler="sync"), X)


def test_ids_in_a_file_of_their_own(tmp_path):
    pq.write_table(pa.table(columns_of(X[:25])), tmp_path / "X.parquet")
    ids = write(tmp_path, IDS[:25])
    assert len(read_features(tmp_path / "X.parquet", items=ids).items) == 25
    found = read_features(tmp_path / "X.parquet", items=ids, in_pieces=True)
    assert found.items.tolist() == IDS[:25]
    with raises(DatasetFormatError, "ids.txt", "24 ids"):
        read_features(tmp_path / "X.parquet", items=write(tmp_path, IDS[1:25]), in_pieces=True)


def write(folder, ids):
    (folder / "ids.txt").write_text("\n".join(ids) + "\n")
    return folder / "ids.txt"


def test_faults_are_found_when_a_piece_is_read(path):
    broken = X.copy()
    broken[70_000, 1] = np.nan
    pq.write_table(pa.table({"item": IDS, **columns_of(broken)}), path)
    found = read_features(path, in_pieces=True)
    with raises(DatasetFormatError, "row 70000", "column 'b'", "NaN"):
        list(found.X.pieces())


@pytest.mark.parametrize(("ids", "told"), [(["a"] * N, "X.parquet"), ([""] * N, "'item'")])
def test_ids_are_checked_at_once(path, ids, told):
    pq.write_table(pa.table({"item": ids, **columns_of(X)}), path)
    with raises(DatasetFormatError, told):
        read_features(path, in_pieces=True)
