import copy
import json

import pytest
from tests.importers.reading import changed, filled_counts, masks, read, refused, short, write
from tests.importers.samples import (
    BOTH,
    JSON_MIN,
    LABEL_STUDIO,
    MENUS,
    annotation,
    choices,
    delimited,
    record,
    task,
)
from tests.refusals import check_names, raises

from complabel.answers import Answers
from complabel.errors import DatasetFormatError, InputError
from complabel.importers import Options, import_answers, import_file

TIME = "2026-03-09T22:16:08.728353Z"


def load(folder, content, name="a.json", **options):
    return read("label-studio", write(folder, name, content), **options)


def fails(folder, content, name="a.json", **options):
    return refused(folder / name, content, "label-studio", **options)


def test_two_controls_row_by_row(tmp_path):
    table, tally = load(tmp_path, LABEL_STUDIO, **BOTH)
    assert table == {
        "answer_id": ["10", "10", "10", "11", "12"],
        "item": ["a", "a", "a", "a", "b"],
        "label": ["sea", "city", "sky", "sea", "city"],
        "answer": ["no", "no", "yes", "no", "yes"],
        "question": ["named", "named", "named", "named", "asked"],
        "asked_for": [2, 2, 2, 1, None],
        "annotator": ["7", "7", "7", "b@c.org", "7"],
        "time": [TIME] * 5,
        "seconds": [4.288] * 5,
    }
    assert filled_counts(tally) == {
        "tasks": 3,
        "tasks without an annotation": 1,
        "annotations": 5,
        "cancelled annotations": 1,
        "empty annotations": 1,
        "ground truth annotations": 1,
    }
    first, second = tally.remarks
    assert "--label-names" in first
    assert "read as named" in second
    assert not tally.label_names


def test_a_label_in_both_controls_is_a_contradiction_between_two_answers(tmp_path):
    both = annotation(5, choices("not_this", "sea", "sky"), choices("this", "sea"))
    table, _ = load(tmp_path, [task(1, {"item": "a"}, both)], **BOTH)
    assert short(table) == [
        ("5-absent", "a", "sea", "no", "named"),
        ("5-absent", "a", "sky", "no", "named"),
        ("5-present", "a", "sea", "yes", "asked"),
    ]
    assert "seconds" not in table, "nobody knows how long each of the two answers took"
    answers, _ = masks(table, ["sea", "sky", "city"])
    assert answers.contradictions().tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("lead_time", "seconds"),
    [(2, 2.0), ("3,5", 3.5), (0, None), (-1, None), (None, None), ("x", None), (True, None),
     (float("inf"), None), (10**400, None)],
)  # fmt: skip
def test_the_time_of_an_annotation_is_that_of_its_answer(tmp_path, lead_time, seconds):
    one = annotation(1, choices("not_this", "sea"), lead_time=lead_time)
    table, _ = load(tmp_path, [task(4, {"id": "z"}, one)])
    assert table.get("seconds", [None]) == [seconds]


