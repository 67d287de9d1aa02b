"""`complabel ask` as it is typed, and what comes back."""

import json
import re

import pytest
from tests.cli.own import DATA, ITEMS, NAMES, read_table, write_back, write_table

from complabel.files import read_answers
from complabel.importers import TOOLS
from complabel.methods import make_classifier
from complabel.trust import suggest_evaluation_questions

pytestmark = pytest.mark.usefixtures("folder")
LABELS = ("--label-names", "labels.txt")
FIXED = "selection-likelihood:alpha=0.1,kernel=linear"


def test_answered_questions_come_back(run, folder):
    code, out, _ = run(
        "ask", "named.csv", "--features", "X.csv", *LABELS, "-n", 40, "--out", "q.csv.gz"
    )
    assert code == 0
    assert "wrote q.csv.gz: 40 questions in random order\n" in out
    assert out.endswith(
        "next: fill in what the column to_do says, then\n"
        "  complabel import q.csv.gz --out answered-q.csv\n"
        "  complabel fit named.csv answered-q.csv --features X.csv --label-names labels.txt --out"
        " model.safetensors\n"
    )
    run("ask", "named.csv", "--features", "X.csv", *LABELS, "-n", 40, "--out", "q.csv")
    rows = read_table(folder / "q.csv")
    open_ = [row for row in rows if not row["answer"]]
    assert len(open_) == 40
    assert {r["item"] for r in open_} - set(ITEMS[:60]), "items without an answer are asked, too"
    for row in open_:
        applies = DATA.Y[ITEMS.index(row["item"]), NAMES.index(row["label"])]
        row["answer"] = "yes" if applies else "no"
    write_back(folder / "q.csv", rows)
    code, out, _ = run("import", "q.csv", "--out", "answered-q.csv")
    assert code == 0
    n_yes = sum(row["answer"] == "yes" for row in rows)
    assert f"  {n_yes:>{len(str(len(rows)))}}  rows that say yes\n" in out
    assert run("inspect", "named.csv", "answered-q.csv", *LABELS)[0] == 0


def test_prompts_and_replies(run, folder):
    texts = [[item, f"text of {item}"] for item in ITEMS]
    write_table(folder / "texts.csv", ["item", "text"], texts)
    code, out, _ = run(
        "ask", "asked.csv", *LABELS, "-n", 10, "--for", "replies", "--out", "p.jsonl",
        "--all-known", "--show", "texts.csv",
    )  # fmt: skip
    assert code == 0
    assert "wrote p.jsonl: 10 questions in random order\n" in out
    assert "  complabel import replies.jsonl --out answered-p.csv\n" in out
    prompts = list(map(json.loads, (folder / "p.jsonl").read_text("utf-8").splitlines()))
    assert len(prompts) == 10
    assert all(prompt["text"] == f"text of {prompt['item']}" for prompt in prompts)
    replies = [{**prompt, "reply": "No."} for prompt in prompts]
    text = "".join(json.dumps(reply) + "\n" for reply in replies)
    (folder / "replies.jsonl").write_text(text, encoding="utf-8")
    assert run("import", "replies.jsonl", "--out", "answered-p.csv")[0] == 0
    rows = read_table(folder / "answered-p.csv")
    n_known = sum(len(prompt.get("known", ())) for prompt in prompts)
    assert f"  and {n_known} known answers of the random sample: leave them in" in out
    assert len(rows) == len(prompts) + n_known
    assert [row["answer"] for row in rows].count("no") >= 10


