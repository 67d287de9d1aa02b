"""`complabel inspect` as it is typed."""

import json

import numpy as np
import pytest

from complabel.datasets import MultiLabelDataset, make_synthetic
from complabel.experiments.datasets import save_file

TABLE = """item,label,answer,question,annotator
a,sea,no,named,ann
b,city,no,named,bob
b,city,yes,asked,ann
"""


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_what_to_do_comes_first_and_nothing_is_drawn_in_a_pipe(run, answers):
    code, out, err = run("inspect", answers)
    assert (code, err) == (0, "")
    assert out.startswith("3 answers about 2 items and 2 labels: ")
    assert "✗ problem: Answers contradict each other [contradictions]" in out
    assert "labels-not-listed" in out
    assert f"complabel fit {answers} --features X.csv --contradictions majority" in out
    assert "\x1b" not in out


def test_page_and_json(run, answers, tmp_path):
    page, found = tmp_path / "page.html", tmp_path / "found.json"
    code, out, _ = run("inspect", answers, "--html", page, "--json", found)
    assert code == 0
    assert out.endswith(f"wrote {page}\nwrote {found}\n")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    seen = json.loads(found.read_text(encoding="utf-8"))
    assert seen["next_step"] == "contradictions"
    (only,) = seen["contradictions"]
    assert only == {
        "item": "b", "label": "city", "yes": 1, "no": 1, "says_yes": ["ann"], "says_no": ["bob"]
    }  # fmt: skip


def test_features_label_names_and_several_files(run, answers, tmp_path):
    (tmp_path / "X.csv").write_text("item,f\nb,1\na,2\nc,3\n", encoding="utf-8")
    (tmp_path / "labels.txt").write_text("sea\ncity\nsky\n", encoding="utf-8")
    more = tmp_path / "more.csv"
    more.write_text("item,label,answer\nc,sky,yes\n", encoding="utf-8")
    found = tmp_path / "found.json"
    code, out, _ = run(
        "inspect", answers, more, "--features", tmp_path / "X.csv",
        "--label-names", tmp_path / "labels.txt", "--json", found,
    )  # fmt: skip
    assert code == 0
    assert "labels-not-listed" not in out
    seen = json.loads(found.read_text(encoding="utf-8"))
    assert (seen["n_items"], seen["n_labels"], seen["n_answers"]) == (3, 3, 4)
    assert seen["features"]["n_features"] == 1
    assert f"--features {tmp_path / 'X.csv'}" in out


@pytest.fixture
def ruled_out(tmp_path):
    data = make_synthetic(60, n_features=3, n_labels=4, random_state=0)
    excluded = (1 - data.Y) * (np.random.default_rng(5).random(data.Y.shape) < 0.5)
    own = MultiLabelDataset(
        "own", data.X, data.Y, data.label_names, data.feature_names,
        excluded=excluded.astype(np.uint8),
    )  # fmt: skip
    save_file(own, tmp_path / "own.npz")
    return tmp_path / "own.npz"


def test_a_dataset_in_which_labels_were_ruled_out(run, ruled_out):
    code, out, _ = run("inspect", ruled_out)
    assert code == 0
    assert out.startswith("60 answers about 60 items and 4 labels: ")
    assert "exclusion-rates-unknown" in out
    assert "complabel ask" not in out  # there is no table to give it


@pytest.mark.parametrize(
    ("name", "found"),
    [("digits", "digits"), ("none.mat", "none.mat: no such"), ("mirflikr", "'mirflickr'")],
)
def test_what_is_no_dataset_in_which_labels_were_ruled_out(run, name, found):
    code, out, err = run("inspect", name)
    assert (code != 0, out, found in err) == (True, "", True)


@pytest.mark.slow
def test_mirflickr(run, data_dir):
    _, out, _ = run("inspect", "mirflickr", "--data-dir", data_dir / "pml")
    assert out.startswith("5,000 answers about 5,000 items and 7 labels: ")
    assert "'label_3' = 'label_4'" in out