LABELS = ("sea", "sky", "city")
PLAIN = [
    task(1, {"id": "a"}, annotation(1, choices("choice", "sea", "sky"))),
    task(2, {"id": "b"}, annotation(2, choices("choice", "city"))),
    task(3, {"id": "c"}, annotation(3)),
]
PLAIN_MIN = [
    record(at, {"item": item}, {"choice": chosen})
    for at, item, chosen in ((1, "a", ["sea", "sky"]), (2, "b", ["city"]), (3, "c", []))
]
EXPORTS = {"a.json": PLAIN, "min.json": PLAIN_MIN}
EXPORTS |= {name: delimited(sign, PLAIN_MIN) for name, sign in (("a.csv", ","), ("a.tsv", "\t"))}
# By option: what is known to apply of the items a, b and c, and what is known not to.
MEANINGS = {
    "--present choice --read-as ticked": (["110", "001", "000"], ["001", "110", "111"]),
    "--present choice": (["110", "001"], ["000", "000"]),
    "--present choice --read-as tagged": (["110", "001", "000"], ["000", "000", "000"]),
    "--absent choice": (["000", "000"], ["110", "001"]),
    "--absent choice --read-as ticked": (["001", "110", "111"], ["110", "001", "000"]),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_what_a_choice_means_is_asked_and_each_option_of_the_message_answers_it(tmp_path, name):
    path = write(tmp_path, name, EXPORTS[name])
    with pytest.raises(DatasetFormatError) as caught:
        import_file(path, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    told = str(caught.value)
    assert "'choice' (used 3 times): 'sea', 'sky', 'city'" in told
    offered = [line.split(" --label-names")[0].strip() for line in told.splitlines()]
    assert [line for line in offered if line.startswith("--")] == [*MEANINGS]
    for line, (applies, absent) in MEANINGS.items():
        words = line.replace("--read-as", "question").replace("--", "").split()
        options = dict(zip(*[iter(words)] * 2, strict=True))
        given = {k: (v,) if k in ("absent", "present") else v for k, v in options.items()}
        table, _ = import_answers(path, options=Options(**given, label_names=LABELS))
        answers = Answers.from_table(table, label_names=LABELS)
        assert as_digits(answers.known_relevant) == applies
        assert as_digits(answers.complementary) == absent
        rows = table.groupby("item")["answer"].count().tolist()
        assert "ticked" not in line or rows == [3, 3, 3], "each label is said to apply, or not to"


def as_digits(matrix):
    return ["".join(map(str, row)) for row in matrix.tolist()]


@pytest.mark.parametrize("name", EXPORTS)
def test_what_people_tick_in_our_own_form_applies(tmp_path, name):
    """The export does not have the labels of the form, so they must be given."""
    text = json.dumps(EXPORTS[name]) if "json" in name else EXPORTS[name]
    text = text.replace("choice", "applies").replace("appliess", "choices")
    path = write(tmp_path, name, text)
    table, tally = import_answers(path, options=Options(label_names=LABELS))
    applies, absent = MEANINGS["--present choice --read-as ticked"]
    answers = Answers.from_table(table, label_names=LABELS)
    assert as_digits(answers.known_relevant) == applies
    assert as_digits(answers.complementary) == absent
    assert tally.counts["forms without a tick"] == 1
    with raises(DatasetFormatError, "label_names"):
        import_answers(path)


def test_one_label_in_not_this_was_named_and_several_are_asked_about(tmp_path):
    """Older forms had people tick all labels that do not apply, in a control of the same name."""
    one = task(1, {"id": "a"}, annotation(1, choices("not_this", "sea")))
    table, tally = load(tmp_path, [one], label_names=LABELS)
    assert short(table) == [("1", "a", "sea", "no", "named")]
    assert tally.remarks == []
    two = task(2, {"id": "b"}, annotation(2, choices("not_this", "sea", "sky")))
    assert "--absent not_this --read-as ticked" in fails(tmp_path, [one, two])
    told = {"absent": ("not_this",), "question": "ticked", "label_names": LABELS}
    table, _ = load(tmp_path, [one, two], **told)
    assert short(table, "item", "label", "answer") == [
        *(("a", "sea", "no"), ("a", "sky", "yes"), ("a", "city", "yes")),
        *(("b", "sea", "no"), ("b", "sky", "no"), ("b", "city", "yes")),
    ]


def test_controls_that_do_not_go_together_are_asked_about(tmp_path):
    """Who chose in another control may not have seen the one with ticks."""
    ours = [annotation(2, choices(name, "sea")) for name in ("applies", "not_this")]
    for first, second in (("choice", 0), ("not_this", 0)):
        given = [
            task(1, {"id": "a"}, annotation(1, choices(first, "sea"))),
            task(2, {"id": "b"}, ours[second]),
        ]
        assert "--present" in fails(tmp_path, given, label_names=LABELS)
    table, tally = load(tmp_path, [PLAIN[0], task(2, {"id": "b"}, ours[1])], label_names=LABELS)
    assert table["item"] == ["b"]
    assert tally.remarks == ["Not read: control 'choice'. Give --absent or --present to read."]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"absent": ("choice",), "unselected": "no"}, "unselected='no'"),
        ({"present": ("choice",), "unselected": "yes"}, "unselected='yes'"),
    ],
)
def test_what_was_not_chosen_cannot_be_what_was_chosen(tmp_path, options, told):
    check_names(refused(tmp_path / "a.json", PLAIN, error=InputError, **options), told)


