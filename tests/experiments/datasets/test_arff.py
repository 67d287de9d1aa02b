import io
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
from complabel.experiments.datasets._arff import read_arff
from complabel.importers import Options, import_answers

VALUES = st.one_of(st.just(0.0), st.floats(-1e6, 1e6), st.integers(-50, 50).map(float))


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def header(*types):
    return "@relation r\n" + "".join(f"@attribute a{i} {t}\n" for i, t in enumerate(types))


@st.composite
def tables(draw):
    n_numeric, n_binary = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    n_rows = draw(st.integers(1, 5))
    row = st.tuples(*[VALUES] * n_numeric, *[st.sampled_from([0.0, 1.0])] * n_binary)
    return n_numeric, n_binary, np.array(draw(st.lists(row, min_size=n_rows, max_size=n_rows)))


def as_text(table, *, sparse_rows):
    n_numeric, n_binary, values = table
    types = ["numeric"] * n_numeric + [["0", "1"]] * n_binary
    rows = [
        [*map(float, row[:n_numeric]), *[str(int(value)) for value in row[n_numeric:]]]
        for row in values
    ]
    if sparse_rows:
        rows = [{i: v for i, v in enumerate(row) if float(v) != 0} for row in rows]
    attributes = [(f"a {i}", t if isinstance(t, list) else t.upper()) for i, t in enumerate(types)]
    return arff.dumps({"relation": "r", "attributes": attributes, "data": rows})


@examples(25)
@given(table=tables())
def test_rows_as_liac_arff_writes_and_reads_them(table, tmp_path_factory):
    text = as_text(table, sparse_rows=False)
    path = write(tmp_path_factory.mktemp("d") / "d.arff", text)
    found = read_arff(path)
    oracle = np.array(arff.loads(text)["data"], dtype=float)
    np.testing.assert_array_equal(found.values, oracle)
    assert list(found.names) == [name for name, _ in arff.loads(text)["attributes"]]
    found = read_arff(write(path, as_text(table, sparse_rows=True))).values
    assert isinstance(found, sparse.csr_array)
    assert found.has_canonical_format
    np.testing.assert_array_equal(found.toarray(), table[2])
    assert found.nnz == np.count_nonzero(table[2])


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("plain", "plain"),
        (r"'it\'s, {new}'", "it's, {new}"),
        ('"two words"', "two words"),
        (r'"a \"b\""', 'a "b"'),
        ("'50% off'", "50% off"),
        ("TAG_c++", "TAG_c++"),
    ],
)
def test_names_of_attributes(tmp_path, written, name):
    path = write(tmp_path / "a.arff", f"@relation r\n@attribute {written} numeric\n@data\n1\n")
    assert read_arff(path).names == (name,)


def test_letter_case_comments_blank_lines_and_windows_line_ends(tmp_path):
    text = (
        "% made by hand\r\n\r\n@RELATION 'x: -C 1'\r\n@Attribute a {0, 1}\r\n"
        "@ATTRIBUTE b REAL\r\n@attribute c Integer\r\n\r\n@DATA\r\n% rows\r\n1, 2.5,-3\r\n\r\n"
        " 0,1e-3,4 \r\n"
    )
    found = read_arff(write(tmp_path / "a.arff", text))
    assert found.relation == "'x: -C 1'"
    np.testing.assert_array_equal(found.values, [[1, 2.5, -3], [0, 1e-3, 4]])


def test_names_that_are_not_utf8_are_read_as_latin1(tmp_path):
    text = "@relation r\n@attribute caf\u00e9 numeric\n@data\n1\n"
    assert read_arff(write(tmp_path / "a.arff", text, "latin-1")).names == ("caf\u00e9",)


def test_true_and_false_and_quoted_values(tmp_path):
    head = header("numeric", "{FALSE,TRUE}", "{'0','1'}")
    dense = read_arff(write(tmp_path / "d.arff", head + "@data\n2,TRUE,'1'\n3,false,'0'\n"))
    np.testing.assert_array_equal(dense.values, [[2, 1, 1], [3, 0, 0]])
    rows = "@data\n{0 2, 1 TRUE, 2 '1'}\n{0 3, 1 false}\n{ }\n"
    assert isinstance(read_arff(write(tmp_path / "s.arff", head + rows)).values, sparse.csr_array)
    found = read_arff(tmp_path / "s.arff").values.toarray()
    np.testing.assert_array_equal(found, [[2, 1, 1], [3, 0, 0], [0, 0, 0]])


def test_quotes_round_values_and_indices(tmp_path):
    head = header("numeric", "numeric")
    dense = read_arff(write(tmp_path / "d.arff", head + '@data\n\'1\', "2"\n"3",4\n'))
    np.testing.assert_array_equal(dense.values, [[1, 2], [3, 4]])
    rows = read_arff(write(tmp_path / "s.arff", head + "@data\n{0 '1', '1' \"2\"}\n"))
    np.testing.assert_array_equal(rows.values.toarray(), [[1, 2]])