def test_a_prompt_holds_its_item_and_a_blank_item_stops_nothing(run, folder):
    texts = [[item, "" if item == ITEMS[3] else f"text of {item}"] for item in ITEMS]
    write_table(folder / "texts.csv", ["item", "text"], texts)
    ask = ("ask", "--items", "texts.csv", *LABELS, "-n", 4 * len(ITEMS), "--for", "replies")
    code, out, err = run(*ask, "--out", "p.jsonl")
    assert code == 0
    prompts = list(map(json.loads, (folder / "p.jsonl").read_text("utf-8").splitlines()))
    assert all(prompt["prompt"].endswith(f"\ntext of {prompt['item']}") for prompt in prompts)
    assert {prompt["item"] for prompt in prompts} == {*ITEMS} - {ITEMS[3]}
    assert f"wrote p.jsonl: {len(prompts):,} questions" in out
    assert f"nothing is filled in for 1 items, such as {ITEMS[3]!r}" in err
    write_table(folder / "pictures.csv", ["item", "image"], [[x, f"{x}.jpg"] for x in ITEMS])
    code, out, _ = run(*ask, "--show", "pictures.csv", "--out", "q.jsonl")
    assert "send the field prompt of each line with the picture that its field image names" in out
    first = json.loads((folder / "q.jsonl").read_text("utf-8").splitlines()[0])
    assert first["prompt"].endswith("\n\nThe item is this picture.")
    assert first["image"] == f"{first['item']}.jpg"
    code, _, err = run(*ask[:1], "asked.csv", *ask[3:], "--out", "r.jsonl")
    assert (code, "--for replies needs what the model sees" in err) == (1, True)


@pytest.mark.parametrize("tool", ["spreadsheet", "replies"])
def test_nothing_is_asked_about_a_column_that_nobody_sees(run, folder, tool):
    texts = [[item, f"text of {item}", 1] for item in ITEMS]
    write_table(folder / "texts.csv", ["item", "Nachricht", "n"], texts)
    out = {"spreadsheet": "q.csv", "replies": "q.jsonl"}[tool]
    ask = ("ask", "--items", "texts.csv", *LABELS, "-n", 8, "--for", tool, "--out", out)
    code, _, err = run(*ask)
    assert (code, (folder / out).exists()) == (1, False)
    assert all(each in err for each in ("'Nachricht'", "--text", "--names-only"))
    code, _, err = run(*ask, "--text", "Nachrichten")
    assert (code, "'Nachricht'" in err) == (1, True)
    assert run(*ask, "--text", "Nachricht")[0] == 0
    rows = read_table(folder / out) if tool == "spreadsheet" else _lines(folder / out)
    assert all(row["text"] == f"text of {row['item']}" for row in rows)
    code, out, err = run(*ask, "--names-only", "--force")
    assert (code, "people see nothing" in err + out) == (int(tool == "replies"), False)


def _lines(path):
    return list(map(json.loads, path.read_text("utf-8").splitlines()))


BY = [(person, item) for person, items in (("gpt", ITEMS), ("ann", ITEMS[:20])) for item in items]


@pytest.mark.parametrize("tool", ["spreadsheet", "replies"])
@pytest.mark.parametrize("kind", ["asked", "ticked-2"])
def test_what_a_machine_said_is_no_answer_of_the_person_who_is_asked(run, folder, tool, kind):
    rows = [[item, label, "no", person, 0.25] for person, item in BY for label in NAMES]
    header = ["item", "label", "answer", "annotator", "probability"]
    write_table(folder / "both.csv", header, rows)
    texts = [[item, f"text of {item}"] for item in ITEMS]
    write_table(folder / "texts.csv", ["item", "text"], texts)
    out = {"spreadsheet": "q.csv", "replies": "q.jsonl"}[tool]
    asked = ("ask", "both.csv", *LABELS, "-n", 60, "--question", kind, "--for", tool)
    told = {"spreadsheet": (), "replies": ("--show", "texts.csv")}[tool]
    for who, known in ((), set()), (("--annotator", "ann"), {"ann"}):
        code, said, _ = run(*asked, *told, *who, "--out", f"{len(who)}-{out}")
        assert code == 0
        assert ("known answer" in said) == bool(known)
        if tool == "spreadsheet":
            found = [row for row in read_table(folder / f"{len(who)}-{out}") if row["answer"]]
        else:
            lines = (folder / f"{len(who)}-{out}").read_text("utf-8").splitlines()
            assert not any("annotator" in json.loads(line) for line in lines)
            found = [known for line in lines for known in json.loads(line).get("known", ())]
        assert {each["annotator"] for each in found} == known
        assert {each["item"] for each in found} <= set(ITEMS[:20])
    if tool == "replies":
        text = [json.loads(line) for line in (folder / "2-q.jsonl").read_text("utf-8").splitlines()]
        replies = [json.dumps({**task, "reply": "unsure", "annotator": "bob"}) for task in text]
        (folder / "replies.jsonl").write_text("\n".join(replies), encoding="utf-8")
        assert run("import", "replies.jsonl", "--out", "answered.csv")[0] == 0
        back = read_table(folder / "answered.csv")
        assert {row["annotator"] for row in back if row["answer"] == "no"} == {"ann"}
    code, _, err = run(*asked, *told, "--annotator", "an", "--out", f"3-{out}")
    assert (code, "'gpt', 'ann'" in err or "'ann', 'gpt'" in err) == (1, True)
    code, _, err = run(*asked, *told, "--annotator", "ann", "--all-known", "--out", f"3-{out}")
    assert (code, "--all-known" in err) == (1, True)


