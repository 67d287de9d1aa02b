import numpy as np
from scipy.io import savemat
from tests.importers.reading import imported, refused

from complabel.errors import InputError
from complabel.importers import detect

CANDIDATES = np.array([[1, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 1]])  # (K, n)
TARGET = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1]])


def save(path, candidates=CANDIDATES):
    savemat(path, {"data": np.eye(4), "partial_labels": candidates, "target": TARGET})
    return path


def test_labels_that_are_no_candidates_are_excluded(tmp_path):
    path = save(tmp_path / "toy.mat")
    rows, tally = imported(path, None)
    assert detect(path).name == "pml"
    assert [(row["answer_id"], row["item"], row["label"]) for row in rows] == [
        ("0", "0", "1"),
        ("1", "1", "0"),
        ("1", "1", "1"),
        ("2", "2", "2"),
    ]
    assert {(row["answer"], row["question"]) for row in rows} == {("no", "excluded")}
    assert tally.counts["answers"] == tally.counts["excluded answers"] == 3
    assert tally.counts["items of which nothing is excluded"] == 1
    assert list(tally.label_names) == ["0", "1", "2"]


def test_names_can_be_told(tmp_path):
    path = save(tmp_path / "toy.mat")
    rows, _ = imported(path, None, label_names=("sea", "sky", "sun"))
    assert [row["label"] for row in rows] == ["sky", "sea", "sky", "sun"]
    told = refused(path, None, error=InputError, label_names=("sea", "sky"))
    assert "2 names, the file 3 labels" in told


def test_a_file_in_which_a_one_marks_what_is_excluded_is_refused(tmp_path):
    told = refused(save(tmp_path / "toy.mat", 1 - CANDIDATES), None)
    assert "rules out 4 of 4 true labels" in told


def test_a_file_that_excludes_nothing_holds_no_answer(tmp_path):
    path = save(tmp_path / "toy.mat", np.ones_like(CANDIDATES))
    told = refused(path, None)
    assert "no answer, read as pml" in told
    assert "4 items of which nothing" in told
