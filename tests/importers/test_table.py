import re

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.importers.reading import imported, refused
from tests.refusals import check_names

from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.errors import AnnotationError, InputError
from complabel.files import AnswerWriter, read_answers
from complabel.importers import Options, detect, import_answers

PIECE = {
    "answer_id": ["a", "a", None, "c", None],
    "item": ["x", "x", "y", "z", "z"],
    "label": ["sea", "sky", "", "sun", "sea"],
    "answer": ["no", "no", "yes", "no", "unsure"],
    "question": ["named", "named", "named", "excluded", "asked"],
    "offered": [["sea", "sky", "sun"]] * 3 + [None, None],
    "asked_for": [2, 2, None, None, None],
    "annotator": ["kim", "kim", "lee", None, None],
    "time": ["2026-11-01", "2026-11-01", None, None, None],
    "probability": [None, None, None, None, 0.125],
    "seconds": [2.5, 2.5, None, None, 40.0],
}


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_what_the_writer_wrote_comes_back(tmp_path, ending):
    path = tmp_path / f"answers{ending}"
    with AnswerWriter(path) as writer:
        writer.write(PIECE)
    rows, tally = imported(path, None)
    assert detect(path).name == "table"
    menu = '["sea", "sky", "sun"]'
    written = [dict(zip(PIECE, row, strict=True)) for row in zip(*PIECE.values(), strict=True)]
    for row in written:
        row["offered"] = row["offered"] and menu
    assert rows == [{name: value for name, value in row.items() if value} for row in written]
    assert tally.counts["answers"] == 4
    assert tally.counts["named answers"] == 2
    assert tally.counts["labels"] == 3
    assert tally.remarks == []


def test_labels_are_merged_and_what_follows_is_written(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(
        "answer_id,item,label,answer,question,annotator,probability\n"
        "1,x,ocean,yes,ticked,ann,1\n1,x,sea,no,ticked,ann,1\n1,x,sky,no,ticked,ann,1\n"
        "2,y,sea,no,asked,ann,.3\n3,y,ocean,no,asked,ann,.3\n4,z,ocean,no,asked,ann,.3\n"
    )
    options = Options(merge={"ocean": "sea"}, label_names=("sea", "sky"))
    table, _ = import_answers(path, options=options)
    found = table[["item", "label", "answer", "question", "probability"]].fillna(0)
    assert found.to_numpy().tolist() == [
        *(["x", "sky", "no", "ticked", 1], ["x", "sea", "yes", "ticked", 1]),
        ["y", "sea", "no", "asked", 0],
    ]
    _, tally = import_answers(path, options=Options(merge={"ocean": "water", "sea": "water"}))
    assert tally.remarks[0] == "No answer is about water, so that is taken for a new name"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_form_to_tick_waits_until_one_of_its_rows_has_an_answer(tmp_path, ending, monkeypatch):
    monkeypatch.setattr("complabel.importers._import.ROWS_AT_ONCE", 4)  # two pieces hold a form
    nothing = Answers.from_table({"item": [], "label": []}, items=[*"abcd"], label_names=[*"xyz"])
    table = suggest_questions(nothing, 4, kind="ticked", random_state=0)
    table["answer"] = [*["", "", "y"], *["", "", ""], *["", "no", ""], *["", "unsure", ""]]
    path = tmp_path / f"t.{ending}"
    table.to_csv(path, index=False) if ending == "csv" else table.to_parquet(path)
    rows, tally = imported(path, None)
    said = [row["item"] for row in rows]
    assert said == [table["item"][at] for at in (*[0] * 3, *[6] * 3, 10)]  # 10 is left out below
    assert tally.remarks[-1].startswith(f"{tally.counts['questions not answered']} random quest")
    answers = Answers.from_table(import_answers(path)[0], label_names=[*"xyz"])
    assert answers.relevant.toarray().tolist().count([0, 0, 1]) == 1
    assert answers.absent.toarray().tolist().count([1, 1, 1]) == 1


def test_more_labels_may_be_asked_for_than_the_table_mentions(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("item,label,asked_for\na,sea,3\nb,sky,1\n")
    table, _ = import_answers(path)
    assert table["asked_for"].tolist() == [3, 1]
    made = Answers.from_table(table, label_names=[*"abc", "sea", "sky"])
    assert made.asked_for.tolist() == [3, 1]


def test_only_yes_no_questions_wait_for_an_answer(tmp_path):
    text = "item,label,answer,question,no\na,sky,,,\nb,sea,,named,\nc,sea,,asked,\nd,sky,yes,,x\n"
    rows, tally = imported(tmp_path / "t.csv", text)
    assert tally.remarks[0] == "Not read: 'no'"
    told, _ = imported(tmp_path / "t.csv", None, question="ticked")
    assert [row["question"] for row in told] == ["named", "ticked"]
    assert [row["item"] for row in rows] == ["b", "d"]
    assert tally.counts["questions not answered"] == 2
    assert tally.counts["answers without a question"] == 1
    assert tally.counts["rows that say no"] == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("item,label,question\na,sea,named\nb,sea,ticked\n", 3),
        ("item,label,question,probability\na,sea,named,\nb,sea,asked,.5\n", 3),
    ],
)
def test_without_a_column_of_answers_nobody_is_taken_to_have_said_no(tmp_path, text, line):
    told = refused(tmp_path / "t.csv", text, None, AnnotationError)
    assert re.match(rf": line {line} .* column answer.*--answer yes", told)
    found, _ = import_answers(tmp_path / "t.csv", options=Options(answer="no"))
    assert set(found["answer"]) == {"no"}
    named = text.replace("ticked", "named")
    told = refused(tmp_path / "t.csv", named, None, AnnotationError, answer="yes")
    assert told.startswith(": line 2 is 'named'")
    told = refused(
        tmp_path / "u.csv", "item,label,answer\na,sea,no\n", None, InputError, answer="no"
    )
    assert "has a column answer" in told


