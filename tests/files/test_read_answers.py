"""The neutral table from a file: as from_table reads it, by item, with lines and counts."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.answers.records import back, records, same
from tests.answers.test_answers_table import rows_of, with_the_same_meaning
from tests.examples import examples
from tests.files.files import write_text
from tests.refusals import raises, warns

from complabel._opening import tidy
from complabel.answers import Answers, UnlistedLabelsWarning
from complabel.errors import AnnotationError, DatasetFormatError
from complabel.files import (
    COLUMNS,
    UnmatchedItemsWarning,
    read_answers,
    read_features,
    read_label_names,
)

HEADER = "item,label,answer,annotator\n"


def write(table, path):
    """Write a data frame as its ending says."""
    if path.suffix == ".parquet":
        table.to_parquet(path, index=False)
    else:
        table.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")


each_ending = pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "tsv.gz", "parquet"])


@each_ending
@examples(12)
@given(given_records=records())
def test_a_file_says_what_its_table_says(tmp_path_factory, given_records, ending):
    n_items, n_labels, found = given_records
    rows = list(rows_of(with_the_same_meaning(found)))
    if not rows:
        return
    table = pd.DataFrame(rows, columns=[*COLUMNS, "weight"]).astype(
        {"item": str, "asked_for": "Int64"}
    )
    path = tmp_path_factory.mktemp("answers") / f"answers.{ending}"
    write(table, path)
    items, labels = list(map(str, range(n_items))), [f"l{at}" for at in range(n_labels)]
    expected = Answers.from_table(table, items=items, label_names=labels, contradictions="keep")
    if len(expected.contradictions()):
        with raises(AnnotationError):
            read_answers(path, items=items, label_names=labels)
        return
    file = read_answers(path, items=items, label_names=labels)
    assert same(back(file.answers), back(expected))
    assert file.n_rows == len(table)
    assert file.answers.label_names == tuple(labels)
    assert file.answers.item_names.tolist() == items
    assert file.answers.annotator_names == expected.annotator_names


def test_ids_that_look_like_numbers_are_text_on_both_sides(tmp_path):
    answers = write_text(
        tmp_path / "a.csv", "item,label,answer\n007,sea,no\n7,sea,yes\n1e3,sky,no\n"
    )
    X = write_text(tmp_path / "X.csv", "item,red\n7,1\n1000,2\n007,3\n1e3,4\n")
    file = read_answers(answers, items=read_features(X).items)
    assert file.answers.complementary.tolist() == [[0, 0], [0, 0], [1, 0], [0, 1]]
    assert file.answers.known_relevant.tolist() == [[1, 0], [0, 0], [0, 0], [0, 0]]


def test_rows_of_an_array_are_called_by_their_numbers(tmp_path):
    np.save(tmp_path / "X.npy", np.eye(3))
    said = {"item": [2, 0], "label": ["sea", "sea"], "answer": ["no", "no"]}
    pd.DataFrame(said).to_parquet(tmp_path / "a.parquet")
    items = read_features(tmp_path / "X.npy").items
    for given_items in (items, [0, 1, 2]):
        answers = read_answers(tmp_path / "a.parquet", items=given_items, question="asked").answers
        assert answers.complementary.tolist() == [[1], [0], [1]]


def test_words_that_pandas_takes_for_gaps_are_names(tmp_path):
    rows = "item,label,annotator,answer\nNA,None,nan,n\nnull,NaN,,n\n"
    path = write_text(tmp_path / "a.csv", rows)
    answers = read_answers(path, question="asked").answers
    assert answers.item_names.tolist() == ["NA", "null"]
    assert answers.label_names == ("NaN", "None")
    assert answers.annotator_names == ("nan",)


def test_lists_of_labels_in_parquet(tmp_path):
    table = pa.table(
        {
            "item": ["a", "b"],
            "label": ["sea", None],
            "answer": ["no", "yes"],
            "question": ["named", "named"],
            "offered": [["sea", "sky"], ["city", "sky"]],
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    answers = read_answers(tmp_path / "a.parquet").answers
    assert answers.offered.toarray().tolist() == [[0, 1, 1], [1, 0, 1]]
    assert answers.known_relevant.tolist() == [[0, 0, 0], [1, 0, 1]]


def test_answers_about_items_without_features_are_counted_and_left_out(tmp_path):
    rows = [(f"1,x.jpg,{label}," for label in ("sea", "sky")), ("2,y.jpg,sea,",), ("3,a.jpg,sea,",)]
    text = "answer_id,item,label,answer\n" + "".join(f"{row}no\n" for part in rows for row in part)
    path = write_text(tmp_path / "a.csv", text)
    told = "2 answers about 2 items without features: 'x.jpg', 'y.jpg'"
    with warns(UnmatchedItemsWarning, "a.csv", "2 items", "'x.jpg'", "'y.jpg'"):
        file = read_answers(path, items=["b.jpg", "a.jpg"], question="asked")
    assert file.answers.n_answers == 1
    assert file.answers.item_names.tolist() == ["b.jpg", "a.jpg"]
    assert file.unmatched_items == ("x.jpg", "y.jpg")
    assert (file.n_rows, file.n_unmatched_answers, file.n_answered_items) == (4, 2, 1)
    assert file.reconciliation() == ["answers for 1 of 2 items", told]


BLANK_ROWS = "item,label,answer,question\n,,,\na,sea,yes,asked\n , ,,asked\nb,sea,{},asked\n,,,\n"


def test_rows_without_item_label_and_answer_are_counted_and_left_out(tmp_path):
    path = write_text(tmp_path / "a.csv", BLANK_ROWS.format("No"))
    file = read_answers(path)
    assert (file.n_rows, file.n_blank_rows, file.answers.n_answers) == (5, 3, 2)
    assert file.reconciliation() == ["answers for 2 of 2 items", "3 blank rows left out"]
    write_text(path, BLANK_ROWS.format("maybe"))
    with raises(AnnotationError, "a.csv", "line 5", "answer 'maybe'"):
        read_answers(path)


def test_semicolons_may_separate_text_and_tabs_go_before_commas(tmp_path):
    path = write_text(
        tmp_path / "a.csv", "item;label;answer;probability\na;sea;y;0,25\nb;sea;n;1\n"
    )
    answers = read_answers(path).answers
    assert answers.known_relevant.tolist() == [[1], [0]]
    assert answers.probability.tolist() == [0.25, 1]
    tabs = "item\tlabel\tquestion\ta note, with, many, commas\na\tsea\tnamed\t\nb\tsky\tnamed\t,\n"
    path = write_text(tmp_path / "a.tsv", tabs)
    assert read_answers(path, label_names=["sea", "sky"]).answers.n_answers == 2


def test_nothing_in_common_is_an_error(tmp_path):
    path = write_text(tmp_path / "a.csv", "item,label\na.jpg,sea\n")
    with raises(DatasetFormatError, "'a.jpg'", "'0'", "'1'"):
        read_answers(path, items=["0", "1"])


CONTRADICTING = HEADER + "a,sea,yes,ann\na,sea,no,bob\na,sea,no,cy\nb,sky,no,ann\n"


def test_contradictions_are_refused_by_default(tmp_path):
    path = write_text(tmp_path / "a.csv", CONTRADICTING)
    with raises(AnnotationError, "a.csv", "'bob'", "'cy'"):
        read_answers(path)


@pytest.mark.parametrize(
    ("policy", "n_dropped", "complementary"),
    [
        ("drop", 3, [[0, 0], [0, 1]]),
        ("majority", 1, [[1, 0], [0, 1]]),
        ("trust-relevant", 2, [[0, 0], [0, 1]]),
    ],
)
def test_contradictions_are_settled_and_listed(policy, n_dropped, complementary, tmp_path):
    file = read_answers(write_text(tmp_path / "a.csv", CONTRADICTING), contradictions=policy)
    assert file.answers.complementary.tolist() == complementary
    assert file.n_dropped_answers == n_dropped
    assert file.contradictions["denied_by"] == [("bob", "cy")]
    assert file.reconciliation()[-1] == (
        "1 contradiction about a label of an item; "
        f"{n_dropped} answer{'s' * (n_dropped > 1)} dropped"
    )


def test_contradictions_about_items_without_features_do_not_matter(tmp_path):
    path = write_text(tmp_path / "a.csv", CONTRADICTING)
    with pytest.warns(UnmatchedItemsWarning):
        file = read_answers(path, items=["b"])
    assert file.n_contradictions == 0


FAULTS = {
    "unknown word": (
        HEADER + "a,sea,no,\n\nb,sea,perhaps,\n",
        ("line 4", "answer 'perhaps'"),
    ),
    "after a line break": (
        'item,label,answer\n"a\nb",sea,no\nb,sea,maybe\n',
        "line 4",
    ),
    "a value like a place": (HEADER + "a,row 1,no,\na,x,row 0,\n", ("line 3", "answer 'row 0'")),
    "a number beyond all counts": (
        "item,label,asked_for\na,sea,1e300\n",
        ("line 2", "asked_for", "'1e300'"),
    ),
    "rows that disagree": (
        "answer_id,item,label\n1,a,sea\n2,a,sea\n1,b,sky\n",
        ("answer '1'", "item 'a'", "line 2", "'b'", "line 4"),
    ),
    "rows that disagree about an item without features": (
        "answer_id,item,label\n1,a,sea\n2,b,sea\n1,x,sky\n",
        ("answer '1'", "item 'a'", "line 2", "'x'", "line 4"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_name_the_line(name, tmp_path):
    text, message = FAULTS[name]
    path = write_text(tmp_path / "a.csv", text)
    with raises(AnnotationError, "a.csv", message):
        read_answers(path, items=["a", "b"])


def test_faults_of_parquet_name_the_row(tmp_path):
    table = pd.DataFrame({"item": ["a", "a"], "label": ["sea", "sky"], "answer": ["no", "nay"]})
    table.to_parquet(tmp_path / "a.parquet")
    with raises(AnnotationError, "a.parquet", "row 1", "answer 'nay'"):
        read_answers(tmp_path / "a.parquet")


def test_files_that_are_no_table_of_answers(tmp_path):
    path = write_text(tmp_path / "a.csv", "image,label\na,sea\n")
    with raises(DatasetFormatError, "column 'item'", "'image'"):
        read_answers(path)
    write_text(path, "item,label\na,sea\nb\n")
    with raises(DatasetFormatError, "line 3", "1 values", "2 columns"):
        read_answers(path)
    with raises(DatasetFormatError, "complabel import", ".csv"):
        read_answers(write_text(tmp_path / "a.json", "[]"))


def test_contradictions_may_be_kept(tmp_path):
    path = write_text(tmp_path / "a.csv", "item,label,answer\na,sea,no\na,sea,yes\n")
    found = read_answers(path, contradictions="keep")
    assert found.n_contradictions == 1
    assert found.answers.n_answers == 2


def test_labels_that_nobody_mentions(tmp_path):
    path = write_text(tmp_path / "a.csv", "item,label,question\na,sea,named\n")
    names = read_label_names(write_text(tmp_path / "labels.txt", "sky\nsea\ncity\n"))
    assert read_answers(path, label_names=names).answers.complementary.tolist() == [[0, 1, 0]]
    write_text(path, "item,label,question\na,sea,named\na,sky,named\n")
    with warns(UnlistedLabelsWarning, "2 answers"):
        read_answers(path)
    with raises(AnnotationError, "line 2", "label 'sea'", "'sea'"):
        read_answers(path, label_names=["see", "sky"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "labels.txt"),
        ("sea\n\nsky\n", ("labels.txt", "line 2")),
        ("sea\nsky\nsea\n", ("labels.txt", "label 'sea'", "line 1", "line 3")),
        ("sea\nsk\x0by\n", ("labels.txt", "line 2", "label 'sk\\x0by'")),
    ],
    ids=["empty", "blank", "repeated", "control"],
)
def test_lists_of_labels_that_are_refused(text, message, tmp_path):
    with raises(DatasetFormatError, message):
        read_label_names(write_text(tmp_path / "labels.txt", text))


@examples(25)
@given(
    st.lists(
        st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1).filter(str.strip),
        min_size=1,
        unique_by=tidy,
    )
)
def test_names_survive_a_list(tmp_path_factory, names):
    path = tmp_path_factory.mktemp("labels") / "labels.txt"
    path.write_text("\n".join(names), encoding="utf-8", newline="")
    if not names[0].startswith("\ufeff"):
        assert read_label_names(path) == tuple(map(tidy, names))


def test_a_long_list_on_offer(tmp_path):
    """Longer than what Python's reader of CSV takes as one value."""
    labels = [f"a label with a long name, number {at}" for at in range(5_000)]
    offered = json.dumps(labels).replace('"', '""')
    path = write_text(
        tmp_path / "a.csv", f'item,label,question,offered\na,"{labels[0]}",named,"{offered}"\n'
    )
    assert read_answers(path, label_names=[*labels, "x"]).answers.n_offered.tolist() == [5_000]
    with raises(AnnotationError, "row 0"):
        read_answers(path, label_names=labels[:-1])


