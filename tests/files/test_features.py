"""Features from every format: read back as they were written, or refused with the place."""

import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from tests.examples import examples
from tests.files.files import IDS, NAMES, WITH_IDS, WITHOUT_IDS, write_text
from tests.refusals import raises
from tests.spawned import python

from complabel.errors import DatasetFormatError, DatasetNotFoundError, InputError
from complabel.files import iterate_features, read_features

X = np.array([[0.1, -2, 0], [1e-300, 3, 4], [5, 0, 1 / 3], [0, 7e12, 8], [9, 1, 2]])


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def whole(pieces):
    """The matrix and ids of pieces."""
    pieces = list(pieces)
    return (
        np.concatenate([dense(piece.X) for piece in pieces]),
        [item for piece in pieces for item in piece.items],
        [len(piece.items) for piece in pieces],
    )


@pytest.mark.parametrize("name", WITH_IDS)
def test_formats_with_ids(name, tmp_path):
    file, write = WITH_IDS[name]
    write(tmp_path / file, X, IDS)
    features = read_features(tmp_path / file)
    np.testing.assert_array_equal(features.X, X)
    assert features.X.dtype == np.float64
    assert features.items.tolist() == IDS
    assert features.feature_names == (None if "list" in name else tuple(NAMES))


@pytest.mark.parametrize("name", WITHOUT_IDS)
def test_formats_without_ids(name, tmp_path):
    file, write = WITHOUT_IDS[name]
    write(tmp_path / file, X)
    features = read_features(tmp_path / file)
    np.testing.assert_allclose(dense(features.X), X, rtol=1e-15)
    assert features.items.tolist() == ["0", "1", "2", "3", "4"]
    assert features.feature_names is None
    assert sparse.issparse(features.X) == (name != "npy")


@pytest.mark.parametrize("n_rows", [1, 2, 5])
@pytest.mark.parametrize("name", [*WITH_IDS, *WITHOUT_IDS])
def test_pieces_are_the_whole(name, n_rows, tmp_path):
    file, write = {**WITH_IDS, **WITHOUT_IDS}[name]
    write(tmp_path / file, X, *([IDS] if name in WITH_IDS else []))
    expected = read_features(tmp_path / file)
    found, items, counts = whole(iterate_features(tmp_path / file, n_rows=n_rows))
    np.testing.assert_array_equal(found, dense(expected.X))
    assert items == expected.items.tolist()
    assert set(counts[:-1]) <= {n_rows}
    assert 1 <= counts[-1] <= n_rows


@pytest.mark.parametrize("name", [*WITH_IDS, *WITHOUT_IDS])
def test_rows_that_are_kept_are_rows_of_the_whole(name, tmp_path):
    file, write = {**WITH_IDS, **WITHOUT_IDS}[name]
    write(tmp_path / file, X, *([IDS] if name in WITH_IDS else []))
    expected = read_features(tmp_path / file)
    for kept in itertools.product([False, True], repeat=len(X)):
        if any(kept):
            found = read_features(tmp_path / file, rows=np.array(kept))
            np.testing.assert_array_equal(dense(found.X), dense(expected.X)[[*kept]])
            assert found.items.tolist() == expected.items[[*kept]].tolist()
    for wrong in ([True] * 4, [True] * 6, [False] * 5):
        with pytest.raises((DatasetFormatError, InputError)):
            read_features(tmp_path / file, rows=np.array(wrong))


