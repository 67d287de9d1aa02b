"""The forms that labelstudio-config writes, filled in, exported in three formats, and imported."""

import csv
from xml.etree import ElementTree

import pytest
from tests.importers.reading import refused, write
from tests.importers.samples import annotation, choices, delimited, record, task
from tests.refusals import check_names

from complabel.answers import Answers
from complabel.importers import Options, detect, import_answers, label_studio_config

LABELS = ("sea, open", 'the "old" town', "no", "été")
FORMATS = ("a.json", "min.json", "a.csv", "semicolons.csv")


def export(folder, name, tasks, filled):
    """Write tasks as Label Studio exports them; ``filled`` has the choices by control."""
    given = [
        (data, {control: chosen for control, chosen in form.items() if chosen})
        for data, form in zip(tasks, filled, strict=True)
    ]
    if name == "a.json":
        results = [[choices(control, *form[control]) for control in form] for _, form in given]
        content = [
            task(number, data, annotation(1000 + number, *chosen))
            for number, ((data, _), chosen) in enumerate(zip(given, results, strict=True), 1)
        ]
        return write(folder, name, content)
    records = [record(number, *each) for number, each in enumerate(given, 1)]
    if name == "min.json":
        return write(folder, name, records)
    sign = {"a.csv": ",", "semicolons.csv": ";"}[name]
    return write(folder, name, delimited(sign, records, csv.QUOTE_MINIMAL))


def controls_of(question):
    """The control names and values in the form that labelstudio-config writes."""
    view = ElementTree.fromstring(label_studio_config(LABELS, question=question))
    return {each.get("name"): [c.get("value") for c in each] for each in view.iter("Choices")}


@pytest.mark.parametrize("name", FORMATS)
def test_questions_that_nobody_answered_are_left_out(tmp_path, name):
    """A known answer that came with a task is no answer of a person."""
    tasks = [{"item": n, "label": "sea", "answer": word} for n, word in enumerate(["", "", "yes"])]
    filled = [{"answer": ["No"]}, {"answer": []}, {"answer": ["skip"]}]
    path = export(tmp_path, name, tasks, filled)
    found, tally = import_answers(path)
    assert found[["item", "answer"]].to_numpy().tolist() == [["0", "no"], ["2", "unsure"]]
    assert tally.counts["empty annotations"] == 1


def test_a_known_answer_is_read_only_where_somebody_annotated(tmp_path):
    """Questions of complabel ask come with answers that were known before."""
    header = "id,answer,label,item,annotator,annotation_id,lead_time\n"
    path = write(tmp_path, "a.csv", f"{header}1,yes,sea,a,7,10,1\n2,no,sea,b,,,\n")
    found, tally = import_answers(path)
    assert found["item"].tolist() == ["a"]
    assert tally.counts["tasks without an annotation"] == 1