@pytest.mark.parametrize("row", ["{1\x1d TRUE}", "{01 TRUE}"])
def test_white_space_and_zeros_before_a_word(tmp_path, row):
    path = write(tmp_path / "a.arff", header("numeric", "{FALSE,TRUE}") + f"@data\n{row}\n")
    np.testing.assert_array_equal(read_arff(path).values.toarray(), [[0, 1]])


def test_one_before_zero_is_read_when_dense_and_refused_when_sparse(tmp_path):
    head = header("numeric", "{1,0}")
    dense = read_arff(write(tmp_path / "d.arff", head + "@data\n2,1\n3,0\n"))
    np.testing.assert_array_equal(dense.values, [[2, 1], [3, 0]])
    with pytest.raises(DatasetFormatError, match=r"'a1' declares 1 before 0.*dense form"):
        read_arff(write(tmp_path / "s.arff", head + "@data\n{0 2}\n"))


def test_indices_out_of_order_and_written_zeros(tmp_path):
    path = write(tmp_path / "a.arff", header(*["numeric"] * 4) + "@data\n{3 1,0 2,1 0}\n{}\n")
    found = read_arff(path).values
    np.testing.assert_array_equal(found.toarray(), [[2, 0, 0, 1], [0, 0, 0, 0]])
    assert found.nnz == 2


NUMBERS, ZERO_ONE, WORDS = ["numeric"] * 2, ["numeric", "{0,1}"], ["numeric", "{FALSE,TRUE}"]
BAD_ROWS = [
    (NUMBERS, "1,2\n1,?\n", r"line 6: found '\?' for attribute 'a1', which is a missing"),
    (NUMBERS, "1,2\n\n3\n", "line 7: found 1 values, expected 2"),
    (NUMBERS, "1,2,3\n1,2,3\n", "line 5: found 3 values, expected 2"),
    (NUMBERS, "1,x\n", "line 5: found 'x' for attribute 'a1', expected a number"),
    (NUMBERS, "1,2\n1,nan\n", "line 6: found 'nan' .*'a1', expected a finite number"),
    (ZERO_ONE, "% c\n1,1\n1,2\n", "line 7: found '2' .*'a1', expected 0 or 1"),
    (WORDS, "1,maybe\n", "line 5: found 'maybe'.*TRUE or FALSE"),
    (NUMBERS, "1,2\n{0 1}\n", "line 6: found a sparse row, expected a dense"),
    (NUMBERS, "{0 1}\n1,2\n", "line 6: found '1,2', expected {index value"),
    (NUMBERS, "{0 1}\n{1 2\n", "line 6: found '{1 2', expected"),
    (NUMBERS, "{0 1}\n{1 2}, {3}\n", "line 6: found '2}' for attribute 'a1', exp"),
    (NUMBERS, "{0 1}\n{2 1}\n", "line 6: found index 2, expected 0 to 1"),
    (NUMBERS, "{-1 1}\n", "line 5: found index -1, expected 0 to 1"),
    (NUMBERS, "{0.5 1}\n", r"line 5: found index 0\.5, expected 0 to 1"),
    (NUMBERS, "{0 1,0 2}\n", "line 5: found index 0 twice"),
    (NUMBERS, "{0 1,}\n", "line 5: found '', expected 'index value'"),
    (NUMBERS, "{0 ?}\n", r"line 5: found '\?' for attribute 'a0', which is a missing"),
    (NUMBERS, "{1 inf}\n", "line 5: found 'inf' for attribute 'a1', expected a fin"),
    (ZERO_ONE, "{0 7}\n{1 7}\n", "line 6: found '7' .*'a1', expected 0 or 1"),
    (NUMBERS, "% nothing\n\n", "no rows after @data"),
    # What float() reads and NumPy does not.
    (NUMBERS, "1,2\n1,1_0\n", "line 6: found '1_0' for attribute 'a1'"),
    (NUMBERS, "1,\u0661\u0662\n", "line 5: found '\u0661\u0662'"),
    (NUMBERS, "{0 1}\n{1 1_0}\n", "line 6: found '1_0' for attribute 'a1'"),
    (NUMBERS, "{\u0661 1}\n", "line 5: found index \u0661, expected 0 to 1"),
    (WORDS, "1,0_1\n", "line 5: found '0_1' for attribute 'a1', expected TR"),
    (WORDS, "{1 0_1}\n", "line 5: found '0_1' for attribute 'a1'"),
    # Quotes inside numbers.
    (NUMBERS, "1,2\n1'5,2\n", "line 6: found \"1'5\" for attribute 'a0'"),
    (NUMBERS, "1,2\n'1,2'\n", "line 6: found \"'1\" for attribute 'a0'"),
    (NUMBERS, '{0 1}\n{1 2"5}\n', "line 6: found '2\"5' for attribute 'a1'"),
    (NUMBERS, "{0 1}\n{'}\n", "line 6: found \"'\", expected 'index value'"),
    # More digits than int() takes; a pattern that tries every split of them would take hours.
    (NUMBERS, "1," + "9" * 5000, r"line 5: found '9{60}\.\.\.' for attribute 'a1', expected a fin"),
    (NUMBERS, "{" + "9" * 5000 + " 1}", r"line 5: found index 9{60}\.\.\., expected 0 to 1"),
    # What could control a terminal.
    (NUMBERS, "{\x1b[31m 1}\n", r"line 5: found index \\x1b\[31m, expected 0 to 1"),
    (NUMBERS, "1," + "9" * 1_000_000 + "x", r"line 5: found '9{60}\.\.\.' for .*a numb"),
]
BAD_HEADERS = [
    (header("numeric"), "no @data line"),
    ("@relation r\n@data\n1\n", "no @attribute before @data"),
    (header("string") + "@data\nx\n", "line 2: attribute 'a0' has type 'string'"),
    (header("{red,green}") + "@data\nred\n", "line 2: attribute 'a0' has the values {red,gre"),
    (header("{0,1,2}") + "@data\n1\n", "line 2: attribute 'a0' has the values {0,1,2}"),
    (header("{0,\x1b[31m}") + "@data\n1\n", r"line 2: .* has the values {0,\\x1b\[31m}"),
    ("@relation r\n1,2,3\n@data\n1\n", "line 2: found '1,2,3', expected @relation"),
    ("@relation r\n@attribute\n@data\n1\n", "line 2: found '@attribute', expected @attribute"),
]