@pytest.mark.parametrize("lists", [False, True])
def test_row_groups_of_kept_rows(lists, tmp_path):
    """Groups are smaller and larger than what is read at a time; a gap is named by its row."""
    n, path, rng = 70_000, tmp_path / "X.parquet", np.random.default_rng(0)
    values = np.arange(2.0 * n).reshape(n, 2)
    values[69_999] = np.nan
    columns = {"e": [*values]} if lists else {"a": values[:, 0], "b": values[:, 1]}
    table = pa.table({"item": [f"i{at}" for at in range(n)], **columns})
    with pq.ParquetWriter(path, table.schema) as writer:
        for start, stop in itertools.pairwise([0, 5, 5, 20_000, 20_100, n]):
            writer.write_table(table[start:stop])
    for share in (0.0003, 0.02, 0.97):
        kept = rng.random(n) < share
        kept[-1] = False
        found = read_features(path, rows=kept)
        np.testing.assert_array_equal(found.X, values[kept])
        assert found.items.tolist() == [f"i{at}" for at in np.flatnonzero(kept)]
    kept[-1] = True
    with raises(DatasetFormatError, "row 69999"):
        read_features(path, rows=kept)


@pytest.mark.parametrize("name", WITHOUT_IDS)
def test_ids_from_a_file_of_their_own(name, tmp_path):
    file, write = WITHOUT_IDS[name]
    write(tmp_path / file, X)
    ids = write_text(tmp_path / "ids.txt", "007\r\n7\r\n b \r\nc\r\nd\r\n\r\n")
    expected = ["007", "7", "b", "c", "d"]
    assert read_features(tmp_path / file, items=ids).items.tolist() == expected
    assert whole(iterate_features(tmp_path / file, items=ids, n_rows=2))[1] == expected


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_without_ids(ending, tmp_path):
    table, path = pd.DataFrame({"a": [1.5, 2], "b": [0, 1]}), tmp_path / f"X.{ending}"
    table.to_csv(path, index=False) if ending == "csv" else table.to_parquet(path)
    with raises(DatasetFormatError, "column 'item'", "'a'", "'b'"):
        read_features(path)
    assert read_features(path, name_column=None).items.tolist() == ["0", "1"]
    ids = write_text(tmp_path / "ids.txt", "x\ny")
    assert read_features(path, items=ids).items.tolist() == ["x", "y"]
    for text, count in (("x\n", 1), ("x\ny\nz\n", 3)):
        write_text(ids, text)
        with raises(DatasetFormatError, "ids.txt", count):
            read_features(path, items=ids)


def test_another_column_of_ids(tmp_path):
    path = write_text(tmp_path / "X.csv", "photo,a,item\nx.jpg,1,5\ny.jpg,2,6\n")
    features = read_features(path, name_column="photo")
    assert features.items.tolist() == ["x.jpg", "y.jpg"]
    assert features.feature_names == ("a", "item")
    with raises(InputError, "column 'item'"):
        read_features(path, items=write_text(tmp_path / "ids.txt", "x\ny\n"))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        *((kind, "float32") for kind in ("float16", "float32", ">f4", "uint8", "int16", "bool")),
        *((kind, "float64") for kind in ("float64", ">f8", "int32")),
    ],
)
def test_types_of_arrays(given, kept, tmp_path):
    values = np.array([[0, 1], [1, 0]]).astype(given)
    np.save(tmp_path / "X.npy", values)
    np.savez(tmp_path / "X.npz", X=values)
    for name in ("X.npy", "X.npz"):
        features = read_features(tmp_path / name)
        assert features.X.dtype == np.dtype(kept)
        np.testing.assert_array_equal(features.X, values.astype(kept))
    (piece,) = iterate_features(tmp_path / "X.npy")
    assert piece.X.dtype == np.dtype(kept)


def test_an_array_stays_on_disk(tmp_path):
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    assert isinstance(read_features(tmp_path / "X.npy").X, np.memmap)


@pytest.mark.parametrize(
    ("kinds", "kept"),
    [
        ((pa.float32(), pa.float32()), "float32"),
        ((pa.float32(), pa.int16()), "float32"),
        ((pa.float32(), pa.float64()), "float64"),
        ((pa.int64(), pa.bool_()), "float64"),
        ((pa.decimal128(9, 2), pa.uint8()), "float64"),
    ],
    ids=["floats", "float and short", "floats of two sizes", "integers", "decimals"],
)
def test_types_of_parquet(kinds, kept, tmp_path):
    columns = {
        name: pa.array([0, 1], pa.int16()).cast(kind)
        for name, kind in zip("ab", kinds, strict=True)
    }
    pq.write_table(pa.table({"item": [10, 11], **columns}), tmp_path / "X.parquet")
    features = read_features(tmp_path / "X.parquet")
    assert features.X.dtype == np.dtype(kept)
    assert features.X.tolist() == [[0, 0], [1, 1]]
    assert features.items.tolist() == ["10", "11"]  # whole numbers are text


