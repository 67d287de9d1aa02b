"""Datasets as matrices: NumPy archives, svmlight text and MATLAB files."""

import bz2
import gzip

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from complabel.datasets import MultiLabelDataset, make_digits
from complabel.errors import DatasetFormatError, DatasetNotFoundError, InputError, OutputError
from complabel.experiments.datasets import load_dataset, load_file, preprocess, save_file
from complabel.experiments.studies._data import dataset_fingerprint

X = np.array([[0.5, 0, 2], [0, -1, 0], [0, 0, 1], [1, 0, 0]])
Y = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]])
CSR = sparse.csr_array(X)


def parts(name, matrix):
    """The arrays of a CSR matrix, named as in an archive."""
    values = (matrix.data, matrix.indices, matrix.indptr, matrix.shape)
    names = [f"{name}_{part}" for part in ("data", "indices", "indptr", "shape")]
    return dict(zip(names, values, strict=True))


def check(found, *, excluded, in_sparse_form):
    assert isinstance(found.X, sparse.csr_array) == in_sparse_form
    np.testing.assert_array_equal(found.X.toarray() if in_sparse_form else found.X, X)
    np.testing.assert_array_equal(found.Y, Y)
    assert found.label_names == ("label_0", "label_1", "label_2")
    assert found.feature_names == ("feature_0", "feature_1", "feature_2")
    assert (found.excluded is not None) == excluded
    if excluded:
        np.testing.assert_array_equal(found.excluded, 1 - Y)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize(
    "arrays",
    [
        {"X": X, "Y": Y},
        {"X": np.asfortranarray(X), "Y": Y.astype(bool)},
        {"X": X.astype(">f4"), "Y": Y.astype(np.float32), "leftover": np.array([1])},
        {"X": X, **parts("Y", sparse.csr_array(Y))},
        {"X": X, "Y": Y, **parts("excluded", sparse.csr_array(1 - Y))},
        {**parts("X", CSR), "X_data": CSR.data.astype(np.float16), "Y": Y, "excluded": 1 - Y},
    ],
    ids=lambda arrays: "+".join(arrays),
)
def test_archives_of_dense_and_sparse_arrays_of_any_number_type(tmp_path, save, arrays):
    path = tmp_path / "my own.npz"
    save(path, **arrays)
    found = load_file(path)
    excluded = bool({"excluded", "excluded_data"} & arrays.keys())
    check(found, excluded=excluded, in_sparse_form="X_data" in arrays)
    assert found.name == "my own"
    assert preprocess(found).n_samples == 2


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_what_is_saved_comes_back(tmp_path, form):
    digits = make_digits(40)
    names, excluded = (*"abcdefghi", "\u5929"), (digits.X[:, :10] > 0).astype(np.uint8)
    dataset = MultiLabelDataset(
        "mine", form(digits.X), digits.Y, names, digits.feature_names, digits.groups, excluded
    )
    path = tmp_path / "MINE.NPZ"
    save_file(dataset, path)
    found = load_file(path, "mine")
    assert dataset_fingerprint(found) == dataset_fingerprint(dataset)
    assert (found.name, found.feature_names) == ("mine", dataset.feature_names)
    with pytest.raises(OutputError):
        save_file(digits, tmp_path / "no folder" / "mine.npz")
    with pytest.raises(InputError, match=r"\.npz"):
        save_file(digits, tmp_path / "mine.csv")
    assert [entry.name for entry in tmp_path.iterdir()] == ["MINE.NPZ"]


SPARSE = parts("X", CSR)
UNFIT = [
    ({"X": X, "Y": None}, "Y"),
    ({"X": X, **SPARSE}, "X and X_indptr"),
    ({"X_data": CSR.data}, "matrix X"),
    ({"X": X, "Y": Y[:3]}, r"\(3, 3\)"),
    ({"X": X[:, 0]}, r"X has shape \(4,\)"),
    ({"X": X, "Y": 2 * Y}, "Y holds 2 at row 0, label 0"),
    ({"X": X, "Y": np.where(Y == 0, np.nan, 1)}, "Y holds nan at row 0, label 1"),
    ({"X": X * 1j}, r"mine\.npz!X\.npy"),
    ({"X": X, "label_names": ["a", "b"]}, "label_names"),
    ({"X": X, "groups": [1.0, 2, 3, 4]}, "groups"),
    ({"X": X, "excluded": 5 * Y}, "excluded holds 5"),
    ({**SPARSE, "X_shape": [4, 2]}, "X|mine"),
]


