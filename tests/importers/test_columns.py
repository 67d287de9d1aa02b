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
    assert tally.remarks == []


def test_a_row_of_one_person_may_have_its_seconds(tmp_path):
    batch = "id,seconds,no\nt1,37,sea\nt2,,sky\n"
    told = {"item": "id", "label_names": LABELS}
    rows, _ = imported(tmp_path / "a.csv", batch, "columns", absent=("no",), **told)
    assert [row.get("seconds") for row in rows] == [37, None]
    two = "id,seconds,ben,ann\nt1,37,sea,sky\n"
    rows, _ = imported(tmp_path / "a.csv", two, "columns", absent=("ben", "ann"), **told)
    assert [row.get("seconds") for row in rows] == [None, None]


@pytest.mark.parametrize("question", ["ticked", "excluded"])
def test_what_the_columns_hold_may_be_told(tmp_path, question):
    told = {"absent": ("anna_no",), "separator": ";", "question": question, "label_names": LABELS}
    rows, _ = imported(tmp_path / "a.csv", SHEET, "columns", **told)
    said = [(row["label"], row["question"]) for row in rows]
    assert said == [("sea", question), ("sky", question)]
    table, _ = import_answers(tmp_path / "a.csv", format="columns", options=Options(**told))
    answers = Answers.from_table(table, label_names=LABELS)
    assert answers.complementary.tolist() == [[1, 1, 0, 0]]
    assert answers.known_relevant.any() == (question == "ticked")


def test_without_a_separator_a_cell_is_one_label_and_doubts_are_said(tmp_path):
    rows, tally = imported(tmp_path / "a.csv", SHEET, "columns", absent=("ben",))
    assert [row["label"] for row in rows] == ["fog", "sea;city"]
    assert any("give --separator ';'" in remark for remark in tally.remarks)


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
