"""Datasets of one's own: the layout of the archive, what damaged or hostile files are told."""

import zipfile

import numpy as np
import pytest
from scipy import sparse

from complabel.datasets import MultiLabelDataset, make_digits
from complabel.errors import DatasetFormatError, DatasetNotFoundError, InputError, OutputError
from complabel.experiments.datasets import load_file, preprocess, save_file
from complabel.experiments.studies._data import dataset_fingerprint

X = np.array([[0.5, 0, 2], [0, -1, 0], [0, 0, 1], [1, 0, 0]])
Y = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]])
CSR = sparse.csr_array(X)


def parts(name, matrix):
    """The arrays of a CSR matrix, named as in an archive."""
    values = (matrix.data, matrix.indices, matrix.indptr, matrix.shape)
    names = [f"{name}_{part}" for part in ("data", "indices", "indptr", "shape")]
    return dict(zip(names, values, strict=True))


def saved(folder, **arrays):
    path = folder / "mine.npz"
    np.savez(path, **arrays)
    return path


def with_member(folder, name, content, **arrays):
    """An archive one of whose members holds any bytes."""
    path = saved(folder, **arrays)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"{name}.npy", content)
    return path


def npy(header, values=b""):
    """An array file with any header."""
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + values


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize(
    "arrays",
    [
        {"X": X, "Y": Y},
        {"X": np.asfortranarray(X), "Y": Y.astype(bool)},
        {"X": X.astype(">f4"), "Y": Y.astype(np.float32), "leftover": np.array([1])},
        {"X": X, **parts("Y", sparse.csr_array(Y))},
        {"X": X, "Y": Y, "excluded": 1 - Y},
        {"X": X, "Y": Y, **parts("excluded", sparse.csr_array(1 - Y))},
        {**parts("X", CSR), "Y": Y},
        {
            **parts("X", CSR),
            "X_data": CSR.data.astype(np.float16),
            **parts("Y", sparse.csr_array(Y)),
        },
    ],
    ids=lambda arrays: "+".join(arrays),
)
def test_dense_and_sparse_arrays_of_any_number_type(tmp_path, save, arrays):
    path = tmp_path / "my own.npz"
    save(path, **arrays)
    found = load_file(path)
    assert isinstance(found.X, sparse.csr_array) == ("X_data" in arrays)
    assert found.name == "my own"
    np.testing.assert_array_equal(found.X.toarray() if sparse.issparse(found.X) else found.X, X)
    np.testing.assert_array_equal(found.Y, Y)
    assert found.label_names == ("label_0", "label_1", "label_2")
    assert found.feature_names == ("feature_0", "feature_1", "feature_2")
    assert found.groups is None
    if {"excluded", "excluded_data"} & arrays.keys():
        np.testing.assert_array_equal(found.excluded, 1 - Y)
    else:
        assert found.excluded is None
    assert preprocess(found).n_samples == 2


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_what_is_saved_comes_back(tmp_path, form):
    digits = make_digits(40)
    dataset = MultiLabelDataset(
        "mine",
        form(digits.X),
        digits.Y,
        (*"abcdefghi", "\u5929"),
        digits.feature_names,
        digits.groups,
        excluded=(digits.X[:, :10] > 0).astype(np.uint8),
    )
    path = tmp_path / "MINE.NPZ"
    save_file(dataset, path)
    found = load_file(path, "mine")
    assert dataset_fingerprint(found) == dataset_fingerprint(dataset)
    assert (found.name, found.feature_names) == ("mine", dataset.feature_names)
    assert [entry.name for entry in tmp_path.iterdir()] == ["MINE.NPZ"]


def test_a_dataset_has_the_name_that_it_is_given(tmp_path):
    path = saved(tmp_path, X=X, Y=Y)
    assert load_file(path, "my scenes").name == "my scenes"
    with pytest.raises(InputError, match="name is 5"):
        load_file(path, 5)


