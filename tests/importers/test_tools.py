"""Questions go out to a tool, people answer there, and its export comes back as answers.

The exports are made as the tools make them: Label Studio's as version 1.23.2 wrote them for such
tasks, the others' as they are documented.
"""

import csv
import io
import json
import re
from collections import Counter

import numpy as np
import openpyxl
import pandas as pd
import pytest
from tests.importers import samples
from tests.importers.reading import refused, write
from tests.importers.samples import annotation, choices, delimited, record
from tests.refusals import check_names, raises

from complabel._drawn import ByMachine
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.errors import DatasetFormatError, InputError
from complabel.importers import TOOLS, Options, detect, import_answers, write_questions

LABELS = ("sea, open", 'the "old" town', "no", "été", "<b>bold</b>", "sky & sun", "7", "x / y")
KINDS = ("asked", "menu-3", "named", "ticked", "ticked-3", "positive", "positive-menu-3")
ITEMS = [f"{at:04}" if at % 2 else f"ä {at}.txt" for at in range(450)]
SHOWN = {item: {"text": f'Text of "{item}",\nin two lines; <i>'} for item in ITEMS}
CONTROLS = {"asked": "answer", "named": "not_this", "ticked": "applies"}
CONTROLS |= {"positive": "one_that_applies"}
NOTHING = {"named": "all apply", "positive": "none apply"}  # for who has no label to name


@pytest.fixture(scope="module")
def known():
    """What was known before, so that known answers belong to the questions."""
    rng = np.random.default_rng(0)
    judged = rng.random((225, len(LABELS))) < 0.3
    judged[:50] = True
    item, label = np.nonzero(judged)
    said = {
        "item": np.array(ITEMS)[item],
        "label": np.array(LABELS)[label],
        "answer": rng.choice(["yes", "no", "no"], len(item)),
        "question": ["asked"] * len(item),
    }
    return Answers.from_table(said, items=ITEMS, label_names=LABELS)


def tasks_of(folder, table, tool):
    """The tasks in the file of a tool."""
    path = folder / f"tasks{TOOLS[tool].endings[0]}"
    write_questions(table, path, tool=tool, shown=SHOWN)
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        return list(csv.DictReader(io.StringIO(text, newline="")))
    return json.loads(text) if path.suffix == ".json" else list(map(json.loads, text.splitlines()))


def say(kind, label, menu, rng, skips=True):
    """What somebody says to a question, in what time, and who."""
    if kind == "asked":
        said = ["yes", "no", "unsure"][rng.integers(3)]
    elif kind in NOTHING:
        said = [] if rng.random() < 0.2 else [menu[rng.integers(len(menu))]]
    else:
        said = [each for each in menu if rng.random() < 0.3]
    return "skip" if skips and rng.random() < 0.1 else said


def rows_of(question, said, who, seconds):
    """What the neutral table should hold of an answer."""
    kind, menu = question["question"], question.get("offered")
    if said == "skip":
        said = "unsure"
    if isinstance(said, str):
        pairs = [(question["label"] if kind == "asked" else None, said)]
    elif kind in NOTHING:
        word, none = ("yes", "no") if kind == "positive" else ("no", "yes")
        pairs = [(label, word) for label in said] or [(None, none)]
    else:
        pairs = [(label, "yes" if label in said else "no") for label in menu]
    shared = (kind, menu and tuple(menu), 1 if kind in NOTHING else None)
    shared += (round(question["probability"], 12), who, seconds)
    return [(question["item"], label, word, *shared) for label, word in pairs]


def expected(table, answers):
    """The rows of a table of questions with what people said, by item and label or menu."""
    found, table = [], table.astype(object).where(table.notna(), None)
    for rows in table.groupby(table.get("answer_id", table.index), sort=False):
        rows = rows[1].to_dict("records")
        question = rows[0] | {"offered": None}
        if question["question"] != "asked":
            question["offered"] = json.loads(rows[0]["offered"])
        words = {row["label"]: row["answer"] for row in rows}
        if all(word is None for word in words.values()):
            found += rows_of(question, *answers[key_of(question)])
        elif question["question"] == "asked":
            found += rows_of(question, question["answer"], None, None)
        else:
            known = [label for label, word in words.items() if word == "yes"]
            found += rows_of(question, known, None, None)
    return found


