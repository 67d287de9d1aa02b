"""Tables in which people wrote: codes, labels in cells, and a row for each answer of a person."""

import pandas as pd
import pytest
from tests.importers.reading import imported, refused, write
from tests.importers.samples import delimited
from tests.refusals import check_names, raises

from complabel.answers import Answers
from complabel.errors import DatasetFormatError, InputError
from complabel.importers import Options, detect, import_answers

CHEXPERT = (
    "Path,Sex,Age,No Finding,Edema,Support Devices\n"
    "p1/view1.jpg,Female,68,1.0,,0.0\n"
    "p2/view1.jpg,Male,87,,-1.0,1.0\n"
    "p3/view1.jpg,Male,41,,,\n"
)


CODES = {"yes": ("1",), "no": ("0",)}


def triples(rows):
    assert {row["question"] for row in rows} == {"asked"}
    return [(row["item"], row["label"], row["answer"]) for row in rows]


def test_told_codes_are_read_item_by_item_and_blanks_say_nothing(tmp_path):
    path = tmp_path / "train.csv"
    rows, tally = imported(path, CHEXPERT, unsure=("-1",), **CODES)
    assert detect(path).name == "coded"
    assert triples(rows) == [
        ("p1/view1.jpg", "No Finding", "yes"),
        ("p1/view1.jpg", "Support Devices", "no"),
        ("p2/view1.jpg", "Edema", "unsure"),
        ("p2/view1.jpg", "Support Devices", "yes"),
    ]
    assert not any("probability" in row for row in rows)
    assert list(tally.label_names) == ["No Finding", "Edema", "Support Devices"]
    assert tally.counts["rows of the file"] == 3
    assert tally.counts["blank cells"] == 5
    assert tally.counts["rows without an answer"] == 1
    assert "Not read: 'Sex', 'Age'" in tally.remarks
    assert any("Items are named by the column 'Path'" in remark for remark in tally.remarks)


def test_what_codes_mean_is_asked(tmp_path):
    """1 may say that a label does not apply, and 0 that nobody looked."""
    path, text = tmp_path / "t.csv", "item,sea,sky\na,1,0\nb,0,1\n"
    for options in ({}, {"unsure": ("-1",)}):
        told = refused(path, text, **options)
        assert all(word in told for word in ("yes=1 no=0", "yes=1 unsure=0", "no=1 unsure=0"))
    check_names(refused(path, text, yes=("1",)), "'0'")
    rows, _ = imported(path, text, no=("1",), unsure=("0",))
    assert [(row["label"], row["answer"]) for row in rows][:2] == [("sea", "no"), ("sky", "unsure")]


def test_minus_one_is_never_read_as_no(tmp_path):
    text = CHEXPERT.replace("Male,87,,-1.0", "Male,87,0,-1.0").replace("68,1.0,", "68,1,1")
    told = refused(tmp_path / "train.csv", text, **CODES)
    assert told.startswith(", line 3: column 'Edema' holds the code '-1.0', whose meaning")
    assert "unsure='-1.0'" in told
    assert "label_names" in told


def test_a_column_with_nothing_but_an_untold_code_is_no_label_unless_told(tmp_path):
    path = tmp_path / "train.csv"
    _, tally = imported(path, CHEXPERT, **CODES)
    assert "Not read: 'Edema', 'Sex', 'Age'" in tally.remarks or any(
        "Not read:" in each and "'Edema'" in each for each in tally.remarks
    )
    told = refused(path, CHEXPERT, label_names=("Edema", "Support Devices"), **CODES)
    assert told.startswith(", line 3: column 'Edema' holds the code '-1.0'")


def test_label_names_choose_the_columns_and_their_order(tmp_path):
    names = ("Support Devices", "No Finding")
    rows, tally = imported(tmp_path / "t.csv", CHEXPERT, label_names=names, **CODES)
    assert triples(rows) == [
        ("p1/view1.jpg", "Support Devices", "no"),
        ("p1/view1.jpg", "No Finding", "yes"),
        ("p2/view1.jpg", "Support Devices", "yes"),
    ]
    assert list(tally.label_names) == list(names)


def test_a_column_that_mixes_codes_and_other_values_is_refused(tmp_path):
    text = "item,age,sea,sky\na,68,1,1\nb,1,0,maybe\n"
    told = refused(tmp_path / "t.csv", text, "coded", **CODES)
    assert told.startswith(", line 2: column 'age' holds the code '68'")
    assert "(column 'sky' holds 'maybe' as well)" in told


