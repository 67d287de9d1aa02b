import csv
import gzip
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.refusals import raises, warns

from complabel._opening import tidy
from complabel.errors import InputError, OutputError
from complabel.files import (
    COLUMNS,
    AnswerWriter,
    FormulaWarning,
    PredictionWriter,
    answers_to_arrow,
)

PIECES = (
    {
        "answer_id": ["a", "a", None],
        "item": [7, 7, 8],
        "label": ["sea", "sky, blue", ""],
        "answer": ["no", "no", "yes"],
        "question": ["named"] * 3,
        "offered": [["sea", "sky, blue"], ["sea", "sky, blue"], None],
        "asked_for": [2.0, 2.0, np.nan],
    },
    {
        "item": np.array(["x"]),
        "label": ['a "b"'],
        "probability": [0.1],
        "time": ["2026-01-01"],
        "seconds": [12.5],
    },
)
ROWS = [
    ["a", "7", "sea", "no", "named", '["sea", "sky, blue"]', "2", *[""] * 5],
    ["a", "7", "sky, blue", "no", "named", '["sea", "sky, blue"]', "2", *[""] * 5],
    ["", "8", "", "yes", "named", *[""] * 7],
    ["", "x", 'a "b"', "", "", "", "", "", "2026-01-01", "0.1", "", "12.5"],
]


def write(path, pieces=PIECES):
    with AnswerWriter(path) as writer:
        for piece in pieces:
            writer.write(piece)
    return path


def read_csv(path):
    unpack = gzip.open if path.suffix == ".gz" else open
    with unpack(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".CSV"])
def test_csv_holds_each_row_as_python_reads_it(tmp_path, ending):
    path = write(tmp_path / f"answers{ending}")
    assert read_csv(path) == [list(COLUMNS), *ROWS]
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_parquet_holds_the_same_rows_with_numbers_as_numbers(tmp_path):
    table = pd.read_parquet(write(tmp_path / "answers.parquet"))
    assert list(table) == list(COLUMNS)
    assert table["asked_for"].dropna().tolist() == [2, 2]
    assert table["probability"].dropna().tolist() == [0.1]
    assert table["seconds"].dropna().tolist() == [12.5]
    texts = table.drop(columns=["asked_for", "probability", "seconds"]).astype(object)
    wanted = pd.DataFrame(ROWS, columns=COLUMNS)[list(texts)]
    assert texts.where(texts.notna(), "").to_numpy().tolist() == wanted.to_numpy().tolist()


def test_text_that_needs_no_quotes_gets_none(tmp_path):
    path = write(tmp_path / "answers.csv", [{"item": ["x"], "label": ["sea"]}])
    assert path.read_text().splitlines()[1] == ",x,sea" + "," * 9


def test_many_small_pieces_are_written_together(tmp_path):
    pieces = [
        {"item": range(at, at + 1000), "label": ["sea"] * 1000} for at in range(0, 70_000, 1000)
    ]
    path = write(tmp_path / "answers.parquet", pieces)
    groups = pq.ParquetFile(path).metadata
    sizes = [groups.row_group(each).num_rows for each in range(groups.num_row_groups)]
    assert sizes == [33_000, 33_000, 4_000]
    assert pd.read_parquet(path)["item"].tolist() == [*map(str, range(70_000))]


def test_without_rows_there_is_a_header(tmp_path):
    assert read_csv(write(tmp_path / "answers.csv", [])) == [list(COLUMNS)]
    assert list(pd.read_parquet(write(tmp_path / "answers.parquet", []))) == list(COLUMNS)


ENDINGS = (".csv", ".csv.gz", ".parquet", ".jsonl")
# Makes a writer, and what it writes.
WRITERS = [
    *((AnswerWriter, PIECES[:1], ending) for ending in ENDINGS[:3]),
    *((lambda path: PredictionWriter(path, ["sea"]), (["a"], [[0.5]]), each) for each in ENDINGS),
]
each_writer = pytest.mark.parametrize(("make", "rows", "ending"), WRITERS)


@each_writer
@pytest.mark.parametrize("error", [KeyboardInterrupt, FileNotFoundError])
def test_after_a_failure_the_old_file_is_there_and_no_other(tmp_path, make, rows, ending, error):
    path = tmp_path / f"a{ending}"
    path.write_text("old")

    def fail():
        with make(path) as writer:
            writer.write(*rows)
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    with (
        raises(OutputError, "No such file"),
        make(tmp_path / "no" / "a.csv"),
    ):
        pass


