"""Released labels: read by row, checked against the dataset, refused with place and advice."""

import numpy as np
import pytest
from scipy import sparse

from complabel.datasets import MultiLabelDataset
from complabel.errors import DatasetFormatError, DatasetNotFoundError
from complabel.experiments.datasets import load_dataset, load_released

Y = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=np.uint8)
SCENE = MultiLabelDataset("scene", np.eye(4), Y, ("sea", "city", "wood"), tuple("abcd"))
GOOD = "row,released_row,uniform,biased\n0,7,1,2\n1,5,0,2\n2,4,0,0\n3,6,1,0\n"


@pytest.fixture
def written(tmp_path):
    """Write a file of labels, and give the data folder that it lies in."""

    def write(text, name="scene"):
        (tmp_path / "released").mkdir(exist_ok=True)
        (tmp_path / "released" / f"{name}.csv").write_bytes(
            text if isinstance(text, bytes) else text.encode()
        )
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("scheme", "labels"), [("uniform", [1, 0, 0, 1]), ("biased", [2, 2, 0, 0])]
)
def test_a_label_for_each_row(written, scheme, labels):
    found = load_released(SCENE, scheme=scheme, data_dir=written(GOOD))
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, np.eye(3, dtype=np.uint8)[labels])


@pytest.mark.parametrize(
    "text",
    [
        "row,uniform\n3,1\n0,1\n2,0\n1,0\n",
        "uniform,row\n1,3\n1,0\n0,2\n0,1\n",
        "\ufeffrow,uniform\r\n\r\n3, 1\r\n0,1\r\n2,0\r\n1,0",
        'row,"uniform"\n"3",1\n0,1\n2,0\n1,0\n',
    ],
    ids=["other-order", "other-columns", "windows", "quotes"],
)
def test_the_row_column_decides(written, text):
    found = load_released(SCENE, data_dir=written(text))
    np.testing.assert_array_equal(found.argmax(axis=1), [1, 0, 0, 1])


def test_a_missing_file_says_where_it_was_looked_for_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPLABEL_DATA", str(tmp_path / "other"))
    with pytest.raises(DatasetNotFoundError) as refusal:
        load_released(SCENE, data_dir=tmp_path)
    said = str(refusal.value)
    for place in (tmp_path, tmp_path / "other"):
        assert str(place / "released" / "scene.csv") in said
    assert "there are no released labels of scene" in said
    assert "take labels uniform or biased" in said


def test_a_name_is_no_way_to_another_folder(tmp_path):
    (tmp_path / "secret.csv").write_text(GOOD)
    (tmp_path / "released").mkdir()
    other = MultiLabelDataset("../secret", np.eye(4), Y, SCENE.label_names, tuple("abcd"))
    with pytest.raises(DatasetNotFoundError, match="no released labels"):
        load_released(other, data_dir=tmp_path)


def lines(*records):
    return "row,uniform,biased\n" + "".join(f"{record}\n" for record in records)


UNFIT = {
    "few rows": (lines("0,1,2", "1,0,2", "2,0,0"), ": 1 of the 4 rows"),
    "many rows": (lines("0,1,2", "1,0,2", "2,0,0", "3,1,0", "4,1,0"), ", line 6: row 4"),
    "row twice": (lines("0,1,2", "1,0,2", "1,2,0", "3,1,0"), ", line 4: row 1"),
    "unknown": (lines("0,1,2", "1,3,2", "2,0,0", "3,1,0"), ", line 3: label 3"),
    "relevant": (lines("3,1,0", "1,0,2", "2,1,0", "0,1,2"), r", line 4: label 1 \(city\)"),
    "from 1": (lines("0,2,2", "1,1,2", "2,1,1", "3,2,1"), ".*3 of 4 lines"),
    "name": (lines("0,1,2", "1,sea,2"), ", line 3: .*'sea'"),
    "negative": (lines("0,1,2", "1,-1,2"), ", line 3: .*'-1'"),
    "short": (lines("0,1,2", "1"), ", line 3: .*''"),
    "long number": (lines("0,1,2", f"{'9' * 5000},1,2"), ", line 3: .*'99999"),
    "no column": ("row,biased\n0,2\n", ", line 1: .*row, biased.*uniform"),
    "twice": ("row,uniform,uniform\n0,1,1\n", ".*uniform"),
    "header alone": ("row,uniform,biased\n", ": no labels"),
    "empty": ("", ", line 1: "),
    "bytes": (b"row,uniform\n\x80", ", line 2: is not UTF-8"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_does_not_fit_is_refused_with_its_place(written, name):
    text, message = UNFIT[name]
    with pytest.raises(DatasetFormatError, match=rf"scene\.csv{message}") as refusal:
        load_released(SCENE, data_dir=written(text))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", ["scene", "yeast"])
@pytest.mark.parametrize("scheme", ["uniform", "biased"])
def test_what_the_group_released(data_dir, name, scheme):
    path = data_dir / "released" / f"{name}.csv"
    if not path.is_file():
        pytest.skip(f"no released labels: {path} is absent")
    dataset = load_dataset(name, data_dir=data_dir)
    found = load_released(dataset, scheme=scheme, data_dir=data_dir)
    table = np.genfromtxt(path, delimiter=",", names=True, dtype=int)
    marks = sparse.coo_array(
        (np.ones(len(table), dtype=int), (table["row"], table[scheme])), shape=dataset.Y.shape
    )
    np.testing.assert_array_equal(found, marks.toarray())
    assert (found.sum(axis=1) == 1).all()
    assert not (found & dataset.Y).any()