@pytest.mark.parametrize("kind", ["ticked", "ticked-2"])
def test_questions_to_tick_come_back(run, folder, kind):
    ask = ("ask", "--features", "X.csv", *LABELS, "-n", 9, "--question", kind)
    code, out, _ = run(*ask, "--out", "q.csv")
    assert code == 0
    assert "wrote q.csv: 9 questions in random order\nnext: fill in what the column to_do" in out
    rows = read_table(folder / "q.csv")
    assert len(rows) == 9 * (2 if kind == "ticked-2" else len(NAMES))
    for row in rows:
        applies = DATA.Y[ITEMS.index(row["item"]), NAMES.index(row["label"])]
        row["answer"], row["seconds"] = "yes" if applies else "no", "12"
    write_back(folder / "q.csv", rows)
    code, out, _ = run("import", "q.csv", "--out", "answered-q.csv")
    assert (code, "  9  ticked answers\n" in " " + out) == (0, True)
    code, out, _ = run("inspect", "answered-q.csv", *LABELS)
    assert code == 0
    assert " ticked 9 12 12 to 12 " in " ".join(out.split())
    fit = ("fit", "answered-q.csv", "--features", "X.csv", *LABELS, "--method", FIXED)
    assert run(*fit, "--folds", 0, "--out", "m.safetensors")[0] == 0


def test_every_tool_can_be_asked_for(run):
    _, out, _ = run("ask", "--help")
    assert all(tool in out for tool in TOOLS)


@pytest.mark.parametrize("kind", ["asked", "menu-3"])
@pytest.mark.parametrize("tool", ["label-studio", "prodigy", "mturk"])
def test_the_printed_commands_take_the_questions_through_a_tool(run, folder, tool, kind):
    """What ask prints is run as it stands; people and the tool's export are simulated."""
    out = {"label-studio": "tasks.json", "prodigy": "tasks.jsonl", "mturk": "tasks.csv"}[tool]
    write_table(folder / "items.csv", ["item", "image"], [[item, f"/{item}"] for item in ITEMS])
    words = ("ask", "--items", "items.csv", *LABELS, "-n", 5, "--question", kind, "--for", tool)
    code, said, _ = run(*words, "--out", out)
    assert code == 0
    lines = [line.split() for line in said.splitlines() if line.startswith("  ")]
    text = (folder / out).read_text("utf-8")
    word = "no" if kind == "asked" else "all apply"
    if tool == "label-studio":
        config, *lines = lines
        assert config[:2] == ["complabel", "labelstudio-config"]
        assert run(*config[1:])[0] == 0
        form = (folder / "config.xml").read_text("utf-8")
        assert '<Image name="item" value="$image" />' in form
        value = {"choices": [word]}
        result = {"from_name": re.search('<Choices name="(.*?)"', form)[1], "value": value}
        export = [
            {**task, "id": at, "annotations": [{"id": at, "result": [result]}]}
            for at, task in enumerate(json.loads(text))
        ]
        (folder / "export.json").write_text(json.dumps(export), "utf-8")
    elif tool == "prodigy":
        mark, db_out, *lines = lines
        assert mark[-1] == ("classification" if kind == "asked" else "choice")
        assert db_out == ["prodigy", "db-out", "questions", ">", "export.jsonl"]
        given = {"answer": "reject"} if kind == "asked" else {"answer": "accept", "accept": [word]}
        tasks = [{**json.loads(line), **given, "_input_hash": 1} for line in text.splitlines()]
        (folder / "export.jsonl").write_text("\n".join(map(json.dumps, tasks)), "utf-8")
    else:
        rows = [
            {"AssignmentId": f"a{at}", "WorkerId": "w", "Answer.answer": word}
            | {f"Input.{name}": cell for name, cell in row.items()}
            for at, row in enumerate(read_table(folder / out))
        ]
        write_back(folder / "batch.csv", rows)
    import_, fit = lines
    assert run(*import_[1:])[0] == 0
    answered = import_[import_.index("--out") + 1]
    assert fit[2] == answered
    rows = read_table(folder / answered)
    assert [row["answer"] for row in rows] == ["no" if kind == "asked" else "yes"] * 5
    assert {row["question"] for row in rows} == {"asked" if kind == "asked" else "named"}
    assert all(float(row["probability"]) == pytest.approx(0.25) for row in rows)