@each_writer
def test_it_writes_the_same_bytes_in_its_with_block_only(tmp_path, make, rows, ending):
    for name in "ab":
        writer = make(tmp_path / f"{name}{ending}")
        with raises(InputError):
            writer.write(*rows)
        with writer:
            writer.write(*rows)
        with raises(InputError):
            writer.write(*rows)
    assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()


@pytest.mark.parametrize("name", ["answers.json", "answers", "answers.gz"])
def test_other_endings_are_refused_before_anything_is_written(tmp_path, name):
    with raises(InputError, ".csv", ".csv.gz", ".parquet"):
        AnswerWriter(tmp_path / name)


@pytest.mark.parametrize(
    ("piece", "told"),
    [
        ({"item": [1], "lable": ["sea"]}, "column 'lable'"),
        ({"label": ["sea"]}, "column 'item'"),
        ({"item": [1, 2], "label": ["sea"]}, ("'item'", "2", "'label'", "1")),
        ({"item": [None], "label": ["sea"]}, ()),
        ({"item": [""], "label": ["sea"]}, ()),
        ({"item": [1], "asked_for": [1.5]}, "'asked_for'"),
        ({"item": [1], "asked_for": ["many"]}, "'asked_for'"),
        ({"item": [1], "probability": ["often"]}, "'probability'"),
        ({"item": [1], "label": ["\ud800"]}, "'label'"),
    ],
)
def test_what_is_no_table_of_answers_is_refused(piece, told):
    with raises(InputError, told):
        answers_to_arrow(piece)


@pytest.mark.parametrize(
    "values",
    [
        [1, "b", 2.0, None],
        ["1", "b", "2", ""],
        np.array([1, "b", 2.0, None], dtype=object),
        pd.Series(["1", "b", "2", None]),
        pa.array(["1", "b", "2", None]).dictionary_encode(),
        pa.chunked_array([["1", "b"], ["2", None]]),
    ],
    ids=["mixed", "text", "objects", "pandas", "dictionary", "chunks"],
)
def test_names_become_text_whatever_holds_them(values):
    table = answers_to_arrow({"item": [1, 2, 3, 4], "label": values})
    assert table["label"].to_pylist() == ["1", "b", "2", None]


def test_menus_become_json_whatever_holds_them():
    menus = [["a", "ü"], None, []]
    wanted = ['["a", "ü"]', None, None]
    for values in (menus, pa.array(menus), [json.dumps(menus[0], ensure_ascii=False), None, ""]):
        table = answers_to_arrow({"item": [1, 2, 3], "offered": values})
        assert table["offered"].to_pylist() == wanted


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)


@pytest.mark.filterwarnings("ignore::complabel.files.FormulaWarning")
@examples(25)
@given(st.lists(st.tuples(TEXT.filter(str.strip), TEXT), min_size=1, max_size=4))
def test_any_text_comes_back_and_blanks_are_gaps(tmp_path_factory, rows):
    items, labels = map(list, zip(*rows, strict=True))
    path = tmp_path_factory.mktemp("any") / "answers.csv"
    found = read_csv(write(path, [{"item": items, "label": labels}]))[1:]
    assert [row[1:3] for row in found] == [[tidy(item), tidy(label)] for item, label in rows]


@pytest.mark.parametrize(
    "text", ["=cmd|' /C calc'!A0", "+x", "-5+cmd|x", "@SUM(1)", "\t=1", "\r=1"]
)
@pytest.mark.parametrize("column", ["item", "label", "annotator"])
def test_a_text_that_a_spreadsheet_may_run_is_warned_of_and_kept(tmp_path, text, column):
    piece = {"item": ["a"], "label": ["sea"], "annotator": ["ann"], column: [text]}
    with (
        warns(FormulaWarning, "a.csv") as caught,
        AnswerWriter(tmp_path / "a.csv") as writer,
    ):
        writer.write({name: values * 2 for name, values in piece.items()})
    assert len(caught) == 1
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        assert [row[column] for row in csv.DictReader(file)] == [tidy(text)] * 2


def test_numbers_and_other_files_are_not_warned_of(tmp_path):
    for name, text in (("a.csv", "-5"), ("b.csv", "+1.5e3"), ("c.csv", "a=b"), ("d.parquet", "=1")):
        with AnswerWriter(tmp_path / name) as writer:
            writer.write({"item": [text]})