def test_other_endings_and_missing_files(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("1,0\n")
    with pytest.raises(DatasetFormatError, match=r"mine\.csv: .* end in \.npz, \.mat, .*libsvm"):
        load_file(path)
    with pytest.raises(InputError, match=r"ends in \.npz"):
        save_file(make_digits(10), path)
    with pytest.raises(DatasetNotFoundError, match=r"gone\.npz: no such file"):
        load_file(tmp_path / "gone.npz")
    with pytest.raises(OutputError, match="cannot be written"):
        save_file(make_digits(10), tmp_path / "no folder" / "mine.npz")
    with pytest.raises(InputError, match="path is 5"):
        load_file(5)


SPARSE = parts("X", CSR)
UNFIT = [
    ({"X": X, "Y": None}, "found the arrays 'X'; name the matrix Y, or give the parts .*Y_data"),
    ({"X": X, **SPARSE}, "there are both X and X_indptr"),
    ({"X_data": CSR.data}, "found the arrays 'Y', 'X_data'; name the matrix X"),
    ({"X": X, "Y": Y[:3]}, r"Y has shape \(3, 3\); X has 4 rows"),
    ({"X": X, "Y": Y[0]}, r"Y has shape \(3,\)"),
    ({"X": X[:, 0]}, r"X has shape \(4,\)"),
    ({"X": X, "Y": 2 * Y}, "Y holds 2 at row 0, label 0"),
    ({"X": X, "Y": np.where(Y == 0, np.nan, 1)}, "Y holds nan at row 0, label 1"),
    ({"X": X * 1j}, r"mine\.npz!X\.npy: holds values of type complex128"),
    ({"X": X, "label_names": ["a", "b"]}, r"label_names has shape \(2,\)"),
    ({"X": X, "label_names": [0.5, 2, 3]}, "label_names has shape .* and type float"),
    ({"X": X, "label_names": ["a", "b", "\ud800"]}, "give label_names as text"),
    ({"X": X, "groups": [1.0, 2, 3, 4]}, "groups has shape .* type float64"),
    ({"X": X, "excluded": 5 * Y}, "excluded holds 5 at row 0, label 0"),
    ({"X": X, "excluded_shape": [4, 3]}, "name the matrix excluded, or give the parts"),
    ({**SPARSE, "X_shape": [4]}, "are not the parts of a sparse"),
    ({**SPARSE, "X_indices": CSR.indices / 2}, "are not the parts of a sparse"),
    ({**SPARSE, "X_shape": [4, 2]}, "do not fit together"),
    ({**SPARSE, "X_shape": [4, -2]}, "do not fit together"),
    ({**SPARSE, "X_shape": [3, 3]}, "do not fit together"),
    ({**SPARSE, "X_indices": -CSR.indices}, "do not fit together"),
    ({**SPARSE, "X_indptr": [0, 4, 2, 4, 5]}, "indptr. decrease"),
    ({**SPARSE, "X_indptr": [0, 2**31 - 9, -(2**31), 4, 5]}, "indptr. decrease"),
    ({**parts("X", sparse.csr_array((2, 3))), "X_indptr": [0, 9, 0]}, "indptr. decrease"),
    ({**SPARSE, "X_data": CSR.data[:2]}, "do not fit together"),
]


@pytest.mark.parametrize(("arrays", "message"), UNFIT, ids=range(len(UNFIT)))
def test_arrays_that_do_not_fit_are_named(tmp_path, arrays, message):
    whole = {name: value for name, value in {"Y": Y, **arrays}.items() if value is not None}
    path = saved(tmp_path, **whole)
    with pytest.raises(DatasetFormatError, match=message) as caught:
        load_file(path)
    assert str(path) in str(caught.value)


def test_python_objects_are_never_read(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (exec, ("raise SystemExit('unpickled')",))

    names = np.array([Bomb(), "b", "c"], dtype=object)
    with pytest.raises(DatasetFormatError, match=r"label_names\.npy: holds values of type object"):
        load_file(saved(tmp_path, X=X, Y=Y, label_names=names))


HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 3), }"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04 something else",
        npy("__import__('os')", X.tobytes()),
        npy(HEADER, X.tobytes()[:-1]),
        npy(HEADER, X.tobytes() + b"\0"),
        npy(HEADER.replace("4", "-4"), X.tobytes()),
        npy(HEADER.replace("(4", "(4" + "0" * 12), X.tobytes()),
        npy(HEADER.replace("<f8", "<U0"), b""),
        npy(HEADER.replace("(4, 3)", "(0, 99999999999999999999)")),
        npy(HEADER.replace("(4, 3)", "(" + "1," * 70 + ")"), b"\0" * 8),
        npy(HEADER.replace("<f8", "|O"), b"\x80\x04N."),
    ],
)
def test_a_damaged_array_is_named(tmp_path, content):
    path = with_member(tmp_path, "X", content, Y=Y)
    with pytest.raises(DatasetFormatError, match=r"mine\.npz!X\.npy: "):
        load_file(path)


def test_what_is_no_archive_or_a_damaged_one(tmp_path):
    path = tmp_path / "mine.npz"
    path.write_bytes(b"no archive")
    with pytest.raises(DatasetFormatError, match=r"mine\.npz: .*not a zip file"):
        load_file(path)
    raw = bytearray(saved(tmp_path, X=X, Y=Y).read_bytes())
    raw[raw.index(X.tobytes())] ^= 1
    path.write_bytes(raw)
    with pytest.raises(DatasetFormatError, match=r"mine\.npz!X\.npy: .*CRC"):
        load_file(path)