def test_texts_stand_beside_the_questions(run, folder):
    texts = [[item, f'text, "of" {item}'] for item in ITEMS]
    write_table(folder / "texts.csv", ["item", "text"], texts)
    for out in ("q.csv", "q.parquet"):
        code, _, _ = run("ask", "asked.csv", *LABELS, "-n", 10, "--out", out, "--show", "texts.csv")
        assert code == 0
    rows = read_table(folder / "q.csv")
    for row in rows:
        assert row["text"] == f'text, "of" {row["item"]}'
        row["answer"] = row["answer"] or "y"
    write_back(folder / "q.csv", rows)
    code, out, err = run("import", "q.csv", "--out", "answered-q.csv")
    assert code == 0
    assert f"  {len(rows)}  asked answers\n" in out
    assert "were left out" not in err, "the text and what to do belong to the form"


NOBODY_ANSWERED = {
    "no file": ([], None),
    "an empty file": (["a.csv"], ""),
    "blank lines": (["a.csv"], "\n\n"),
    "a header alone": (["a.csv"], "item,label,answer\n"),
    "two empty files": (["a.csv", "a.csv"], "\ufeff"),
}


KNOWN = [["--features", "X.csv"], ["--items", "ids.txt"], ["--items", "truth.csv", "--names-only"]]


@pytest.mark.parametrize(
    ("case", "known"),
    [*((case, KNOWN[0]) for case in NOBODY_ANSWERED), *(("no file", k) for k in KNOWN[1:])],
)
def test_the_first_round_needs_no_answers(run, folder, case, known):
    files, text = NOBODY_ANSWERED[case]
    if text is not None:
        (folder / "a.csv").write_text(text, encoding="utf-8")
    code, out, err = run("ask", *files, *known, *LABELS, "-n", 8, "--out", "q.csv")
    assert (code, err) == (0, "")
    assert "  complabel fit answered-q.csv --features X.csv --label-names labels.txt" in out
    rows = read_table(folder / "q.csv")
    of = {name: [row[name] for row in rows] for name in rows[0]}
    assert len(rows) == len({*zip(of["item"], of["label"], strict=True)}) == 8
    assert {name: of["label"].count(name) for name in NAMES} == dict.fromkeys(NAMES, 2)
    assert {*of["item"]} <= {*ITEMS}
    assert {*of["probability"]} == {"0.25"}
    assert {*of["answer"]} == {""}


def test_a_second_round_names_another_file(run, folder):
    """The command that is printed twice does not lose what was filled in."""
    first = ("ask", "--features", "X.csv", *LABELS, "-n", 8, "--out", "q.csv")
    assert run(*first)[0] == 0
    rows = read_table(folder / "q.csv")
    write_back(folder / "q.csv", [row | {"answer": "no"} for row in rows])
    filled = (folder / "q.csv").read_bytes()
    code, _, err = run(*first)
    assert (code, "such as q-2.csv" in err) == (1, True)
    assert run("import", "q.csv", "--out", "answered-q.csv")[0] == 0
    code, out, _ = run("ask", "answered-q.csv", "--all-known", *first[1:-1], "q-2.csv")
    assert code == 0
    assert "complabel import q-2.csv --out answered-q-2.csv" in out
    assert (folder / "q.csv").read_bytes() == filled
    more = read_table(folder / "q-2.csv")
    pairs = {(row["item"], row["label"]) for row in rows}
    assert {(row["item"], row["label"]) for row in more if row["answer"]} <= pairs
    assert not {(row["item"], row["label"]) for row in more if not row["answer"]} & pairs