@pytest.mark.parametrize("where", [1, 33_000, 69_999])
def test_an_untold_code_is_found_wherever_it_stands(tmp_path, where):
    cells = [["", ""] for _ in range(70_000)]
    cells[2][1] = "1"
    cells[where][1] = "-1"
    lines = [f"i{number},{','.join(row)}\n" for number, row in enumerate(cells)]
    told = refused(tmp_path / "t.csv", "item,sea,sky\n" + "".join(lines), "coded", **CODES)
    assert told.startswith(f", line {where + 2}: column 'sky' holds the code")


def test_words_can_be_codes_in_any_case(tmp_path):
    text = "id;sea;sky\n7;Pos;neg\n8;?;NA\n"
    rows, _ = imported(tmp_path / "t.csv", text, "coded", yes=("pos",), no=("NEG",), unsure=("?",))
    assert triples(rows) == [("7", "sea", "yes"), ("7", "sky", "no"), ("8", "sea", "unsure")]


def test_parquet_with_nullable_columns_is_a_wide_table_too(tmp_path):
    frame = pd.DataFrame(
        {
            "sky": pd.array([True, None, False], dtype="boolean"),
            "item": [10, 11, 12],
            "sea": pd.array([None, 1, 0], dtype="Int64"),
            "sun": [1.0, float("nan"), None],
        }
    )
    path = tmp_path / "wide.parquet"
    frame.to_parquet(path)
    rows, _ = imported(path, None, "coded", **CODES)
    assert triples(rows) == [
        ("10", "sky", "yes"),
        ("10", "sun", "yes"),
        ("11", "sea", "yes"),
        ("12", "sky", "no"),
        ("12", "sea", "no"),
    ]
    pd.DataFrame({"item": ["1", "2"], "sky": ["1", "x"]}).to_parquet(path)
    check_names(refused(path, None, "coded", **CODES), "row 1", "column 'sky'", "'x'")


def test_random_questions_have_the_same_chance_for_each_label(tmp_path):
    text = "item,a,b,c,d\nx,1,,,0\ny,,1,,\n"
    drawn = {"label_names": tuple("abcd"), "random_questions": True}
    rows, _ = imported(tmp_path / "t.csv", text, **drawn, **CODES)
    assert [row["probability"] for row in rows] == [0.25] * 3


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        ("item,sea\na,1\n", {"item": "name"}, "column 'name'"),
        ("item,sea\na,1\n", {"label_names": ("sea", "sun")}, "column 'sun'"),
        ("item,sea\n,1\n", {}, "line 2"),
        ("item,sea\na,maybe\n", {}, "label_names"),
        ("item,sea,sea\na,1,1\n", {}, ("2 columns", "'sea'")),
        ("item,sea\na\n", {}, ("line 2", "1 values", "2")),
        ("item,sea\n", {}, "label_names"),
        ("", {}, ()),
    ],
)
def test_tables_that_are_none_are_refused(tmp_path, text, options, told):
    check_names(refused(tmp_path / "t.csv", text, "coded", **options, **CODES), told)


def test_a_code_has_one_meaning(tmp_path):
    told = {"yes": ("1", "0.0"), "no": ("0",)}
    told = refused(tmp_path / "t.csv", "item,sea\na,1\n", "coded", InputError, **told)
    assert "code '0.0' was given two meanings" in told


def test_features_are_not_taken_for_codes(tmp_path):
    (tmp_path / "X.csv").write_text("item,x,y,z\na,0.5,1,3.5\nb,0.25,0,2\n")
    with raises(DatasetFormatError, "X.csv", "'item'"):
        detect(tmp_path / "X.csv")


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
    assert tally.counts["forms of blank rows"] == 2
    left, remark = tally.remarks
    assert left == "Not read: 'remark'"
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
    assert message.startswith(", row 2: 'ann' is blank")
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
    assert message.startswith(", row 2, column 'ben': has 'sea;city'")
    assert "separator ';'" in message
    told = {"absent": ("ben",), "label_names": ("fog", "sea;city")}
    assert imported(tmp_path / "a.csv", text, from_, **told)[0][1]["label"] == "sea;city"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, ("'anna_no'", "'anna_yes'", "'ben'")),
        ({"absent": ("carl",)}, "'carl'"),
        ({"absent": ("item",)}, "'item'"),
        ({"absent": ("ben=",)}, "'ben='"),
        ({"absent": ("ben",), "present": ("ben=anna",)}, "column 'ben'"),
        ({"absent": ("ben",), "item": "id"}, ("column 'id'", "item='COLUMN'")),
        ({"absent": ("ben",), "label_names": LABELS}, ("'sea;city'", "4 labels")),
    ],
)
def test_nothing_is_guessed(tmp_path, options, told):
    check_names(refused(tmp_path / "a.csv", SHEET, "columns", **options), told)