def test_that_chance_drew_the_pairs_can_be_said_of_a_table(tmp_path):
    path, text = tmp_path / "checked.csv", "item,label,answer\na,sea,no\nb,sky,yes\nc,dog,no\n"
    rows, tally = imported(path, text, random_questions=True)
    assert [float(row["probability"]) for row in rows] == pytest.approx([1 / 3] * 3)
    assert {row["question"] for row in rows} == {"asked"}
    text = "item,label,answer,probability\na,sea,no,0.25\nb,sky,yes,\n"
    names = ["dog", "sea", "sky", "sun"]
    rows, tally = imported(path, text, random_questions=True, label_names=names)
    assert [float(row["probability"]) for row in rows] == [0.25, 0.25]
    assert {row["drawn"] for row in rows} == {"random"}
    assert tally.remarks == []


FILLED_IN = [
    ["item", "label", "answer", "question", "probability"],
    ["007", "sea", "Y", "asked", "0,25"],
    ["b", "sea", "FALSE", "asked", "0,25"],
    ["", "", "", "", ""],
    ["c", "sky", "", "asked", "0,25"],
    ["d", "sky", "?", "asked", "0,25"],
    ["e", "été", "1", "asked", "0,25"],
    ["", " ", "", "asked", ""],
]


def sheet(path, rows):
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append([cell or None for cell in row])
        book.create_sheet("Sheet2")
        book.save(path)
        return path
    sign = {"comma.csv": ",", "semicolon.csv": ";"}.get(path.name, "\t")
    text = "".join(sign.join(f'"{c}"' if sign in c else c for c in row) + "\r\n" for row in rows)
    path.write_text(text, encoding="utf-16" if path.suffix == ".txt" else "utf-8-sig", newline="")
    return path


@pytest.mark.parametrize(
    "name", ["comma.csv", "semicolon.csv", "tab.tsv", "unicode.txt", "sheet.xlsx"]
)
def test_a_filled_in_sheet_is_read_as_spreadsheets_save_it(tmp_path, name):
    path = sheet(tmp_path / name, FILLED_IN)
    rows, tally = imported(path, None)
    said = {"question": "asked", "probability": 0.25}
    assert rows == [
        {"item": "007", "label": "sea", "answer": "yes", **said},
        {"item": "b", "label": "sea", "answer": "no", **said},
        {"item": "d", "label": "sky", "answer": "unsure", **said},
        {"item": "e", "label": "été", "answer": "yes", **said},
    ]
    assert tally.counts["rows of the file"] == 7
    assert tally.counts["blank rows"] == 2
    assert tally.counts["questions not answered"] == 1


