import numpy as np
import pytest
from tests.importers.reading import refused
from tests.refusals import check_names, raises

from complabel.errors import DatasetFormatError, DatasetNotFoundError, InputError, OutputError
from complabel.importers import FORMATS, Format, import_answers, import_file

TEXT = "item,label,answer\na,sea,yes\nb,sky,no\n"


def made_of(pieces):
    """A format whose files say what is given, whatever is in them."""

    def read(path, options, tally):
        tally.counts["tasks"] += 7
        tally.remark("Something was assumed")
        yield from pieces

    return Format("made", "for this test", lambda head: False, read)


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "answers.csv"
    made.write_text(TEXT)
    return made


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"hello\n", b"a,b\nc,d\n", b"{", b"{}\n", b"PK\3\4", b"MATLAB", b"\xff\xfea\0"],
    ids=["empty", "blank", "text", "words", "brace", "object", "zip", "matlab", "utf-16"],
)
@pytest.mark.parametrize("ending", [".csv", ".npz", ".mat", ".parquet"])
def test_a_file_of_no_format_is_told_which_there_are(tmp_path, content, ending):
    told = refused(tmp_path / f"a{ending}", content)
    assert "format='NAME'" in told
    for each in FORMATS:
        assert f"  {each.name} " in told


def test_missing_files_are_told(tmp_path):
    for given_format in (None, "table"):
        with raises(DatasetNotFoundError, "no.csv"):
            import_answers(tmp_path / "no.csv", format=given_format)
    with raises(DatasetNotFoundError):
        import_answers(tmp_path, format="table")


def test_pieces_become_one_table_and_are_counted_as_one(path):
    menu = ["sea", "sky", "sun"]
    pieces = [
        {
            "answer_id": [1, 1, 2],
            "item": ["a", "a", "b"],
            "label": ["sea", "sky", None],
            "answer": ["no", "no", "yes"],
            "question": ["named"] * 3,
            "offered": [menu] * 3,
        },
        {"item": []},
        {"answer_id": [2], "item": ["b"], "label": ["new"], "question": ["named"]},
        {"item": np.array(["a", "c"]), "label": ["sea", "sea"], "answer": ["yes", "unsure"]},
    ]
    table, tally = import_answers(path, format=made_of(pieces))
    assert table["item"].tolist() == ["a", "a", "b", "b", "a", "c"]
    assert table["answer_id"].isna().tolist() == [False] * 4 + [True] * 2
    assert next(iter(tally.counts.items())) == ("tasks", 7)
    assert {name: count for name, count in tally.counts.items() if count} == {
        "tasks": 7,
        "rows": 6,
        "answers": 4,
        "named answers": 2,
        "answers without a question": 2,
        "items": 3,
        "labels": 4,
        "rows that say yes": 2,
        "rows that say no": 3,
        "rows that say unsure": 1,
    }
    assert tally.remarks == ["Something was assumed"]


def test_a_format_without_answers_says_what_it_counted(path, tmp_path):
    for pieces in ([], [{"item": []}]):
        with raises(DatasetFormatError, "7 tasks"):
            import_file(path, tmp_path / "out.csv", format=made_of(pieces))
    assert [each.name for each in tmp_path.iterdir()] == ["answers.csv"]


@pytest.mark.parametrize(
    "piece",
    [{"item": [None]}, {"item": ["a"], "label": ["\udcff"]}, {"item": ["a"], "asked_for": [0.5]}],
    ids=["no item", "no text", "no number"],
)
def test_what_does_not_fit_the_table_names_the_file(path, piece):
    assert refused(path, None, made_of([piece])).startswith(": ")


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_a_refusal_in_a_later_piece_leaves_the_old_file(path, tmp_path, ending):
    def pieces():
        yield {"item": ["a"], "label": ["sea"]}
        raise DatasetFormatError("line 7")

    out = tmp_path / f"out{ending}"
    out.write_text("old")
    with raises(DatasetFormatError, "line 7"):
        import_file(path, out, format=made_of(pieces()))
    assert out.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2


def test_the_file_that_is_read_is_not_written_to(path, tmp_path):
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    for out in (path, link):
        with raises(InputError):
            import_file(path, out)
    assert path.read_text() == TEXT


def test_a_wrong_ending_is_refused_before_anything_is_read(tmp_path):
    with raises(InputError, ".parquet"):
        import_file(tmp_path / "no such file", tmp_path / "out.txt")


def test_a_folder_that_is_not_there_is_told(path, tmp_path):
    with raises(OutputError, "out.csv"):
        import_file(path, tmp_path / "no" / "out.csv")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("item,label\na,caf\xe9\n".encode("latin-1"), "UTF-8"),
        ("item,label\na,b\n".encode("utf-16") + b"x", "UTF-8"),
        (b"item,caf\xe9\na,b\n", "UTF-8"),
        (b"item,label,label\na,b,c\n", ("2 columns", "'label'")),
        (b"item,label\n" + b"a" * (1 << 25), ()),
    ],
    ids=["latin-1", "utf-16", "header", "two names", "long row"],
)
def test_other_encodings_and_damaged_tables_are_refused(tmp_path, content, told):
    check_names(refused(tmp_path / "t.csv", content, "table"), told)


def test_without_pandas_it_is_said_what_to_install(path, without):
    without("pandas")
    with raises(InputError, 'pip install "complabel[tables]"'):
        import_answers(path)
