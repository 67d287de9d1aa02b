"""ARFF files of Mulan and MEKA: which columns are labels, and labels that the XML file lost."""

import re
import zipfile

import numpy as np
import pytest
from scipy import sparse

from complabel.datasets import MultiLabelDataset
from complabel.errors import DatasetFormatError, DatasetNotFoundError, InputError
from complabel.experiments.datasets import read_meka, read_mulan, read_svmlight

ARFF = """@relation example
@attribute feature1 numeric
@attribute label3 {0, 1}
@attribute feature2 numeric
@attribute label1 {0, 1}
@attribute label2 {0, 1}
@data
2.5,1,5.5,0,1
1.0,0,0.0,1,0
"""
XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="label1"><label name="label3"/></label>
<label name="label2"></label>
</labels>"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "toy.arff").write_text(ARFF)
    (tmp_path / "toy.xml").write_text(XML)
    return tmp_path


def test_nested_labels_anywhere_among_the_attributes(folder):
    found = read_mulan(folder / "toy.arff")
    assert found.name == "toy"
    assert found.label_names == ("label3", "label1", "label2")
    assert found.feature_names == ("feature1", "feature2")
    np.testing.assert_array_equal(found.X, [[2.5, 5.5], [1, 0]])
    np.testing.assert_array_equal(found.Y, [[1, 0, 1], [0, 1, 0]])
    assert found.X.flags.c_contiguous


def test_a_dense_and_a_sparse_part_make_a_sparse_whole(folder):
    rows = "@data\n{0 2.5,1 1,2 5.5,4 1}\n{0 1,3 1}\n"
    (folder / "toy-test.arff").write_text(ARFF.partition("@data")[0] + rows)
    found = read_mulan([folder / "toy.arff", folder / "toy-test.arff"], name="both")
    assert (found.name, type(found.X)) == ("both", sparse.csr_array)
    np.testing.assert_array_equal(found.X.toarray(), [[2.5, 5.5], [1, 0]] * 2)
    np.testing.assert_array_equal(found.Y, [[1, 0, 1], [0, 1, 0]] * 2)


def test_a_missing_xml_file_says_what_is_expected_where_and_the_alternatives(folder):
    (folder / "lost-train.arff").write_text(ARFF)
    with pytest.raises(DatasetNotFoundError) as caught:
        read_mulan(folder / "lost-train.arff")
    for part in (str(folder / "lost-train.xml"), "lost.xml", "xml_path=", "read_meka"):
        assert part in str(caught.value)
    with pytest.raises(DatasetNotFoundError, match=r"none\.xml: no such file"):
        read_mulan(folder / "toy.arff", folder / "none.xml")


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("<labels>\n<label name='label1'>", r"toy\.xml, line 2: found no well-formed XML"),
        ("<labels/>", "0 of 0 <label> elements"),
        ("<labels><label/></labels>", "0 of 1 <label> elements have a name"),
        ("<labels><label name='label9'/></labels>", "0 attributes named 'label9'"),
        ("<labels><label name='label1'/><label name='label1'/></labels>", "'label1' is named tw"),
        ("<labels><label name='feature1'/></labels>", "found 2.5 in a label column"),
    ],
)
def test_an_xml_file_that_does_not_fit(folder, xml, message):
    (folder / "toy.xml").write_text(xml)
    with pytest.raises(DatasetFormatError, match=message):
        read_mulan(folder / "toy.arff")


NAMES = {
    "gb18030": "\u5929\u7a7a",
    "shift_jis": "\u8868\u793a",
    "windows-1251": "\u043d\u0435\u0431\u043e",
    "utf-16": "\u5929\u7a7a",
}


@pytest.mark.parametrize("encoding", NAMES)
def test_encodings_that_python_knows(folder, encoding):
    xml = XML.replace("utf-8", encoding).replace("label1", NAMES[encoding])
    (folder / "toy.xml").write_bytes(xml.encode(encoding))
    in_same = "utf-8" if encoding == "utf-16" else encoding
    for arff_encoding in ("utf-8", in_same):
        arff = ARFF.replace("label1", NAMES[encoding]).encode(arff_encoding)
        (folder / "toy.arff").write_bytes(arff)
        found = read_mulan(folder / "toy.arff")
        assert found.label_names == ("label3", NAMES[encoding], "label2")