@pytest.mark.parametrize("name", ["unicode.txt", "sheet.xlsx"])
@pytest.mark.parametrize(
    ("row", "told"),
    [
        (["c", "", "", "asked", ""], "has no label"),
        (["c", "sea", "jein", "asked", ""], "has answer 'jein'; it must be one of yes, y,"),
        (["c", "sea", "no", "asked", "1,5"], "(item 'c') has probability 1.5"),
    ],
)
def test_a_row_of_a_sheet_that_cannot_be_read_is_named(tmp_path, name, row, told):
    path = sheet(tmp_path / name, [*FILLED_IN[:3], ["", "", "", "", ""], row])
    where = "row 5 of the sheet" if name.endswith("xlsx") else "line 5"
    assert refused(path, None, None, AnnotationError).startswith(f": {where} {told}")


def test_files_that_are_no_sheet(tmp_path):
    path = tmp_path / "a.xlsx"
    check_names(refused(path, b"item,label\n"), ".xlsx")
    book = openpyxl.Workbook()
    book.active.append(["item", "label", "question"])
    book.create_sheet("more").append(["item", "label"])
    book.save(path)
    check_names(refused(path, None), "2", "'Sheet'", "'more'")


def test_the_users_codes_go_before_the_usual_words(tmp_path):
    rows = ["1,a,sea,1,ticked", "1,a,sky,0,ticked", "2,b,sea,Ja,asked"]
    text = "\n".join(["answer_id,item,label,answer,question", *rows])
    rows, _ = imported(tmp_path / "t.csv", text, yes=("0", "ja"), no=("1",))
    assert [row.get("answer") for row in rows] == ["no", "yes", "yes"]
    twice = {"yes": ("0", "ja"), "no": ("0",)}
    told = refused(tmp_path / "t.csv", text, None, InputError, **twice)
    assert "a code is given twice" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("item,label,answer\na,sea,yes\na,sea,maybe\n", "line 3 has answer 'maybe'; it must be"),
        ("item,label\n,sea\n", "line 2 has no item"),
        ("item,label\na,sea\n", "line 2 says 'no' about a label, and nothing says what was asked"),
        ("item,label,answer,probability\na,sea,n,2\n", "line 2 (item 'a') has probability 2"),
        ("item,label,asked_for\na,sea,1.5\n", "line 2 has asked_for '1.5'; it must be a whole"),
        (f"item,label,offered\na,s,{'[' * 20_000}\n", "line 2 has offered '[["),
        ("answer_id,item,label,answer\n1,a,s,no\n1,b,s,no\n", "has item 'a' in line 2 and 'b' in"),
        ("item,label\na,0\nb,1\n", "labels of the table are '0', '1', which look like answers"),
    ],
)
def test_what_a_table_must_not_say_is_refused_with_its_line_at_both_doors(tmp_path, text, told):
    path = tmp_path / "t.csv"
    said = refused(path, text, "table", AnnotationError)
    assert told in said
    with pytest.raises(AnnotationError) as refusal:
        read_answers(path)
    assert str(refusal.value) == f"{path}{said}"


def test_files_that_are_no_table_of_answers_are_refused(tmp_path):
    check_names(refused(tmp_path / "t.csv", "item,labels\na,sea\n", "table"), "column 'label'")
    check_names(refused(tmp_path / "t.csv", "item,label\n", "table"), "format='NAME'")


def test_another_column_can_name_the_items(tmp_path):
    text = "text,label,question,answer\nhello,sea,asked,no\n"
    rows, _ = imported(tmp_path / "t.csv", text, "table", item="text")
    assert rows == [{"item": "hello", "label": "sea", "question": "asked", "answer": "no"}]
    check_names(refused(tmp_path / "t.csv", text, "table", item="name"), "column 'name'")


def test_parquet_with_text_that_is_no_utf8_is_refused(tmp_path):
    bad = pa.py_buffer(b"\xc1\xed")
    text = pa.StringArray.from_buffers(1, pa.array([0, 2], pa.int32()).buffers()[1], bad)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"item": text, "label": ["sea"]}), path)
    check_names(refused(path, None), "Invalid UTF8")