def test_labels_of_no_item_and_an_empty_separator(tmp_path):
    path, text, told = tmp_path / "a.csv", "item,ben\na,sea\n,sky\n", {"absent": ("ben",)}
    check_names(refused(path, text, "columns", **told), "line 3")
    check_names(refused(path, text, "columns", InputError, separator="", **told), "separator")


def mechanical_turk(*answers):
    """A batch file; each answer is (item, worker, status, seconds, what was said)."""
    return delimited(
        ",",
        [
            {
                "HITId": f"h-{item}",
                "AssignmentId": f"a{number}",
                "WorkerId": worker,
                "AssignmentStatus": status,
                "SubmitTime": "Tue Mar 07 11:46:15 PST 2017",
                "WorkTimeInSeconds": seconds,
                "Input.item": item,
                "Input.text": "A text, with a comma",
                "Answer.labels": said,
                "Answer.comment": "",
            }
            for number, (item, worker, status, seconds, said) in enumerate(answers)
        ],
    )


def test_labels_of_a_batch_file(tmp_path):
    content = mechanical_turk(
        ("t1", "W1", "Approved", "37", "sea|sky"),
        ("t1", "W2", "Rejected", "2", "sky"),
        ("t2", "W1", "Submitted", "12", ""),
        ("t2", "W3", "Approved", "", '["a|b"]'),
    )
    path = write(tmp_path, "batch.csv", content)
    assert detect(path).name == "batch"
    rows, tally = imported(path, None, present=("labels",))
    names = ("answer_id", "item", "label", "answer", "question", "annotator", "seconds")
    assert [tuple(row.get(name) for name in names) for row in rows] == [
        ("a0", "t1", "sea", "yes", "asked", "W1", 37),
        ("a0", "t1", "sky", "yes", "asked", "W1", 37),
        ("a3", "t2", "a|b", "yes", "asked", "W3", None),
    ]
    assert {row["time"] for row in rows} == {"Tue Mar 07 11:46:15 PST 2017"}
    assert (tally.counts["refused answers"], tally.counts["empty answers"]) == (1, 1)
    named, _ = imported(path, None, absent=("Answer.labels",))
    assert [(row["question"], row["asked_for"]) for row in named] == [("named", 2)] * 2 + [
        ("named", 1)
    ]


FIGURE_EIGHT = [
    {
        "_unit_id": "17",
        "_id": str(number),
        "_worker_id": worker,
        "_trust": "0.9",
        "_tainted": tainted,
        "_started_at": "10/23/2018 13:11:12",
        "_created_at": ended,
        "_golden": "false",
        "tags": said,
    }
    for number, (worker, tainted, ended, said) in enumerate(
        [
            ("5", "false", "10/23/2018 13:12:02", "sea\nsky"),
            ("6", "true", "10/23/2018 13:12:02", "sea"),
            ("7", "false", "tomorrow", "sky"),
        ]
    )
]


def test_a_full_report_of_figure_eight(tmp_path):
    path = write(tmp_path, "f1.csv", delimited(",", FIGURE_EIGHT))
    assert detect(path).name == "batch"
    rows, tally = imported(path, None, present=("tags",))
    names = ("item", "label", "annotator", "seconds")
    assert [tuple(row.get(name) for name in names) for row in rows] == [
        ("17", "sea", "5", 50),
        ("17", "sky", "5", 50),
        ("17", "sky", "7", None),
    ]
    assert tally.counts["refused answers"] == 1


def test_any_table_of_this_form(tmp_path):
    text = "item,annotator,ticked,seconds\nt1,w1,sea;sky,4\nt2,w1,a|b,\n"
    path = write(tmp_path, "rows.csv", text)
    rows, _ = imported(path, None, "batch", present=("ticked",), separator=";")
    assert [(row["item"], row["label"], row["annotator"], row.get("seconds")) for row in rows] == [
        ("t1", "sea", "w1", 4),
        ("t1", "sky", "w1", 4),
        ("t2", "a|b", "w1", None),
    ]


ONE = mechanical_turk(("t1", "W1", "Approved", "37", "sea"))


@pytest.mark.parametrize(
    ("content", "options", "told"),
    [
        (ONE, {}, "'Answer.comment'"),
        (ONE, {"absent": ("tags",)}, "column 'tags'"),
        (ONE, {"item": "where", "absent": ("labels",)}, "column 'where'"),
        (ONE.replace('"t1"', '""'), {"absent": ("labels",)}, ("line 2", "Input.item")),
        ("item,labels\na,sea\n", {"absent": ("labels",)}, "'annotator'"),
    ],
)
def test_what_is_not_understood_is_said(tmp_path, content, options, told):
    path = write(tmp_path, "batch.csv", content)
    check_names(refused(path, None, "batch", **options), told)
