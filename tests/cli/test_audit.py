"""`complabel ask --against` and `complabel audit`: from a machine's labels to a page."""

import csv
import json

import numpy as np
import pytest
from tests.frequencies.test_strata import world

NAMES = ["cat", "dog", "sofa", "tree"]


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "label", "answer", "question"])
        writer.writerows(rows)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Y, machine = world(200, 4)
    rows = [
        (f"i{item}", NAMES[label], ["no", "yes"][machine[item, label]], "asked")
        for item in range(200)
        for label in range(4)
    ]
    write(tmp_path / "machine.csv", rows)
    return Y, machine


def answer(questions, target, Y):
    with open(questions, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    filled = []
    for row in rows:
        applies = Y[int(row["item"][1:]), NAMES.index(row["label"])]
        filled.append((row["item"], row["label"], ["no", "yes"][applies], "asked"))
    write(target, filled)
    return {(row["item"], row["label"]) for row in rows}


def test_from_a_machine_to_a_page_in_two_rounds(folder, tmp_path, run):
    Y, machine = folder
    code, out, _ = run("ask", "--against", "machine.csv", "-n", 60, "--out", "check.csv")
    assert code == 0
    assert "complabel audit machine.csv" in out
    text = (tmp_path / "check.csv").read_text(encoding="utf-8")
    assert "machine" not in text
    first = answer("check.csv", tmp_path / "people.csv", Y)
    words = np.array([machine[int(item[1:]), NAMES.index(label)] for item, label in first])
    assert words.sum() == 30
    options = ("--against", "machine.csv", "-n", 40, "--seed", 1, "--out", "more.csv")
    assert run("ask", "people.csv", *options)[0] == 0
    assert answer("more.csv", tmp_path / "more-people.csv", Y).isdisjoint(first)
    code, out, _ = run(
        "audit", "machine.csv", "people.csv", "more-people.csv",
        "--html", "audit.html", "--json", "audit.json",
    )  # fmt: skip
    assert code == 0
    assert "of 4 labels" in out
    told = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    assert told["n_answers"] == 100
    assert set(told["labels"]) == set(NAMES)
    for at, name in enumerate(NAMES):
        low, high = told["labels"][name]["interval"]
        assert low - 0.02 <= Y[:, at].mean() <= high + 0.02
    assert "of 4 labels" in (tmp_path / "audit.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--kind", "ticked"), "--kind"),
        (("--to-evaluate", "m.safetensors"), "--to-evaluate"),
        (("--all-known",), "--all-known"),
        (("-n", 900), "900"),
    ],
)
def test_what_does_not_go_with_a_machine_is_refused(folder, options, named, run):
    given = options if "-n" in options else ("-n", 10, *options)
    code, _, errors = run("ask", "--against", "machine.csv", *given, "--out", "check.csv")
    assert code == 1
    assert named in errors


def test_a_machine_that_only_says_yes_is_refused(folder, tmp_path, run):
    write(tmp_path / "yes.csv", [(f"i{at}", "cat", "yes", "asked") for at in range(30)])
    code, _, errors = run("ask", "--against", "yes.csv", "-n", 5, "--out", "check.csv")
    assert code == 1
    assert "yes.csv" in errors


def test_a_batch_goes_out_and_comes_back_as_a_machine(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tickets.csv").write_text("item,text\nt1,My bill\nt2,It crashes\n", "utf-8")
    (tmp_path / "labels.txt").write_text("billing\nbug\n", "utf-8")
    words = ("ask", "--for", "openai", "--kind", "ticked", "--all-items", "--items", "tickets.csv")
    words += ("--label-names", "labels.txt", "--out", "batch.jsonl")
    code, _, errors = run(*words)
    assert (code, "--model" in errors) == (1, True)
    code, out, _ = run(*words, "--model", "m", "--dry-run")
    assert (code, "2 requests" in out) == (0, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.txt", "tickets.csv"]
    assert run(*words, "--model", "m")[0] == 0
    lines = (tmp_path / "batch.jsonl").read_text("utf-8").splitlines()
    content = json.dumps({"billing": "yes", "bug": "no"})
    results = [
        {
            "custom_id": json.loads(line)["custom_id"],
            "response": {
                "status_code": 200,
                "body": {"choices": [{"message": {"content": content}}]},
            },
        }
        for line in lines
    ]
    text = "".join(json.dumps(each) + "\n" for each in results)
    (tmp_path / "results.jsonl").write_text(text, "utf-8")
    assert run("import", "results.jsonl", "--out", "machine.csv")[0] == 0
    code, out, _ = run("ask", "--against", "machine.csv", "-n", 4, "--out", "check.csv")
    assert (code, "yes about 2 pairs" in out) == (0, True)


def test_what_is_about_batches_alone_is_refused_elsewhere(folder, run):
    for options in (("--dry-run",), ("--model", "m")):
        code, _, errors = run("ask", "--against", "machine.csv", *options, "--out", "check.csv")
        assert (code, "--model" in errors) == (1, True)


def test_a_fit_beside_a_machine_says_what_its_answers_were_worth(folder, tmp_path, run):
    Y, _ = folder
    X = Y + np.random.default_rng(0).normal(0, 0.5, Y.shape)
    with (tmp_path / "X.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "a", "b", "c", "d"])
        writer.writerows([f"i{at}", *row] for at, row in enumerate(X.tolist()))
    assert run("ask", "--against", "machine.csv", "-n", 80, "--out", "check.csv")[0] == 0
    answer("check.csv", tmp_path / "people.csv", Y)
    options = ("--machine", "machine.csv", "--features", "X.csv", "--out", "model.safetensors")
    code, out, _ = run("fit", "people.csv", *options)
    assert code == 0
    assert "of a person's answer" in out
    assert "gain over people's answers alone" in out
    code, out, _ = run("predict", "model.safetensors", "X.csv", "--out", "predictions.csv")
    assert code == 0
    code, _, error = run("fit", "people.csv", *options, "--method", "ridge", "--force")
    assert code == 1
    assert "--machine needs" in error