def test_where_all_that_apply_and_all_others_were_ticked_none_may_be_left(tmp_path):
    def form(number, absent, present):
        return task(number, {}, annotation(number, choices("n", *absent), choices("p", *present)))

    told = {"absent": ("n",), "present": ("p",), "question": "ticked", "label_names": LABELS}
    table, _ = load(tmp_path, [form(1, ["sea"], ["sky", "city"])], **told)
    assert short(table, "label", "answer") == [("sea", "no"), ("sky", "yes"), ("city", "yes")]
    assert "'city' was ticked neither" in fails(tmp_path, [form(1, ["sea"], ["sky"])], **told)
    for rest in ("no", "yes"):
        table, _ = load(tmp_path, [form(1, ["sea"], ["sky"])], **told, unselected=rest)
        assert short(table, "label", "answer")[-1] == ("city", rest)


def test_in_a_tree_what_is_above_a_ticked_label_applies_too(tmp_path):
    labels = ("animal", "animal / cat", "animal / dog", "plant")
    told = {"question": "ticked", "label_names": labels}
    one = task(1, {}, annotation(1, choices("tags", ["animal", "cat"], kind="taxonomy")))
    table, _ = load(tmp_path, [one], present=("tags",), **told)
    assert dict(zip(table["label"], table["answer"], strict=True)) == {
        "animal": "yes", "animal / cat": "yes", "animal / dog": "no", "plant": "no"
    }  # fmt: skip
    one = task(1, {}, annotation(1, choices("tags", ["animal"], kind="taxonomy")))
    table, _ = load(tmp_path, [one], absent=("tags",), **told)
    assert dict(zip(table["label"], table["answer"], strict=True)) == {
        "animal": "no", "animal / cat": "no", "animal / dog": "no", "plant": "yes"
    }  # fmt: skip


def test_an_answer_to_something_else_is_no_label(tmp_path):
    """A control may ask whether a photo is usable at all."""
    usable = [
        task(n, {"id": n}, annotation(n, choices("choice", "sea"), choices("usable", "yes")))
        for n in (1, 2)
    ]
    table, tally = load(tmp_path, usable, present=("choice",))
    assert table["label"] == ["sea", "sea"]
    assert tally.remarks[0].startswith("Not read: control 'usable'")
    for options in ({}, {"present": ("usable",)}):
        assert "'usable' people chose 'yes'" in fails(tmp_path, usable, **options)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"absent": ("not_that",)}, "no choice in a control 'not_that'; it has 'not_this' (used"),
        ({"absent": ("this",), "present": ("this",)}, "'this' is given with --absent and with"),
    ],
    ids=["unknown", "both ways"],
)
def test_controls_that_cannot_be_what_was_told(tmp_path, options, part):
    assert part in fails(tmp_path, LABEL_STUDIO, **options)


def test_menus_of_the_tasks_are_what_was_offered(tmp_path):
    table, tally = load(tmp_path, MENUS)
    menu = '["sea", "sky", "city"]'
    assert short(table, "item", "label", "question", "offered", "asked_for") == [
        ("5", "sky", "named", menu, 1),
        ("6", "forest", "asked", '["forest"]', None),  # a menu of one is a yes/no question
    ]
    assert list(tally.label_names) == ["sea", "sky", "city", "forest"]
    assert tally.remarks == []
    answers, found = masks(table, list(tally.label_names))
    assert answers.question.tolist() == ["named", "asked"]
    assert found["named"] == [[0, 1, 0, 0], [0, 0, 0, 0]]
    assert found["offered"] == [[1, 1, 1, 0], [0, 0, 0, 1]]
    assert found["absent"] == [[0, 0, 0, 0], [0, 0, 0, 1]]