def test_a_file_that_was_written_twice_is_refused_at_its_second_header(tmp_path):
    text = "item,label,question\na,sea,named\nb,sky,named\n"
    with raises(DatasetFormatError, "a.csv", "line 4"):
        read_answers(write_text(tmp_path / "a.csv", text * 2))
    # Of two columns only one repeats its name: a label may be called so.
    names = "item,label,answer,question\na,label,no,asked\nb,sky,no,asked\n"
    assert read_answers(write_text(tmp_path / "b.csv", names)).answers.n_answers == 2


def test_a_byte_0_is_refused_with_its_line(tmp_path):
    text = "item,label,question\na,sea,named\nb\0,sky,named\n"
    with raises(DatasetFormatError, "a.csv", "line 3", "'item'"):
        read_answers(write_text(tmp_path / "a.csv", text))


def test_rows_that_repeat_a_row_are_told(tmp_path):
    rows = "a,sea,yes,.5,ann\nb,sea,no,.5,ann\n"
    header = "item,label,answer,probability,annotator\n"
    twice = read_answers(write_text(tmp_path / "a.csv", header + rows * 2))
    assert twice.n_repeated_rows == 2
    assert any(line.startswith("2 rows without an answer_id") for line in twice.reconciliation())
    other = rows.replace("ann", "ben")  # two people may say the same
    assert read_answers(write_text(tmp_path / "b.csv", header + rows + other)).n_repeated_rows == 0
    ids = "answer_id," + header + "1,a,sea,yes,.5,ann\n" * 2  # one answer, whose row stands twice
    assert read_answers(write_text(tmp_path / "c.csv", ids)).n_repeated_rows == 0