def key_of(question):
    return question["item"], question.get("label") if question["question"] == "asked" else None


def imported(path):
    table, tally = import_answers(path)
    rows = []
    for row in table.astype(object).where(table.notna(), None).to_dict("records"):
        menu = row["offered"] and tuple(json.loads(row["offered"]))
        chance = round(row["probability"], 12)
        at = ("item", "label", "answer", "question", "asked_for", "annotator", "seconds")
        item, label, word, kind, asked_for, who, seconds = (row[name] for name in at)
        # What a gap means in the table, where labels were named or ticked
        word = word or ("yes" if kind == "positive" else "no")
        rows.append((item, label, word, kind, menu, asked_for, chance, who, seconds))
    return rows, table, tally


def of_label_studio(form):
    def export(folder, tasks, rng):
        answers, records = {}, []
        for number, task in enumerate(tasks, 1):
            data = task["data"]
            kind, menu = data["question"], data.get("offered")
            said = say(kind, data.get("label"), menu, rng, skips=form == "JSON")
            who, seconds = "17"[number % 2], number / 8
            answers[key_of(data)] = said, who, seconds
            chosen = [] if said == "skip" else [said] if isinstance(said, str) else said
            if kind in NOTHING and chosen == [] and said != "skip":
                chosen = [NOTHING[kind]]
            if kind != "asked":
                assert {"value": (chosen or menu)[0]} in data["options"]
            records.append((number, data, CONTROLS[kind], chosen, said == "skip", who, seconds))
        name, make = {
            "JSON": ("a.json", nested),
            "JSON_MIN": ("min.json", flat),
            "CSV": ("a.csv", lambda made: delimited(",", flat(made))),
        }[form]
        return write(folder, name, make(records)), answers

    return export


def nested(records):
    made = []
    for number, data, control, chosen, skipped, who, seconds in records:
        results = [choices(control, *chosen)] * bool(chosen)
        more = {"completed_by": int(who), "was_cancelled": skipped, "lead_time": seconds}
        made.append(samples.task(number, data, annotation(1000 + number, *results, **more)))
    return made


def flat(records):
    return [
        record(number, data, {control: chosen}, annotator=int(who), lead_time=seconds)
        for number, data, control, chosen, _, who, seconds in records
    ]


def of_prodigy(folder, tasks, rng):
    answers, lines = {}, []
    for number, task in enumerate(tasks):
        said = say(task["question"], task.get("label"), task.get("offered"), rng)
        who = f"set-{'ab'[number % 2]}"
        answers[key_of(task)] = said, who, None
        line = {"answer": "ignore" if said in ("skip", "unsure") else "accept"}
        if task["question"] == "asked":
            line["answer"] = {"yes": "accept", "no": "reject"}.get(said, "ignore")
        elif said != "skip":
            style = task["config"]["choice_style"]
            nothing = NOTHING.get(task["question"])
            assert style == ("single" if nothing else "multiple")
            line["accept"] = said or [nothing] * bool(nothing)
            assert {*line["accept"]} <= {option["id"] for option in task["options"]}
        marks = {"_view_id": "choice", "_annotator_id": who, "_timestamp": 1795421200}
        lines.append(task | marks | line)
    assert len({line["_task_hash"] for line in lines}) == len(lines), "else some are not asked"
    assert len({line["_input_hash"] for line in lines}) == len({line["item"] for line in lines})
    return write(folder, "export.jsonl", lines), answers


def of_model(folder, tasks, rng):
    answers, lines = {}, []
    for number, task in enumerate(tasks):
        said = say(task["question"], task.get("label"), task.get("offered"), rng)
        answers[key_of(task)] = said, "model", None
        reply = "unsure" if said == "skip" else said
        if isinstance(said, list):
            nothing = NOTHING.get(task["question"], [])
            reply = json.dumps({task["question"]: said or nothing})
            if number % 2 and task["question"] == "ticked":  # as the prompt asks for it
                reply = json.dumps({x: "yes" if x in said else "no" for x in task["offered"]})
        lines.append(task | {"reply": reply, "annotator": "model", "number": number})
    return write(folder, "replies.jsonl", lines), answers


