"""What a machine's table and people's say beside yes and no: how sure, and unsure."""

import json

import numpy as np
import pytest
from tests.cli.own import write_table
from tests.cli.test_audit import HEADER, NAMES, folder

from complabel.answers import Answers
from complabel.files import read_answers
from complabel.frequencies import audit_machine

__all__ = ["folder"]


def with_confidence(path, values):
    lines = path.read_text(encoding="utf-8").splitlines()
    cells = ["confidence", *("" if v is None else repr(v) for v in values)]
    path.write_text(
        "".join(f"{line},{cell}\n" for line, cell in zip(lines, cells, strict=True)),
        encoding="utf-8",
    )


@pytest.fixture
def scored(folder, tmp_path):
    """Answers of people, some unsure, and a machine that says how sure it is."""
    Y, machine = folder
    rng = np.random.default_rng(2)
    sure = rng.uniform(0.3, 1, machine.size)
    with_confidence(tmp_path / "machine.csv", sure.tolist())
    places = rng.choice(machine.size, 120, replace=False)
    pairs = [(int(at) // 4, int(at) % 4) for at in places]
    words = np.array(["no", "yes"], dtype=object)[[Y[pair] for pair in pairs]]
    words[:25] = "unsure"
    rows = [(f"i{i}", NAMES[k], word, "asked") for (i, k), word in zip(pairs, words, strict=True)]
    write_table(tmp_path / "people.csv", HEADER, rows)
    return machine, sure.reshape(machine.shape), np.array(pairs[:25])


def audited(run, tmp_path, *options):
    code, out, _ = run("audit", "machine.csv", "people.csv", "--json", "a.json", *options)
    assert code == 0
    return out, json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))


def test_scores_and_unsure_answers_count_as_in_python(scored, tmp_path, run):
    machine, sure, unsure = scored
    items = sorted(f"i{at}" for at in range(len(machine)))
    order = [int(item[1:]) for item in items]
    people = read_answers(tmp_path / "people.csv", items=items, label_names=NAMES).answers
    where = np.argsort(order)[unsure[:, 0]], unsure[:, 1]
    yes = np.maximum(sure, 0.5)
    scores = np.where(machine > 0, yes, np.minimum(1 - sure, np.nextafter(0.5, 0)))[order]
    assert ((scores >= 0.5) == (machine[order] > 0)).all()
    out, found = audited(run, tmp_path)
    assert "each answer has a confidence, which counts" in out
    assert "were unsure 25 times" in out
    assert found.pop("others") == {}  # what only the command adds
    assert found == json.loads(json.dumps(audit_machine(people, scores, unsure=where).as_dict()))
    assert found != json.loads(json.dumps(audit_machine(people, scores).as_dict()))


def test_a_confidence_that_some_answers_lack_is_not_guessed(scored, tmp_path, run):
    machine, sure, _ = scored
    (tmp_path / "machine.csv").unlink()
    rows = [
        (f"i{i}", NAMES[k], ["no", "yes"][machine[i, k]], "asked") for i, k in np.ndindex(200, 4)
    ]
    write_table(tmp_path / "machine.csv", HEADER, rows)
    _, plain = audited(run, tmp_path)
    with_confidence(tmp_path / "machine.csv", [None, *sure.ravel().tolist()[1:]])
    out, found = audited(run, tmp_path, "--force")
    assert "answers without a confidence: 1; so only yes and no count" in out
    assert found == plain


def test_a_table_with_confidences_can_be_read_by_every_command(scored, tmp_path, run):
    assert run("inspect", "machine.csv")[0] == 0
    assert run("ask", "--against", "machine.csv", "-n", 20, "--out", "check.csv")[0] == 0
    for out in ("again.csv", "again.parquet"):
        assert run("import", "machine.csv", "--out", out)[0] == 0
        code, said, _ = run("ask", "--against", out, "-n", 20, "--out", f"{out}-check.csv")
        assert (code, "each answer has a confidence" in said) == (0, True)
    first = (tmp_path / "check.csv").read_text(encoding="utf-8")
    assert (tmp_path / "again.csv-check.csv").read_text(encoding="utf-8") == first
    table = {"item": ["a"], "label": ["x"], "answer": ["yes"], "confidence": [0.7]}
    assert Answers.from_table(table).n_answers == 1


def test_a_confidence_outside_0_and_1_is_refused(scored, tmp_path, run):
    text = (tmp_path / "machine.csv").read_text(encoding="utf-8").splitlines()
    text[7] = text[7].rpartition(",")[0] + ",1.5"
    (tmp_path / "machine.csv").write_text("\n".join(text) + "\n", encoding="utf-8")
    code, _, errors = run("audit", "machine.csv", "people.csv")
    assert (code, "line 8 has confidence 1.5; it must be from 0 to 1" in errors) == (1, True)


def test_a_batch_of_several_items_says_how_large_it_is(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    items = "".join(f"t{at},Töxt {at}\n" for at in range(25))
    (tmp_path / "t.csv").write_text(f"item,text\n{items}", "utf-8")
    (tmp_path / "labels.txt").write_text("billing\nbug\n", "utf-8")
    words = ("ask", "--for", "openai", "--llm", "m", "--items", "t.csv", "--all-items")
    words += ("--label-names", "labels.txt", "--out", "b.jsonl")
    tens = (*words, "--question", "ticked", "--items-per-request", 10)
    code, out, _ = run(*tens, "--dry-run")
    assert code == 0
    assert run(*tens)[0] == 0
    size = (tmp_path / "b.jsonl").stat().st_size
    assert f"3 requests, {size - 25:,} characters, {size:,} bytes in 1 file;" in out
    code, _, errors = run(*words, "--items-per-request", 10, "--force")
    assert (code, "--items-per-request 10 needs" in errors) == (1, True)
    code, _, errors = run(*tens, "--logprobs", "--force")
    assert (code, "--logprobs" in errors) == (1, True)
    assert run(*words, "--logprobs", "--force")[0] == 0
    assert '"top_logprobs": 20' in (tmp_path / "b.jsonl").read_text("utf-8")
    (tmp_path / "b.jsonl").unlink()
    code, _, errors = run(*words)  # the table of ids of a batch that was sent
    assert (code, "b.ids.jsonl" in errors) == (1, True)
