import pytest
from tests.importers.reading import changed, filled_counts, masks, read, refused, short, write
from tests.importers.samples import ARGILLA
from tests.refusals import check_names

BOTH = {"absent": ("not_applicable",), "present": ("applicable",)}


def load(folder, content, name="a.json", **options):
    return read("argilla", write(folder, name, content), **options)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.jsonl.gz"])
def test_row_by_row(tmp_path, name):
    table, tally = load(tmp_path, ARGILLA, name, **BOTH)
    assert table == {
        "answer_id": ["1.1", "1.1", "1.1", "2.1"],
        "item": ["r1", "r1", "r1", "r2"],
        "label": ["sea", "city", "sky", "city"],
        "answer": ["no", "no", "yes", "yes"],
        "question": ["named", "named", "named", "asked"],
        "asked_for": [2, 2, 2, None],
        "annotator": ["u1", "u1", "u1", "u2"],
    }
    assert filled_counts(tally) == {
        "records": 2,
        "responses": 4,
        "discarded responses": 1,
        "draft responses": 1,
    }
    answers, found = masks(table, ["sea", "sky", "city"])
    assert answers.question.tolist() == ["named", "asked"]
    assert found["named"] == [[1, 0, 1], [0, 0, 0]]
    assert found["relevant"] == [[0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("question", ["tags", "not_this"])
def test_what_a_question_means_is_asked(tmp_path, question):
    """No form of Argilla is ours, so no name of a question tells."""
    key = f"{question}.responses"
    records = [{"id": 4, key: [["sea"]], "rank.responses": [[{"value": "a"}]]}]
    records += [{"id": 5, key: [[]]}]
    message = refused(tmp_path / "a.json", records)
    assert f"question '{question}' (used 1 times): 'sea'" in message
    assert f"--present {question} --read-as ticked" in message
    table, tally = load(tmp_path, records, absent=(question,))
    assert short(table) == [("1.1", "4", "sea", "no", "named")]
    assert "do not say which responses were submitted" in tally.remarks[0]
    told = {"present": (question,), "question": "ticked", "label_names": ("sea", "sky")}
    table, _ = load(tmp_path, records, **told)
    assert short(table, "item", "label", "answer") == [
        *(("4", "sea", "yes"), ("4", "sky", "no")),
        *(("5", "sea", "no"), ("5", "sky", "no")),  # submitted without a label
    ]


def test_records_without_a_response_and_responses_without_content(tmp_path):
    records = [
        {"id": 1, "tags.responses": None},
        {"id": 2, "tags.responses": [None, []], "tags.responses.status": ["submitted"] * 2},
        {"id": 3, "tags.responses": ["sea"], "tags.responses.status": [None]},
        {"id": 4, "tags.responses": ["sea"], "tags.responses.status": ["submitted"]},
    ]
    table, tally = load(tmp_path, records, absent=("tags",), label_names=("sea", "sky"))
    assert table["item"] == ["4"]
    assert filled_counts(tally) == {
        "records": 4,
        "records without a response": 1,
        "responses": 4,
        "responses without a status": 1,
        "empty responses": 2,
    }


def test_a_draft_beside_a_submitted_response_is_not_read(tmp_path):
    records = changed(ARGILLA, (0, "applicable.responses.status"), ["draft"])
    assert load(tmp_path, records, **BOTH)[0]["label"] == ["sea", "city", "city"]


def test_records_that_are_not_flattened(tmp_path):
    nested = [{"id": "r", "fields": {}, "responses": {"tags": []}, "_server_id": "s"}]
    check_names(refused(tmp_path / "a.json", nested), "to_list", "flatten=True")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("id", None),
        ("applicable.responses", 5),
        ("applicable.responses", [[["sea"]]]),
        ("applicable.responses", [True]),
        ("applicable.responses.users", []),
        ("applicable.responses.users", [[1]]),
        ("applicable.responses.status", "x"),
        ("applicable.responses.status", [{}]),
    ],
)
def test_what_is_wrong_is_told_with_its_record(tmp_path, key, value):
    records = changed(ARGILLA, (1, key), value)
    for name, place in (("a.json", ", record 2"), ("a.jsonl", ", line 2")):
        told = refused(tmp_path / name, records, "argilla", **BOTH)
        assert told.startswith(place)
        assert key in told
    records[1] |= {"id": "r2", "applicable.responses": [[{}]]}  # a ranking holds no labels
    if key == "applicable.responses":
        load(tmp_path, records, **BOTH)


@pytest.mark.parametrize("content", ["[]", "", "[1]", '{"a": 1}', "[", "7"])
def test_files_that_are_broken(tmp_path, content):
    assert refused(tmp_path / "a.json", content, "argilla")
