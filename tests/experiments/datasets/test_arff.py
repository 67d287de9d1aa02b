"""ARFF files of Mulan and MEKA: values, which columns are labels, and what is wrong where."""

import re
import shlex
import zipfile

import arff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.examples import examples

from complabel.answers import Answers
from complabel.errors import DatasetFormatError, DatasetNotFoundError
from complabel.experiments.datasets import load_file
from complabel.experiments.datasets._arff import read_arff
from complabel.importers import Options, import_answers

VALUES = st.one_of(st.just(0.0), st.floats(-1e6, 1e6), st.integers(-50, 50).map(float))
N, B, WORDS = "numeric", "{0,1}", "{FALSE,TRUE}"


def write(path, types, rows, relation="r"):
    head = "".join(f"@attribute c{i} {kind}\n" for i, kind in enumerate(types))
    path.write_text(f"@relation {relation}\n{head}@data\n{rows}", encoding="utf-8")
    return path


def named(path, *labels):
    elements = "".join(f'<label name="{label}"/>' for label in labels)
    path.with_suffix(".xml").write_text(f"<labels>{elements}</labels>", encoding="utf-8")
    return path


@st.composite
def tables(draw):
    n_numeric, n_binary = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    row = st.tuples(*[VALUES] * n_numeric, *[st.sampled_from([0.0, 1.0])] * n_binary)
    return n_numeric, np.array(draw(st.lists(row, min_size=1, max_size=5)))


def as_text(table, *, sparse_rows):
    n_numeric, values = table
    kinds = ["NUMERIC"] * n_numeric + [["0", "1"]] * (values.shape[1] - n_numeric)
    rows = [[*map(float, r[:n_numeric]), *(str(int(v)) for v in r[n_numeric:])] for r in values]
    if sparse_rows:
        rows = [{i: v for i, v in enumerate(row) if float(v) != 0} for row in rows]
    attributes = [(f"a {i}", kind) for i, kind in enumerate(kinds)]
    return arff.dumps({"relation": "r", "attributes": attributes, "data": rows})


