"""`complabel ask` as it is typed, and what comes back."""

import json

import pytest
from tests.cli.own import DATA, ITEMS, NAMES, read_rows, write_files, write_table


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path


LABELS = ("--label-names", "labels.txt")


def test_answered_questions_come_back(run, folder):
    code, out, _ = run(
        "ask", "named.csv", "--features", "X.csv", *LABELS, "-n", 40, "--out", "q.csv.gz"
    )
    assert code == 0
    assert "wrote q.csv.gz: 40 questions in random order\n" in out
    assert out.endswith(
        "next: fill in the column answer (yes, no, unsure), then\n"
        "  complabel import q.csv.gz --out answered-q.csv\n"
        "  complabel fit named.csv answered-q.csv --features X.csv --label-names labels.txt --out"
        " model.safetensors\n"
    )
    run("ask", "named.csv", "--features", "X.csv", *LABELS, "-n", 40, "--out", "q.csv")
    header, *rows = read_rows(folder / "q.csv")
    item, label, answer = (header.index(name) for name in ("item", "label", "answer"))
    open_ = [row for row in rows if not row[answer]]
    assert len(open_) == 40
    assert {row[item] for row in open_} - set(ITEMS[:60]), "items without an answer are asked, too"
    for row in open_:
        applies = DATA.Y[ITEMS.index(row[item]), NAMES.index(row[label])]
        row[answer] = "yes" if applies else "no"
    write_table(folder / "q.csv", header, rows)
    code, out, _ = run("import", "q.csv", "--out", "answered-q.csv")
    assert code == 0
    n_yes = sum(row[answer] == "yes" for row in rows)
    assert f"  {n_yes:>{len(str(len(rows)))}}  rows that say yes\n" in out
    assert run("inspect", "named.csv", "answered-q.csv", *LABELS)[0] == 0


def test_prompts_and_replies(run, folder):
    texts = [[item, f"text of {item}"] for item in ITEMS]
    write_table(folder / "texts.csv", ["item", "text"], texts)
    code, out, _ = run(
        "ask", "asked.csv", *LABELS, "-n", 10, "--out", "q.csv",
        "--prompts", "p.jsonl", "--texts", "texts.csv",
    )  # fmt: skip
    assert code == 0
    assert "wrote p.jsonl\nwrote q.csv: 10 questions in random order\n" in out
    assert "  complabel import replies.jsonl --from replies --out answered-q.csv\n" in out
    prompts = list(map(json.loads, (folder / "p.jsonl").read_text("utf-8").splitlines()))
    waiting = [prompt for prompt in prompts if "reply" not in prompt]
    assert len(waiting) == 10
    assert all(prompt["text"] == f"text of {prompt['item']}" for prompt in waiting)
    replies = [prompt if "reply" in prompt else {**prompt, "reply": "No."} for prompt in prompts]
    text = "".join(json.dumps(reply) + "\n" for reply in replies)
    (folder / "replies.jsonl").write_text(text, encoding="utf-8")
    arguments = ("--from", "replies", "--out", "answered-q.csv")
    assert run("import", "replies.jsonl", *arguments)[0] == 0
    header, *rows = read_rows(folder / "answered-q.csv")
    assert len(rows) == len(prompts)
    assert [row[header.index("answer")] for row in rows].count("no") >= 10


