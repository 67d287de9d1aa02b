"""Wide tables in which people wrote labels into cells."""

import re

import pytest
from tests.importers.reading import imported, refused

from complabel.answers import Answers
from complabel.errors import InputError
from complabel.importers import Options, import_answers

LABELS = ("sea", "sky", "city", "fog")
SHEET = """item,anna_no,anna_yes,ben,remark
t1,sea; sky ;sea,city,fog,ok
t2,,,sea;city,
t3,,sky,,
,,,,
"""
TOLD = {"absent": ("anna_no=anna", "ben"), "present": ("anna_yes=anna",), "separator": ";"}


def test_two_people_with_their_columns(tmp_path):
    rows, tally = imported(tmp_path / "a.csv", SHEET, "columns", label_names=LABELS, **TOLD)
    names = ("answer_id", "item", "label", "answer", "question", "annotator")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("1-anna", "t1", "sea", "no", "named", "anna"),
        ("1-anna", "t1", "sky", "no", "named", "anna"),
        ("1-anna", "t1", "city", "yes", "named", "anna"),
        ("1-ben", "t1", "fog", "no", "named", "ben"),
        ("2-ben", "t2", "sea", "no", "named", "ben"),
        ("2-ben", "t2", "city", "no", "named", "ben"),
        ("3-anna", "t3", "sky", "yes", "asked", "anna"),
    ]
    assert [row.get("asked_for") for row in rows] == [2, 2, 2, 1, 2, 2, None]
    assert tally.counts["rows of the file"] == 4
    assert tally.counts["blank rows"] == 1
    (remark,) = tally.remarks
    assert "Several labels that do not apply are read as named" in remark


def test_a_row_of_one_person_may_have_its_seconds(tmp_path):
    batch = "id,seconds,no\nt1,37,sea\nt2,,sky\n"
    told = {"item": "id", "label_names": LABELS}
    rows, _ = imported(tmp_path / "a.csv", batch, "columns", absent=("no",), **told)
    assert [row.get("seconds") for row in rows] == [37, None]
    two = "id,seconds,ben,ann\nt1,37,sea,sky\n"
    rows, _ = imported(tmp_path / "a.csv", two, "columns", absent=("ben", "ann"), **told)
    assert [row.get("seconds") for row in rows] == [None, None]


TICKS = "item,ann\na,sea;sky\nb,\n"


@pytest.mark.parametrize(
    ("options", "applies", "absent"),
    [
        ({"present": ("ann",), "question": "ticked", "unselected": "no"}, "1100 0000", "0011 1111"),
        ({"present": ("ann",), "unselected": "no"}, "1100 0000", "0011 1111"),
        ({"present": ("ann",), "question": "ticked", "unselected": "unknown"}, "1100", "0011"),
        ({"absent": ("ann",), "question": "ticked", "unselected": "yes"}, "0011 1111", "1100 0000"),
        ({"absent": ("ann",), "unselected": "yes"}, "0011 1111", "1100 0000"),
        ({"absent": ("ann",), "question": "ticked", "unselected": "unknown"}, "0011", "1100"),
        ({"absent": ("ann",), "question": "excluded"}, "0000", "1100"),
        ({"present": ("ann",), "unselected": "unknown"}, "1100", "0000"),
    ],
)
def test_who_ticked_nothing_said_something_if_this_is_told(tmp_path, options, applies, absent):
    told = {"separator": ";", "label_names": LABELS, **options}
    rows, tally = imported(tmp_path / "a.csv", TICKS, "columns", **told)
    table, _ = import_answers(tmp_path / "a.csv", format="columns", options=Options(**told))
    answers = Answers.from_table(table, label_names=LABELS)
    assert answers.known_relevant.tolist() == [[*map(int, row)] for row in applies.split()]
    assert answers.complementary.tolist() == [[*map(int, row)] for row in absent.split()]
    assert tally.counts["forms without a tick"] == (len(applies) > 4)
    if {row["question"] for row in rows} == {"ticked"}:
        assert len(rows) == 4 * answers.n_answers, "each label is said to apply, or not to"


@pytest.mark.parametrize(("meaning", "rest"), [("present", "no"), ("absent", "yes")])
@pytest.mark.parametrize("from_", ["columns", "batch"])
def test_what_a_blank_cell_means_is_asked(tmp_path, from_, meaning, rest):
    text = "item,annotator,ann\na,x,sea\nb,x,\n"
    told = {meaning: ("ann",), "question": "ticked", "label_names": LABELS}
    message = refused(tmp_path / "a.csv", text, from_, **told)
    assert message.startswith(", row 2: column 'ann' is blank")
    assert f"unselected='{rest}'" in message
    assert "unselected='unknown'" in message
    said, _ = imported(tmp_path / "a.csv", text, from_, **told, unselected=rest)
    assert [row["answer"] for row in said][4:] == [rest] * 4
    said, _ = imported(tmp_path / "a.csv", text, from_, **told, unselected="unknown")
    assert {row["item"] for row in said} == {"a"}
    filled = text.replace("x,\n", "x,sky\n")
    assert len(imported(tmp_path / "a.csv", filled, from_, **told)[0]) == 8, "nothing to ask"


@pytest.mark.parametrize("from_", ["columns", "batch"])
def test_whether_a_cell_is_one_label_is_asked(tmp_path, from_):
    text = "item,annotator,ben\na,x,fog\nb,x,sea;city\n"
    message = refused(tmp_path / "a.csv", text, from_, absent=("ben",))
    assert message.startswith(", row 2: column 'ben' has 'sea;city'")
    assert "separator ';'" in message
    told = {"absent": ("ben",), "label_names": ("fog", "sea;city")}
    assert imported(tmp_path / "a.csv", text, from_, **told)[0][1]["label"] == "sea;city"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "say which columns hold labels.*'anna_no', 'anna_yes', 'ben'"),
        ({"absent": ("carl",)}, "'carl' is no column with labels"),
        ({"absent": ("item",)}, "'item' is no column with labels"),
        ({"absent": ("ben=",)}, "'ben=' is no column with labels"),
        ({"absent": ("ben",), "present": ("ben=anna",)}, "column 'ben' is given twice"),
        ({"absent": ("ben",), "item": "id"}, "has no column 'id'.*--item"),
        ({"absent": ("ben",), "label_names": LABELS}, "'sea;city' is not among the 4 labels"),
    ],
)
def test_nothing_is_guessed(tmp_path, options, told):
    assert re.search(told, refused(tmp_path / "a.csv", SHEET, "columns", **options))


def test_labels_of_no_item_and_an_empty_separator(tmp_path):
    path, text, told = tmp_path / "a.csv", "item,ben\na,sea\n,sky\n", {"absent": ("ben",)}
    assert refused(path, text, "columns", **told).startswith(", line 3: has no item")
    assert "separator is empty" in refused(path, text, "columns", InputError, separator="", **told)