@examples(25)
@given(table=tables())
def test_rows_as_liac_arff_writes_and_reads_them(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("d") / "d.arff"
    text = as_text(table, sparse_rows=False)
    path.write_text(text)
    found = read_arff(path)
    np.testing.assert_array_equal(found.values, np.array(arff.loads(text)["data"], dtype=float))
    assert list(found.names) == [name for name, _ in arff.loads(text)["attributes"]]
    path.write_text(as_text(table, sparse_rows=True))
    found = read_arff(path).values
    assert found.has_canonical_format
    np.testing.assert_array_equal(found.toarray(), table[1])
    assert found.nnz == np.count_nonzero(table[1])


def test_how_files_are_written_elsewhere(tmp_path):
    path = tmp_path / "a.arff"
    text = (
        "% made by hand\r\n\r\n@RELATION 'x: -C 1'\r\n@Attribute 'it\\'s, {new}' {0, 1}\r\n"
        '@ATTRIBUTE "caf\u00e9 c++" REAL\r\n@attribute TAG_c++ Integer\r\n@attribute w'
        " {FALSE,TRUE}\r\n\r\n@DATA\r\n% rows\r\n1, 2.5,-3,TRUE\r\n\r\n '0',1e-3,\"4\",false \r\n"
    )
    for encoding in ("utf-8", "utf-8-sig", "latin-1"):
        path.write_bytes(text.encode(encoding))
        found = read_arff(path)
        assert found.names == ("it's, {new}", "caf\u00e9 c++", "TAG_c++", "w")
        np.testing.assert_array_equal(found.values, [[1, 2.5, -3, 1], [0, 1e-3, 4, 0]])
    rows = "{0 2, 1 TRUE, 2 '1'}\n{'0' \"3\", 01 false}\n{ }\n"
    found = read_arff(write(path, [N, WORDS, "{'0','1'}"], rows)).values
    np.testing.assert_array_equal(found.toarray(), [[2, 1, 1], [3, 0, 0], [0, 0, 0]])


def test_one_before_zero_is_read_when_dense_and_refused_when_sparse(tmp_path):
    dense = read_arff(write(tmp_path / "d.arff", [N, "{1,0}"], "2,1\n3,0\n"))
    np.testing.assert_array_equal(dense.values, [[2, 1], [3, 0]])
    with pytest.raises(DatasetFormatError, match="'c1' declares 1 before 0"):
        read_arff(write(tmp_path / "s.arff", [N, "{1,0}"], "{0 2}\n"))


WRONG = [
    ([N, N], "1,2\n1,?\n", "line 6: .*'?'.*c1"),
    ([N, N], "1,2\n\n3\n", "line 7: .*1 values"),
    ([N, N], "1,x\n", "line 5: .*'x'.*c0|line 5: .*'x'.*c1"),
    ([N, N], "1,2\n1,nan\n", "line 6: .*'nan'.*c1"),
    ([N, B], "% c\n1,1\n1,2\n", "line 7: .*'2'.*c1"),
    ([N, WORDS], "1,maybe\n", "line 5: .*'maybe'.*c1"),
    ([N, WORDS], "TRUE,1\n", "line 5: .*'TRUE'.*c0"),
    ([N, WORDS], "{1 TRUE}\n{0 TRUE}\n", "line 6: .*'TRUE'.*c0"),
    ([N, N], "1,2\n{0 1}\n", "line 6: .*{0 1}"),
    ([N, N], "{0 1}\n{1 2\n", "line 6: .*{1 2"),
    ([N, N], "{0 1}\n{2 1}\n", "line 6: .*2 1.* 0 to 1"),
    ([N, N], "{-1 1}\n", "line 5: .*-1 1"),
    ([N, N], "{0 1}\n{,1 1}\n", "line 6: found ''.* 0 to 1"),
    ([N, N], "{0.5 1}\n", "line 5: .*0.5 1"),
    ([N, N], "{0 1,0 2}\n", "line 5: .*twice"),
    ([N, N], "{0 ?}\n", "line 5: .*'?'.*c0"),
    ([N, B], "{0 7}\n{1 7}\n", "line 6: .*'7'.*c1"),
    ([N, N], "% nothing\n\n", "no rows"),
    # What Python's float reads, and numbers of such files are not.
    ([N, N], "1,2\n1,1_0\n", "line 6: .*1_0"),
    ([N, N], "1,\u0661\u0662\n", "line 5: .*\u0661\u0662"),
    ([N, N], "1,2\n1'5,2\n", "line 6: .*1'5"),
    ([N, N], "1,2\n'1,2'\n", "line 6: .*'1"),
    ([N, N], "{" + "9" * 5000 + " 1}", "line 5: .*999"),
    ([N, N], "{\x1b[31m 1}\n", r"line 5: .*\\x1b\[31m"),  # could control a terminal
    (["string"], "x\n", "line 2: .*c0.*string"),
    (["{red,green}"], "red\n", "line 2: .*c0.*red,green"),
]


@pytest.mark.parametrize(("types", "rows", "told"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_named_with_file_and_line(tmp_path, types, rows, told):
    path = write(tmp_path / "bad.arff", types, rows)
    with pytest.raises(DatasetFormatError, match=rf"bad\.arff.*({told.replace('?', '[?]')})"):
        read_arff(path)


def test_a_file_without_rows_or_attributes(tmp_path):
    for text in ("@relation r\n@attribute a numeric\n", "@relation r\n@data\n1\n", "<html>\n"):
        (tmp_path / "page.zip").write_text(text)
        with pytest.raises(DatasetFormatError, match=r"page\.zip: no @"):
            read_arff(tmp_path / "page.zip")


@pytest.mark.parametrize("rows", ["1,?,0.5\n0,1,0.1\n", "{0 1,1 ?,2 0.5}\n{1 1,2 0.1}\n"])
def test_a_label_that_is_missing_leads_to_a_table_of_codes(tmp_path, rows):
    with pytest.raises(DatasetFormatError) as caught:
        read_arff(write(tmp_path / "m.arff", [B, B, N], rows))
    options = shlex.split(re.search(r"complabel import (--from .*) reads", str(caught.value))[1])
    (tmp_path / "codes.csv").write_text("item,sea,sky\na,1,?\nb,0,1\n")
    told = dict(zip(options[::2], options[1::2], strict=True))
    words = {name: (told[f"--{name}"],) for name in ("yes", "no", "unsure")}
    path, how = tmp_path / "codes.csv", Options(**words)
    answers = Answers.from_table(import_answers(path, format=told["--from"], options=how)[0])
    assert answers.known_relevant.tolist() == [[1, 0], [0, 1]]
    assert answers.complementary.tolist() == [[0, 0], [1, 0]]


@pytest.mark.parametrize(
    ("option", "labels"),
    [("-C 2", "c0 c1"), ("-split-number 10 -C -2", "c2 c3"), ("x-C-2 -C -3", "c1 c2 c3")],
)
def test_labels_by_the_option_of_the_relation(tmp_path, option, labels):
    path = write(tmp_path / "a.arff", [B] * 4, "1,0,1,0\n0,1,1,1\n", f"'a: {option}'")
    found = load_file(path)
    assert found.label_names == tuple(labels.split())
    assert sorted((*found.label_names, *found.feature_names)) == ["c0", "c1", "c2", "c3"]
    both = {**dict(zip(found.label_names, found.Y.T.tolist(), strict=True))}
    both |= dict(zip(found.feature_names, found.X.T.tolist(), strict=True))
    assert [both[f"c{i}"] for i in range(4)] == [[1, 0], [0, 1], [1, 1], [0, 1]]


@pytest.mark.parametrize("option", ["", "-C 0", "-C 4", "-C -4", "-C 999999999"])
def test_a_number_of_labels_that_leaves_no_label_or_no_feature(tmp_path, option):
    path = write(tmp_path / "a.arff", [B] * 4, "1,0,1,0\n", f"'a: {option}'")
    with pytest.raises(DatasetFormatError, match=r"a\.arff: "):
        load_file(path)


def test_labels_by_an_xml_file_anywhere_among_the_attributes(tmp_path):
    types, rows = [N, B, N, B, B], "2.5,1,5.5,0,1\n1.0,0,0.0,1,0\n"
    path = named(write(tmp_path / "toy.arff", types, rows), "c3", "c4")
    with pytest.raises(DatasetFormatError, match="does not name"):
        load_file(named(path, "c1", "c4"))
    (tmp_path / "toy.xml").write_text(
        '<?xml version="1.0" encoding="utf-8"?><labels xmlns="http://mulan.sourceforge.net/labels">'
        '<label name="c3"><label name="c1"/></label>\n<label name="c4"></label></labels>'
    )
    found = load_file(path)
    assert (found.label_names, found.feature_names) == (("c1", "c3", "c4"), ("c0", "c2"))
    np.testing.assert_array_equal(found.X, [[2.5, 5.5], [1, 0]])
    np.testing.assert_array_equal(found.Y, [[1, 0, 1], [0, 1, 0]])
    part = write(tmp_path / "toy-test.arff", types, "{0 2.5,1 1,2 5.5,4 1}\n{0 1,3 1}\n")
    both = load_file([path, part])
    assert isinstance(both.X, sparse.csr_array)
    np.testing.assert_array_equal(both.X.toarray(), [[2.5, 5.5], [1, 0]] * 2)
    np.testing.assert_array_equal(both.Y, [[1, 0, 1], [0, 1, 0]] * 2)


@pytest.mark.parametrize(
    ("xml", "told"),
    [
        ("<labels>\n<label name='c1'>", r"toy\.xml: .*line 2"),
        ("<labels/>", "0 of 0"),
        ("<labels><label/></labels>", "0 of 1"),
        ("<labels><label name='c9'/></labels>", "'c9'"),
        ("<labels><label name='c1'/><label name='c1'/></labels>", r"toy\.xml: 2 of 2.*1 names"),
        ("<labels><label name='c0'/></labels>", r"2\.5 in a label column"),
        ("<labels><label name='c0'/><label name='c1'/></labels>", "all 2 attributes are labels"),
    ],
)
def test_an_xml_file_that_does_not_fit(tmp_path, xml, told):
    path = write(tmp_path / "toy.arff", [N, B], "2.5,1\n1,0\n")
    (tmp_path / "toy.xml").write_text(xml)
    with pytest.raises(DatasetFormatError, match=told):
        load_file(path)


@pytest.mark.parametrize(
    ("kinds", "labels", "lost"),
    [
        ([N, N, B, B, B], [2, 4], "c3"),
        ([B, N, B, N, B], [0, 4], "c2"),
        ([B] * 9, [6, 8], "c7"),
        ([N, N, N, N], [1, 3], "c2"),  # labels that are declared as numbers
    ],
)
def test_an_unnamed_label_between_others_is_refused(tmp_path, kinds, labels, lost):
    row = [5 if kind == N and f"c{i}" != lost and i not in labels else 1
           for i, kind in enumerate(kinds)]  # fmt: skip
    dense = ",".join(map(str, row))
    rows = "{" + ",".join(f"{i} {value}" for i, value in enumerate(row)) + "}"
    for text in (dense, rows):
        path = named(write(tmp_path / "t.arff", kinds, f"{text}\n"), *(f"c{k}" for k in labels))
        with pytest.raises(DatasetFormatError, match=rf"t\.arff: attribute '{lost}'.*t\.xml"):
            load_file(path)


@pytest.mark.parametrize(
    ("kinds", "labels", "lost"),
    [
        ([N, N, B, B], [3], "c2"),
        ([B, B, N], [0], "c1"),
        ([N, B, N, B], [3], ""),
        ([B] * 4, [3], ""),
    ],
)
def test_what_may_be_a_label_beside_the_labels_is_read_and_told(
    tmp_path, kinds, labels, lost, caplog
):
    rows = ",".join("5" if kind == N else "1" for kind in kinds)
    path = named(write(tmp_path / "t.arff", kinds, f"{rows}\n"), *(f"c{k}" for k in labels))
    assert load_file(path).label_names == tuple(f"c{k}" for k in labels)
    assert (f"t.arff: attribute '{lost}'" in caplog.text) == bool(lost)


def test_the_only_arff_in_a_zip(tmp_path):
    text = write(tmp_path / "a.arff", [B, N], "1,2\n", "'r: -C 1'").read_text()
    for members, ok in (
        (["d/a.arff", "__MACOSX/d/._a.arff", "d/._a.arff", "readme.txt"], True),
        (["a.arff", "b.arff"], False),
        (["readme.txt"], False),
    ):
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            for name in members:
                archive.writestr(name, text)
        if ok:
            assert load_file(tmp_path / "a.zip").n_samples == 1
            continue
        with pytest.raises(DatasetNotFoundError, match=r"a\.zip: holds [02] ARFF files"):
            load_file(tmp_path / "a.zip")