def of_mechanical_turk(folder, tasks, rng):
    answers, lines = {}, []
    for number, task in enumerate(tasks):
        menu = json.loads(task["offered"] or "null")
        said = say(task["question"], task["label"], menu, rng)
        answers[key_of(task)] = said, f"W{number % 3}", number + 1
        cell = "unsure" if said == "skip" else said
        if isinstance(said, list):
            cell = "|".join(said) or NOTHING.get(task["question"], "")
        given = {f"Input.{name}": value for name, value in task.items()}
        hit = {"HITId": f"h{number}", "AssignmentId": f"a{number}", "WorkerId": f"W{number % 3}"}
        when = {"SubmitTime": "Mon Nov 23 08:32:36 UTC 2026", "WorkTimeInSeconds": str(number + 1)}
        status = {"AssignmentStatus": "Approved"}
        lines.append({**hit, **status, **when, **given, "Answer.answer": cell, "Approve": ""})
        lines.append({**lines[-1], "AssignmentStatus": "Rejected", "AssignmentId": "r"})
    return write(folder, "batch.csv", delimited(",", lines)), answers


def of_spreadsheet(folder, table, rng):
    """Fill in the table that ask writes, as its column to_do says."""
    path = folder / "questions.csv"
    write_questions(table, path, tool="spreadsheet", shown=SHOWN)
    sheet = pd.read_csv(path, dtype=str, keep_default_na=False)
    answers = {}
    for number, (_, rows) in enumerate(
        sheet.groupby(
            sheet["answer_id"].where(sheet["answer_id"] != "", sheet.index.astype(str)), sort=False
        )
    ):
        at, first = rows.index, rows.iloc[0]
        assert set(rows["text"]) == {SHOWN[first["item"]]["text"]}
        if (rows["answer"] != "").any():
            assert set(rows["to_do"]) == {"This was known before. Leave the row as it is."}
            continue
        menu = json.loads(first["offered"] or "null")
        said = say(first["question"], first["label"], menu, rng, first["question"] != "ticked")
        answers[key_of(first)] = said, f"p{number % 3}", number + 0.5
        sheet.loc[at, "annotator"], sheet.loc[at, "seconds"] = f"p{number % 3}", f"{number},5"
        if isinstance(said, str):
            sheet.loc[at, "answer"] = "?" if said == "skip" else said
        elif (question := first["question"]) in NOTHING:
            which = "that applies" if question == "positive" else "that does not apply"
            assert f"Write one label of the column offered {which}" in first["to_do"]
            nothing = "no" if question == "positive" else "yes"
            sheet.loc[at, "label"], sheet.loc[at, "answer"] = (*said, "")[0], nothing * (not said)
        else:
            sheet.loc[at[rows["label"].isin(said)], "answer"] = "yes"
            sheet.loc[at[: not said], "answer"] = "no"
    sheet.to_csv(path, index=False, sep=";")
    return path, answers


EXPORTS = {
    "label-studio JSON": of_label_studio("JSON"),
    "label-studio JSON_MIN": of_label_studio("JSON_MIN"),
    "label-studio CSV": of_label_studio("CSV"),
    "prodigy": of_prodigy,
    "replies": of_model,
    "mturk": of_mechanical_turk,
    "spreadsheet": of_spreadsheet,
}


