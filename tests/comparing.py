"""What the question of CONTRIBUTING must be able to do, run inside a copy that has it.

People compare two labels: in a simulation, in the forms of other tools, and on the page of
``complabel annotate``. What they say must come back as it was said.
"""

import json
from pathlib import Path

import numpy as np
from starlette.testclient import TestClient

from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.datasets import make_synthetic
from complabel.files import read_answers
from complabel.importers import import_answers, label_studio_config, write_questions
from complabel.live import Annotation, guarded, read_things
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_answers

LABELS = ["sea", "city", "wood", "sky"]
ITEMS = [f"{number}.txt" for number in range(12)]


def preferred(item, menu):
    """The label that a person says applies more."""
    return min(menu, key=lambda label: (LABELS.index(label) + len(item)) % len(LABELS))


def check_as_said(table, n_answers):
    """Each answer names the other label of a menu of two, and somebody picked it."""
    answers = Answers.from_table(table, label_names=LABELS)
    assert answers.n_answers == n_answers
    assert set(answers.kind) == {"compared"}
    assert set(answers.all_apply) == {"pick"}
    np.testing.assert_allclose(answers.probability, 1 / 6)
    for at in range(n_answers):
        menu = [LABELS[label] for label in answers.offered[[at]].indices]
        (named,) = (LABELS[label] for label in answers.named[[at]].indices)
        assert [named] == [
            each for each in menu if each != preferred(answers.item_names[answers.item[at]], menu)
        ]


def simulated_people_are_learned_from():
    data = make_synthetic(300, n_features=5, n_labels=4, random_state=0)
    answers = draw_answers(data.Y, question="compared", answers_per_item=3, random_state=0)
    assert set(answers.kind) == {"compared"}
    named = answers.named.toarray().argmax(axis=1)
    other = (answers.offered - answers.named).toarray().argmax(axis=1)
    alike = data.Y[answers.item, named] == data.Y[answers.item, other]
    assert (data.Y[answers.item, named] <= data.Y[answers.item, other]).all()
    assert 0 < alike.mean() < 1
    method = SelectionLikelihoodClassifier(kernel="linear", alpha=0.01, cardinality=1.5)
    scores = method.fit(data.X, answers).predict_proba(data.X)
    assert scores[data.Y == 1].mean() > scores[data.Y == 0].mean() + 0.2


def questions():
    nothing = Answers.from_table({"item": [], "label": []}, items=ITEMS, label_names=LABELS)
    return suggest_questions(nothing, 9, kind="compared", random_state=0)


def a_form_of_label_studio_comes_back():
    assert 'name="more"' in label_studio_config([], question="compared", show="text")
    shown = {item: {"text": item} for item in ITEMS}
    assert write_questions(questions(), "tasks.json", tool="label-studio", shown=shown) == 9
    tasks = json.loads(Path("tasks.json").read_text())
    for number, task in enumerate(tasks, 1):
        chosen = preferred(task["data"]["item"], task["data"]["offered"])
        assert [{"value": each} for each in task["data"]["offered"]] == task["data"]["options"]
        result = {"type": "choices", "from_name": "more", "to_name": "item"}
        result["value"] = {"choices": [chosen]}
        task |= {"id": number, "annotations": [{"id": number, "result": [result]}]}
    Path("export.json").write_text(json.dumps(tasks))
    check_as_said(import_answers("export.json")[0], 9)


def replies_of_a_model_come_back():
    shown = {item: {"text": item} for item in ITEMS}
    write_questions(questions(), "prompts.jsonl", tool="replies", shown=shown)
    lines = [json.loads(line) for line in Path("prompts.jsonl").read_text().splitlines()]
    assert all("applies more" in line["prompt"] for line in lines)
    for line in lines:
        line["reply"] = json.dumps({"compared": preferred(line["item"], line["offered"])})
    lines[0]["reply"] = json.dumps({"compared": []})  # says nothing
    Path("replies.jsonl").write_text("\n".join(map(json.dumps, lines)))
    check_as_said(import_answers("replies.jsonl")[0], 8)


def people_answer_on_the_page():
    Path("texts.csv").write_text("item,text\n" + "".join(f"{item},a\n" for item in ITEMS))
    things = read_things("texts.csv", text="text")
    page = Annotation.open(things, LABELS, out=Path("answers.csv"), question="compared", token="t")
    app = guarded(page.app(), token="t", most_bytes=10_000)
    client = TestClient(app, base_url="http://127.0.0.1", headers={"X-Token": "t"})
    for number in range(9):
        question = client.get("/api/next?person=ann").json()
        assert (question["question"], question["asked_for"]) == ("compared", 1)
        answer = {"id": question["id"], "person": "ann", "seconds": 2}
        for wrong in ([], question["offered"], "yes", ["snow"]):
            assert client.post("/api/answer", json=answer | {"answer": wrong}).status_code == 400
        if number < 8:
            answer["answer"] = [preferred(question["item"], question["offered"])]
        else:
            answer["answer"] = "unsure"
        assert client.post("/api/answer", json=answer).json()["stored"]
    Path("answers.csv").write_text(client.get("/answers.csv").text)
    page.store.close()
    read = read_answers("answers.csv", label_names=LABELS).answers
    assert (read.n_answers, set(read.kind)) == (8, {"compared"})


def nobody_who_compares_contradicts_a_yes():
    table = {
        "item": ["a", "a"],
        "label": ["city", "city"],
        "answer": ["no", "yes"],
        "question": ["compared", "asked"],
        "offered": [["sea", "city"], None],
    }
    assert Answers.from_table(table, label_names=LABELS).n_answers == 2


if __name__ == "__main__":
    simulated_people_are_learned_from()
    a_form_of_label_studio_comes_back()
    replies_of_a_model_come_back()
    people_answer_on_the_page()
    nobody_who_compares_contradicts_a_yes()
