import pytest
from tests.importers.reading import filled_counts, masks, read, refused, short, write
from tests.importers.samples import HASHES, PRODIGY, PRODIGY_CHOICE, choice
from tests.refusals import check_names

from complabel.errors import InputError
from complabel.importers import Options, import_answers


def load(folder, content, **options):
    return read("prodigy", write(folder, "a.jsonl", content), **options)


def test_binary_tasks_row_by_row(tmp_path):
    table, tally = load(tmp_path, PRODIGY)
    assert table == {
        "answer_id": ["1", "2"],
        "item": ["-12", "-12"],
        "label": ["sea", "sky"],
        "answer": ["yes", "no"],
        "question": ["asked", "asked"],
        "annotator": ["set-anna", "set-bob"],
    }
    assert filled_counts(tally) == {"tasks": 3, "ignored tasks": 1}
    assert list(tally.label_names) == ["sea", "sky"]
    (remark,) = tally.remarks
    assert "--item" in remark
    _, found = masks(table, ["sea", "sky"])
    assert found["relevant"] == [[1, 0], [0, 0]]
    assert found["absent"] == [[0, 0], [0, 1]]


def test_choices_row_by_row(tmp_path):
    table, tally = load(tmp_path, PRODIGY_CHOICE, unselected="unknown", question="named")
    assert short(table, "answer_id", "label", "answer", "question", "asked_for") == [
        ("1", "sea", "yes", "asked", None),
        ("2", "sky", "no", "named", 2),
        ("2", "city", "no", "named", 2),
        ("3", "city", "yes", "asked", None),
    ]
    assert set(table["offered"]) == {'["sea", "sky", "city"]'}
    counts = {"tasks": 5, "ignored tasks": 1, "rejected menus": 0, "tasks without a selection": 1}
    assert dict(tally.counts) == counts
    assert list(tally.label_names) == ["sea", "sky", "city"]
    answers, found = masks(table, ["sea", "sky", "city"])
    assert answers.question.tolist() == ["asked", "named", "asked"]
    assert found == {
        "named": [[0, 0, 0], [0, 1, 1], [0, 0, 0]],
        "absent": [[0, 0, 0]] * 3,
        "relevant": [[1, 0, 0], [0, 0, 0], [0, 0, 1]],
        "offered": [[1, 0, 0], [0, 0, 0], [0, 0, 1]],  # all three of three is every label
    }


@pytest.mark.parametrize("style", ["single", "multiple"])
def test_what_was_not_selected_is_asked_about(tmp_path, style):
    tasks = [choice("accept", ["sea"], style), choice("accept", [], style)]
    message = refused(tmp_path / "a.jsonl", tasks)
    assert message.startswith(", line 1: was accepted with 1 of 3 options selected")
    assert "unselected='no'" in message
    assert "unselected='unknown'" in message
    table, _ = load(tmp_path, tasks, unselected="no")
    assert short(table, "answer_id", "label", "answer", "question") == [
        *(("1", label, "no", "ticked") for label in ("sky", "city")),
        ("1", "sea", "yes", "ticked"),
        *(("2", label, "no", "ticked") for label in ("sea", "sky", "city")),
    ]


def test_a_rejected_menu_says_nothing_unless_it_is_told_what(tmp_path):
    tasks = [choice("reject", ["sky", "city"]), PRODIGY[0]]
    table, tally = load(tmp_path, tasks)
    assert table["label"] == ["sea"]
    assert tally.counts["rejected menus"] == 1
    assert any("--read-as named" in remark for remark in tally.remarks)
    assert load(tmp_path, tasks, question="named")[0]["label"] == ["sky", "city", "sea"]
    told = refused(tmp_path / "a.jsonl", tasks, error=InputError, question="ticked")
    assert "question='ticked'" in told


def test_options_with_numbers_are_called_by_their_text(tmp_path):
    options = [{"id": 1, "text": "serious"}, {"id": 2, "text": "sad"}, {"id": 3}]
    table, _ = load(tmp_path, [choice("reject", [1, 3], options=options)], question="named")
    assert short(table, "label", "offered") == [
        ("serious", '["serious", "sad", "3"]'),
        ("3", '["serious", "sad", "3"]'),
    ]


def test_a_menu_of_one_that_is_rejected_is_a_no(tmp_path):
    table, _ = load(tmp_path, [choice("reject", ["a"], options=[{"id": "a", "text": "A"}])])
    assert short(table, "label", "answer", "question", "asked_for") == [("a", "no", "asked", None)]


