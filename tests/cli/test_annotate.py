"""`complabel annotate` as it is typed; the routes are tested with complabel.live."""

from __future__ import annotations

import ast
import csv
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.cli.own import ITEMS, NAMES, write_table
from tests.spawned import python

from complabel.cli._options import TABLE
from complabel.live._drawing import read_questions

CHECKOUT = Path(__file__).parents[2]
TYPED = "annotate texts.csv --text text --label-names labels.txt --no-browser"


@pytest.fixture(autouse=True)
def texts(folder):
    """Write the texts that people are asked about."""
    write_table(folder / "texts.csv", ["item", "text"], [[item, f"text {item}"] for item in ITEMS])


@pytest.fixture
def sitting(served):
    """Let somebody answer as many questions as the list says, in place of a server."""
    counts = []

    def run(app, *, host, port, started):
        started(f"http://{host}:{port}")
        client = TestClient(app, headers={"X-Token": "abcdefgh"})
        for _ in range(counts.pop()):
            question = client.get("/api/next?person=ann").json()
            said = "yes" if question["question"] == "asked" else question["offered"][:1]
            body = {"id": question["id"], "person": "ann", "answer": said, "seconds": 2}
            assert client.post("/api/answer", json=body).json()["stored"]

    served(run)
    return counts


def test_a_sitting_and_the_next_one(folder, run, sitting):
    sitting += [3, 2, 0]
    code, out, err = run(f"{TYPED} --token abcdefgh --port 7")
    assert (code, err) == (0, "")
    assert "nobody has answered yet" in out
    assert "open http://127.0.0.1:7/?token=abcdefgh\n" in out

    code, out, _ = run(f"{TYPED} --token abcdefgh")
    assert code == 0
    assert "wrote answers.csv: 2 answers (ann 2)" in out
    assert re.search(r"complabel inspect answers.csv --label-names labels.txt", out)
    assert re.search(r"complabel fit answers.csv --features X.npz --label-names labels.txt", out)

    code, out, _ = run(f"{TYPED} --token abcdefgh")
    assert "2 answers so far" in out
    assert "wrote answers.csv: 5 answers (ann 5)" in out
    with (folder / "answers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({(row["item"], row["label"]) for row in rows}) == len(rows)
    kinds = Counter({row["answer_id"]: row["question"] for row in rows}.values())
    assert kinds == {"ticked": 3, "asked": 2}
    assert sorted(p.name for p in folder.glob("answers*")) == ["answers.csv", "answers.csv.sqlite"]


@pytest.mark.parametrize(
    ("more", "kinds"),
    [
        ("--label-names one.txt", {"asked"}),  # a form of one label is a yes/no
        ("--label-names many.txt", {"asked", "ticked"}),  # a form of ten of them fits on the page
        ("--until 'frequencies +-.1'", {"asked"}),  # labels that are not known well are preferred
        ("--until 'f1 +-.1' --against p.csv", {"asked"}),
        ("--until 'f1 +-.1' --features X.csv", {"asked", "ticked"}),
        ("--until model --features X.csv --overlap .5", {"asked", "ticked"}),
        ("--questions ticks.csv", {"ticked"}),
    ],
)
def test_what_is_asked_if_nobody_says_it(folder, run, sitting, more, kinds):
    sitting.append(6)
    (folder / "one.txt").write_text("sea")
    (folder / "many.txt").write_text("".join(f"label {at}\n" for at in range(31)))
    write_table(folder / "p.csv", ["item", *NAMES], [[item, 0.2, 0.5, 0.6, 0.9] for item in ITEMS])
    rows = [[item, "", "ticked", item] for item in ITEMS]
    write_table(folder / "ticks.csv", ["item", "label", "question", "answer_id"], rows)
    code, _, err = run(f"{TYPED} --token abcdefgh {more}")
    assert code == 0, err
    with (folder / "answers.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    assert {row["question"] for row in found} == kinds
    if "many" in more:
        assert {len(json.loads(row["offered"] or "[]")) for row in found} == {0, 10}


def test_a_sitting_goes_on_as_it_began_and_says_so(folder, run, sitting):
    sitting += [2, 1, 2]
    assert run(f"{TYPED} --token abcdefgh --question asked")[0] == 0
    code, out, _ = run(f"{TYPED} --token abcdefgh")
    assert code == 0
    assert "answers.csv began with --question asked, and goes on with it" in out
    code, out, _ = run(f"{TYPED} --token abcdefgh --until 'frequencies +-.1'")
    assert code == 0
    assert "began with" not in out  # it would begin so now, too
    with (folder / "answers.csv").open(newline="") as file:
        assert [row["question"] for row in csv.DictReader(file)] == ["asked"] * 5
    code, _, err = run(f"{TYPED} --token abcdefgh --question mixed")
    assert code == 1
    assert 'other question: "asked", not "mixed"' in " ".join(err.split())


def test_a_goal_is_followed_to_the_end(folder, run, sitting):
    sitting += [12, 12]
    code, out, _ = run(f"{TYPED} --token abcdefgh --until 'frequencies +-.1' --until 'f1 +-.4'"
                       " --features X.csv")  # fmt: skip
    assert code == 0, out
    assert "not reached: frequencies +-.1" in out
    assert "by 12 judgements" in out
    chances = [[item, *([at % 7 / 6] * 4)] for at, item in enumerate(ITEMS)]
    write_table(folder / "p.csv", ["item", *NAMES], chances)
    typed = f"{TYPED} --token abcdefgh --until 'precision +-.4' --against p.csv --out b.csv"
    code, out, _ = run(typed)
    assert code == 0, out
    assert "not reached: precision +-.4" in out
    assert "Precision over all labels is" in out


@pytest.mark.parametrize("kind", ["asked", "ticked", "ticked-2", "menu-2", "named"])
def test_annotate_reads_what_ask_writes_with_any_ending(folder, run, kind):
    place = {item: at for at, item in enumerate(ITEMS)}
    found = []
    for ending in (*TABLE, ".xlsx"):
        typed = f"ask asked.csv --items texts.csv --label-names labels.txt --question {kind} -n 4"
        code, _, err = run(f"{typed} --out q{ending}")
        assert code == 0, err
        read = read_questions(folder / f"q{ending}", place, NAMES)
        # Sheets have 16 digits.
        rounded = [
            replace(q, probability=q.probability and round(q.probability, 12))
            for q in read.questions
        ]
        found.append((rounded, [(at, row["item"], row["answer"]) for at, row in read.known]))
    assert found[0][0]
    for each in found:
        assert each == found[0]


@pytest.mark.slow
def test_what_learns_meanwhile_is_saved(folder, run, sitting):
    sitting += [1, 24]
    typed = f"{TYPED} --token abcdefgh --features X.csv --model-out m.new.safetensors --overlap .1"
    code, out, _ = run(typed)

    assert code == 0, out
    assert "wrote m.new.safetensors" in out
    assert "complabel fit answers.csv --features X.csv" in out
    before = (folder / "m.new.safetensors").read_bytes()
    code, out, _ = run(typed)  # the same command goes on
    assert (code, "wrote m.new.safetensors" in out) == (0, True)
    assert (folder / "m.new.safetensors").read_bytes() != before
    code, _, err = run(f"{typed} --out others.csv")
    assert (code, "this file exists" in err) == (1, True)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("--question often", "give asked, ticked, named, positive, mixed, or ticked-M or menu-M"),
        ("--question menu-99", "with M from 2 to"),
        ("--question ticked --questions X.csv", "leave one of them out"),
        ("--model-out m.safetensors", "without --features"),
        ("--token short", "at least 8 letters"),
        ("--token ''", "at least 8 letters"),
        ("--item nothing", "there is no column 'nothing'"),
        ("--out answers.txt", "wrong ending"),
        ("--label-names steering.txt", "line 2: the label 'sky\\x1b[2J'"),
        ("--until 'f2 +-.1'", "'f2 +-.1' is no goal"),
        ("--until 'f1 +-.1'", "--features"),
        ("--until model --against p.csv", "--features"),
        ("--against p.csv", "also give --until"),
        ("--until model --until 'f1 +-.1' --question named --features X.csv", "--until 'f1 +-.1'"),
        ("--until 'frequencies +-.1' --missed .6 --invented .5", "--missed and --invented"),
        ("--until 'f1 +-.1' --against p.csv", "nothing about 4 pairs"),
        ("--until 'frequencies +-.1' --question menu-2", "--question menu-2"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anybody_is(folder, run, sitting, more, told):
    (folder / "steering.txt").write_text("sea\nsky\x1b[2J\n")
    chances = [[item, *([at % 7 / 6] * 4)] for at, item in enumerate(ITEMS[1:])]
    write_table(folder / "p.csv", ["item", *NAMES], chances)
    code, _, err = run(f"{TYPED} {more}")

    assert code == 1
    assert told in " ".join(err.split())
    assert not (folder / "answers.csv").exists()


def test_the_token_may_be_a_variable_which_nobody_else_sees(folder, run, sitting, monkeypatch):
    sitting.append(1)
    monkeypatch.setenv("COMPLABEL_TOKEN", "abcdefgh")
    code, out, _ = run(f"{TYPED} --port 7")

    assert (code, "1 answers (ann 1)" in out) == (0, True)
    assert "open http://127.0.0.1:7/?token=abcdefgh\n" in out


def test_a_new_token_takes_the_place_of_the_one_before(folder, run, sitting):
    sitting += [0, 0, 0]
    found = [
        re.search(r"token=(\S+)", run(f"{TYPED}{more}")[1])[1] for more in ("", " --token new", "")
    ]

    assert found[0] != found[1] == found[2]


def test_a_browser_is_started_with_an_address_that_counts_once(folder, run, sitting, monkeypatch):
    sitting.append(0)
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    _, out, _ = run(TYPED.replace("--no-browser", "--token abcdefgh"))

    assert len(opened) == 1
    assert "abcdefgh" not in opened[0]
    assert "?token=abcdefgh" in out


@pytest.mark.parametrize("command", ["annotate", "serve"])
def test_the_help_says_who_sees_the_token(run, command):
    said = " ".join(run(f"{command} --help")[1].replace("│", " ").split())
    assert "At least 8 characters." in said
    assert "ps show what is typed here" in said
    assert "COMPLABEL_TOKEN" in said


def test_what_a_table_of_strangers_could_do_is_told(folder, run, sitting):
    sitting.append(0)
    write_table(folder / "web.csv", ["item", "at"], [["=1+1", "http://192.168.0.1/x.png"]])
    _, _, err = run("annotate web.csv --image at --label-names labels.txt --no-browser")

    assert "the browser loads pictures from http://192.168.0.1" in " ".join(err.split())


def test_a_table_that_nobody_made_here_is_kept(folder, run, sitting):
    (folder / "answers.csv").write_text("mine")
    code, _, err = run(TYPED)

    assert (code, "this file exists" in err) == (1, True)
    assert (folder / "answers.csv").read_text() == "mine"


def test_who_lets_others_in_is_told(folder, run, sitting):
    sitting.append(0)
    _, _, err = run(f"{TYPED} --token abcdefgh --host 0.0.0.0")

    assert "other machines can open this" in err
    assert "not encrypted" in " ".join(err.split())


def test_the_address_is_the_same_at_each_start(folder, run, sitting):
    sitting += [0, 0, 0]
    found = [re.search(r"open (\S+)", run(TYPED)[1])[1] for _ in range(2)]
    other = re.search(r"open (\S+)", run(f"{TYPED} --out other.csv")[1])[1]

    assert found[0] == found[1]
    assert re.fullmatch(r"http://127.0.0.1:2\d{4}/\?token=[\w-]{32}", other)
    assert other.split("token=")[1] not in found[0]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_real_server_ends_on_a_signal_and_refuses_a_second_one(folder, number):
    command = [sys.executable, "-m", "complabel", *TYPED.split()]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    address = next(line.split()[1] for line in process.stdout if line.startswith("open "))
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(address.partition("?")[0])
    assert urllib.request.urlopen(address).read().startswith(b"<!doctype html>")
    token = address.partition("=")[2]
    ask = f"{address.partition('?')[0]}api/next?person=ann&token={token}"
    assert json.load(urllib.request.urlopen(ask))["question"] == "ticked"
    second = subprocess.run(command, capture_output=True, text=True)
    assert second.returncode == 1
    assert "another server is writing these answers" in second.stderr
    process.send_signal(number)

    assert "nobody has answered yet" in process.communicate(timeout=30)[0]
    assert process.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["start", "refit"])
def test_ctrl_c_ends_it_without_a_traceback_also_while_the_model_learns(folder, moment):
    n = 300
    write_table(folder / "texts.csv", ["item", "text"], [[f"{i}", f"text {i}"] for i in range(n)])
    X = np.random.default_rng(0).random((n, 6000))
    np.savez(folder / "X.npz", X=X, items=[f"{at}" for at in range(n)])
    more = ["--features", "X.npz", "--question", "asked"]
    command = [sys.executable, "-m", "complabel", *TYPED.split(), *more]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    address = next(line.split()[1] for line in process.stdout if line.startswith("open "))
    base, _, token = address.partition("?token=")

    def ask(route, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{base}api/{route}", data, {"X-Token": token})
        return json.load(urllib.request.urlopen(request))

    for _ in range(60 if moment == "refit" else 0):
        question = ask("next?person=ann")
        ask("answer", {"id": question["id"], "person": "ann", "answer": "yes", "seconds": 1})
    while moment == "refit" and not (ask("progress")["learning"] or {}).get("now"):
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (0, "")
    assert "60 answers" in out or moment == "start"


@pytest.mark.slow
def test_nothing_that_was_confirmed_is_lost_when_the_server_is_killed():
    code = "from benchmarks.annotate_server import measure as m; print(m(draw=0, data=None"
    told = python("-c", f"{code}, what='kills', times=5))", timeout=600, cwd=CHECKOUT)

    found = ast.literal_eval(told)
    assert found.pop("confirmed")
    assert set(found.values()) == {0}