# By kind of question: choices by control, rows (label, answer, question).
SAID = {
    "named": (
        [{"not_this": ["été"]}, {"not_this": ["no"]}],
        [("été", "no", "named"), ("no", "no", "named")],
    ),
    "ticked": (
        [{"applies": ["sea, open", "no"]}, {"applies": []}],
        [
            *((label, "yes", "ticked") for label in ("sea, open", "no")),
            *((label, "no", "ticked") for label in ('the "old" town', "été", *LABELS)),
        ],
    ),
    "positive": (
        [{"one_that_applies": ["été"]}, {"one_that_applies": ["no"]}],
        [("été", "yes", "positive"), ("no", "yes", "positive")],
    ),
    "both": (
        [{"not_this": ["no"], "this": ["été", "sea, open"]}, {"not_this": ["été"], "this": []}],
        [
            ("no", "no", "named"),
            ("été", "yes", "named"),
            ("sea, open", "yes", "named"),
            ("été", "no", "named"),
        ],
    ),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("question", SAID)
def test_the_other_forms_come_back_without_saying_what_was_asked(tmp_path, question, name):
    filled, rows = SAID[question]
    for control, offered in controls_of(question).items():
        assert all(set(form[control]) <= set(offered) for form in filled)
    tasks = [{"image": f"/{n}.jpg", "item": f"{n}.jpg"} for n in range(len(filled))]
    path = export(tmp_path, name, tasks, filled)
    found, tally = import_answers(path, options=Options(label_names=LABELS))
    assert tally.counts["forms without a tick"] == (question == "ticked")
    said = found[["label", "answer", "question"]].astype(object).where(found.notna(), None)
    assert list(map(tuple, said.to_numpy())) == rows
    assert set(found["item"]) == {task["item"] for task in tasks}
    assert Answers.from_table(found, label_names=LABELS).n_answers == len(filled)


YES = [{"answer": ["yes"]}, {"answer": ["no"]}]
ABOUT_SEA = [{"item": "a", "label": "sea"}, {"item": "b", "label": "sea"}]


@pytest.mark.parametrize(
    ("tasks", "filled", "options", "told"),
    [
        ([{"item": "a"}, {"item": "b"}], YES, {}, ("'answer'", "'label'")),
        ([{"item": "a"}, {"item": "b"}], YES, {"absent": ("answer",)}, ("'answer'", "'label'")),
        ([{"item": "a"}, {"item": "b"}], YES, {"label_names": ("sea",)}, ("'answer'", "'label'")),
        (ABOUT_SEA, YES, {"absent": ("answer",)}, "'answer'"),
        (ABOUT_SEA, YES, {"label_names": ("Sea",)}, ("'sea'", "'Sea'")),
        ([ABOUT_SEA[0], {"item": "b", "label": " "}], YES, {}, "'answer'"),
        ([ABOUT_SEA[0] | {"probability": 2}, ABOUT_SEA[1]], YES, {}, "probability"),
        ([ABOUT_SEA[0] | {"question": "Named"}, ABOUT_SEA[1]], YES, {}, "'Named'"),
        ([ABOUT_SEA[0] | {"offered": "[1.5]"}, ABOUT_SEA[1]], YES, {}, "offered.0"),
        (
            ABOUT_SEA,
            [{"answer": ["yes", "no"]}, {"answer": ["no"]}],
            {},
            ("'answer'", "'yes'", "'no'"),
        ),
    ],
)
@pytest.mark.parametrize("name", FORMATS)
def test_a_form_that_is_not_understood_is_an_error(tmp_path, name, tasks, filled, options, told):
    path = export(tmp_path, name, tasks, filled)
    check_names(refused(path, None, **options), told)


def test_other_choices_beside_yes_and_no_are_not_understood(tmp_path):
    filled = [{"answer": ["yes"]}, {"answer": ["perhaps"]}]
    path = export(tmp_path, "a.json", ABOUT_SEA, filled)
    check_names(refused(path, None), "'answer'", "'perhaps'")
    # Languages have such codes; no task has a label.
    codes = export(tmp_path, "a.json", [{"item": 1}] * 2, [{"tags": ["no"]}, {"tags": ["en"]}])
    found, _ = import_answers(codes, options=Options(present=("tags",)))
    assert found["label"].tolist() == ["no", "en"]


def test_yes_and_no_are_labels_if_they_are_listed(tmp_path):
    path = export(tmp_path, "a.json", ABOUT_SEA, YES)
    told = {"label_names": ("yes", "no", "perhaps")}
    check_names(refused(path, None, **told), "--absent answer")
    found, _ = import_answers(path, options=Options(absent=("answer",), **told))
    assert found["label"].tolist() == ["yes", "no"]
    assert set(found["question"]) == {"named"}


@pytest.mark.parametrize("name", FORMATS)
def test_an_answer_beside_other_controls(tmp_path, name):
    filled = [{"answer": ["yes"], "also": ["city", "sky"]}, {"answer": ["no"]}]
    path = export(tmp_path, name, ABOUT_SEA, filled)
    found, tally = import_answers(path)
    assert found["answer"].tolist() == ["yes", "no"]
    assert tally.remarks == ["Not read: control 'also'. Give --absent or --present to read."]
    found, tally = import_answers(path, options=Options(present=("also",)))
    rows = found[["answer_id", "label", "answer"]].to_numpy().tolist()
    assert rows == [
        ["1001", "city", "yes"],
        ["1001", "sky", "yes"],
        ["1001-asked", "sea", "yes"],
        ["1002-asked", "sea", "no"],
    ]


def test_random_questions_without_a_chance(tmp_path):
    path = export(tmp_path, "a.json", ABOUT_SEA, YES)
    options = Options(random_questions=True, label_names=("sea", "sky", "city", "fog"))
    assert import_answers(path, options=options)[0]["probability"].tolist() == [0.25, 0.25]


def test_an_old_csv_is_recognized_by_fewer_columns(tmp_path):
    text = "annotation_id,answer,created_at,item,label\n1,yes,2026,a,sea\n"
    path = write(tmp_path, "a.csv", text)
    assert detect(path).name == "label-studio"
    assert import_answers(path)[0]["label"].tolist() == ["sea"]


def test_who_chooses_more_labels_than_were_asked_for_is_refused_at_the_form(tmp_path):
    asked = {"item": "a", "question": "named", "offered": ["sea", "city", "sky"], "asked_for": 1}
    path = export(tmp_path, "a.json", [asked], [{"not_this": ["sea", "sky"]}])
    check_names(refused(path, None), "2 labels", "1")
