"""Datasets made of tables: features, what people answered, and true labels of some items."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from complabel.answers import Answers
from complabel.datasets import MultiLabelDataset
from complabel.errors import AnnotationError, DatasetFormatError, InputError
from complabel.experiments.datasets import dataset_entries, load_tables, preprocess, save_file
from complabel.experiments.studies._data import dataset_fingerprint

FEATURES = "item,red,blue\nc,1,2\na,3,4\nb,5,6\n"
ANSWERS = "item,label,answer\na,sea,yes\nb,sky,no\nb,city,no\n"
TRUTH = "item,sky,sea,city\na,0,1,1\nc,1,0,0\n"


@pytest.fixture
def folder(tmp_path):
    files = {"X.csv": FEATURES, "answers.csv": ANSWERS, "truth.csv": TRUTH}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def load(folder):
    """Load some of the tables, by name."""

    def call(**files):
        paths = {key: folder / name for key, name in files.items() if key != "contradictions"}
        policy = {"contradictions": files["contradictions"]} if "contradictions" in files else {}
        return load_tables(folder / "X.csv", **paths, **policy)

    return call


def test_all_is_put_in_the_order_of_the_features(load):
    data = load(answers="answers.csv", truth="truth.csv")
    assert (data.name, data.label_names) == ("X", ("sky", "sea", "city"))
    assert data.feature_names == ("red", "blue")
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert data.Y.tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    assert data.known.tolist() == [True, True, False]
    assert (data.n_known, data.label_cardinality) == (2, 1.5)
    assert data.answers.complementary.tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 1]]
    assert data.answers.known_relevant.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_without_truth_labels_are_those_mentioned_and_none_is_known(load):
    data = load(answers="answers.csv")
    assert data.label_names == ("city", "sea", "sky")
    assert not data.Y.any()
    assert not data.known.any()
    assert np.isnan(data.label_cardinality)


def test_without_answers_rows_without_truth_are_left_out(load):
    data = load(truth="truth.csv")
    assert data.X.tolist() == [[1, 2], [3, 4]]
    assert data.Y.tolist() == [[1, 0, 0], [0, 1, 1]]
    assert data.known is None
    assert data.answers is None


def test_what_cannot_be_one_dataset_is_refused(folder, load):
    with pytest.raises(InputError, match="features alone tell nothing; give answers, truth"):
        load()
    (folder / "truth.csv").write_text(TRUTH + "z,0,0,0\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"truth\.csv: 1 of its 3 items have no features: 'z'; give"
    ):
        load(truth="truth.csv")
    (folder / "truth.csv").write_text("item,sea,sky\na,1,0\n", encoding="utf-8")
    with pytest.raises(AnnotationError, match="city"):
        load(answers="answers.csv", truth="truth.csv")
    (folder / "answers.csv").write_text("item,label\nz,sea\n", encoding="utf-8")
    with pytest.raises(DatasetFormatError, match="none of its 1 item has features"):
        load(answers="answers.csv")


def test_each_answer_and_each_true_label_counts_in_the_checksum(folder, load):
    files = {"answers": "answers.csv", "truth": "truth.csv"}
    first = dataset_fingerprint(load(**files))
    pd.read_csv(folder / "answers.csv").to_parquet(folder / "same.parquet")
    assert dataset_fingerprint(load(answers="same.parquet", truth="truth.csv")) == first
    seen = {first, dataset_fingerprint(load(answers="answers.csv"))}
    changed = [
        ANSWERS.replace("b,sky,no", "b,sky,yes"),
        ANSWERS.replace("b,sky", "c,sky"),
        ANSWERS.replace("b,sky,no", "b,sea,no"),
        ANSWERS.replace("answer\n", "answer,probability\n").replace("yes\n", "yes,0.5\n"),
        ANSWERS.replace("answer\n", "answer,question\n").replace("b,sky,no", "b,sky,no,named"),
        ANSWERS + "c,sea,no\n",
    ]
    for text in changed:
        lines = text.splitlines()
        width = lines[0].count(",")
        filled = [line + "," * (width - line.count(",")) for line in lines]
        (folder / "answers.csv").write_text("\n".join(filled) + "\n", encoding="utf-8")
        seen.add(dataset_fingerprint(load(**files)))
    (folder / "truth.csv").write_text(TRUTH + "b,0,0,0\n", encoding="utf-8")
    seen.add(dataset_fingerprint(load(**files)))
    assert len(seen) == 2 + len(changed) + 1


Y = np.array([[1, 0], [0, 0]], dtype=np.uint8)
DATA = MultiLabelDataset("toy", np.eye(2), Y, ("a", "b"), ("x", "y"))


@pytest.mark.parametrize("use", [preprocess, lambda data: save_file(data, "mine.npz")],
                         ids=["preprocess", "save_file"])  # fmt: skip
def test_what_would_lose_answers_refuses_them(use):
    for changes in (
        {"answers": Answers.from_arrays(named=Y[:1], n_items=2)},
        {"known": np.array([True, False])},
    ):
        with pytest.raises(InputError, match="has answers of people, or rows whose true labels"):
            use(dataclasses.replace(DATA, **changes))


def test_tables_become_an_entry_with_whole_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert dataset_entries([{"features": "my X.csv", "answers": ["a.csv"]}, "synthetic"]) == [
        "synthetic",
        {
            "name": "my-X",
            "features": str(tmp_path / "my X.csv"),
            "answers": [str(tmp_path / "a.csv")],
        },
    ]
    with pytest.raises(InputError, match="would be called 'scene'"):
        dataset_entries([{"features": "scene.csv", "truth": "truth.csv"}])
