"""What a model says about people and their answers: `predict --answers`, `inspect --model`."""

import json
import re

import numpy as np
import pytest
from tests.cli.own import DATA, ITEMS, NAMES, read_table, write_back, write_table

from complabel.cli import _inspect
from complabel.files import read_answers
from complabel.methods import SelectionLikelihoodClassifier, get_method, make_classifier
from complabel.simulate import draw_answers

MODEL = "model.safetensors"
ANSWERED = 70
SAID = draw_answers(
    DATA.Y[:ANSWERED],
    question="ticked",
    answers_per_item=3,
    missed=[0.05, 0.3, 0.6],
    invented=0.05,
    random_state=0,
)


@pytest.fixture
def model(folder):
    """Write answers.csv and a model of them; return it."""
    said = SAID.statements()
    people = np.array(["ann", "bob", "cleo"])[SAID.annotator]
    rows = [
        [str(number), ITEMS[item], NAMES[label], "yes" if yes else "no", "ticked", people[number]]
        for number, item, label, yes in zip(
            said.answer, said.item, said.label, said.applies, strict=True
        )
    ]
    header = ["answer_id", "item", "label", "answer", "question", "annotator"]
    write_table(folder / "answers.csv", header, rows)
    answers = answers_of(ITEMS)
    order = [answers.annotator_names.index(name) for name in ("ann", "bob", "cleo")]
    missed = np.array([0.05, 0.3, 0.6])[np.argsort(order)]
    classifier = SelectionLikelihoodClassifier(
        alpha=0.003, cardinality=None, scaling="global", kernel="linear", rank=None,
        missed=missed, invented=0.05,
    )  # fmt: skip
    classifier.fit(DATA.X[:ANSWERED], answers[:ANSWERED]).save(folder / MODEL)
    return classifier


def answers_of(items):
    return read_answers(
        "answers.csv", items=items, label_names=NAMES, contradictions="keep"
    ).answers