def test_texts_stand_beside_the_questions(run, folder):
    texts = [[item, f'text, "of" {item}'] for item in ITEMS]
    write_table(folder / "texts.csv", ["item", "text"], texts)
    for out in ("q.csv", "q.parquet"):
        code, _, _ = run(
            "ask", "asked.csv", *LABELS, "-n", 10, "--out", out, "--texts", "texts.csv"
        )
        assert code == 0
    header, *rows = read_rows(folder / "q.csv")
    item, answer, text = (header.index(name) for name in ("item", "answer", "text"))
    assert all(row[text] == f'text, "of" {row[item]}' for row in rows)
    for row in rows:
        row[answer] = row[answer] or "y"
    write_table(folder / "q.csv", header, rows)
    code, out, err = run("import", "q.csv", "--out", "answered-q.csv")
    assert code == 0
    assert f"  {len(rows)}  asked answers\n" in out
    assert "were left out: text" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv"], "none.csv: no such file"),
        (["--features", "X.csv", "--label-names", "none.txt"], "none.txt: no such file"),
        (["--items", "truth.csv", "-n", "5000"], "more than the 120 pairs of item and label"),
        (["--items", "asked.csv"], "items occur more than once"),
        ([], "also give --features or --items"),
        (["named.csv", "--texts", "t.csv"], "t.csv: no such file"),
        (["named.csv", "--texts", "few.csv"], "few.csv: has no text for item"),
        (["named.csv", "--texts", "bodies.csv"], "no column 'item', only 'id', 'body'; a table of"),
        (["named.csv", "--prompts", "p.jsonl", "--texts", "t.csv"], "t.csv: no such file"),
        (["named.csv", "--prompts", "p.jsonl", "--texts", "few.csv"], "has no text for item"),
        (["named.csv", "-n", "5000"], "more than the 180 pairs of item and label"),
        (["named.csv", "--out", "none/q.csv"], "there is no folder none"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(run, folder, arguments, message):
    write_table(folder / "few.csv", ["item", "text"], [["nobody", "?"]])
    write_table(folder / "bodies.csv", ["id", "body"], [["nobody", "?"]])
    before = sorted(folder.iterdir())
    code, _, err = run("ask", "--out", "q.csv", "-n", 10, *LABELS, *arguments)
    assert code == 1
    assert message in err
    assert sorted(folder.iterdir()) == before


NOBODY_ANSWERED = {
    "no file": ([], None),
    "an empty file": (["a.csv"], ""),
    "blank lines": (["a.csv"], "\n\n"),
    "a header alone": (["a.csv"], "item,label,answer\n"),
    "two empty files": (["a.csv", "a.csv"], "\ufeff"),
}


@pytest.mark.parametrize(
    "known", [["--features", "X.csv"], ["--items", "ids.txt"], ["--items", "truth.csv"]]
)
@pytest.mark.parametrize("case", NOBODY_ANSWERED)
def test_the_first_round_needs_no_answers(run, folder, case, known):
    files, text = NOBODY_ANSWERED[case]
    if text is not None:
        (folder / "a.csv").write_text(text, encoding="utf-8")
    code, out, err = run("ask", *files, *known, *LABELS, "-n", 8, "--out", "q.csv")
    assert (code, err) == (0, "")
    assert "  complabel fit answered-q.csv --features X.csv --label-names labels.txt" in out
    header, *rows = read_rows(folder / "q.csv")
    of = {name: [row[at] for row in rows] for at, name in enumerate(header)}
    assert len(rows) == len({*zip(of["item"], of["label"], strict=True)}) == 8
    assert {name: of["label"].count(name) for name in NAMES} == dict.fromkeys(NAMES, 2)
    assert {*of["item"]} <= {*ITEMS}
    assert {*of["probability"]} == {"0.25"}
    assert {*of["answer"]} == {""}


def test_a_table_with_a_wrong_header_is_no_empty_table(run, folder):
    (folder / "a.csv").write_text("photo,label\n", encoding="utf-8")
    code, _, err = run("ask", "a.csv", "--features", "X.csv", *LABELS, "--out", "q.csv")
    assert (code, "there is no column 'item'" in err) == (1, True)


def test_a_second_round_names_another_file(run, folder):
    """The command that is printed twice does not lose what was filled in."""
    first = ("ask", "--features", "X.csv", *LABELS, "-n", 8, "--out", "q.csv")
    assert run(*first)[0] == 0
    header, *rows = read_rows(folder / "q.csv")
    write_table(folder / "q.csv", header, [[*row[:3], "no", *row[4:]] for row in rows])
    filled = (folder / "q.csv").read_bytes()
    code, _, err = run(*first)
    assert (code, "such as q-2.csv" in err) == (1, True)
    assert run("import", "q.csv", "--out", "answered-q.csv")[0] == 0
    code, out, _ = run("ask", "answered-q.csv", *first[1:-1], "q-2.csv")
    assert code == 0
    assert "complabel import q-2.csv --out answered-q-2.csv" in out
    assert (folder / "q.csv").read_bytes() == filled
    _, *more = read_rows(folder / "q-2.csv")
    pairs = {tuple(row[1:3]) for row in rows}
    assert {tuple(row[1:3]) for row in more if row[3]} <= pairs
    assert not {tuple(row[1:3]) for row in more if not row[3]} & pairs