@pytest.mark.parametrize("n", [4, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", EXPORTS)
def test_questions_of_all_kinds_come_back_as_they_went(tmp_path, known, name, n):
    """In the slow test, a thousand."""
    tool = name.partition(" ")[0]
    for kind in KINDS:
        table = suggest_questions(known, n, kind=kind, random_state=1)
        tasks = table if tool == "spreadsheet" else tasks_of(tmp_path, table, tool)
        path, answers = EXPORTS[name](tmp_path, tasks, np.random.default_rng(2))
        assert detect(path).name == {"mturk": "batch", "spreadsheet": "table"}.get(tool, tool)
        found, made, _ = imported(path)
        assert Counter(found) == Counter(expected(table, answers))
        assert {*made["drawn"]} == {"random"}
        assert Answers.from_table(made, label_names=LABELS, contradictions="keep").n_answers > n / 2


@pytest.mark.parametrize("name", EXPORTS)
def test_what_a_machine_said_is_not_shown_and_comes_back(tmp_path, known, name):
    machine = (np.random.default_rng(4).random(known.shape) < 0.3).astype(float)
    table = suggest_questions(known, 20, against=machine, random_state=1)
    tool = name.partition(" ")[0]
    tasks = table if tool == "spreadsheet" else tasks_of(tmp_path, table, tool)
    path, _ = EXPORTS[name](tmp_path, tasks, np.random.default_rng(2))
    assert not re.search(r"machine \w{8} [yn]", path.read_text(encoding="utf-8"))
    assert len({*map(len, table["drawn"])}) == 1
    made, _ = import_answers(path)
    free = (known.complementary == 0) & (known.known_relevant == 0)
    for item, label, text in zip(made["item"], made["label"], made["drawn"], strict=True):
        draw, at = ByMachine.of(text), LABELS.index(label)
        same = machine[:, at] == machine[ITEMS.index(item), at]
        assert draw.word == ("yes" if machine[ITEMS.index(item), at] else "no")
        assert draw.pairs == (same & free[:, at]).sum()
    assert made["probability"].isna().all()
    assert len(made) >= 15
    clear = tmp_path / "clear.csv"
    made.to_csv(clear, index=False)
    with raises(DatasetFormatError, made["drawn"][0]):
        import_answers(clear, options=Options(random_questions=True))


def test_who_stops_early_leaves_a_random_sample(tmp_path, known):
    """Known answers count up to the last question that was answered, as in the table."""
    table = suggest_questions(known, 30, random_state=3)
    tasks = tasks_of(tmp_path, table, "prodigy")[:12]
    path, answers = of_prodigy(tmp_path, tasks, np.random.default_rng(0))
    found, _, _ = imported(path)
    last = np.flatnonzero(table["answer"].isna())[11]
    assert found == expected(table[: last + 1], answers)
    assert 12 < len(found) == last + 1


@pytest.mark.parametrize("form", ["JSON", "CSV"])
def test_two_people_answer_one_question_and_known_answers_count_once(tmp_path, known, form):
    table = suggest_questions(known, 15, kind="ticked-3", random_state=0)
    tasks = [each for each in tasks_of(tmp_path, table, "label-studio") for _ in range(2)]
    said = [[each["data"]["offered"][0]] for each in tasks]
    records = [
        (number, task["data"], "applies", ticked, False, "17"[number % 2], 4.0)
        for number, (task, ticked) in enumerate(zip(tasks, said, strict=True), 1)
    ]
    made = {"JSON": ("a.json", nested(records)), "CSV": ("a.csv", delimited(",", flat(records)))}
    _, rows, tally = imported(write(tmp_path, *made[form]))
    answers = Answers.from_table(rows, label_names=LABELS)
    n_known = table["answer"].notna().groupby(table["answer_id"]).all().sum()
    assert n_known
    assert tally.counts["answers"] == answers.n_answers == 30 + n_known
    assert list(answers.annotator_names) == ["1", "7"]


MENU = {"item": "a", "offered": ["sea", "sky"], "text": "a"}
TO_TICK, TO_NAME = MENU | {"question": "ticked"}, MENU | {"question": "named"}
TO_JUDGE = {"item": "a", "label": "sea", "question": "asked", "text": "a"}


def label_studio(data, **chosen):
    filled = [choices(control, *labels) for control, labels in chosen.items()]
    return [samples.task(1, data, annotation(1001, *filled))]


def prodigy(task, answer, *accept):
    options = [{"id": label} for label in [*task.get("offered", ()), "all apply"]]
    menu = {"options": options, "accept": accept} if "offered" in task else {}
    return [task | menu | {"answer": answer, "_input_hash": 1}]


def batch(task, said):
    given = {f"Input.{name}": json.dumps(v) if name == "offered" else v for name, v in task.items()}
    who = {"HITId": "h", "AssignmentId": "a", "WorkerId": "W", "Answer.answer": said}
    return delimited(",", [who | given])


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.json", label_studio(TO_TICK, not_this=["sea"]), "'not_this'"),
        ("a.json", label_studio(TO_NAME, applies=["sea"]), "'applies'"),
        ("a.json", label_studio(TO_NAME, answer=["yes"]), "'answer'"),
        ("a.json", label_studio(TO_TICK, one=["sea"], two=["sky"]), ("'one'", "'two'")),
        ("a.json", label_studio(TO_TICK, applies=["fog"]), "'fog'"),
        ("a.json", label_studio(TO_JUDGE, applies=["sea"]), ("'applies'", "'sea'")),
        ("a.json", label_studio(TO_JUDGE, answer=["ja"]), ("'answer'", "'ja'")),
        ("a.jsonl", prodigy(TO_NAME, "accept"), "line 1"),
        ("a.jsonl", prodigy(TO_TICK, "accept", "all apply"), "'all apply'"),
        ("a.csv", batch(TO_JUDGE, "perhaps"), ("row 1", "column 'Answer.answer'", "'perhaps'")),
        ("a.csv", batch(TO_TICK, "sea|fog"), ("column 'Answer.answer'", "'fog'")),
    ],
)
def test_a_form_that_is_not_understood_is_an_error_with_the_control(tmp_path, name, content, told):
    check_names(refused(write(tmp_path, name, content), None), told)


