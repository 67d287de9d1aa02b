"""The doors of "ticked": five answers mean the same, whichever way they come in."""

import json

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient
from tests.importers.reading import write
from tests.importers.samples import annotation, choices, task
from tests.refusals import raises

from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.errors import AnnotationError
from complabel.files import read_answers
from complabel.importers import Options, import_file, write_questions
from complabel.live import Annotation, read_things

LABELS = ("sea", "sky", "city", "fog")
APPLIES = {
    "a": {"sea", "sky"},
    "b": set(),
    "c": {"sea", "sky", "city", "fog"},
    "d": {"city"},
    "e": {"sky", "city", "fog"},
}
DENIED = {item: set(LABELS) - labels for item, labels in APPLIES.items()}
MASK = np.array([[label in labels for label in LABELS] for labels in APPLIES.values()], dtype=int)


def table(*answers, question="ticked"):
    """A table with a row for each item, label and word of the answers; it has an answer_id."""
    rows = [(item, label, word) for item, labels, word in answers for label in sorted(labels)]
    items, labels, words = (list(each) for each in zip(*rows, strict=True))
    said = {"item": items, "label": labels, "answer": words}
    return {"answer_id": items, **said, "question": [question] * len(rows)}


def told(word, ticked, question="ticked"):
    """A table of what was ticked alone; an answer without a tick says the other word of all."""
    other = {"yes": "no", "no": "yes"}[word]
    return table(
        *((item, labels or LABELS, word if labels else other) for item, labels in ticked.items()),
        question=question,
    )


BOTH = table(
    *((item, APPLIES[item], "yes") for item in APPLIES),
    *((item, DENIED[item], "no") for item in APPLIES),
)


def made(columns):
    return Answers.from_table(columns, label_names=LABELS)


def as_file(folder, columns):
    path = folder / "answers.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def read(folder):
    path = as_file(folder, told("yes", APPLIES, question=""))
    return read_answers(path, label_names=LABELS, question="ticked").answers


def imported(path, format_=None, **options):
    """The answers of a file that ``complabel import`` wrote."""
    out = path.with_name("imported.csv")
    options = Options(label_names=LABELS, **options)
    import_file(path, out, format=format_, options=options)
    return read_answers(out, label_names=LABELS).answers


def forms():
    """The questions of complabel ask about the five items, without answers."""
    nothing = Answers.from_table({"item": [], "label": []}, items=[*APPLIES], label_names=LABELS)
    return suggest_questions(nothing, 5, kind="ticked", random_state=0)


def filled_sheet(folder):
    """A "yes" beside what applies, the others blank; one "no" if nothing applies."""
    sheet = forms()
    words = ["yes" if row.label in APPLIES[row.item] else "" for row in sheet.itertuples()]
    words[sheet["item"].tolist().index("b")] = "no"
    return imported(as_file(folder, sheet.assign(answer=words)))


def replies(folder):
    shown = {item: {"text": f"about {item}"} for item in APPLIES}
    write_questions(forms(), folder / "prompts.jsonl", tool="replies", shown=shown)
    prompts = list(map(json.loads, (folder / "prompts.jsonl").read_text("utf-8").splitlines()))
    said = [each | {"reply": json.dumps({"ticked": sorted(APPLIES[each["item"]])})}
            for each in prompts]  # fmt: skip
    return imported(write(folder, "replies.jsonl", said))


def form_of_ask(folder):
    """Tasks of complabel ask in Label Studio: they say what was asked."""
    write_questions(forms(), folder / "tasks.json", tool="label-studio")
    tasks = [each["data"] for each in json.loads((folder / "tasks.json").read_text("utf-8"))]
    return imported(write(folder, "export.json", label_studio("applies", APPLIES, tasks)))


def label_studio(control, ticked, tasks=None):
    tasks = tasks or [{"item": item} for item in ticked]
    return [
        task(at, data, annotation(at, *([choices(control, *sorted(said))] if said else ())))
        for at, data in enumerate(tasks)
        for said in [ticked[data["item"]]]
    ]