@pytest.mark.parametrize(
    ("declared", "written", "message"),
    [
        ("klingon", b"label1", r"toy\.xml: does not fit the declared encoding 'klingon'"),
        ("rot13", b"label1", r"toy\.xml: does not fit the declared encoding 'rot13'"),
        ("gb18030", b"\xff\xff", r"toy\.xml: does not fit the declared encoding 'gb18030'"),
        ("utf-7", b"+2AA-", r"toy\.xml"),
        ("utf-8", b"\xff\xff", r"toy\.xml, line 3: found no well-formed XML"),
    ],
)
def test_an_encoding_that_does_not_fit_is_named(folder, declared, written, message):
    xml = XML.replace("utf-8", declared).encode().replace(b"label1", written)
    (folder / "toy.xml").write_bytes(xml)
    with pytest.raises(DatasetFormatError, match=message):
        read_mulan(folder / "toy.arff")


def text(relation, rows="1,0,2.5,3\n0,1,4,5\n"):
    return (
        f"@relation {relation}\n@attribute p {{0,1}}\n@attribute q {{0,1}}\n"
        f"@attribute r numeric\n@attribute s numeric\n@data\n{rows}"
    )


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
    assert (found.name, found.label_names, found.feature_names) == ("tags", ("p", "q"), ("r", "s"))
    assert isinstance(found.X, sparse.csr_array)
    np.testing.assert_array_equal(found.X.toarray(), [[2.5, 0], [0, 0], [0, 4]])
    np.testing.assert_array_equal(found.Y, [[1, 0], [0, 1], [0, 0]])
    assert read_meka(path, member="data/Tags.arff").n_samples == 3


def test_files_without_the_option_need_the_number_of_labels(tmp_path):
    path = tmp_path / "openml.arff"
    path.write_text(text("plain").replace("{0,1}", "{TRUE,FALSE}").replace("1,0,2", "TRUE,FALSE,2"))
    path.write_text(path.read_text().replace("0,1,4", "FALSE,TRUE,4"))
    with pytest.raises(DatasetFormatError, match=r"'plain' has no '-C n'.*openml.xml.*n_labels="):
        read_meka(path)
    found = read_meka(path, n_labels=2)
    np.testing.assert_array_equal(found.X, [[2.5, 3], [4, 5]])
    np.testing.assert_array_equal(found.Y, [[1, 0], [0, 1]])


@pytest.mark.parametrize("n_labels", [0, 4, -4, 9])
def test_a_number_of_labels_that_leaves_no_label_or_no_feature(tmp_path, n_labels):
    path = tmp_path / "a.arff"
    path.write_text(text("a"))
    with pytest.raises(DatasetFormatError, match="expected between 1 and 3 of the 4 attributes"):
        read_meka(path, n_labels=n_labels)