@pytest.mark.parametrize(("arrays", "told"), UNFIT, ids=range(len(UNFIT)))
def test_arrays_that_do_not_fit_are_named(tmp_path, arrays, told):
    path = tmp_path / "mine.npz"
    np.savez(path, **{k: v for k, v in {"Y": Y, **arrays}.items() if v is not None})
    with pytest.raises(DatasetFormatError, match=told) as caught:
        load_file(path)
    assert str(path) in str(caught.value)


def test_python_objects_are_never_read(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (exec, ("raise SystemExit('unpickled')",))

    names = np.array([Bomb(), "b", "c"], dtype=object)
    np.savez(tmp_path / "mine.npz", X=X, Y=Y, label_names=names)
    with pytest.raises(DatasetFormatError, match=r"label_names\.npy"):
        load_file(tmp_path / "mine.npz")


SVMLIGHT = "0,2 1:0.5 3:2\n1 2:-1\n qid:4 3:1 # no label\n2,0,1 1:1\n"


@pytest.mark.parametrize("ending", ["svm", "libsvm.bz2", "svmlight.gz"])
def test_svmlight_plain_and_packed(tmp_path, ending):
    pack = {"bz2": bz2.compress, "gz": gzip.compress}.get(ending.rpartition(".")[2], bytes)
    path = tmp_path / f"toy.{ending}"
    path.write_bytes(pack(SVMLIGHT.encode()))
    found = load_file(path)
    np.testing.assert_array_equal(found.X.toarray(), X)
    np.testing.assert_array_equal(found.Y, Y)
    assert (found.name, found.label_names) == ("toy", ("0", "1", "2"))


def test_svmlight_as_scikit_learn_writes_it_and_in_parts(tmp_path):
    rng = np.random.default_rng(0)
    features, labels = rng.random((30, 7)), (rng.random((30, 4)) < 0.4).astype(int)
    for part, rows in (("train", slice(20)), ("test", slice(20, 30))):
        path, how = str(tmp_path / f"big-{part}.svm"), {"zero_based": False, "multilabel": True}
        dump_svmlight_file(features[rows], labels[rows], path, **how)
    found = load_file([tmp_path / "big-train.svm", tmp_path / "big-test.svm"])
    assert found.name == "big"
    np.testing.assert_allclose(found.X.toarray(), features, rtol=1e-15)
    np.testing.assert_array_equal(found.Y, labels)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 1:1\n1 2:x\n", "line 2"),
        ("red 1:1\n", "line 1"),
        ("0.5 1:1\n", "line 1"),
        ("0 1:1\n-1 1:1\n", "line 2"),
        (" 1:1\n 2:1\n", "label"),
        ("0\n1,2\n", "feature"),
        ("0 1:1\n1 2:1_0\n", "line 2"),
        ("0 1:1\n1 2:1e400\n", "line 2"),
        ("0 1:1\n1 2000001:1\n", "line 2: .*2,000,001"),
        ("0 1:1\n1 3:1 3:1\n", "line 2"),
    ],
)
def test_a_bad_line_of_svmlight_is_named(tmp_path, text, told):
    (tmp_path / "bad.svm").write_text(text)
    with pytest.raises(DatasetFormatError, match=rf"bad\.svm.*{told}"):
        load_file(tmp_path / "bad.svm")


BY_LABEL = {"data": X, "target": Y.T, "partial_labels": Y.T}
MATRICES = [
    {"X": X, "Y": Y},
    {"X": X, "Y": Y, "excluded": 1 - Y},
    {"data": X, "target": 2 * Y.T - 1},
    BY_LABEL,
    {name: sparse.csc_array(matrix.astype(float)) for name, matrix in BY_LABEL.items()},
    {"X": X, "Y": Y, "data": X, "names": "sea", "fold": [[1, 2, 3]], "struct": {"x": 1}},
]