def form_of_ones_own(folder, ticked, **side):
    path = write(folder, "export.json", label_studio("mine", ticked))
    return imported(path, question="ticked", **side)


def columns(folder, ticked, **side):
    """A cell for each item; in a blank one nothing was ticked."""
    cells = {item: ";".join(sorted(labels)) for item, labels in ticked.items()}
    path = write(folder, "a.csv", "item,mine\n" + "".join(f"{i},{c}\n" for i, c in cells.items()))
    side |= {"separator": ";", "unselected": "no" if "present" in side else "yes"}
    return imported(path, "columns", question="ticked", **side)


def page(folder):
    """Somebody ticks on the page of complabel annotate."""
    text = "item,text\n" + "".join(f"{item},{item}\n" for item in APPLIES)
    things = read_things(write(folder, "items.csv", text), text="text")
    opened = Annotation.open(things, LABELS, out=folder / "answers.csv", question="ticked")
    client = TestClient(opened.app())
    for _ in APPLIES:
        question = client.get("/api/next?person=ann").json()
        body = {"id": question["id"], "person": "ann", "seconds": 1.5}
        client.post("/api/answer", json=body | {"answer": sorted(APPLIES[question["item"]])})
    path = write(folder, "page.csv", client.get("/answers.csv").text)
    opened.ended.set()
    opened.store.close()
    return imported(path)


DOORS = {
    "a table of yes": lambda folder: made(told("yes", APPLIES)),
    "a table of no": lambda folder: made(told("no", DENIED)),
    "a table of yes and no": lambda folder: made(BOTH),
    "arrays: relevant": lambda folder: Answers.from_arrays(relevant=MASK, question="ticked"),
    "arrays: absent": lambda folder: Answers.from_arrays(absent=1 - MASK, question="ticked"),
    "a file, and --read-as": read,
    "import: a table of yes": lambda folder: imported(as_file(folder, told("yes", APPLIES))),
    "import: a table of no": lambda folder: imported(as_file(folder, told("no", DENIED))),
    "a filled sheet": filled_sheet,
    "replies": replies,
    "Label Studio, tasks of ask": form_of_ask,
    "Label Studio --present": lambda folder: form_of_ones_own(folder, APPLIES, present=("mine",)),
    "Label Studio --absent": lambda folder: form_of_ones_own(folder, DENIED, absent=("mine",)),
    "columns --present": lambda folder: columns(folder, APPLIES, present=("mine",)),
    "columns --absent": lambda folder: columns(folder, DENIED, absent=("mine",)),
    "annotate": page,
}


@pytest.mark.parametrize("door", DOORS)
def test_the_same_ticks_are_the_same_answers_through_every_door(tmp_path, door):
    answers = DOORS[door](tmp_path)
    names = answers.item_names if answers.item_names is not None else [*APPLIES]
    items = [names[at] for at in answers.item]
    assert sorted(items) == [*APPLIES]
    assert set(answers.question) == {"ticked"}
    order = np.argsort(items)
    np.testing.assert_array_equal(answers.relevant.toarray()[order], MASK)
    np.testing.assert_array_equal(answers.absent.toarray()[order], 1 - MASK)
    assert set(answers.n_offered) == {len(LABELS)}


def test_a_table_of_ticks_alone_needs_to_be_told_what_was_ticked(tmp_path):
    ticked = {item: labels for item, labels in APPLIES.items() if labels}
    bare = {name: values for name, values in told("yes", ticked).items() if name != "answer"}
    path = as_file(tmp_path, bare)
    with raises(AnnotationError, "line 2", "--answer yes"):
        read_answers(path, label_names=LABELS)
    with raises(AnnotationError, "row 0"):
        made(bare)
    meant = {word: imported(path, answer=word) for word in ("yes", "no")}
    np.testing.assert_array_equal(meant["yes"].relevant.toarray(), MASK[[0, 2, 3, 4]])
    np.testing.assert_array_equal(meant["no"].absent.toarray(), MASK[[0, 2, 3, 4]])
    for answers in meant.values():
        np.testing.assert_array_equal((answers.absent + answers.relevant).toarray(), 1)