@pytest.mark.parametrize(
    ("text", "message"),
    [*((header(*types) + "@data\n" + rows, told) for types, rows, told in BAD_ROWS), *BAD_HEADERS],
    ids=range(len(BAD_ROWS) + len(BAD_HEADERS)),
)
def test_what_is_wrong_is_named_with_file_and_line(tmp_path, text, message):
    path = write(tmp_path / "bad.arff", text)
    with pytest.raises(DatasetFormatError, match=rf"bad\.arff.*{message}"):
        read_arff(path)


@pytest.mark.parametrize("rows", ["1,?,0.5\n0,1,0.1\n", "{0 1,1 ?,2 0.5}\n{1 1,2 0.1}\n"])
def test_a_label_that_is_missing_leads_to_a_table_of_codes(tmp_path, rows):
    path = write(tmp_path / "m.arff", header("{0,1}", "{0,1}", "numeric") + "@data\n" + rows)
    with pytest.raises(DatasetFormatError, match="label must not be imputed") as caught:
        read_arff(path)
    options = shlex.split(re.search(r"complabel import (--from .*) reads", str(caught.value))[1])
    (tmp_path / "codes.csv").write_text("item,sea,sky\na,1,?\nb,0,1\n")
    told = dict(zip(options[::2], options[1::2], strict=True))
    words = {name: (told[f"--{name}"],) for name in ("yes", "no", "unsure")}
    found, _ = import_answers(
        tmp_path / "codes.csv", format=told["--from"], options=Options(**words)
    )
    answers = Answers.from_table(found)
    assert answers.known_relevant.tolist() == [[1, 0], [0, 1]]
    assert answers.complementary.tolist() == [[0, 0], [1, 0]]


def zipped(path, **members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name + ".arff", text)
    path.write_bytes(content.getvalue())
    return path


def test_the_only_arff_in_a_zip_or_the_one_named(tmp_path):
    one, other = (header("numeric") + f"@data\n{value}\n" for value in (1, 2))
    assert read_arff(zipped(tmp_path / "one.zip", one=one)).values[0, 0] == 1
    both = zipped(tmp_path / "both.zip", one=one, other=other)
    assert read_arff(both, member="other.arff").values[0, 0] == 2
    with pytest.raises(DatasetNotFoundError, match=r"2 ARFF files .*'other.arff'.*member="):
        read_arff(both)
    with pytest.raises(DatasetNotFoundError, match=r"holds no file 'third.arff'; it holds"):
        read_arff(both, member="third.arff")
    with pytest.raises(DatasetFormatError, match=r"odd\.zip!\\x1b\[31m\.arff: no @data"):
        read_arff(zipped(tmp_path / "odd.zip", **{"\x1b[31m": "1"}))


def test_a_page_in_the_place_of_a_zip_is_refused(tmp_path):
    with pytest.raises(DatasetFormatError, match="not a zip archive"):
        read_arff(write(tmp_path / "page.zip", "<html>not found</html>"))
