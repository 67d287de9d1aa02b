"""Lists of labels that apply, the rest not known: `--read-as tagged`, whatever tool they are of."""

import pytest
from tests.importers.reading import changed, read, short, write
from tests.importers.samples import EVENTS, LVIS, annotation, choices, task

from complabel.answers import Answers
from complabel.errors import ComplabelError, InputError
from complabel.importers import Options, import_answers

TAGS = {"p1": {"sea", "sky"}, "p2": set(), "p3": {"sky"}}
LISTS = "item,tags\np1,sea;sky\np2,\np3,sky\n"
ROWS = "item,label\np1,sea\np1,sky\np2,\np3,sky\n"
STUDIO = [
    task(n, {"item": item}, annotation(n, *[choices("tags", *sorted(labels))] * bool(labels)))
    for n, (item, labels) in enumerate(TAGS.items())
]
COCO = {
    "categories": [{"id": 1, "name": "sea"}, {"id": 2, "name": "sky"}],
    "annotations": [
        {"image_id": at, "category_id": 1 + (label == "sky")}
        for at, labels in enumerate(TAGS.values())
        for label in sorted(labels)
    ],
    "images": [{"id": at, "file_name": name} for at, name in enumerate(TAGS)],
}
SOURCES = {
    "lists": ("a.csv", LISTS, {"present": ("tags",), "separator": ";", "unselected": "no"}),
    "a row for each tag": (
        *("a.csv", ROWS),
        {"answer": "yes", "column": {"answer_id": "item"}, "unselected": "no"},
    ),
    "Label Studio": ("a.json", STUDIO, {"present": ("tags",), "item": "item"}),
    "COCO": ("a.json", COCO, {"item": "file_name"}),
}


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_listed_applies_and_nothing_is_known_of_the_rest(tmp_path, source):
    name, content, options = SOURCES[source]
    path = write(tmp_path, name, content)
    read_as = "columns" if source == "lists" else None
    table, _ = import_answers(path, format=read_as, options=Options(question="tagged", **options))
    answers = Answers.from_table(table, items=[*TAGS], label_names=["sea", "sky"])
    assert answers.question.tolist() == ["tagged"] * 3
    assert answers.tagged.toarray().tolist() == [[1, 1], [0, 0], [0, 1]]
    assert not answers.complementary.any()


@pytest.mark.parametrize("source", ["lists", "a row for each tag"])
def test_a_blank_is_asked_about(tmp_path, source):
    name, content, options = SOURCES[source]
    path, options = write(tmp_path, name, content), {**options, "question": "tagged"}
    read_as = "columns" if source == "lists" else None
    with pytest.raises(ComplabelError) as refused:
        import_answers(path, format=read_as, options=Options(**{**options, "unselected": None}))
    assert {"unselected": "unknown"} in refused.value.proposes
    told = Options(**{**options, "unselected": "unknown"})
    table, _ = import_answers(path, format=read_as, options=told)
    assert {*table["item"]} == {"p1", "p3"}


def test_the_last_event_of_an_issue_and_a_label_counts(tmp_path):
    path = write(tmp_path, "a.json", EVENTS)
    table, tally = read("github-events", path, question="tagged")
    assert short(table) == [
        ("7", "7", "bug", "yes", "tagged"),
        ("7", "7", "docs", "no", "tagged"),
        ("8", "8", "docs", "yes", "tagged"),
    ]
    undone = "events that a later one undid or repeated"
    assert dict(tally.counts) == {"events": 6, "other events": 1, undone: 2}
    assert tally.remarks
    answers = Answers.from_table(table, label_names=["bug", "docs"])
    assert answers.complementary.tolist() == [[0, 1], [0, 0]]
    assert answers.known_relevant.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(("name", "content"), [("github-events", EVENTS), ("lvis", LVIS)])
@pytest.mark.parametrize("question", ["ticked", "asked", None])
def test_what_the_file_does_not_say_the_command_asks_for(tmp_path, name, content, question):
    if (name, question) == ("lvis", None):
        content, question = changed(COCO, ("images", 0, "file_name"), "p1"), None
    with pytest.raises(ComplabelError) as refused:
        read(name, write(tmp_path, "a.json", content), question=question)
    assert {"question": "tagged"} in refused.value.proposes
    assert question is None or isinstance(refused.value, InputError)