def test_a_number_of_labels_of_thousands_of_digits(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text(text(f"'a: -C {'9' * 5000}'"))
    with pytest.raises(DatasetFormatError, match="99999 labels, expected between 1 and 3 of the 4"):
        read_meka(path)


N, B = "numeric", "{0,1}"


def write(folder, kinds, labels, *, rows=None, sparse_rows=False):
    """Write columns c0, c1, ... of given kinds, and an XML file that names some of them."""
    rng = np.random.default_rng(0)
    if rows is None:
        rows = [
            [rng.integers(0, 2) if kind == B else 2 + rng.integers(9) for kind in kinds]
            for _ in range(8)
        ]
    lines = ["@relation r", *(f"@attribute c{i} {kind}" for i, kind in enumerate(kinds)), "@data"]
    for row in rows:
        pairs = [f"{i} {value}" for i, value in enumerate(row) if value]
        lines.append("{" + ",".join(pairs) + "}" if sparse_rows else ",".join(map(str, row)))
    (folder / "t.arff").write_text("\n".join(lines))
    names = "".join(f'<label name="c{k}"/>' for k in labels)
    (folder / "t.xml").write_text(f"<labels>{names}</labels>")
    return folder / "t.arff"


@pytest.mark.parametrize("sparse_rows", [False, True])
@pytest.mark.parametrize(
    ("kinds", "labels", "lost"),
    [
        ([N, N, B, B, B], [2, 4], "c3"),
        ([B, N, B, N, B], [0, 4], "c2"),
        ([B] * 9, [6, 8], "c7"),  # features of 0 and 1, as in bags of words
    ],
)
def test_an_unnamed_label_between_others_is_refused(tmp_path, kinds, labels, lost, sparse_rows):
    path = write(tmp_path, kinds, labels, sparse_rows=sparse_rows)
    message = rf"t\.arff: attribute '{lost}'.*t\.xml does not name it.*xml_is_complete=True"
    with pytest.raises(DatasetFormatError, match=message):
        read_mulan(path)
    found = read_mulan(path, xml_is_complete=True)
    assert found.label_names == tuple(f"c{k}" for k in labels)
    assert lost in found.feature_names


@pytest.mark.parametrize(
    ("kinds", "labels", "lost"),
    [
        ([N, N, B, B, B], [3, 4], "'c2'"),
        ([N, N, B, B, B], [2, 3], "'c4'"),
        ([B, B, B, N, N], [1, 2], "'c0'"),
        ([N, B, B, B, B], [4], r"'c1' \(and 2 more\)"),
        ([B] * 9, [6, 7], "'c8'"),
        ([B] * 9, [1, 2], "'c0'"),
    ],
)
def test_what_may_be_a_label_beside_the_labels_is_read_and_told(
    tmp_path, kinds, labels, lost, caplog
):
    path = write(tmp_path, kinds, labels)
    assert read_mulan([path, path]).label_names == tuple(f"c{k}" for k in labels)
    assert re.search(rf"t\.arff: attribute {lost} holds only 0 and 1 and is next to", caplog.text)


@pytest.mark.parametrize(
    ("kinds", "labels"),
    [
        ([N, N, B, B], [2, 3]),
        ([B, B, N, N], [0, 1]),
        ([B, N, B, B], [2, 3]),  # a feature of 0 and 1 apart from the labels
        ([N, B, N, B, B], [1, 3, 4]),
        ([B] * 9, [6, 7, 8]),
        ([B] * 9, [0, 1, 2]),
        ([N, N, N], [0]),
    ],
)
def test_complete_files_are_read(tmp_path, kinds, labels, caplog):
    rows = [[k % 2 if k in labels else 3 * (kinds[k] == N) for k in range(len(kinds))]] * 2
    for sparse_rows in (False, True):
        found = read_mulan(write(tmp_path, kinds, labels, rows=rows, sparse_rows=sparse_rows))
        assert found.label_names == tuple(f"c{k}" for k in labels)
    assert not caplog.text


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_labels_declared_as_numbers_are_told_by_their_values(tmp_path, sparse_rows):
    rows = [[5, 0, 1, 0], [6, 1, 1, 1], [1, 0, 0, 1]]
    path = write(tmp_path, [N] * 4, [1, 3], rows=rows, sparse_rows=sparse_rows)
    with pytest.raises(DatasetFormatError, match="attribute 'c2' holds only 0 and 1"):
        read_mulan(path)
    rows[2][2] = 7
    path = write(tmp_path, [N] * 4, [1, 3], rows=rows, sparse_rows=sparse_rows)
    assert read_mulan(path).feature_names == ("c0", "c2")


def test_labels_alone_are_no_dataset(tmp_path):
    path = write(tmp_path, [B, B], [0, 1])
    with pytest.raises(DatasetFormatError, match="all 2 attributes are labels"):
        read_mulan(path)
    path.write_text(path.read_text().replace("@relation r", "@relation 'r: -C 2'"))
    with pytest.raises(DatasetFormatError, match="between 1 and 1 of the 2 attributes"):
        read_meka(path)
    svmlight = tmp_path / "labels.svm"
    svmlight.write_text("0\n1,2\n")
    with pytest.raises(DatasetFormatError, match=r"labels\.svm: no row has a feature"):
        read_svmlight(svmlight)
    assert read_svmlight(svmlight, n_features=4).n_features == 4
    with pytest.raises(InputError, match="X has no column"):
        MultiLabelDataset("none", np.zeros((2, 0)), np.eye(2, dtype=np.uint8), ("a", "b"), ())
