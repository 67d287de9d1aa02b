import gzip

import pytest
from tests.importers.reading import imported, refused
from tests.refusals import check_names

from complabel.errors import DatasetFormatError, DatasetNotFoundError

HEADER = "ImageID,Source,LabelName,Confidence\n"
VERIFIED = HEADER + (
    "000026e7ee790996,verification,/m/04hgtk,0\n"
    "000026e7ee790996,crowdsource-verification,/m/07j7r,1\n"
    "000062a39995e348,verification,/m/07j7r,1.0\n"
)
ROWS = [
    {"item": "000026e7ee790996", "label": "/m/04hgtk", "answer": "no", "question": "asked"},
    {"item": "000026e7ee790996", "label": "/m/07j7r", "answer": "yes", "question": "asked"},
    {"item": "000062a39995e348", "label": "/m/07j7r", "answer": "yes", "question": "asked"},
]
MACHINE = "000062a39995e348,machine,/m/0c9ph5,0.9\n"


def test_one_is_present_and_zero_absent(tmp_path):
    rows, tally = imported(tmp_path / "verified.csv", VERIFIED)
    assert rows == ROWS
    assert dict(tally.counts) == {
        "rows of the file": 3,
        "machine-generated labels": 0,
        "rows": 3,
        "answers": 3,
        "asked answers": 3,
        "items": 2,
        "labels": 2,
        "rows that say yes": 2,
        "rows that say no": 1,
        "rows that say unsure": 0,
    }
    assert len(tally.remarks) == 1
    assert tally.remarks[0].startswith("A machine proposed the labels that people verified")


def test_what_only_a_machine_says_is_counted_and_left_out(tmp_path):
    rows, tally = imported(tmp_path / "all.csv", VERIFIED + MACHINE)
    assert rows == ROWS
    assert tally.counts["machine-generated labels"] == 1
    assert any("only a machine gave" in remark for remark in tally.remarks)


def test_a_file_of_machine_labels_holds_no_answer(tmp_path):
    told = refused(tmp_path / "m.csv", HEADER + MACHINE)
    assert "no answer, read as open-images (1 rows of the file, 1 machine" in told


def test_codes_become_names_and_no_two_labels_one(tmp_path):
    names = tmp_path / "class-descriptions.csv"
    names.write_text('/m/04hgtk,"Head, human"\n/m/07j7r,Tree\n/m/0x,Tree\n')
    rows, tally = imported(tmp_path / "v.csv", VERIFIED, class_names=names)
    assert [row["label"] for row in rows] == ["Head, human", "Tree (/m/07j7r)", "Tree (/m/07j7r)"]
    assert len(tally.remarks) == 1


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("/m/a,Tree\n/m/a,Bush\n", ("'/m/a'", "'Tree'", "'Bush'")),
        ("/m/a,Tree\n/m/b\n", "row 2"),
        ("/m/a,Tree\n/m/b,\xff\n", ("line 2", "UTF-8")),
        (None, "names.csv"),
    ],
)
def test_class_names_that_are_none_are_refused(tmp_path, content, told):
    names, error = tmp_path / "names.csv", (DatasetFormatError, DatasetNotFoundError)
    if content is not None:
        names.write_bytes(content.encode("latin-1"))
    check_names(refused(tmp_path / "v.csv", VERIFIED, error=error, class_names=names), told)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("a,verification,/m/x,0.5", "line 5: has Confidence '0.5'"),
        ("a,verification,/m/x,", "line 5: has Confidence ''"),
        (",verification,/m/x,1", "line 5: has no ImageID"),
        ("a,verification,,1", "line 5: has no LabelName"),
        ("a,verification,/m/x", "line 5: found 3 values for 4"),
    ],
)
def test_other_rows_are_refused_with_their_line(tmp_path, row, told):
    assert refused(tmp_path / "v.csv", f"{VERIFIED}{row}\n{MACHINE}").startswith(f", {told}")


def test_a_missing_column_is_told_where_the_format_is_given(tmp_path):
    told = refused(tmp_path / "v.csv", "ImageID,LabelName,Confidence\na,b,1\n", "open-images")
    assert "has no column 'Source'" in told


def test_a_packed_file_says_the_same_and_a_cut_one_is_told(tmp_path):
    path = tmp_path / "v.csv.gz"
    packed = gzip.compress(VERIFIED.encode())
    assert imported(path, packed)[0] == ROWS
    path.write_bytes(packed[:-12])
    assert "unpack it by hand" in refused(path, None)


def test_pieces_say_the_same_as_the_whole(tmp_path, monkeypatch):
    path = tmp_path / "v.csv"
    text = HEADER + "".join(
        f"{number // 50:04},{'machine' if number % 5 == 0 else 'verification'},/m/{number % 11},"
        f"{number % 2}\n"
        for number in range(3000)
    )
    whole = imported(path, text)
    monkeypatch.setattr("complabel.importers._format._ROWS", 700)
    parts = imported(path, text)
    assert parts[0] == whole[0]
    assert parts[1].counts == whole[1].counts
    assert whole[1].counts["items"] == len({n // 50 for n in range(3000) if n % 5})
    lines = text.split("\n")
    lines[1502] = lines[1502][:-1] + "7"
    check_names(refused(path, "\n".join(lines)), "line 1503", "'7'")
