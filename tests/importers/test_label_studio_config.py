"""Label Studio's labelling configuration."""

from xml.etree import ElementTree

import pytest
from tests.refusals import raises

from complabel.errors import InputError
from complabel.importers import label_studio_config

NAMES = ["sea", 'a "quoted" <b>', "Ähre & Weizen"]


def controls(text):
    """The choices of each control."""
    return {
        control.get("name"): [choice.get("value") for choice in control]
        for control in ElementTree.fromstring(text).iter("Choices")
    }


@pytest.mark.parametrize(("question", "name"), [("named", "not_this"), ("ticked", "applies")])
def test_names_come_back_as_they_are(question, name):
    assert controls(label_studio_config(NAMES, question=question)) == {name: NAMES}


def test_one_may_be_ruled_out_and_others_said_to_apply():
    text = label_studio_config(NAMES, question="both")
    assert controls(text) == {"not_this": NAMES, "this": NAMES}
    how = [control.get("choice") for control in ElementTree.fromstring(text).iter("Choices")]
    assert how == ["single", "multiple"]


def test_a_question_about_one_label_takes_it_from_the_task():
    text = label_studio_config([], question="asked", show="text", field="body")
    assert controls(text) == {"answer": ["yes", "no", "unsure"]}
    root = ElementTree.fromstring(text)
    assert root.find("Text").get("value") == "$body"
    assert [header.get("value") for header in root.iter("Header")][1] == "$label"


def test_one_key_answers_a_question_about_one_label():
    root = ElementTree.fromstring(label_studio_config([], question="asked"))
    keys = {choice.get("value"): choice.get("hotkey") for choice in root.iter("Choice")}
    assert keys == {"yes": "y", "no": "n", "unsure": "s"}


@pytest.mark.parametrize(
    ("question", "name", "how"),
    [("named", "not_this", "single"), ("ticked", "applies", "multiple")],
)
def test_menus_of_tasks(question, name, how):
    root = ElementTree.fromstring(label_studio_config([], question=question, show="url"))
    (control,) = root.iter("Choices")
    found = [control.get(each) for each in ("name", "choice", "value", "toName")]
    assert found == [name, how, "$options", "item"]
    page = root.find("HyperText")
    assert (page.get("value"), page.get("valueType")) == ("$url", "url")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], ()),
        (["sea", " "], ("label 1", "' '")),
        (["sea", "sky", "sea"], "'sea'"),
        (["sea\x00"], "label 'sea\\x00'"),
    ],
    ids=["none", "blank", "repeated", "control character"],
)
def test_bad_labels_are_refused(names, message):
    with raises(InputError, message):
        label_studio_config(names, question="both")


def test_unknown_questions_are_refused():
    with raises(InputError, "question"):
        label_studio_config(NAMES, question="menu")
