import bz2
import gzip

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from complabel.errors import DatasetFormatError
from complabel.experiments.datasets import read_svmlight

TEXT = "0,2 1:0.5 3:2\n1 2:-1e-1\n 4:1 # no label\n2,0 1:1\n"
Y = [[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 0, 1]]
X = [[0.5, 0, 2, 0], [0, -0.1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]]


@pytest.mark.parametrize("ending", ["svm", "svm.bz2", "svm.gz"])
def test_plain_and_compressed(tmp_path, ending):
    pack = {"svm": bytes, "svm.bz2": bz2.compress, "svm.gz": gzip.compress}[ending]
    path = tmp_path / f"toy.{ending}"
    path.write_bytes(pack(TEXT.encode()))
    found = read_svmlight(path)
    assert isinstance(found.X, sparse.csr_array)
    assert (found.name, found.label_names) == ("toy", ("0", "1", "2"))
    np.testing.assert_array_equal(found.X.toarray(), X)
    np.testing.assert_array_equal(found.Y, Y)


def test_what_scikit_learn_writes_comes_back(tmp_path):
    rng = np.random.default_rng(0)
    features, labels = rng.random((30, 7)), (rng.random((30, 4)) < 0.4).astype(int)
    path = str(tmp_path / "random.svm")
    dump_svmlight_file(features, labels, path, zero_based=False, multilabel=True)
    found = read_svmlight(path)
    np.testing.assert_allclose(found.X.toarray(), features, rtol=1e-15)
    np.testing.assert_array_equal(found.Y, labels)


def test_parts_names_and_the_number_of_features(tmp_path):
    first, second = tmp_path / "a.svm", tmp_path / "b.svm"
    first.write_text("0 1:1\n")
    second.write_text("2 2:1\n")
    found = read_svmlight([first, second], n_features=5, name="two")
    assert (found.name, found.label_names, found.n_features) == ("two", ("0", "2"), 5)
    np.testing.assert_array_equal(found.Y, [[1, 0], [0, 1]])


def test_labels_are_the_numbers_that_occur(tmp_path):
    path = tmp_path / "gaps.svm"
    path.write_text("3,7 1:1\n12 1:2\n")
    assert read_svmlight(path).label_names == ("3", "7", "12")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1:1\n1 2:x\n", r"bad\.svm, line 2: .*found '1 2:x', expected 'label,label"),
        ("0 1:1\n1 2 3\n", "line 2: .*found '1 2 3'"),
        ("red 1:1\n", "line 1: .*found 'red 1:1'"),
        ("0.5 1:1\n", "line 1: a label is no whole number from 0"),
        ("0 1:1\n-1 1:1\n", "line 2: a label is no whole number from 0"),
        (" 1:1\n 2:1\n", "no row has a label"),
        # What float() and int() read, and the format does not know.
        ("0 1:1\n1 2:1_0\n", "line 2: .*found '1 2:1_0', expected"),
        ("0 1:1\n1_0 2:1\n", "line 2: "),
        ("0 1:1\n1 2:\u0661\n", "line 2: "),
        ("0 1:1\n1 2:nan\n", "line 2: "),
        # Numbers beyond what fits.
        ("0 1:1\n1 2:1e400\n", "line 2: a number is infinite"),
        ("0 1:1\n1e400 2:1\n", "line 2: a label"),
        ("0 1:1\n# c\n1,1e20 2:1\n", "line 3: a label"),
        ("0 1:1\n1 2000001:1\n", "line 2: found index 2,000,001.*2,000,000.*give n_features"),
        ("0 1:1\n1 99999999999:1\n", "line 2: "),
        ("1 1:1\n1 " + "9" * 5000 + ":1\n", "line 2: "),
        ("9" * 5000 + " 1:1\n", "line 1: "),
        ("0 1:1\n1 3:1 2:1\n", "line 2: .*sorted and unique"),
        ("0 1:1\n1 3:1 3:1\n", "line 2: .*sorted and unique"),
        # A pattern that tries every split of the digits would take hours.
        (f"0 1:1\n1 2:{'9' * 1_000_000}+\n", "line 2: .*found '1 2:999"),
        ("0 1:1\n1 qid:4 2:x\n", "line 2: .*found '1 qid:4 2:x'"),
    ],
)
def test_a_bad_line_is_named(tmp_path, text, message):
    path = tmp_path / "bad.svm"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DatasetFormatError, match=message):
        read_svmlight(path)


def test_more_features_than_usual_only_where_asked_for(tmp_path):
    path = tmp_path / "wide.svm"
    path.write_text("0 1:1\n1 2000001:1\n")
    assert read_svmlight(path, n_features=2_000_001).n_features == 2_000_001
    path.write_text("0 1:1\n1 2000000:1\n")
    assert read_svmlight(path).n_features == 2_000_000
    with pytest.raises(DatasetFormatError, match="line 2: n_features was set to 5"):
        read_svmlight(path, n_features=5)


def test_comments_may_hold_anything_and_queries_are_skipped(tmp_path):
    path = tmp_path / "comments.svm"
    path.write_text("# \u00fcber 1_0\n0 qid:3 1:1 # nan\n1 qid:4 2:1\n", encoding="utf-8")
    np.testing.assert_array_equal(read_svmlight(path).X.toarray(), [[1, 0], [0, 1]])
