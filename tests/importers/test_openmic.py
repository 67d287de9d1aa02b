import json
import pickle
import re

import numpy as np
import pytest
from tests.importers.reading import imported, refused

from complabel.errors import DatasetFormatError, InputError
from complabel.importers import Options, detect, import_answers

ARRAYS = {
    "X": np.zeros((3, 10, 2), dtype=np.uint8),
    "Y_true": np.array([[0.5, 0.1, 0.5], [0.9, 0.5, 0.0], [0.5, 0.5, 0.49]]),
    "Y_mask": np.array([[False, True, False], [True, True, True], [False, False, False]]),
    "sample_key": np.array(["000046_3840", "000135_483840", "000139_119040"]),
}


def save(path, **changes):
    np.savez(path, **{**ARRAYS, **changes})
    return path


def test_what_is_judged_is_present_from_a_half_on(tmp_path):
    path = save(tmp_path / "openmic.npz")
    rows, tally = imported(path, None)
    assert detect(path).name == "openmic"
    assert [(row["item"], row["label"], row["answer"]) for row in rows] == [
        ("000046_3840", "1", "no"),
        ("000135_483840", "0", "yes"),
        ("000135_483840", "1", "yes"),
        ("000135_483840", "2", "no"),
    ]
    assert {row["question"] for row in rows} == {"asked"}
    assert tally.counts["items without an answer"] == 1
    assert "A model chose" in tally.remarks[1]
    assert "give class-map.json" in tally.remarks[0]


def test_names_come_from_the_class_map_or_are_told(tmp_path):
    path, names = save(tmp_path / "openmic.npz"), tmp_path / "class-map.json"
    names.write_text(json.dumps({"cello": 1, "accordion": 0, "banjo": 2}))
    by_map, tally = imported(path, None, class_names=names)
    told, _ = imported(path, None, label_names=("accordion", "cello", "banjo"))
    assert [row["label"] for row in by_map] == ["cello", "accordion", "cello", "banjo"]
    assert told == by_map
    assert list(tally.label_names) == ["accordion", "cello", "banjo"]
    assert len(tally.remarks) == 1


class Trap:
    def __reduce__(self):
        return exec, ("raise SystemExit('a pickle was run')",)


def test_pickled_names_are_not_read_and_rows_are_numbered(tmp_path):
    key = np.array([Trap(), "b", "c"], dtype=object)
    assert pickle.dumps(key)
    rows, tally = imported(save(tmp_path / "openmic.npz", sample_key=key), None)
    assert [row["item"] for row in rows] == ["0", "1", "1", "1"]
    assert any("pickled Python objects, which are never read" in each for each in tally.remarks)


def test_names_of_bytes_and_numbers_are_names(tmp_path):
    for key, first in ((ARRAYS["sample_key"].astype("S"), "000046_3840"), (np.arange(3), "0")):
        rows, _ = imported(save(tmp_path / "openmic.npz", sample_key=key), None)
        assert rows[0]["item"] == first


def test_pieces_say_the_same_as_the_whole(tmp_path, monkeypatch):
    path = save(tmp_path / "openmic.npz")
    whole = imported(path, None)
    monkeypatch.setattr("complabel.importers._public._AT_ONCE", 3)
    assert imported(path, None) == whole


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"Y_mask": np.ones((3, 2), bool)}, r"Y_true has shape \(3, 3\), Y_mask \(3, 2\)"),
        ({"Y_mask": np.full((3, 3), 2)}, "Y_mask must be 0 or 1, but it is not in row 0, column 0"),
        ({"Y_true": np.full((3, 3), np.nan)}, "Y_true must be from 0 to 1 .* row 0, column 1"),
        ({"Y_true": np.array([[Trap()] * 3] * 3)}, "Y_true.npy: holds values of type object"),
        ({"Y_true": np.zeros(3)}, r"Y_true has shape \(3,\)"),
        ({"sample_key": np.array(["a", "b"])}, r"sample_key has shape \(2,\)"),
        ({"sample_key": np.array(["a", "b", ""])}, "sample_key has a blank"),
        ({"Y_true": np.zeros((3, 3), dtype="M8[s]")}, "holds values of type datetime64"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(tmp_path, changes, told):
    assert re.search(told, refused(save(tmp_path / "openmic.npz", **changes), None))


def test_a_missing_array_is_told(tmp_path):
    path = tmp_path / "mine.npz"
    np.savez(path, X=np.eye(2), Y_true=np.eye(2))
    assert "has no array 'Y_mask'; found X, Y_true" in refused(path, None, "openmic")


def test_too_few_names_are_refused(tmp_path):
    path, names = save(tmp_path / "openmic.npz"), tmp_path / "map.json"
    names.write_text('{"cello": 1}')
    told = refused(path, None, error=InputError, label_names=("a", "b"))
    assert "2 names, the file 3 labels" in told
    assert "no name for label 0" in refused(path, None, error=InputError, class_names=names)
    names.write_text("[1]")
    with pytest.raises(DatasetFormatError, match="give an object of names and numbers"):
        import_answers(path, options=Options(class_names=names))
