"""`complabel show` as it is typed."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from tests.cli.own import COLUMNS, DATA, ITEMS, NAMES

import complabel
from complabel.methods import PriorClassifier, read_header

pytestmark = pytest.mark.usefixtures("folder")
MODEL = "m.safetensors"


@pytest.fixture
def model(run, folder):
    method = "selection-likelihood:kernel=linear,alpha=0.1,scaling=global,rank=none"
    code, out, _ = run(
        "fit", "asked.csv", "--features", "X.csv", "--label-names", "labels.txt", "--folds", 2,
        "--method", method, "--out", MODEL,
    )  # fmt: skip
    assert code == 0
    return out


def test_a_model_says_how_it_was_made(run, model):
    code, out, err = run("show", MODEL)
    assert (code, err) == (0, "")
    assert re.search(r"^learned from +80 answers \(80 asked\) about \d+ items$", out, re.MULTILINE)
    assert re.search(r"^files +asked.csv, X.csv$", out, re.MULTILINE)
    assert re.search(r"^fitted +\d{4}-\d\d-\d\d \d\d:\d\d UTC, in [\d.]+ seconds$", out, re.M)
    right = re.findall(r"(?:puts the right one first in|alone do so in) +(\d+)", model)
    assert f"in {right[0]} of 100 cases, by label frequencies alone in {right[1]}" in out
    assert all(name in out for name in NAMES)
    held_out = read_header(MODEL)["provenance"]["given"]["held_out"]
    assert held_out["n_folds"] == 2


@pytest.mark.usefixtures("model")
def test_the_page_shows_the_likeliest_items(run, folder):
    code, out, _ = run(
        "show", MODEL, "--features", "X.csv", "--html", "page.html", "--json", "found.json"
    )
    assert code == 0
    assert out.endswith("wrote page.html\nwrote found.json\n")
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    X = pd.DataFrame(DATA.X, columns=list(COLUMNS))
    probabilities = complabel.load(MODEL).predict_proba(X)
    page = (folder / "page.html").read_text(encoding="utf-8")
    for name, of_label in zip(NAMES, probabilities.T, strict=True):
        (item, share), *_ = found["items"][name]["likeliest"]
        assert item == ITEMS[of_label.argmax()]
        assert share == pytest.approx(of_label.max())
        assert f"{item} <span" in page
    assert {row["label"] for row in found["labels"]} == {*NAMES}


def test_texts_of_a_strangers_file_do_not_steer_the_terminal(run):
    names = ["\x1b[2Jsea", "to\nwn", "c\x9bity"]
    classifier = PriorClassifier().fit(np.zeros((3, 1)), np.eye(3, dtype=int))
    classifier.classes_ = np.array(names, dtype=object)
    notes = {
        "answers": ["\x1b[31ma.csv"], "date": "now\x07", "\x1b[1mkey": "\x1b[1mvalue",
        "labels": {"named": [1, 1, 1]}, "questions": {"\x1b[1mnamed": 3}, "n_items": 3,
    }  # fmt: skip
    classifier.save(MODEL, provenance=notes)
    code, out, _ = run("show", MODEL)
    assert code == 0
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", out)
    assert "\\x1b[2Jsea" in out
    assert re.search(r"^ +to wn +1", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--items", "ids.txt"), "--items is given without --features"),
        (("--features", "X.csv"), "nothing is written; add --html or --json"),
    ],
)
def test_what_is_refused(run, words, why):
    code, _, err = run("show", MODEL, *words)
    assert code == 1
    assert why in err