def test_random_questions_have_the_chance_with_which_they_were_drawn(tmp_path):
    def chances(content, **options):
        told = Options(random_questions=True, **options)
        table, _ = import_answers(write(tmp_path, "a.jsonl", content), options=told)
        assert (table["drawn"].notna() == table["probability"].notna()).all()
        return (
            table["probability"].astype(object).where(table["probability"].notna(), None).tolist()
        )

    assert chances(PRODIGY) == [1 / 2, 1 / 2]
    assert chances(PRODIGY, label_names=("sea", "sky", "city", "d")) == [1 / 4, 1 / 4]
    few = [{"id": "sea"}, {"id": "sky"}]
    mixed = [
        choice("reject", ["sea"], options=few),
        choice("accept", ["sea"], options=few),
        choice("accept", ["sea"], "single"),
    ]
    assert chances(mixed, question="named", unselected="unknown") == [
        1 / 3,  # a menu of two, of three labels
        *[None] * 2,  # what was volunteered was not drawn
    ]
    assert chances(mixed[2:], question="named", unselected="no") == [1.0] * 3


@pytest.mark.parametrize(
    ("more", "options", "item"),
    [
        ({"item": "x7"}, {}, "x7"),
        ({}, {}, "-12"),
        ({"url": "u"}, {"item": "url"}, "u"),
        ({"meta": {"url": 3}}, {"item": "url"}, "3"),
        ({"meta": {"url": "u"}}, {"item": "meta.url"}, "u"),
    ],
    ids=["item", "hash", "told", "told, in meta", "told with meta"],
)
def test_what_names_the_item(tmp_path, more, options, item):
    assert load(tmp_path, [{**PRODIGY[0], **more}], **options)[0]["item"] == [item]


def test_one_note_proposes_a_field_of_files_only_if_all_tasks_have_one(tmp_path):
    texts = [f"Ticket {n}: see docs/page{n}.md and/or ask. Bye {n}" for n in range(50)]
    tasks = [{**PRODIGY[0], "text": text, "path": f"x/p{n}.jpg"} for n, text in enumerate(texts)]
    tasks[0]["text"], tasks[1]["text"] = "docs/page.md", "other.txt"
    (note,) = load(tmp_path, tasks)[1].remarks
    assert "such as 'p0.jpg', give --item-file 'path'" in note
    for path in ("p.org", "a.b", 7, "y/p0.jpg", "x/my p.jpg", "https://host/thread.5"):
        tasks[-1]["path"] = path
        (note,) = load(tmp_path, tasks)[1].remarks
        assert "--item-file" not in note
        assert "path" in note.partition("--item; it has ")[2]


def test_ids_of_two_kinds_do_not_mix(tmp_path):
    message = refused(tmp_path / "a.jsonl", [{**PRODIGY[0], "item": "a"}, PRODIGY[1]])
    assert message.startswith(", line 2: has no 'item', which should name the item")


def without(key):
    return {name: value for name, value in PRODIGY[0].items() if name != key}


@pytest.mark.parametrize(
    ("task", "told"),
    [
        (without("answer"), "answer"),
        ({**PRODIGY[0], "answer": "yes"}, "answer is 'yes'"),
        (without("label"), "neither a label nor options"),
        ({**PRODIGY[0], "label": " "}, "label is ' '"),
        (without("_input_hash"), "_input_hash"),
        ({**PRODIGY[0], "_annotator_id": {"a": 1}}, "_annotator_id is an object"),
        (choice("accept", ["wood"]), "accept has 'wood', which is not the id of an option"),
        (choice("accept", "sea"), "accept is 'sea'"),
        (choice("accept", [], options=[]), "empty list of options"),
        (choice("accept", [], options=["sea"]), "options.0 is 'sea'"),
        (choice("accept", [], options=[{"text": "a"}]), "options.0"),
        (choice("accept", [], options=[{"id": 1}, {"id": "1"}]), "the option '1' twice"),
        (choice("accept", ["sea"], config=3), "config is 3; it must be an object"),
        (7, "it is 7; it must be an object"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, task, told):
    message = refused(tmp_path / "a.jsonl", [PRODIGY[0], task], "prodigy")
    assert message.startswith(", line 2: ")
    assert told in message


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", ()),
        ("\n \n", ()),
        ('{"a"\n', "line 1"),
        ("[" * 100_000, ()),
        ('{"answer": 1, "answer": 2}', "key 'answer'"),
    ],
    ids=["empty", "blank", "cut off", "deep", "repeated key"],
)
def test_files_that_are_broken(tmp_path, content, told):
    check_names(refused(tmp_path / "a.jsonl", content, "prodigy"), told)


def test_a_line_that_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr("complabel.importers._format.MAX_LINE", 20)
    check_names(refused(tmp_path / "a.jsonl", PRODIGY, "prodigy"), "line 1", "20 bytes")


def test_packed_files_with_a_byte_order_mark(tmp_path):
    content = '\ufeff{"label": "sea", "_input_hash": 1, "answer": "accept"}\r\n\r\n'
    path = write(tmp_path, "a.jsonl.gz", content)
    assert short(read("prodigy", path)[0]) == [("1", "1", "sea", "yes", "asked")]


def test_pieces_go_together_to_a_large_table(tmp_path, monkeypatch):
    monkeypatch.setattr("complabel.importers._format.ROWS_AT_ONCE", 7)
    line = {"label": "sea", **HASHES, "answer": "accept"}
    table, _ = load(tmp_path, [line] * 50)
    assert table["answer_id"] == [str(n) for n in range(1, 51)]
