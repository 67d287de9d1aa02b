"""`complabel predict` as it is typed."""

import json

import numpy as np
import pytest
from tests.cli.own import COLUMNS, DATA, ITEMS, NAMES, read_table, write_table

import complabel
from complabel.methods import make_classifier
from complabel.simulate import draw_complementary

MODEL = "my model.safetensors"
TARGETS = draw_complementary(DATA.Y, random_state=0)


@pytest.fixture(autouse=True)
def expected(folder):
    """Save a model that knows the names of labels, and return what it predicts."""
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(DATA.X, columns=list(COLUMNS))
    classifier = make_classifier("ridge", random_state=0)
    classifier.fit(X, pd.DataFrame(TARGETS, columns=list(NAMES))).save(MODEL)
    return complabel.load(MODEL).predict_proba(X)


def predicted(path):
    rows = read_table(path)
    assert [*rows[0]] == ["item", *NAMES]
    assert [row.pop("item") for row in rows] == list(ITEMS)
    return np.array([[*row.values()] for row in rows], dtype=np.float32)


def test_probabilities_are_those_of_python_in_single_precision(run, folder, expected):
    code, out, err = run("predict", MODEL, "X.csv", "--out", "p.csv")
    assert (code, err) == (0, "")
    np.testing.assert_array_equal(predicted(folder / "p.csv"), expected.astype(np.float32))
    assert out == (
        "wrote p.csv: 90 items, 4 labels\n"
        "next: measure the model on answers that it did not learn from, or on true labels:\n"
        "  complabel evaluate 'my model.safetensors' X.csv --answers held-out.csv\n"
        "  complabel evaluate 'my model.safetensors' X.csv --truth truth.csv\n"
    )


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_pieces_of_any_size_make_the_same_file(run, folder, expected, rows):
    arguments = ("X.npy", "--items", "ids.txt", "--rows", rows, "--out", "p.csv")
    code, out, _ = run("predict", MODEL, *arguments)
    assert code == 0
    np.testing.assert_allclose(predicted(folder / "p.csv"), expected, atol=1e-7)
    assert "  complabel evaluate 'my model.safetensors' X.npy --items ids.txt --truth" in out


def test_columns_are_found_by_name(run, folder, expected):
    order = [3, 0, 4, 2, 1]
    rows = [[item, *row] for item, row in zip(ITEMS, DATA.X[:, order].tolist(), strict=True)]
    write_table(folder / "other.csv", ["item", *(COLUMNS[at] for at in order)], rows)
    assert run("predict", MODEL, "other.csv", "--out", "p.csv")[0] == 0
    np.testing.assert_array_equal(predicted(folder / "p.csv"), expected.astype(np.float32))


def test_a_threshold_is_compared_with_what_the_model_says(run, folder, expected):
    """Not with what is left of it in single precision."""
    threshold = float(np.nextafter(expected[5, 2], 1))
    assert np.float32(expected[5, 2]) >= np.float32(threshold)
    run("predict", MODEL, "X.csv", "--threshold", repr(threshold), "--out", "p.csv")
    np.testing.assert_array_equal(predicted(folder / "p.csv"), expected >= threshold)
    run("predict", MODEL, "X.csv", "--threshold", repr(threshold), "--out", "p.jsonl")
    lines = (folder / "p.jsonl").read_text(encoding="utf-8").splitlines()
    for line, item, row in zip(map(json.loads, lines), ITEMS, expected, strict=True):
        labels = [name for name, value in zip(NAMES, row, strict=True) if value >= threshold]
        assert line == {"item": item, "labels": labels}


def test_labels_by_the_thresholds_of_the_model(run, folder, expected):
    thresholds = expected[[5, 1, 2, 3], range(4)]
    complabel.load(MODEL).set_thresholds(thresholds).save(MODEL)
    assert run("predict", MODEL, "X.csv", "--labels", "--out", "p.csv")[0] == 0
    np.testing.assert_array_equal(predicted(folder / "p.csv"), expected >= thresholds)
    for other, value in (("--threshold", 0.5), ("--top", 2)):
        code, _, err = run("predict", MODEL, "X.csv", "--labels", other, value, "--out", "q.csv")
        assert (code, f"--labels and {other} are both given" in err) == (1, True)


def test_a_model_without_thresholds_says_how_it_gets_some(run, folder):
    code, _, err = run("predict", MODEL, "X.csv", "--labels", "--out", "p.csv")
    assert code == 1
    assert "holds no thresholds; choose some from answers to random questions" in err
    assert not (folder / "p.csv").exists()


def test_the_most_probable_labels(run, folder, expected):
    assert run("predict", MODEL, "X.csv", "--top", 2, "--out", "p.jsonl")[0] == 0
    lines = (folder / "p.jsonl").read_text(encoding="utf-8").splitlines()
    for line, item, row in zip(map(json.loads, lines), ITEMS, expected, strict=True):
        best = np.argsort(-row, kind="stable")[:2]
        assert line["item"] == item
        assert list(line["labels"]) == [NAMES[at] for at in best]
        np.testing.assert_allclose(list(line["labels"].values()), row[best], rtol=1e-6)


def test_ctrl_c_leaves_what_was_there(run, folder, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("complabel.files.PredictionWriter.write", stopped)
    (folder / "p.csv").write_text("older", encoding="utf-8")
    before = sorted(folder.iterdir())
    code, out, _ = run("predict", MODEL, "X.csv", "--out", "p.csv", "--force")
    assert code == 130
    assert "wrote" not in out
    assert sorted(folder.iterdir()) == before
    assert (folder / "p.csv").read_text(encoding="utf-8") == "older"
