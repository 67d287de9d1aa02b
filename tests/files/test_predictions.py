"""Predictions: what the files say by other readers."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.examples import examples
from tests.refusals import raises

from complabel.errors import InputError, OutputError
from complabel.files import PredictionWriter

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


def told(path):
    """What a file says, by pandas or json: items, and for each a dict or list of labels."""
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_bytes().decode().split("\n")[:-1]]
        return [row["item"] for row in rows], [row["labels"] for row in rows]
    if path.suffix == ".parquet":
        table = pd.read_parquet(path)
    else:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    items = table.pop("item").tolist()
    if "label_1" in table:
        return items, [
            {row[at]: float(row[at + 1]) for at in range(0, len(row), 2)} for row in table.values
        ]
    columns = {name: list(map(float, table[name])) for name in table.columns}
    return items, [{name: columns[name][at] for name in columns} for at in range(len(items))]


@each_ending
@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_probabilities_come_back_as_they_were(ending, kind, tmp_path):
    path = write(tmp_path / f"p.{ending}", P.astype(kind))
    items, rows = told(path)
    assert items == ITEMS
    assert [list(row) for row in rows] == [LABELS] * 5
    found = np.array([list(row.values()) for row in rows])
    np.testing.assert_array_equal(found.astype(kind), P.astype(kind))
    if ending in ("csv", "jsonl"):
        assert (b"0.89999" in path.read_bytes()) is False  # float32 has few digits


TOP = [[1, 2], [0, 2], [0, 1], [0, 1], [3, 2]]  # by hand; even ones in the order of the labels


@each_ending
def test_the_most_probable_labels(ending, tmp_path):
    items, rows = told(write(tmp_path / f"p.{ending}", top=2))
    assert items == ITEMS
    assert [list(row.items()) for row in rows] == [
        [(LABELS[label], P[at, label]) for label in labels] for at, labels in enumerate(TOP)
    ]


@each_ending
def test_predicted_labels(ending, tmp_path):
    _, rows = told(write(tmp_path / f"p.{ending}", threshold=0.5))
    expected = P >= 0.5
    if ending == "jsonl":
        assert rows == [[LABELS[at] for at in np.flatnonzero(row)] for row in expected]
    else:
        assert [list(row.values()) for row in rows] == expected.astype(float).tolist()


@each_ending
def test_a_threshold_for_each_label(ending, tmp_path):
    thresholds = np.array([0.2, 0.9, 1.0, 0.0])
    _, rows = told(write(tmp_path / f"p.{ending}", threshold=thresholds))
    by_hand = [[0, 1, 0, 1], [1, 0, 0, 1], [0, 0, 0, 1], [1, 0, 0, 1], [1, 0, 0, 1]]
    if ending == "jsonl":
        assert rows == [[LABELS[at] for at in np.flatnonzero(row)] for row in by_hand]
    else:
        assert [list(row.values()) for row in rows] == by_hand


@each_ending
@examples(25)
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
    found, rows = told(path)
    assert found == items
    assert rows == [dict(zip(labels, row, strict=True)) for row in values.tolist()]


@each_ending
def test_a_file_without_rows(ending, tmp_path):
    with PredictionWriter(tmp_path / f"p.{ending}", LABELS):
        pass
    assert told(tmp_path / f"p.{ending}") == ([], [])
    if ending == "csv":
        assert pd.read_csv(tmp_path / "p.csv").columns.tolist() == ["item", *LABELS]


@each_ending
def test_a_full_disk_leaves_the_old_file(ending, tmp_path, small_files):
    path = write(tmp_path / f"p.{ending}")
    before = path.read_bytes()
    with small_files(10), raises(OutputError, path.name):
        write(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


REFUSED = {
    "another ending": (("p.txt", LABELS), {}, "p.txt"),
    "a label called item": (("p.csv", ["sea", "item"]), {}, "'item'"),
    "labels called as columns": (("p.csv", ["label_1", "probability_1"]), {}, "labels"),
    "both": (("p.csv", LABELS), {"top": 1, "threshold": 0.5}, "threshold"),
    "too many": (("p.csv", LABELS), {"top": 5}, ("top", "5", "4 labels")),
    "none": (("p.csv", LABELS), {"top": 0}, ("top", "at least 1")),
    "no threshold": (("p.csv", LABELS), {"threshold": 2}, "threshold"),
    "three": (("p.csv", LABELS), {"threshold": [0.5] * 3}, ("threshold", "shape (3,)")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_written(name, tmp_path):
    (file, labels), options, message = REFUSED[name]
    with raises(InputError, message):
        PredictionWriter(tmp_path / file, labels, **options)
    assert not list(tmp_path.iterdir())


def test_a_label_called_item_where_it_can_be_told(tmp_path):
    for file, options in (("p.jsonl", {}), ("p.csv", {"top": 1})):
        with PredictionWriter(tmp_path / file, ["item"], **options) as writer:
            writer.write(["a"], [[0.5]])
        assert told(tmp_path / file) == (["a"], [{"item": 0.5}])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.5, np.nan, 0, 0]], ("item 'a'", "nan", "label 'a \"sky\"'")),
        ([[0.5, 0, 0, 1.5]], "1.5"),
        ([[0.5, 0, 0, -0.1]], "-0.1"),
        ([[0.5, 0, 0]], ("shape (1, 3)", "1 items")),
    ],
    ids=["NaN", "above", "below", "shape"],
)
def test_what_are_no_probabilities(values, message, tmp_path):
    with (
        raises(InputError, message),
        PredictionWriter(tmp_path / "p.csv", LABELS) as writer,
    ):
        writer.write(["a"], values)
    assert not list(tmp_path.iterdir())
