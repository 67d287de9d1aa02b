"""Predictions: what the files say by other readers, round trips, and files that stay whole."""

import errno
import gzip
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from complabel.errors import DatasetFormatError, InputError, OutputError
from complabel.files import PredictionWriter, read_predictions
from complabel.files._prediction_rows import most_probable

LABELS = ["sea, calm", 'a "sky"', "city", "ü\n"]
ITEMS = ["007", 'a "b", c', "x\ny", "NA", "\u2028\t\\"]
P = np.array(
    [[0.1, 0.9, 0.5, 0.5], [1, 0, 1 / 3, 1e-12], [0, 0, 0, 0], [0.25] * 4, [0.2, 0.4, 0.6, 0.8]]
)
each_ending = pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "jsonl"])


def write(path, probabilities=P, **options):
    with PredictionWriter(path, LABELS, **options) as writer:
        writer.write(ITEMS[:2], probabilities[:2])
        writer.write(np.array(ITEMS[2:], dtype=object), probabilities[2:])
    return path


def by_pandas(path):
    """A table as pandas reads it, text left as it is."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    for name in table.columns:
        if name != "item" and not name.startswith("label_"):
            table[name] = list(map(float, table[name]))
    return table


def by_json(path):
    return [json.loads(line) for line in path.read_bytes().decode().split("\n")[:-1]]


@each_ending
@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_probabilities_come_back_as_they_were(ending, kind, tmp_path):
    path = write(tmp_path / f"p.{ending}", P.astype(kind))
    found = read_predictions(path)
    assert found.items.tolist() == ITEMS
    assert found.label_names == tuple(LABELS)
    np.testing.assert_array_equal(found.probabilities.astype(kind), P.astype(kind))
    other = read_predictions(path, label_names=LABELS[::-1])
    np.testing.assert_array_equal(other.probabilities.astype(kind), P.astype(kind)[:, ::-1])


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_a_wide_table_by_pandas(ending, tmp_path):
    table = by_pandas(write(tmp_path / f"p.{ending}"))
    assert table.columns.tolist() == ["item", *LABELS]
    assert table["item"].tolist() == ITEMS
    np.testing.assert_array_equal(table[LABELS].to_numpy(), P)


def test_json_lines_by_json(tmp_path):
    rows = by_json(write(tmp_path / "p.jsonl"))
    assert [row["item"] for row in rows] == ITEMS
    assert [list(row["labels"].items()) for row in rows] == [
        list(zip(LABELS, row, strict=True)) for row in P.tolist()
    ]


TOP = [[1, 2], [0, 2], [0, 1], [0, 1], [3, 2]]  # by hand; even ones in the order of the labels


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_the_most_probable_labels_in_a_table(ending, tmp_path):
    path = write(tmp_path / f"p.{ending}", top=2)
    table = by_pandas(path)
    assert table.columns.tolist() == [
        "item",
        "label_1",
        "probability_1",
        "label_2",
        "probability_2",
    ]
    for at in range(2):
        assert table[f"label_{at + 1}"].tolist() == [LABELS[row[at]] for row in TOP]
        assert table[f"probability_{at + 1}"].tolist() == [
            P[i, row[at]] for i, row in enumerate(TOP)
        ]
    expected = np.full(P.shape, np.nan)
    for row, labels in enumerate(TOP):
        expected[row, labels] = P[row, labels]
    found = read_predictions(path, label_names=LABELS)
    np.testing.assert_array_equal(found.probabilities, expected)
    assert found.items.tolist() == ITEMS


def test_the_most_probable_labels_as_json_lines(tmp_path):
    path = write(tmp_path / "p.jsonl", top=2)
    assert [list(row["labels"].items()) for row in by_json(path)] == [
        [(LABELS[label], P[row, label]) for label in labels] for row, labels in enumerate(TOP)
    ]
    assert np.isnan(read_predictions(path, label_names=LABELS).probabilities).sum() == 10


@each_ending
@pytest.mark.parametrize("threshold", [0.5, [0.1, 0.95, 0.5, 0.0]], ids=["one", "by label"])
def test_predicted_labels(ending, threshold, tmp_path):
    path = write(tmp_path / f"p.{ending}", threshold=threshold)
    found = read_predictions(path, label_names=LABELS)
    np.testing.assert_array_equal(found.probabilities, np.asarray(threshold) <= P)
    if ending == "jsonl":
        assert by_json(path)[4] == {
            "item": ITEMS[4],
            "labels": LABELS[2:] if threshold == 0.5 else [LABELS[0], *LABELS[2:]],
        }
    else:
        values = by_pandas(path)[LABELS].to_numpy()
        np.testing.assert_array_equal(values, (np.asarray(threshold) <= P).astype(int))


@each_ending
@given(data=st.data())
def test_any_names_and_numbers(tmp_path_factory, data, ending):
    names = st.text(
        st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00\r"), min_size=1
    )
    visible = names.filter(str.strip).filter(lambda name: not name.startswith("\ufeff"))
    labels = data.draw(
        st.lists(visible.filter(lambda name: name != "item"), min_size=1, unique=True)
    )
    items = data.draw(st.lists(visible, unique=True))
    shape = (len(items), len(labels))
    values = data.draw(arrays(np.float64, shape, elements=st.floats(0, 1)))
    path = tmp_path_factory.mktemp("predictions") / f"p.{ending}"
    with PredictionWriter(path, labels) as writer:
        writer.write(items, values)
    found = read_predictions(path, label_names=labels)
    assert found.items.tolist() == items
    np.testing.assert_array_equal(found.probabilities, values)


@given(st.data())
def test_most_probable_is_a_stable_sort(data):
    shape = data.draw(st.tuples(st.integers(0, 5), st.integers(1, 6)))
    values = data.draw(arrays(np.float64, shape, elements=st.sampled_from([0, 0.25, 0.5, 1])))
    top = data.draw(st.integers(1, shape[1]))
    expected = np.argsort(-values, axis=1, kind="stable")[:, :top]
    np.testing.assert_array_equal(most_probable(values, top), expected)


@each_ending
def test_many_rows_and_labels_in_several_parts(ending, tmp_path):
    """More cells than JSON lines are made of at a time."""
    values = np.random.default_rng(0).random((30_000, 50)).astype(np.float32)
    items = [f"i{at}" for at in range(len(values))]
    with PredictionWriter(tmp_path / f"p.{ending}", [f"l{at:02}" for at in range(50)]) as writer:
        for start in range(0, len(values), 7_000):
            writer.write(items[start : start + 7_000], values[start : start + 7_000])
    found = read_predictions(tmp_path / f"p.{ending}")
    assert found.items.tolist() == items
    np.testing.assert_array_equal(found.probabilities.astype(np.float32), values)


@each_ending
def test_a_file_without_rows(ending, tmp_path):
    with PredictionWriter(tmp_path / f"p.{ending}", LABELS):
        pass
    found = read_predictions(tmp_path / f"p.{ending}", label_names=LABELS)
    assert found.probabilities.shape == (0, 4)


def test_the_same_predictions_give_the_same_bytes(tmp_path):
    for ending in ("csv", "csv.gz", "parquet", "jsonl"):
        first, second = (write(tmp_path / f"{name}.{ending}") for name in "ab")
        assert first.read_bytes() == second.read_bytes()
    assert (
        gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == (tmp_path / "a.csv").read_bytes()
    )


@each_ending
def test_an_error_in_the_block_leaves_the_old_file(ending, tmp_path):
    path = write(tmp_path / f"p.{ending}")
    before = path.read_bytes()

    def fail():
        with PredictionWriter(path, LABELS) as writer:
            writer.write(ITEMS, P)
            raise KeyError("a mistake of the caller")

    with pytest.raises(KeyError, match="a mistake of the caller"):
        fail()
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@each_ending
def test_a_full_disk_leaves_the_old_file(ending, tmp_path, monkeypatch):
    path = write(tmp_path / f"p.{ending}")
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("complabel.files._predictions.RowMaker.table", full)
    monkeypatch.setattr("complabel.files._predictions.RowMaker.json_lines", full)
    with pytest.raises(OutputError, match="cannot be written: No space left on device"):
        write(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(OutputError, match=r"p\.csv cannot be written: No such file or directory"):
        write(tmp_path / "none" / "p.csv")


REFUSED = {
    "another ending": (("p.txt", LABELS), {}, r"files that end in \.csv, \.csv\.gz"),
    "a label called item": (("p.csv", ["sea", "item"]), {}, "a label is called 'item'"),
    "labels called as columns": (("p.csv", ["label_1", "probability_1"]), {}, "labels are called"),
    "a label twice": (("p.csv", ["sea", "sea"]), {}, "two labels are called 'sea'"),
    "no labels": (("p.csv", []), {}, "label_names must be a list of str"),
    "one text": (("p.csv", "sea"), {}, "label_names must be a list of str"),
    "both": (("p.csv", LABELS), {"top": 1, "threshold": 0.5}, "top and threshold are both given"),
    "too many": (("p.csv", LABELS), {"top": 5}, "top is 5, but there are 4 labels"),
    "none": (("p.csv", LABELS), {"top": 0}, "top must be an integer of at least 1"),
    "no threshold": (("p.csv", LABELS), {"threshold": 2}, "threshold must be a finite number of"),
    "few thresholds": (("p.csv", LABELS), {"threshold": [0.5]}, "threshold has 1 entries for 4"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_written(name, tmp_path):
    (file, labels), options, message = REFUSED[name]
    with pytest.raises(InputError, match=message):
        PredictionWriter(tmp_path / file, labels, **options)
    assert not list(tmp_path.iterdir())


def test_a_label_called_item_where_it_can_be_told(tmp_path):
    for file, options in (("p.jsonl", {}), ("p.csv", {"top": 1})):
        with PredictionWriter(tmp_path / file, ["item"], **options) as writer:
            writer.write(["a"], [[0.5]])
        found = read_predictions(tmp_path / file)
        assert (found.label_names, found.probabilities.tolist()) == (("item",), [[0.5]])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.5, np.nan, 0, 0]], "item 'a' has nan for label 'a \"sky\"'; give probabilities from"),
        ([[0.5, 0, 0, 1.5]], "has 1.5 for label"),
        ([[0.5, 0, 0, -0.1]], "has -0.1 for label"),
        (
            [[0.5, 0, 0]],
            r"shape \(1, 3\); give a row for each of 1 items, and a column for each of",
        ),
    ],
    ids=["NaN", "above", "below", "shape"],
)
def test_what_are_no_probabilities(values, message, tmp_path):
    with (
        pytest.raises(InputError, match=message),
        PredictionWriter(tmp_path / "p.csv", LABELS) as writer,
    ):
        writer.write(["a"], values)
    assert not list(tmp_path.iterdir())


def test_writing_outside_of_the_block(tmp_path):
    writer = PredictionWriter(tmp_path / "p.csv", LABELS)
    with pytest.raises(InputError, match="inside its with block"):
        writer.write(["a"], P[:1])
    with writer:
        writer.write(["a"], P[:1])
    with pytest.raises(InputError, match="inside its with block"):
        writer.write(["a"], P[:1])


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "p.csv",
            "id,sea\na,1\n",
            "found the columns 'id', 'sea'; predictions need a column 'item'",
        ),
        ("p.csv", "item,sea\na,high\n", "column 'sea' must hold numbers; give prob"),
        ("p.csv", "item,sky\na,1\n", "label 'sky' is not among label_names"),
        ("p.csv", "item,item_2\na,1\n", "label 'item_2' is not"),
        ("p.jsonl", '{"item": "a", "labels": {"sea": 1}}\n{"item": "b"}\n', "line 2: expected"),
        ("p.jsonl", "{\n", "line 1: expected"),
    ],
    ids=["no ids", "text", "other labels", "others again", "no labels", "no JSON"],
)
def test_files_that_are_no_predictions(file, text, message, tmp_path):
    (tmp_path / file).write_text(text)
    with pytest.raises(DatasetFormatError, match=message):
        read_predictions(tmp_path / file, label_names=["sea"])


def test_a_table_that_lacks_a_label(tmp_path):
    (tmp_path / "p.csv").write_text("item,sea\na,1\n")
    with pytest.raises(DatasetFormatError, match="no column for label 'sky'"):
        read_predictions(tmp_path / "p.csv", label_names=["sea", "sky"])
