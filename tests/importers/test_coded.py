import pandas as pd
import pytest
from tests.importers.reading import imported, refused

from complabel.errors import DatasetFormatError, InputError
from complabel.importers import detect

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
    assert any("left out: Sex, Age;" in remark for remark in tally.remarks)
    assert any("Items are named by the column 'Path'" in remark for remark in tally.remarks)


def test_what_codes_mean_is_asked(tmp_path):
    """1 may say that a label does not apply, and 0 that nobody looked."""
    path, text = tmp_path / "t.csv", "item,sea,sky\na,1,0\nb,0,1\n"
    for options in ({}, {"unsure": ("-1",)}):
        told = refused(path, text, **options)
        assert all(word in told for word in ("yes=1 no=0", "yes=1 unsure=0", "no=1 unsure=0"))
    assert "holds the code '0', whose meaning is not known" in refused(path, text, yes=("1",))
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
    assert any("left out: Sex, Age, Edema;" in remark for remark in tally.remarks)
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


@pytest.mark.parametrize("where", [1, 1500, 2999])
def test_an_untold_code_is_found_wherever_it_stands(tmp_path, monkeypatch, where):
    monkeypatch.setattr("complabel.importers._format._ROWS", 40)
    monkeypatch.setattr("complabel.files._table._BLOCK", 1000)
    cells = [["", ""] for _ in range(3000)]
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
    assert refused(path, None, "coded", **CODES).startswith(
        ", row 1: column 'sky' holds the code 'x'"
    )


def test_random_questions_have_the_same_chance_for_each_label(tmp_path):
    text = "item,a,b,c,d\nx,1,,,0\ny,,1,,\n"
    drawn = {"label_names": tuple("abcd"), "random_questions": True}
    rows, _ = imported(tmp_path / "t.csv", text, **drawn, **CODES)
    assert [row["probability"] for row in rows] == [0.25] * 3


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        ("item,sea\na,1\n", {"item": "name"}, "has no column 'name'"),
        ("item,sea\na,1\n", {"label_names": ("sea", "sun")}, "has no column 'sun'"),
        ("item,sea\n,1\n", {}, "line 2: has no item"),
        ("item,sea\na,maybe\n", {}, "no column holds only codes"),
        ("item,sea,sea\na,1,1\n", {}, "2 columns are named 'sea'"),
        ("item,sea\na\n", {}, "line 2: found 1 values for 2"),
        ("item,sea\n", {}, "no column holds only codes"),
        ("", {}, "the file is empty"),
    ],
)
def test_tables_that_are_none_are_refused(tmp_path, text, options, told):
    assert told in refused(tmp_path / "t.csv", text, "coded", **options, **CODES)


def test_a_code_has_one_meaning(tmp_path):
    told = {"yes": ("1", "0.0"), "no": ("0",)}
    told = refused(tmp_path / "t.csv", "item,sea\na,1\n", "coded", InputError, **told)
    assert "code '0.0' was given two meanings" in told


def test_features_are_not_taken_for_codes(tmp_path):
    (tmp_path / "X.csv").write_text("item,x,y,z\na,0.5,1,3.5\nb,0.25,0,2\n")
    with pytest.raises(DatasetFormatError, match="the format was not recognized"):
        detect(tmp_path / "X.csv")