def test_random_menus_have_the_chance_with_which_they_were_drawn(tmp_path):
    path = write(tmp_path, "a.json", MENUS)
    labels = ("sea", "sky", "city", "forest", "e", "f")
    for names, chances in (None, [1 / 4, 1 / 4]), (labels, [1 / 20, 1 / 6]):
        told = Options(random_questions=True, label_names=names)
        table, _ = import_answers(path, options=told)
        assert table["probability"].tolist() == chances  # three labels of all; one of all
        assert table["drawn"].tolist() == ["random"] * 2


def test_what_applies_need_not_be_on_the_menu_of_the_other_control(tmp_path):
    given = copy.deepcopy(MENUS)
    given[0]["annotations"][0]["result"].append(choices("this", "wood"))
    given[0]["annotations"].append(annotation(20, choices("this", "wood")))
    table, _ = load(tmp_path, given, **BOTH)
    menu = '["sea", "sky", "city"]'
    assert short(table, "answer_id", "label", "answer", "question", "offered")[:3] == [
        ("10", "sky", "no", "named", menu),
        ("10", "wood", "yes", "named", menu),
        ("20", "wood", "yes", "asked", None),
    ]
    answers, found = masks(table, ["sea", "sky", "city", "forest", "wood"])
    assert answers.question.tolist() == ["named", "asked", "asked"]
    assert found["relevant"][:2] == [[0, 0, 0, 0, 1]] * 2
    told = {**BOTH, "unselected": "no"}
    assert "'wood' was chosen, but the task's options" in fails(tmp_path, given, **told)


@pytest.mark.parametrize(
    "options", [{"a": 1}, "sea,sky", [], [{"text": "sea"}], ["\ud800"], [1, 2]], ids=repr
)
def test_a_field_called_options_that_is_no_menu(tmp_path, options):
    given = [task(1, {"options": options}, annotation(1, choices("not_this", "sea")))]
    table, _ = load(tmp_path, given)
    assert "offered" not in table


def test_what_was_not_chosen_does_not_apply_if_this_is_told(tmp_path):
    labels = ("sea", "sky", "city")
    told = {"present": ("this",), "label_names": labels}
    for more in ({"unselected": "no"}, {"question": "ticked"}):
        table, tally = load(tmp_path, LABEL_STUDIO, **told, **more)
        assert set(table["question"]) == {"ticked"}
        assert dict.fromkeys(table["answer_id"]) == dict.fromkeys(["10", "11", "12", "14"])
        _, found = masks(table, labels)
        assert found["relevant"] == [[0, 1, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]]
        assert found["absent"] == [[1, 0, 1], [1, 1, 1], [1, 1, 0], [1, 1, 1]]
        assert tally.remarks[-1].startswith("Where nothing was ticked, no labels on offer apply")
    message = fails(tmp_path, LABEL_STUDIO, present=("this",), unselected="no")
    assert "give label_names" in message


def test_choices_about_parts_of_an_item_are_counted_and_left_out(tmp_path):
    box = choices("tags", "sky")
    box["value"].update(x=1, y=2, width=3, height=4)
    given = [task(1, {}, annotation(1, box, choices("tags", "sea"), {"type": "relation"}))]
    table, tally = load(tmp_path, given, absent=("tags",))
    assert table["label"] == ["sea"]
    assert tally.counts["choices about parts of an item"] == 1


def test_other_kinds_of_results_are_no_controls(tmp_path):
    text = choices("comment", "what is this", kind="text")
    table, _ = load(tmp_path, [task(1, {}, annotation(1, text, choices("not_this", "sea", "sea")))])
    assert short(table, "label", "asked_for") == [("sea", 1)]


@pytest.mark.parametrize(
    ("data", "options", "items"),
    [
        ([{}, {}], {}, ["1", "2"]),
        ([{"id": "x"}, {"id": 4.0}], {}, ["x", "4"]),
        ([{"id": "x", "item": "y"}, {"id": "z", "item": "w"}], {}, ["y", "w"]),
        ([{"id": "x", "url": "u"}, {"id": "z", "url": "v"}], {"item": "url"}, ["u", "v"]),
        ([{"url": "u"}, {"url": "v"}], {"item": "data.url"}, ["u", "v"]),
        ([{}, {}], {"item": "project"}, ["83", "83"]),
    ],
    ids=["task", "data.id", "data.item", "told", "told with data", "told, of the task"],
)
def test_what_names_the_item(tmp_path, data, options, items):
    given = [
        task(number, each, annotation(number, choices("not_this", "sea")))
        for number, each in enumerate(data, 1)
    ]
    assert load(tmp_path, given, **options)[0]["item"] == items


