"""Partial multi-label datasets: MATLAB files of all versions and forms, damaged ones too."""

import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.io import savemat
from tests.examples import examples

from complabel.datasets import MultiLabelDataset
from complabel.errors import DatasetFormatError, DatasetNotFoundError
from complabel.experiments.datasets import describe_datasets, load_dataset
from complabel.experiments.datasets._matrices import read_mat
from complabel.experiments.studies._data import dataset_fingerprint

X = np.array([[0.5, 0, 2], [0, -1, 0], [0, 0, 1], [1, 0, 0]])
Y = np.array([[1, 0], [0, 1], [0, 0], [1, 1]])
CANDIDATES = np.array([[1, 1], [0, 1], [1, 0], [0, 1]])  # that of the last row lacks a true label
SOUND = {"data": X, "partial_labels": CANDIDATES.T, "target": Y.T}
SPARSE = {name: sparse.csc_array(matrix.astype(float)) for name, matrix in SOUND.items()}


def mat(variables, **options):
    """The bytes of a file; compressed it is of the form of MATLAB 7."""
    content = io.BytesIO()
    savemat(content, variables, **options)
    return content.getvalue()


def saved(folder, content):
    path = folder / "toy.mat"
    path.write_bytes(content if isinstance(content, bytes) else mat(content))
    return path


def read(path):
    return read_mat(path, "toy", with_candidates=True)


@pytest.mark.parametrize("form", [SOUND, SPARSE, {**SPARSE, "data": X}, {**SOUND, "left": "over"}])
@pytest.mark.parametrize("compressed", [False, True])
def test_dense_and_sparse_plain_and_compressed(tmp_path, form, compressed):
    path = saved(tmp_path, mat(form, do_compression=compressed))
    found = read(path)
    assert isinstance(found.X, sparse.csr_array) == sparse.issparse(form["data"])
    np.testing.assert_array_equal(found.X.toarray() if sparse.issparse(found.X) else found.X, X)
    np.testing.assert_array_equal(found.Y, Y)
    np.testing.assert_array_equal(found.excluded, CANDIDATES == 0)
    assert found.Y.flags.c_contiguous
    assert found.excluded.flags.c_contiguous
    assert (found.name, found.label_names) == ("toy", ("label_0", "label_1"))
    assert found.feature_names == ("feature_0", "feature_1", "feature_2")
    assert found.groups is None


@pytest.mark.parametrize(("n_nonzero", "is_sparse"), [(0, True), (4, True), (5, False)])
def test_features_that_are_mostly_zeros_become_sparse(tmp_path, n_nonzero, is_sparse):
    data = np.zeros((4, 10), dtype=np.uint8)
    data.flat[3 : 3 + n_nonzero] = 7
    found = read(saved(tmp_path, {**SOUND, "data": data})).X
    assert isinstance(found, sparse.csr_array) == is_sparse
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.toarray() if is_sparse else found, data)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"data": X, "target": Y.T}, "found the variables data, target; expected data, partial_"),
        ({}, r"found the variables \(none\); expected"),
        ({**SOUND, "target": Y}, r"partial_labels has shape \(2, 4\); data has 4 rows and target"),
        ({**SOUND, "data": X[:3]}, r"partial_labels has shape \(2, 4\); data has 3 rows"),
        ({**SOUND, "target": Y.T[:, 1:]}, r"target has shape \(2, 3\); data has 4 rows and target"),
        ({**SOUND, "partial_labels": CANDIDATES.T * 2}, "partial_labels holds 2 at row 0, label 0"),
        ({**SOUND, "target": Y.T * 0.5}, r"target holds 0\.5 at row 0, label 0"),
        ({**SOUND, "target": SPARSE["target"] * 3}, r"target holds 3\.0 at row 0, label 0"),
        ({**SOUND, "data": X * 1j}, r"data is a complex matrix of shape \(4, 3\); give"),
        ({**SOUND, "data": "text"}, "data is a text of shape"),
        ({**SOUND, "data": X[..., None] * [1, 2]}, r"data is a matrix of shape \(4, 3, 2\); give"),
        ({**SOUND, "target": {"a": 1}}, r"target is a struct of shape \(1, 1\)"),
        ({**SOUND, "target": np.array([1, "a"], dtype=object)}, "target is a cell array of shape"),
        ({name: matrix[:, :0] for name, matrix in SOUND.items()}, "data has 4 rows"),
    ],
)
def test_variables_that_do_not_fit_are_named(tmp_path, variables, message):
    path = saved(tmp_path, variables)
    with pytest.raises(DatasetFormatError, match=message) as caught:
        read(path)
    assert str(path) in str(caught.value)


SMALL, PACKED, OLD = mat(SOUND), mat(SOUND, do_compression=True), mat(SOUND, format="4")
INDICES = SPARSE["data"].indices.astype("<i4").tobytes()
STARTS = SPARSE["data"].indptr.astype("<i4").tobytes()
FALLING = np.array([0, 2**31 - 9, -(2**31), 5], dtype="<i4").tobytes()  # differences overflow


