import zipfile

import numpy as np
import pytest
from scipy import sparse

from complabel.datasets import read_meka
from complabel.errors import DatasetFormatError, DatasetNotFoundError


def text(relation, rows="1,0,2.5,3\n0,1,4,5\n"):
    return (
        f"@relation {relation}\n@attribute p {{0,1}}\n@attribute q {{0,1}}\n"
        f"@attribute r numeric\n@attribute s numeric\n@data\n{rows}"
    )


def test_labels_in_front(tmp_path):
    path = tmp_path / "front.arff"
    path.write_text(text("'front: -C 2'"))
    found = read_meka(path)
    assert (found.name, found.label_names, found.feature_names) == ("front", ("p", "q"), ("r", "s"))
    np.testing.assert_array_equal(found.X, [[2.5, 3], [4, 5]])
    np.testing.assert_array_equal(found.Y, [[1, 0], [0, 1]])


@pytest.mark.parametrize("relation", ["'back: -C -2'", "'-split-number 10 -C -2'", "x-C-2 -C -2"])
def test_labels_at_the_end(tmp_path, relation):
    path = tmp_path / "back.arff"
    path.write_text(text(relation, "1,0,1,0\n0,1,1,1\n"))
    found = read_meka(path)
    assert found.label_names == ("r", "s")
    np.testing.assert_array_equal(found.Y, [[1, 0], [1, 1]])


def test_sparse_in_a_zip(tmp_path):
    path = tmp_path / "Tags_Meka.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme.txt", "tags")
        archive.writestr("data/Tags.arff", text("'Tags: -C 2'", "{0 1,2 2.5}\n{1 1}\n{3 4}\n"))
    found = read_meka(path, name="tags")
    assert isinstance(found.X, sparse.csr_array)
    np.testing.assert_array_equal(found.X.toarray(), [[2.5, 0], [0, 0], [0, 4]])
    np.testing.assert_array_equal(found.Y, [[1, 0], [0, 1], [0, 0]])
    assert read_meka(path, member="data/Tags.arff").n_samples == 3


def test_files_without_the_option_need_the_number_of_labels(tmp_path):
    path = tmp_path / "openml.arff"
    path.write_text(text("plain").replace("{0,1}", "{TRUE,FALSE}").replace("1,0,2", "TRUE,FALSE,2"))
    path.write_text(path.read_text().replace("0,1,4", "FALSE,TRUE,4"))
    with pytest.raises(DatasetFormatError, match=r"'plain' has no '-C n'.*n_labels=.*read_mulan"):
        read_meka(path)
    np.testing.assert_array_equal(read_meka(path, n_labels=2).Y, [[1, 0], [0, 1]])


@pytest.mark.parametrize("n_labels", [0, 4, -4, 9])
def test_a_number_of_labels_that_leaves_no_label_or_no_feature(tmp_path, n_labels):
    path = tmp_path / "a.arff"
    path.write_text(text("a"))
    with pytest.raises(DatasetFormatError, match="expected between 1 and 3 of the 4 attributes"):
        read_meka(path, n_labels=n_labels)


def test_no_path():
    with pytest.raises(DatasetNotFoundError, match="no file"):
        read_meka([])


def test_a_number_of_labels_of_thousands_of_digits(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text(text(f"'a: -C {'9' * 5000}'"))
    with pytest.raises(DatasetFormatError, match="99999 labels, expected between 1 and 3 of the 4"):
        read_meka(path)