def test_ids_of_two_kinds_do_not_mix(tmp_path):
    given = [
        task(number, data, annotation(number, choices("tags", "sea")))
        for number, data in ((1, {"id": 2}), (2, {"url": "v"}))
    ]
    assert fails(tmp_path, given).startswith(
        ", record 2, task 2, annotation 1: has no 'id' in its data, which should name the item"
    )


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.tsv", "a.csv.gz"])
def test_json_min_and_tables_row_by_row(tmp_path, name):
    content = {"json": JSON_MIN, "csv": delimited(","), "tsv": delimited("\t")}[name.split(".")[1]]
    table, tally = load(tmp_path, content, name, **BOTH)
    assert table == {
        "answer_id": ["10", "10", "10", "11"],
        "item": ["a", "a", "a", "a"],
        "label": ["sea", "city", "sky", "sea"],
        "answer": ["no", "no", "yes", "no"],
        "question": ["named"] * 4,
        "asked_for": [2, 2, 2, 1],
        "annotator": ["7", "7", "7", "b@c.org"],
        "time": [TIME, TIME, TIME, None],
        "seconds": [4.288, 4.288, 4.288, 2.5],
    }
    assert filled_counts(tally) == {"tasks": 2, "tasks without an annotation": 1, "annotations": 2}


def test_in_json_min_a_field_that_repeats_may_be_a_control(tmp_path):
    """One choice is bare text, as data are; where somebody chose several, the field has a list."""
    records = [each | {"choice": "sea", "image": f"/{n}.jpg"} for n, each in enumerate(PLAIN_MIN)]
    message = fails(tmp_path, records)
    assert "field 'choice' (used 3 times): 'sea'" in message
    assert "field 'image' (used 3 times): '/0.jpg', '/1.jpg', '/2.jpg'" in message
    assert "--present choice --read-as ticked --label-names FILE" in message
    assert load(tmp_path, records, absent=("choice",))[0]["label"] == ["sea"] * 3


@pytest.mark.parametrize("name", ["a.json", "a.csv"])
def test_json_min_writes_taxonomies_and_menus_too(tmp_path, name):
    record = {
        **JSON_MIN[1],
        "not_this": [{"taxonomy": [["animal", "cat"]]}],
        "options": [{"value": "animal", "children": [{"value": "cat"}]}, {"value": "plant"}],
    }
    content = [record]
    if name == "a.csv":
        cells = {key: json.dumps(value) if isinstance(value, list) else value or ""
                 for key, value in record.items()}  # fmt: skip
        quoted = (str(cell).replace('"', '""') for cell in cells.values())
        content = ",".join(cells) + "\r\n" + ",".join(f'"{cell}"' for cell in quoted) + "\r\n"
    table, _ = load(tmp_path, content, name)
    assert short(table, "label", "offered") == [
        ("animal / cat", '["animal", "animal / cat", "plant"]')
    ]


@pytest.mark.parametrize("name", ["a.json", "a.csv"])
def test_an_annotation_that_a_flat_file_repeats_is_refused(tmp_path, name):
    content = delimited(",") if name == "a.csv" else [*JSON_MIN, JSON_MIN[1]]
    content = content if name == "a.json" else content + content.splitlines()[-2] + "\n"
    assert "annotation '11' is also" in fails(tmp_path, content, name, **BOTH)


def test_a_table_says_what_was_cancelled(tmp_path):
    first = "id,tags,annotator,annotation_id,lead_time,was_cancelled"
    text = f"{first}\n1,sea,7,1,2,True\n2,sky,7,2,2,False\n"
    table, tally = load(tmp_path, text, "a.csv", absent=("tags",))
    assert table["label"] == ["sky"]
    assert tally.counts["cancelled annotations"] == 1


