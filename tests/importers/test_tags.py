"""Lists of labels that apply, the rest not known: `--read-as tagged`, whatever tool they are of."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.importers.reading import changed, conserved, read, short, write
from tests.importers.samples import (
    DOCCANO,
    DOCCANO_BEFORE,
    DOCCANO_CSV,
    EVENTS,
    LVIS,
    annotation,
    choices,
    delimited,
    task,
)
from tests.refusals import raises

from complabel.answers import Answers
from complabel.errors import ComplabelError, DatasetFormatError, InputError
from complabel.importers import Options, detect, import_answers

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
    "doccano": (
        "a.jsonl",
        [{"id": item, "data": "x", "label": sorted(labels)} for item, labels in TAGS.items()],
        {"unselected": "no"},
    ),
}
ASKED_FOR_BLANKS = pytest.mark.parametrize("source", ["lists", "a row for each tag", "doccano"])


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


@ASKED_FOR_BLANKS
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


OF_DOCCANO = {"all.jsonl": DOCCANO, "all.json": DOCCANO, "all.csv": DOCCANO_CSV}
_ROWS = [
    {**{k: v for k, v in of.items() if k != "annotations"}, **one}
    for of in DOCCANO_BEFORE
    for one in of["annotations"]
]
BEFORE = {"before.jsonl": DOCCANO_BEFORE, "before.csv": delimited(",", _ROWS)}


@pytest.mark.parametrize("name", [*OF_DOCCANO, *BEFORE])
def test_what_each_version_of_doccano_wrote_is_read_alike(tmp_path, name):
    path = write(tmp_path, name, (OF_DOCCANO | BEFORE)[name])
    assert detect(path).name == "doccano"
    names = write(tmp_path, "names.csv", "4,sea\n9,sky\n")
    told = {"question": "tagged", "unselected": "unknown"}
    if name in BEFORE:
        with raises(DatasetFormatError, "'4'", "class_names"):
            import_answers(path, options=Options(**told))
        told["class_names"] = names
    table, tally = import_answers(path, options=Options(**told))
    said = [*zip(table["item"], table["label"], table["annotator"].fillna(""), strict=True)]
    ben = [("1", "sky", "2")] if name in BEFORE else []
    a, b = ("1", "2") if name in BEFORE else ("", "")
    assert said == [("1", "sea", a), ("1", "sky", a), *ben, ("3", "sky", b)]
    assert {*table["question"]} == {"tagged"}
    conserved(detect(path), table, tally)


def test_labels_of_parts_of_a_text_are_refused(tmp_path):
    for said in ({"label": [[8, 11, "sea"]]}, {"annotations": [{"label": 4, "start_offset": 8}]}):
        path = write(tmp_path, "a.jsonl", [{"id": 1, "text": "Noon at sea.", **said}])
        with raises(DatasetFormatError, "line 1", *said):
            import_answers(path, options=Options(question="tagged"))


PLACES = st.sampled_from(["", "sea/", "sky/", "K\u00e4fer/"])
KEPT = st.dictionaries(
    st.tuples(PLACES, st.sampled_from(["1.jpg", "2.png"])), st.sampled_from(["a", "b", "cc", ""])
)


@settings(max_examples=60, deadline=None)
@given(KEPT, st.sampled_from(["tagged", "positive", "ticked"]), st.sampled_from(["no", "unknown"]))
def test_a_picture_has_the_labels_of_all_folders_with_its_content(
    tmp_path_factory, kept, question, unselected
):
    files = {
        "sea/0.jpg": "zero",
        "sky/0.jpg": "one",
        **{"".join(place): text for place, text in kept.items()},
    }
    items = {}  # by content: what there is of it, but empty files are no copies of each other
    for name in sorted(files):
        items.setdefault(files[name] or name, []).append(name)
    labels = {name.split("/")[0] for name in files if "/" in name}
    folder = write(tmp_path_factory.mktemp("law"), "photos/", files)
    told = Options(question=question, unselected=unselected)
    table, tally = import_answers(folder, options=told)
    conserved(detect(folder), table, tally)
    assert sum("Copies" in each for each in tally.remarks) == (len(items) < len(files))
    assert len(tally.remarks) <= 3
    found = Answers.from_table(table, label_names=sorted(labels))
    applies = dict(zip(found.item_names, found.known_relevant.tolist(), strict=True))
    denied = dict(zip(found.item_names, found.complementary.tolist(), strict=True))
    for names in items.values():
        own = {name.split("/")[0] for name in names if "/" in name}
        is_there = bool(own) or (unselected == "no" and question != "positive")
        assert (names[0] in applies) == is_there
        if is_there:
            marks = [int(label in own) for label in sorted(labels)]
            assert applies[names[0]] == marks
            ticked = question == "ticked"
            assert denied[names[0]] == [int(ticked and not mark) for mark in marks]
    assert len(applies) <= len(items)
    assert {*table["question"]} == {question}


@pytest.mark.parametrize("question", [None, "asked", "named", "excluded"])
def test_what_a_folder_means_is_asked_and_words_and_deeper_folders_are_refused(tmp_path, question):
    folder = write(tmp_path, "photos/", {"sea/1.jpg": "a", "sky/1.jpg": "b"})
    with raises(DatasetFormatError, "sea", "question", "ticked") as refused:
        import_answers(folder, options=Options(question=question))
    assert {"question": "positive"} in refused.value.proposes
    tagged = Options(question="tagged")
    write(tmp_path, "photos/", {"None/3.jpg": "c"})
    with raises(DatasetFormatError, "'None'") as refused:
        import_answers(folder, options=tagged)
    assert refused.value.proposes == ({"none": ("None",)},)
    table, _ = import_answers(folder, options=Options(question="tagged", none=("None",)))
    assert table["label"].fillna("").tolist() == ["", "sea", "sky"]
    write(tmp_path, "photos/", {"train/sea/4.jpg": "d"})
    with raises(DatasetFormatError, "train/sea/4.jpg"):
        import_answers(folder, options=tagged)