@examples(25)
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 4), st.integers(1, 3)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_numbers_survive_csv_to_the_last_bit(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("csv") / "X.csv"
    pd.DataFrame(values, columns=list("abc")[: values.shape[1]]).to_csv(path, index=False)
    np.testing.assert_array_equal(read_features(path, name_column=None).X, values)


FAULTS = {
    "blank": ("item,a,b\nx,1,2\ny,,3\n", ("line 3", "column 'a'", "NaN")),
    "not a number": ("item,a,b\nx,1,2\ny,1,nan\n", ("line 3", "column 'b'", "NaN")),
    "infinite": ("item,a,b\nx,1,-inf\n", ("line 2", "column 'b'")),
    "too large": ("item,a\nx,1e999\n", ("line 2", "column 'a'")),
    "text": ("item,a,colour,b\nx,1,red,2\ny,2,blue,3\n", ("line 2", "column 'colour'")),
    "two columns of text": (
        "item,a,b\nx,1,2\ny,u,2\nz,1,v\n",
        ("line 3", "2 columns", "'a'", "'b'"),
    ),
    "a line too short": ("item,a,b\nx,1,2\n\ny,1\n", ("line 4", "2 values", "3 columns")),
    "a line too long": ("item,a\nx,1\ny,1,2\n", ("line 3", "3 values", "2 columns")),
    "after a line break in quotes": ('item,a\n"x\ny",1\nz,\n', ("line 4", "column 'a'")),
    "blank id": ("item,a\nx,1\n ,2\n", ("line 3", "'item'")),
    "repeated id": ("item,a\nx,1\ny,2\nx,3\n", ("item 'x'", "line 2")),
    "repeated ids": ("item,a\nx,1\ny,2\nx,3\ny,2\ny,1\n", ("2 items", "'x'", "'y'")),
    "repeated column": ("item,a,a\nx,1,2\n", ("line 1", "2 columns", "'a'")),
    "column without a name": (",item,a\n0,x,1\n", ("line 1", "column 1", "index=False")),
    "another separator": ("item;a;b\nx;1;2\n", ("line 1", "'item;a;b'")),
    "no features": ("item\nx\n", "X.csv"),
    "no rows": ("item,a\n", "X.csv"),
    "empty": ("", "X.csv"),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_faults_of_csv(name, ending, tmp_path):
    text, message = FAULTS[name]
    path = write_text(tmp_path / f"X.{ending}", text)
    with raises(DatasetFormatError, f"X.{ending}", message):
        read_features(path)


def test_bytes_that_are_no_utf8(tmp_path):
    path = tmp_path / "X.csv"
    path.write_bytes(b"item,a\nx,1\nM\xfcnchen,2\n")
    with raises(DatasetFormatError, "UTF-8"):
        read_features(path)
    path.write_bytes("item,a\nMünchen,2\n".encode("utf-16"))
    assert read_features(path).items.tolist() == ["München"]


def test_a_byte_order_mark_and_windows_line_ends(tmp_path):
    path = write_text(tmp_path / "X.csv", "\ufeffitem,a\r\nx,1\r\ny,2\r\n")
    assert read_features(path).X.tolist() == [[1], [2]]


PARQUET_FAULTS = {
    "text": ({"item": ["x"], "a": ["red"]}, "column 'a'"),
    "null": ({"item": ["x", "y"], "a": [1.5, None]}, ("row 1", "column 'a'", "NaN")),
    "list and numbers": ({"item": ["x"], "a": [[1.0]], "b": [1]}, "column 'a'"),
    "uneven lists": ({"item": ["x", "y"], "e": [[1.0], [1.0, 2]]}, "row 1"),
    "missing list": ({"item": ["x", "y"], "e": [[1.0], None]}, ("row 1", "column 'e'")),
    "gap in a list": ({"item": ["x", "y"], "e": [[1.0], [None]]}, ("row 1", "column 0")),
    "missing id": ({"item": ["x", None], "a": [1, 2]}, ("row 1", "'item'")),
    "ids that are no names": ({"item": [0.5], "a": [1]}, "column 'item'"),
    "repeated ids": ({"item": [1, 1], "a": [1, 2]}, ("item '1'", "row 0")),
}


@pytest.mark.parametrize("name", PARQUET_FAULTS)
def test_faults_of_parquet(name, tmp_path):
    columns, message = PARQUET_FAULTS[name]
    pq.write_table(pa.table(columns), tmp_path / "X.parquet")
    with raises(DatasetFormatError, "X.parquet", message):
        read_features(tmp_path / "X.parquet")


def test_names_in_parquet_that_are_no_text(tmp_path):
    raw = pa.array([b"a", b"\xfcb"], pa.binary())
    text = pa.Array.from_buffers(pa.string(), 2, raw.buffers())
    pq.write_table(pa.table({"item": text, "x": [1, 2]}), tmp_path / "X.parquet")
    with raises(DatasetFormatError, "X.parquet"):
        read_features(tmp_path / "X.parquet")


def test_ids_that_became_floats_beside_a_gap_are_whole_numbers(tmp_path):
    pd.DataFrame({"item": [7.0, 8.0], "a": [1, 2]}).to_parquet(tmp_path / "X.parquet")
    assert read_features(tmp_path / "X.parquet").items.tolist() == ["7", "8"]


@pytest.mark.parametrize(
    ("value", "word"), [(np.nan, "NaN"), (np.inf, "infinite"), (-np.inf, "infinite")]
)
@pytest.mark.parametrize("name", ["npy", "npz of parts"])
def test_arrays_that_are_not_finite(name, value, word, tmp_path):
    file, write = WITHOUT_IDS[name]
    damaged = X.copy()
    damaged[3, 1] = value
    write(tmp_path / file, damaged)
    with raises(DatasetFormatError, "row 3", "column 1", file, word):
        read_features(tmp_path / file)
    pieces = iterate_features(tmp_path / file, n_rows=2)
    assert next(pieces).items.tolist() == ["0", "1"]
    with raises(DatasetFormatError, "row 3", "column 1", file, word):
        next(pieces)


@pytest.mark.parametrize(
    "array",
    [np.zeros(3), np.zeros((0, 3)), np.zeros((3, 0)), np.array([["a"]]), np.zeros((1, 1), complex)],
    ids=["one axis", "no rows", "no columns", "text", "complex"],
)
@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_arrays_that_are_no_features(array, ending, tmp_path):
    path = tmp_path / f"X.{ending}"
    np.save(path, array) if ending == "npy" else np.savez(path, X=array)
    with raises(DatasetFormatError):
        read_features(path)


@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_pickles_are_not_read(ending, tmp_path):
    path, objects = tmp_path / f"X.{ending}", np.array([[{}]], dtype=object)
    np.save(path, objects) if ending == "npy" else np.savez(path, X=objects)
    with raises(DatasetFormatError, "save"):
        read_features(path)


def test_an_archive_without_features_names_what_it_holds(tmp_path):
    np.savez(tmp_path / "X.npz", embeddings=X)
    with raises(DatasetFormatError, "'embeddings'"):
        read_features(tmp_path / "X.npz")


def test_a_header_that_promises_more_than_there_is(tmp_path):
    np.save(tmp_path / "X.npy", X)
    raw = (tmp_path / "X.npy").read_bytes()
    (tmp_path / "X.npy").write_bytes(raw.replace(b"(5, 3)", b"(9, 9)"))
    with raises(DatasetFormatError, "numpy.save"):
        read_features(tmp_path / "X.npy")


def test_the_width_of_svmlight_can_be_told(tmp_path):
    path = write_text(tmp_path / "X.svm", "1 1:0.5\n0,2 2:1 # sea\n")
    assert read_features(path).X.shape == (2, 2)
    assert read_features(path, n_features=5).X.shape == (2, 5)
    with raises(DatasetFormatError, "X.svm", "n_features"):
        read_features(path, n_features=1)
    write_text(path, "1 3000000:1\n")
    with raises(DatasetFormatError, "index 3,000,000", "above 2,000,000"):
        read_features(path)


def test_files_that_are_not_there_or_of_no_known_kind(tmp_path):
    with raises(DatasetNotFoundError, "X.csv"):
        read_features(tmp_path / "X.csv")
    with raises(DatasetFormatError, ".npy", ".npz"):
        read_features(write_text(tmp_path / "X.ods", "x"))
    with raises(InputError, "path", "3"):
        read_features(3)
    np.save(tmp_path / "X.npy", X)
    with raises(DatasetNotFoundError, "ids.txt"):
        read_features(tmp_path / "X.npy", items=tmp_path / "ids.txt")
    with raises(InputError, "n_rows"):
        iterate_features(tmp_path / "X.npy", n_rows=0)
    write_text(tmp_path / "ids.txt", "a\n\nb\nc\nd\n")
    with raises(DatasetFormatError, "line 2"):
        read_features(tmp_path / "X.npy", items=tmp_path / "ids.txt")
    write_text(tmp_path / "ids.txt", "a\nb\nb\nc\nd\n")
    with raises(DatasetFormatError, "item 'b'", "line 2"):
        read_features(tmp_path / "X.npy", items=tmp_path / "ids.txt")


@pytest.mark.slow
def test_many_rows_of_csv_in_several_blocks(tmp_path):
    """More than pyarrow reads at a time."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 10, (300_000, 2)).astype(float)
    table = pd.DataFrame(values, columns=["a", "b"])
    table.insert(0, "item", [f"item number {at:060d}" for at in range(len(values))])
    table.to_csv(tmp_path / "X.csv", index=False)
    assert (tmp_path / "X.csv").stat().st_size > 2**24
    features = read_features(tmp_path / "X.csv")
    np.testing.assert_array_equal(features.X, values)
    found, items, counts = whole(iterate_features(tmp_path / "X.csv", n_rows=70_000))
    np.testing.assert_array_equal(found, values)
    assert items == features.items.tolist()
    assert counts[:2] == [70_000] * 2
    assert max(counts) == 70_000


WITHOUT_THE_EXTRA = """
import sys
for name in ("pandas", "pyarrow"): sys.modules[name] = None
from complabel.errors import InputError
from complabel.files import PredictionWriter, read_answers, read_features
print(read_features(sys.argv[1] + "/X.npy").items.tolist())
for call in (
    lambda: read_features(sys.argv[1] + "/X.csv"),
    lambda: read_answers(sys.argv[1] + "/X.csv"),
    lambda: read_answers(sys.argv[1] + "/X.parquet"),
    lambda: PredictionWriter(sys.argv[1] + "/p.csv", ["a"]),
):
    try:
        call()
    except InputError as error:
        print(error)
"""


def test_without_the_extra_arrays_are_read_and_tables_say_what_to_install(tmp_path):
    np.save(tmp_path / "X.npy", X[:2])
    write_text(tmp_path / "X.csv", "item,label\nx,1\n")
    write_text(tmp_path / "X.parquet", "")
    first, *refusals = python("-c", WITHOUT_THE_EXTRA, tmp_path).splitlines()
    assert first == "['0', '1']"
    assert len(refusals) == 4
    assert all('pip install "complabel[tables]"' in line for line in refusals)