def test_a_round_is_no_longer_than_its_goals_need(run, folder):
    typed = ("ask", "asked.csv", "--features", "X.csv", *LABELS, "-n", 250, "--out", "q.csv")
    code, out, err = run(*typed, "--until", "frequencies +-.4")
    assert (code, err, (folder / "q.csv").exists()) == (0, "", False)
    assert "reached: frequencies +-.4" in out
    assert "nothing was written" in out
    code, out, err = run(*typed, "--until", "frequencies +-.15")
    assert (code, err) == (0, "")
    low, high = map(int, re.search(r"(\d+) to (\d+) more questions", out).groups())
    asked = [row for row in read_table(folder / "q.csv") if not row["answer"]]
    assert low <= high == len(asked) < 250
    assert run(*typed, "--until", "f1 +-.1")[0] == 1
    assert run(*typed, "--until", "frequencies +-.1", "--question", "named")[0] == 1
    assert run("ask", "--against", "asked.csv", "--until", "frequencies +-.1", *typed[-2:])[0] == 1


@pytest.fixture
def model(folder):
    answers = read_answers("named.csv", items=ITEMS[:60], label_names=NAMES).answers
    classifier = make_classifier("ridge").fit(DATA.X[:60], answers)
    classifier.save("m.safetensors")
    return classifier


EVALUATE = ("--to-evaluate", "m.safetensors")


@pytest.mark.parametrize("figure", [None, "average-precision"])
def test_questions_about_a_model_are_about_items_that_it_does_not_know(run, folder, model, figure):
    features = ("--features", "X.csv")
    more = () if figure is None else ("--figure", figure)
    code, out, err = run(
        "ask", "named.csv", *EVALUATE, *features, *more, "-n", 20, "--out", "q.csv"
    )
    assert (code, err) == (0, "")
    assert "30 items without an answer may be drawn; 60 with an answer are left out" in out
    # The figures are those of the items that could be drawn, so the others must go.
    assert "make unanswered-X.csv first: without the items that have an answer" in out
    assert "complabel evaluate m.safetensors unanswered-X.csv --answers answered-q.csv\n" in out
    rows = read_table(folder / "q.csv")
    assert {row["item"] for row in rows} <= {*ITEMS[60:]}
    answers = read_answers("named.csv", items=ITEMS, label_names=NAMES).answers
    expected = suggest_evaluation_questions(
        answers,
        model.predict_proba(DATA.X),
        20,
        figure="f1" if figure is None else "average_precision",
        random_state=0,
    )
    for name in ("item", "label"):
        assert [row[name] for row in rows] == expected[name].tolist()
    assert [float(row["probability"]) for row in rows] == pytest.approx(expected["probability"])
    write_back(folder / "q.csv", [row | {"answer": "no"} for row in rows])
    assert run("import", "q.csv", "--out", "answered-q.csv")[0] == 0
    lines = (folder / "X.csv").read_text(encoding="utf-8").splitlines()
    left = "\n".join([lines[0], *lines[61:]])
    (folder / "unanswered-X.csv").write_text(left, encoding="utf-8")
    options = ("--answers", "answered-q.csv")
    assert run("evaluate", "m.safetensors", "unanswered-X.csv", *options)[0] == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((*LABELS, "--figure", "f1", "--features", "X.csv"), "--figure is given without --to-eval"),
        (EVALUATE, "--to-evaluate asks yes or no .* give --features, and leave out --question"),
        ((*EVALUATE, "--features", "X.csv", "--question", "ticked"), "leave out --question"),
        ((*EVALUATE, "--features", "X.csv", *LABELS), "leave out --question, --label-names"),
        ((*EVALUATE, "--features", "X.csv", "-n", 999), "more than the 360 pairs of a label and"),
    ],
)
def test_questions_about_a_model_need_its_labels_and_features(run, model, given, message):
    code, _, err = run("ask", *given, "--out", "q.csv")
    assert code == 1
    assert re.search(message, err)


def test_the_first_questions_about_a_model_need_no_answers(run, folder, model):
    code, out, _ = run("ask", *EVALUATE, "--features", "X.csv", "-n", 8, "--out", "q.csv")
    assert (code, "90 items without an answer may be drawn; 0 with" in out) == (0, True)
    assert "complabel evaluate m.safetensors X.csv --answers answered-q.csv\n" in out
    assert {row["label"] for row in read_table(folder / "q.csv")} <= {*NAMES}