assert INDICES in mat(SPARSE)
assert STARTS in mat(SPARSE)
NOT_SOUND = {
    "empty": (b"", "found no header of a MATLAB file of versions 5 to 7"),
    "text": (b"no such file at all", "found no header"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(100), r"MATLAB 7\.3 \(HDF5\).* save\(\.\.\., '-v7'\)"),
    "version 7.3": (
        b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n",
        r"MATLAB 7\.3 \(HDF5\)",
    ),
    "half a header": (SMALL[:100], "found no header"),
    "cut off": (SMALL[:-30], "a variable is cut off"),
    "cut off, packed": (PACKED[:-30], "a variable is cut off"),
    "version 4": (OLD, r"found no header .* save it in MATLAB with save\(\.\.\., '-v7'"),
    "damaged, packed": (PACKED[:150] + b"\0\0\0\0" + PACKED[154:], "a variable does not unpack"),
    "a variable twice": (mat({"data": X}) + SMALL[128:], "variable data is there twice"),
    "indices beyond the shape": (
        mat(SPARSE).replace(INDICES, b"\x63" + INDICES[1:]),
        "do not fit together",
    ),
    "falling starts": (mat(SPARSE).replace(STARTS, FALLING), r"\(indptr\) decrease"),
}


# A file's bytes hold the time of its making: they must not name the test.
@pytest.mark.parametrize(("content", "message"), NOT_SOUND.values(), ids=NOT_SOUND)
def test_what_is_no_sound_file(tmp_path, content, message):
    with pytest.raises(DatasetFormatError, match=rf"toy\.mat(!data)?: .*{message}"):
        read(saved(tmp_path, content))


def test_a_file_in_the_other_byte_order(tmp_path):
    def element(kind, values):
        body = np.asarray(values).astype(kinds[kind]).tobytes()
        return struct.pack(">II", kind, len(body)) + body.ljust(-(-len(body) // 8) * 8, b"\0")

    def matrix(name, values):
        shape, flat = values.shape, values.ravel(order="F")
        name = element(1, np.frombuffer(name.encode(), np.int8))
        body = element(6, [6, 0]) + element(5, shape) + name + element(9, flat)
        return struct.pack(">II", 14, len(body)) + body

    kinds = {1: ">i1", 5: ">i4", 6: ">u4", 9: ">f8"}
    header = b"MATLAB 5.0 MAT-file, by hand".ljust(124) + b"\1\0MI"
    content = header + b"".join(matrix(name, values) for name, values in SOUND.items())
    found, expected = read(saved(tmp_path, content)), read(saved(tmp_path, SOUND))
    assert dataset_fingerprint(found) == dataset_fingerprint(expected)


def test_what_else_a_file_may_hold_is_passed_over(tmp_path):
    others = {"text": "a", "cell": np.array([1, "b"], dtype=object), "struct": {"x": 1}, "z": 1j}
    found = read(saved(tmp_path, {**others, **SOUND}))
    np.testing.assert_array_equal(found.Y, Y)


@examples(25)
@given(
    arrays(
        st.sampled_from([np.float64, np.float32, np.int8, np.uint16, np.int64, np.bool_]),
        st.tuples(st.integers(1, 5), st.integers(1, 5)),
    ),
    st.booleans(),
    st.booleans(),
)
def test_what_scipy_writes_is_what_is_read(tmp_path_factory, data, in_sparse_form, compressed):
    data = np.nan_to_num(data)
    ones = np.ones((2, len(data)))
    form = sparse.csc_array(data.astype(float)) if in_sparse_form else data
    variables = {"data": form, "partial_labels": ones, "target": ones}
    path = saved(tmp_path_factory.getbasetemp(), mat(variables, do_compression=compressed))
    found = read(path).X
    expected = data.astype(float)
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, expected)


@pytest.mark.parametrize("folder", ["", "pml", "yeastbp"])
def test_the_catalog_finds_it_and_keeps_it_whole(tmp_path, folder, caplog):
    n_labels = 20
    content = mat(
        {
            "data": X,
            "partial_labels": np.ones((n_labels, 4)),
            "target": np.repeat([[1, 0, 0, 1]], n_labels, axis=0),
        }
    )
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / "YeastBP.mat").write_bytes(content)
    (described,) = describe_datasets(tmp_path, names=["yeastbp"])
    assert described["location"] == str(tmp_path / folder)
    with pytest.raises(DatasetFormatError, match=r"YeastBP\.mat: SHA-256 is"):
        load_dataset("yeastbp", data_dir=tmp_path)
    found = load_dataset("yeastbp", data_dir=tmp_path, verify=False)
    assert isinstance(found, MultiLabelDataset)
    assert (found.n_samples, found.n_labels) == (4, n_labels)
    assert "n_labels is 20, published 217" in caplog.text


def test_a_missing_file_is_looked_for_in_the_shared_folder(tmp_path):
    with pytest.raises(DatasetNotFoundError, match="in a subfolder 'mirflickr' or 'pml':"):
        load_dataset("mirflickr", data_dir=tmp_path)


def test_the_real_files(data_dir):
    pictures = load_dataset("mirflickr", data_dir=data_dir)
    assert (pictures.n_samples, pictures.n_features, pictures.n_labels) == (5000, 100, 7)
    assert pictures.label_cardinality == pytest.approx(1.7706)
    assert pictures.excluded.sum() / 5000 == pytest.approx(3.6468)
    assert not (pictures.excluded & pictures.Y).any()
    assert isinstance(pictures.X, np.ndarray)
    genes = load_dataset("yeastbp", data_dir=data_dir)
    assert (genes.n_samples, genes.n_features, genes.n_labels) == (6139, 6139, 217)
    assert (genes.Y.sum(axis=1) == 0).sum() == 1882
    assert genes.excluded.all(axis=1).sum() == 1749
    assert not (genes.excluded & genes.Y).any()
    assert isinstance(genes.X, sparse.csr_array)
    assert genes.X.max() == 46