ANNOTATIONS = (0, "annotations")
RESULT = (*ANNOTATIONS, 0, "result", 0)


@pytest.mark.parametrize(
    ("path", "value", "part"),
    [
        ((1,), 5, ", record 2: it is 5; it must be an object"),
        ((1, "data"), None, ", record 2: data is null; it must be an object"),
        ((1, "data", "item"), [1], ", record 2, task 2, annotation 1: item is a list of 1"),
        ((1, "data", "item"), " ", ": item is ' '; it must not be empty"),
        (ANNOTATIONS, {}, ", record 1: annotations is an object; it must be a list"),
        ((*ANNOTATIONS, 0), 99, ", record 1: annotations.0 is 99; it must be an object"),
        ((*ANNOTATIONS, 0, "result"), "x", "annotations.0.result is 'x'; it must be a list"),
        ((*RESULT, "from_name"), 1.5, "annotation 1: from_name is 1.5"),
        ((*RESULT, "value", "choices"), "sea", "control 'not_this': choices is 'sea'; it must be"),
        ((*RESULT, "value", "choices"), [[]], "choices.0 is a list of 0"),
        ((*RESULT, "value", "choices"), [["sea", ["sky"]]], "choices.0 is a list of 2"),
        ((*ANNOTATIONS, 0, "completed_by"), [7], "annotations.0.completed_by is a list of 1"),
        ((*ANNOTATIONS, 0, "id"), 11, ", record 1, task 1, annotation 2: annotation '11' is also "),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith((",", ":")) else "",
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, path, value, part):
    assert part in fails(tmp_path, changed(LABEL_STUDIO, path, value), **BOTH)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("[]", "has no tasks"),
        ("[", "is not valid JSON"),
        ('[{"id": 1' + "0" * 5000 + "}]", "is not valid JSON (Exceeds the limit"),
        (b'[{"id": "\xff"}]', "is not valid JSON"),
        ("", "the file is empty"),
        ("a,b\n1,2\n", "is not an export of Label Studio"),
        ('[{"id": 1}]', "has no data"),
        ('[{"id": 1, "data": {}}]', "has no annotations"),
        ('[{"id": 1, "data": {}, "annotations": []}]', "has no choice in any control: nothing"),
        ('[{"annotation_id": 1}, {}]', ", record 2: has no annotation_id"),
        ('[{"annotation_id": null, "x": {"choices": ["a"]}}]', "has choices, but no annotation_id"),
        ('[{"annotation_id": 1}]', "has no fields with labels"),
        ("annotation_id,annotator,lead_time\n", "has no tasks"),
        ("annotation_id,annotator,lead_time\n1,2\n", ", line 2: found 2 values for 3"),
        ("annotation_id,annotator,lead_time,x,x\n", "2 columns are named 'x'"),
        (b"annotation_id,annotator,lead_time\n1,2,\xff\n", "is not UTF-8"),
        (
            'annotation_id,annotator,lead_time,x\n1,2,3,"{""choices"": [""a"""\n',
            ", row 1: is not valid JSON",
        ),
    ],
    ids=lambda value: "" if isinstance(value, bytes) or len(value) > 60 else value.strip(),
)
def test_files_that_are_broken(tmp_path, content, part):
    assert part in fails(tmp_path, content)


def test_annotations_without_ids_have_their_place_as_one(tmp_path):
    nameless = annotation(1, choices("tags", "sea"))
    del nameless["id"]
    given = [task(9, {}, nameless, {**nameless, "unique_id": "u"})]
    assert load(tmp_path, given, absent=("tags",))[0]["answer_id"] == ["9.1", "u"]


def test_tasks_of_an_old_version(tmp_path):
    old = {"id": 1, "data": {}, "completions": [annotation(1, choices("tags", "sea"))]}
    old["completions"].append({**old["completions"][0], "id": 2, "skipped": True})
    table, tally = load(tmp_path, [old], absent=("tags",))
    assert table["label"] == ["sea"]
    assert tally.counts["cancelled annotations"] == 1