@pytest.mark.parametrize("rows", [7, 1000])
def test_answered_items_are_predicted_by_consensus(run, folder, model, rows):
    arguments = ("--answers", "answers.csv", "--rows", rows, "--out", "p.csv")
    code, out, _ = run("predict", MODEL, "X.csv", *arguments)
    assert code == 0
    assert f"90 items, 4 labels\n  {ANSWERED} of them by consensus; {ANSWERED} items have" in out
    found = read_table(folder / "p.csv")
    assert [row.pop("item") for row in found] == list(ITEMS)
    probabilities = np.array([[*row.values()] for row in found], dtype=float)
    expected = model.predict_consensus(DATA.X, answers_of(ITEMS))
    np.testing.assert_allclose(probabilities, expected, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(
        probabilities[ANSWERED:], model.predict_proba(DATA.X[ANSWERED:]), rtol=1e-6
    )


def test_answers_to_check_can_be_answered_again(run, folder, model):
    code, out, _ = run(
        "inspect", "answers.csv", "--features", "X.csv", "--model", MODEL,
        "--doubtful", "doubtful.csv", "-n", 12, "--json", "found.json",
    )  # fmt: skip
    assert code == 0
    assert "labels-not-listed" not in out  # the model knows the labels
    assert "wrote doubtful.csv: 12 answers to check, of which about" in out
    assert "fit answers.csv answered-doubtful.csv --features X.csv --contradictions keep" in out
    people = json.loads((folder / "found.json").read_text(encoding="utf-8"))["people"]
    by_name = {person["annotator"]: person for person in people}
    assert by_name["cleo"]["missed"] == pytest.approx(0.6)
    assert by_name["cleo"]["missed_low"] < 0.6 < by_name["cleo"]["missed_high"]
    assert [person["judged"] for person in people] == sorted(
        (person["judged"] for person in people), reverse=True
    )
    assert "60.0%" in next(line for line in out.splitlines() if "%" in line and "cleo" in line
                           and " to " in line)  # fmt: skip

    questions = read_table(folder / "doubtful.csv")
    assert len({(row["item"], row["label"]) for row in questions}) == 12
    wrong = [float(row["wrong"]) for row in questions]
    assert wrong == sorted(wrong, reverse=True)
    for row in questions:
        truth = bool(DATA.Y[ITEMS.index(row["item"]), NAMES.index(row["label"])])
        row["answer"], row["annotator"] = "yes" if truth else "no", "boss"
    assert np.mean([row["answer"] != row["said"] for row in questions]) > 0.5
    write_back(folder / "doubtful.csv", questions)
    assert run("import", "doubtful.csv", "--out", "again.csv")[0] == 0
    both = read_answers(
        ["answers.csv", "again.csv"], items=ITEMS, label_names=NAMES, contradictions="keep"
    ).answers
    assert both.n_answers == SAID.n_answers + 12


@pytest.mark.parametrize("model_given", [True, False])
def test_the_page_shows_who_errs(run, folder, model, model_given):
    with_model = ("--features", "X.csv", "--model", MODEL) if model_given else ()
    code, out, _ = run("inspect", "answers.csv", *with_model, "--html", "page.html")
    assert code == 0
    assert "[people-contradict]" in out
    page = (folder / "page.html").read_text(encoding="utf-8")
    people = page[page.index('id="people"') : page.index('id="doubtful"')]
    assert {"ann", "bob", "cleo"} <= set(re.findall(r'class="name">(\w+)<', people))
    assert ("the model that was given" in people) == model_given
    assert ("the answers alone" in people) != model_given
    wrong = [float(share) for share in re.findall(r"nowrap\">([\d.]+) %</td><td", page)]
    assert len(wrong) == 20
    assert wrong == sorted(wrong, reverse=True)


def test_the_page_looks_at_a_part_of_many_items(run, folder, model, monkeypatch):
    judged = SAID.n_answers * len(NAMES)
    monkeypatch.setattr(_inspect, "_MOST_JUDGED", judged // 2)
    assert run("inspect", "answers.csv", "--html", "page.html")[0] == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert f"looks at a random {ANSWERED // 2} items only" in page
    (shown,) = re.findall(r"([\d,]+) pairs of an item and a label were judged", page)
    assert int(shown) == ANSWERED // 2 * len(NAMES)


def test_a_fit_may_keep_contradictions(run, folder, model):
    fit = "fit answers.csv --features X.csv --folds 0 --force --out m.safetensors --method "
    settings = "selection-likelihood:alpha=0.01,kernel=linear,scaling=global,cardinality=1.2,rank=2"
    mistakes = f"{fit}{settings},missed=0.3,invented=0.05"
    code, _, err = run(f"{mistakes} --contradictions keep")
    assert (code, "contradictions" in err) == (0, False)
    code, _, err = run(f"{mistakes}")
    assert (code, "contradict" in err) == (1, True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("predict ridge X.csv --answers answers.csv --out p.csv", "--answers needs a model"),
        ("inspect answers.csv --features X.csv --model ridge", "--model needs a model"),
        (f"inspect answers.csv --model {MODEL}", "without --features"),
        ("inspect answers.csv --features X.csv --doubtful d.csv", "without --model"),
    ],
)
def test_what_is_refused(run, folder, model, line, words):
    ridge = make_classifier("ridge").fit(DATA.X, 1 - DATA.Y)
    ridge.save(folder / "ridge")
    code, _, err = run(line)
    assert code == 1
    assert words in err


@pytest.mark.usefixtures("model")
def test_consensus_needs_no_model(folder, run):
    code, out, _ = run(
        "consensus answers.csv --features X.csv --folds 2 --out shares.csv --doubtful check.csv"
        " -n 12 --json found.json"
    )
    assert code == 0
    assert "By what people say together" in out
    assert "wrote check.csv: 12 answers to check" in out
    people = json.loads((folder / "found.json").read_text())["people"]
    assert {person["annotator"] for person in people} == {"ann", "bob", "cleo"}
    rate = {person["annotator"]: person["missed"] for person in people}
    assert rate["ann"] < rate["bob"] < rate["cleo"]
    rows = read_table(folder / "shares.csv")
    shares = np.array([[row[name] for name in NAMES] for row in rows], dtype=float)[:ANSWERED]
    assert np.mean((shares > 0.5) == DATA.Y[:ANSWERED]) > 0.85
    assert "fit answers.csv" in out


def test_consensus_advises_what_it_measured():
    def advised(missed, invented, width=0.2):
        low = np.clip(np.array(missed) - width / 2, 0, 1)
        ends = {"missed_low": low, "missed_high": low + width}
        people = {"missed": np.array(missed), "invented": np.array(invented), **ends}
        return get_method(f"selection-likelihood:{_inspect._measured(people)}").settings

    measured = {"missed": [0.33, 0.0], "invented": [0.06, 0.01]}
    assert advised(**measured) == measured
    assert advised([0.1] * 50, [0.0] * 50) == {"missed": "auto", "invented": "auto"}
    assert advised(**measured, width=0.5) == advised([np.nan, 0.1], [0, 0]) == {"error_rate": 0.05}


def test_consensus_says_whose_mistakes_cannot_be_told_apart(run, folder):
    rows = [
        [item, label, "yes" if (at + int(who == "gpt")) % 3 else "no", who]
        for who in ("ann", "gpt")
        for at, item in enumerate(ITEMS[:20])
        for label in NAMES
    ]
    write_table(folder / "both.csv", ["item", "label", "answer", "annotator"], rows)
    code, out, _ = run("consensus", "both.csv", "--out", "c.csv", "--json", "c.json")
    assert (code, len(read_table(folder / "c.csv"))) == (0, 20)
    assert "Nothing tells whether 'ann', 'gpt' err, or those who judged the same" in out
    people = json.loads((folder / "c.json").read_text("utf-8"))["people"]
    assert [person["told_apart"] for person in people] == [False, False]
    assert [person["missed_low"] for person in people] == [0, 0]


def test_consensus_counts_those_who_are_unsure(run, folder):
    """Ann and bob are sure of all; cleo, who says nothing else, is unsure about one label."""
    rows = [
        [item, label, "yes" if at % 3 == k else "no", who, "asked"]
        for who in ("ann", "bob")
        for at, item in enumerate(ITEMS[:20])
        for k, label in enumerate(NAMES)
    ]
    doubts = [[ITEMS[at], NAMES[at % 3], "unsure", "bob", "asked"] for at in (3, 5, 8)]
    doubts += [[ITEMS[4], NAMES[3], "?", "cleo", "asked"]]
    header = ["item", "label", "answer", "annotator", "question"]
    write_table(folder / "sure.csv", header, rows)
    write_table(folder / "more.csv", header, doubts)
    shares = {}
    for files in (["sure.csv"], ["sure.csv", "more.csv"]):
        out_names = "--out", f"{len(files)}.csv", "--json", f"{len(files)}.json"
        code, out, err = run("consensus", *files, *out_names)
        assert code == 0, err
        assert ("4 times somebody was unsure" in out) == (len(files) == 2)
        shares[len(files)] = {
            row["item"]: float(row[NAMES[3]]) for row in read_table(folder / f"{len(files)}.csv")
        }
    changed = {name: shares[2][name] - shares[1][name] for name in shares[1]}
    assert max(changed, key=changed.get) == ITEMS[4]
    people = {x["annotator"]: x for x in json.loads((folder / "2.json").read_text())["people"]}
    assert [people[name]["judged"] for name in ("ann", "bob", "cleo")] == [80, 80, 0]
    assert people["ann"]["unsure_applies"] == people["ann"]["unsure_not"] == 0
    assert people["bob"]["unsure_applies"] > 0.1 > people["bob"]["unsure_not"]
