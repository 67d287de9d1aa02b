"""True labels as wide tables of zeros and ones."""

import numpy as np
import pandas as pd
import pytest
from tests.files.files import write_text
from tests.refusals import raises

from complabel.errors import DatasetFormatError, DatasetNotFoundError
from complabel.files import read_truth

Y = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 1]])
LABELS = ["sea, calm", 'a "sky"', "city"]
IDS = ["007", "7", "x\ny", "ü"]


def write(path, kind, order=(0, 1, 2)):
    table = pd.DataFrame(Y.astype(kind), columns=LABELS)[[LABELS[at] for at in order]]
    table.insert(1, "item", IDS)
    if path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")
    return path


@pytest.mark.parametrize("kind", ["int64", "float32", "uint8"])
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "parquet"])
def test_round_trip_in_any_order(ending, kind, tmp_path):
    path = write(tmp_path / f"truth.{ending}", kind, order=(2, 0, 1))
    truth = read_truth(path, label_names=LABELS)
    np.testing.assert_array_equal(truth.Y, Y)
    assert truth.Y.dtype == np.uint8
    assert truth.known.all()
    assert truth.items.tolist() == IDS
    assert truth.label_names == tuple(LABELS)
    as_it_is = read_truth(path)
    assert as_it_is.label_names == (LABELS[2], LABELS[0], LABELS[1])
    np.testing.assert_array_equal(as_it_is.Y, Y[:, [2, 0, 1]])


def test_booleans_in_parquet(tmp_path):
    np.testing.assert_array_equal(read_truth(write(tmp_path / "t.parquet", "bool")).Y, Y)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_blank_cells_are_unknown_if_they_are_allowed(kind, tmp_path):
    table = pd.DataFrame({"item": ["a", "b"], "sea": [1.0, None], "sky": [None, 0.0]})
    path = tmp_path / f"truth.{kind}"
    if kind == "csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    truth = read_truth(path, label_names=["sky", "sea"], complete=False)
    np.testing.assert_array_equal(truth.Y, [[0, 1], [0, 0]])
    np.testing.assert_array_equal(truth.known, [[False, True], [True, False]])
    with raises(DatasetFormatError, "column 'sky'"):
        read_truth(path)


def test_blank_cells_alone_are_refused(tmp_path):
    path = write_text(tmp_path / "truth.csv", "item,sea\na,\n")
    with raises(DatasetFormatError, "truth.csv"):
        read_truth(path, complete=False)
    path = write_text(tmp_path / "truth.csv", "item,sea\na,\nb,2\n")
    with raises(DatasetFormatError, "line 3", "column 'sea'", "2"):
        read_truth(path, complete=False)


FAULTS = {
    "two": ("item,sea\na,1\nb,2\n", ("line 3", "column 'sea'", "2", "1")),
    "half": ("item,sea\na,0.5\n", ("line 2", "column 'sea'", "0.5")),
    "blank": ("item,sea,sky\na,1,0\nb,,0\n", ("line 3", "column 'sea'", "1")),
    "word": ("item,sea\na,1\nb,yes\n", ("line 3", "column 'sea'", "1", "'yes'")),
    "no ids": ("sea,sky\n1,0\n", ("column 'item'", "'sea'", "'sky'")),
    "blank id": ("item,sea\n,1\n", ("line 2", "'item'")),
    "repeated id": ("item,sea\na,1\nb,0\na,1\n", ("item 'a'", "line 2")),
    "no rows": ("item,sea\n", "truth.csv"),
    "no labels": ("item\na\n", "truth.csv"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name, tmp_path):
    text, message = FAULTS[name]
    path = write_text(tmp_path / "truth.csv", text)
    with raises(DatasetFormatError, "truth.csv", message):
        read_truth(path)


def test_other_labels_are_refused_by_name(tmp_path):
    path = write_text(tmp_path / "truth.csv", "item,sea,fog\na,1,0\n")
    with raises(DatasetFormatError, "label 'sky'", "column 'fog'"):
        read_truth(path, label_names=["sea", "sky"])
    with raises(DatasetFormatError, "column 'fog'"):
        read_truth(path, label_names=["sea"])
    with raises(DatasetNotFoundError, "none.csv"):
        read_truth(tmp_path / "none.csv")