@pytest.mark.parametrize("matrices", MATRICES, ids=lambda each: "+".join(each))
@pytest.mark.parametrize("packed", [False, True])
def test_the_layouts_of_matlab_files(tmp_path, matrices, packed):
    path = tmp_path / "mine.mat"
    savemat(path, matrices, do_compression=packed)
    in_sparse_form = sparse.issparse(matrices.get("data"))
    excluded = bool({"excluded", "partial_labels"} & matrices.keys())
    check(load_file(path), excluded=excluded, in_sparse_form=in_sparse_form)


@pytest.mark.parametrize(("n_nonzero", "in_sparse_form"), [(0, True), (4, True), (5, False)])
def test_features_that_are_mostly_zeros_become_sparse(tmp_path, n_nonzero, in_sparse_form):
    data = np.zeros((4, 10), dtype=np.uint8)
    data.flat[3 : 3 + n_nonzero] = 7
    savemat(tmp_path / "mine.mat", {"X": data, "Y": Y})
    found = load_file(tmp_path / "mine.mat").X
    assert isinstance(found, sparse.csr_array) == in_sparse_form
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.toarray() if in_sparse_form else found, data)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"X": X, "target": Y.T}, "X, target"),
        ({**BY_LABEL, "X": X, "Y": Y}, "data, target, or X, Y"),
        ({}, "none"),
        ({"X": X, "Y": Y[:2]}, r"Y has shape \(2, 3\)"),
        ({"X": X, "Y": -Y}, "Y .*-1"),
        ({**BY_LABEL, "target": Y}, "shape"),
        ({**BY_LABEL, "partial_labels": 2 * Y.T}, "partial_labels holds 2 at row 0, label 0"),
        ({"X": X * 1j, "Y": Y}, "X has the type complex"),
        ({"X": "text", "Y": Y}, "X has the type"),
        ({"X": {"a": 1}, "Y": Y}, "X has the type"),
        (b"", "MATLAB"),
        (b"no such file at all", "MATLAB"),
        (b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM" + bytes(400), "-v7"),
    ],
)
def test_what_is_no_sound_matlab_file(tmp_path, content, told):
    path = tmp_path / "mine.mat"
    path.write_bytes(content) if isinstance(content, bytes) else savemat(path, content)
    with pytest.raises(DatasetFormatError, match=rf"mine\.mat: .*{told}"):
        load_file(path)


def test_a_file_of_the_catalog_must_have_candidates_and_is_kept_whole(tmp_path, caplog):
    ones = np.ones((20, 4))
    content = {"data": X, "partial_labels": ones, "target": np.repeat([[1, 0, 0, 1]], 20, axis=0)}
    (tmp_path / "pml").mkdir()
    savemat(tmp_path / "pml" / "YeastBP.mat", content)
    with pytest.raises(DatasetFormatError, match=r"YeastBP\.mat: SHA-256"):
        load_dataset("yeastbp", data_dir=tmp_path)
    found = load_dataset("yeastbp", data_dir=tmp_path, verify=False)
    assert (found.n_samples, found.n_labels) == (4, 20)
    assert "n_labels is 20, published 217" in caplog.text
    del content["partial_labels"]
    savemat(tmp_path / "pml" / "YeastBP.mat", content)
    with pytest.raises(DatasetFormatError, match="partial_labels"):
        load_dataset("yeastbp", data_dir=tmp_path, verify=False)
    with pytest.raises(DatasetNotFoundError, match="'mirflickr' or 'pml'"):
        load_dataset("mirflickr", data_dir=tmp_path)


def test_the_real_matlab_files(data_dir):
    pictures = load_dataset("mirflickr", data_dir=data_dir)
    assert (pictures.n_samples, pictures.n_features, pictures.n_labels) == (5000, 100, 7)
    assert pictures.label_cardinality == pytest.approx(1.7706)
    assert pictures.excluded.sum() / 5000 == pytest.approx(3.6468)
    assert isinstance(pictures.X, np.ndarray)
    genes = load_dataset("yeastbp", data_dir=data_dir)
    assert (genes.n_samples, genes.n_features, genes.n_labels) == (6139, 6139, 217)
    assert (genes.Y.sum(axis=1) == 0).sum() == 1882
    assert genes.excluded.all(axis=1).sum() == 1749
    assert not (genes.excluded & genes.Y).any()
    assert isinstance(genes.X, sparse.csr_array)
    assert genes.X.max() == 46