def test_a_form_of_ones_own_may_call_its_control_as_it_likes(tmp_path):
    records = flat([(1, TO_TICK, "mine", ["sky"], False, "1", 1.0)])
    for name, content in (("min.json", records), ("a.csv", delimited(",", records))):
        pairs = imported_pairs(write(tmp_path, name, content))
        assert [row[1:3] for row in pairs] == [("sea", "no"), ("sky", "yes")]
    path = write(tmp_path, "a.json", label_studio(TO_TICK, mine=["sky"]))
    assert [row[1:3] for row in imported_pairs(path)] == [("sea", "no"), ("sky", "yes")]
    told = "control 'mine' answers a question that each task brings along"
    assert told in refused(path, None, present=("mine",))


def imported_pairs(path):
    table, _ = import_answers(path)
    return [tuple(row) for row in table[["item", "label", "answer"]].to_numpy()]


def test_a_menu_that_was_rejected_says_nothing(tmp_path):
    path = write(tmp_path, "a.jsonl", prodigy(TO_TICK, "reject", "sky"))
    table, tally = import_answers(path)
    assert table["answer"].tolist() == ["unsure"]
    assert "Menus that were rejected are read as unsure" in tally.remarks[0]


def test_a_workbook_keeps_texts_as_they_are(tmp_path):
    """A spreadsheet would open "0012" in CSV as a number, and "=1+1" as a formula."""
    questions = {
        "item": ["0012", "=1+1", "+3", "1e5"],
        "label": ["sea", "été", "-x", "@a"],
        "answer": ["yes", "no", "yes", "no"],
        "question": ["asked"] * 4,
        "probability": [0.25, 1 / 3, 0.5, 1.0],
    }
    shown = {item: {"text": f"={item}\x0b"} for item in questions["item"]}
    path = tmp_path / "questions.xlsx"
    with raises(InputError):
        write_questions(questions, path, shown=shown)
    write_questions({**questions, "answer": [None] * 4}, path, shown=shown)
    sheet = openpyxl.load_workbook(path).active
    header, *rows = sheet.iter_rows()
    at = {cell.value: number for number, cell in enumerate(header)}
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "n"}
    assert [row[at["text"]].value for row in rows] == [f"={item}" for item in shown]
    for row, word in zip(rows, questions["answer"], strict=True):
        row[at["answer"]].value = word
    sheet.parent.save(path)
    table, _ = import_answers(path)
    for name, values in questions.items():
        assert table[name].tolist() == values


def test_what_a_sheet_says_to_do_and_what_is_not_answered(tmp_path, known):
    table = suggest_questions(known, 3, kind="menu-2", random_state=0)
    path = tmp_path / "q.csv"
    assert write_questions(table, path, shown=SHOWN) == 3
    check_names(refused(path, None), "format='NAME'")
    sheet = pd.read_csv(path, dtype=str, keep_default_na=False)
    sheet.loc[0, "label"] = json.loads(sheet["offered"][0])[1]
    sheet.to_csv(path, index=False)
    rows, _, tally = imported(path)
    assert [row[1] for row in rows] == [sheet["label"][0]]
    assert tally.counts["questions not answered"] == 2
