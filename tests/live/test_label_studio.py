"""The requests are those of Label Studio 1.23.2 (label_studio/ml/api_connector.py)."""

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient
from tests.refusals import raises

from complabel.features import Encoder
from complabel.importers import FormError
from complabel.live._model import Model, ModelFile
from complabel.live._prediction import control_for, predicting
from complabel.methods import ComplementaryRidgeClassifier

LABELS = ["sea", "sky", "sun"]
X = np.random.default_rng(0).normal(size=(40, 4))
EXCLUDED = np.eye(3, dtype=int)[np.add(X[:, 0] > 0, X[:, 1] > 0, dtype=int)]
ITEMS = [f"{row}.jpg" for row in range(len(X))]


def choices(*values, name="this", more='choice="multiple"'):
    listed = "".join(f"<Choice {value}/>" for value in values)
    return f'<Choices name="{name}" toName="item" {more}>{listed}</Choices>'


def form(*controls, shown='<Image name="item" value="$image"/>'):
    return f"<View>{shown}{''.join(controls)}</View>"


SEA, SKY, SUN, DOG = (f'value="{label}"' for label in (*LABELS, "dog"))
FORM = form(choices(SUN, DOG, SEA, SKY))


@pytest.fixture(scope="module")
def classifier():
    return ComplementaryRidgeClassifier().fit(X, pd.DataFrame(EXCLUDED, columns=LABELS))


@pytest.fixture(scope="module")
def file(classifier, tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "m.safetensors"
    classifier.save(path)
    return ModelFile(path, items=lambda *_: (ITEMS, X))


@pytest.fixture(scope="module")
def client(file):
    with TestClient(predicting(file, most_rows=500)) as client:
        yield client


@pytest.fixture
def ask(client):
    def predict(tasks, label_config=FORM):
        asked = {"tasks": tasks, "project": "1.1763", "label_config": label_config}
        asked["params"] = {"login": None, "password": None, "context": None}
        return client.post("/predict", json=asked)

    return predict


def task(number, **data):
    return {"id": number, "data": data, "annotations": [], "predictions": [], "project": 1}


def test_each_task_gets_the_labels_of_its_item(ask, classifier, file):
    rows = [5, 2, 7, 3]
    tasks = [task(100 + row, image=f"https://example.org/{row}", item=ITEMS[row]) for row in rows]
    tasks.insert(2, task(9, image="https://example.org/new", item="new.jpg"))
    results = ask(tasks).json()["results"]
    unknown = results.pop(2)
    assert unknown == {"result": [], "score": None, "model_version": file.now.version}
    predicted, chances = classifier.predict(X[rows]), classifier.predict_proba(X[rows])
    assert predicted.any()
    for found, row, chance in zip(results, predicted, chances, strict=True):
        chosen = [label for label, applies in zip(LABELS, row, strict=True) if applies]
        regions = [(each["from_name"], each["to_name"], each["type"]) for each in found["result"]]
        assert regions == [("this", "item", "choices")] * bool(chosen)
        assert [each["value"] for each in found["result"]] == [{"choices": chosen}] * bool(chosen)
        sure = [p if applies else 1 - p for p, applies in zip(chance, row, strict=True)]
        assert found["score"] == pytest.approx(min(sure))
        assert found["model_version"] == file.now.version


def test_a_form_for_one_label_gets_the_most_probable(ask, classifier):
    tasks = [task(row, item=item) for row, item in enumerate(ITEMS)]
    results = ask(tasks, form(choices(SEA, SUN, more=""))).json()["results"]
    predicted, chances = classifier.predict(X)[:, ::2], classifier.predict_proba(X)[:, ::2]
    both = predicted.all(axis=1)
    assert both.any()
    for row in range(len(X)):
        chosen = [label for each in results[row]["result"] for label in each["value"]["choices"]]
        if both[row]:
            assert chosen == [LABELS[::2][chances[row].argmax()]]
        else:
            assert chosen == [x for x, y in zip(LABELS[::2], predicted[row], strict=True) if y]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ({"id": "3.jpg"}, None),
        ({"id": "x", "item": "3.jpg"}, None),
        ({}, "3.jpg"),
        ({"item": 3}, 3),
    ],
    ids=["id", "item before id", "the task's own id", "a number is no name of these"],
)
def test_how_a_task_names_its_item(ask, data, name):
    (found,) = ask([task(name or 12, **data)]).json()["results"]
    assert (found["score"] is not None) == (name != 3)


def test_setup_tells_the_version_and_loads_nothing(classifier, tmp_path):
    classifier.save(tmp_path / "m.safetensors")
    file = ModelFile(tmp_path / "m.safetensors", items=lambda *_: (ITEMS, X))
    (tmp_path / "m.safetensors").write_bytes(b"")  # whoever loads it from now on has a problem
    asked = {"project": "1.1763", "schema": FORM, "hostname": "http://localhost:8080"}
    asked |= {"access_token": "abc", "extra_params": None}
    client = TestClient(predicting(file, most_rows=500))  # nothing looks for a new model
    answer = client.post("/setup", json=asked)
    assert answer.json() == {"model_version": file.now.version}
    assert client.get("/health").json()["status"] == "UP"
    assert file.problem is None


def test_events_are_taken(client):
    for action in ("ANNOTATION_CREATED", "ANNOTATION_UPDATED", "START_TRAINING", "PROJECT_UPDATED"):
        event = {"action": action, "project": {"id": 1}, "task": {}, "annotation": {}}
        assert client.post("/webhook", json=event).status_code == 201
    assert client.post("/webhook", content=b"no").status_code == 400


def test_choices_are_told_as_the_form_tells_them(classifier):
    model = Model(classifier, "v", X=X)
    given = form(choices('value="At the sea" alias="sea"', SKY, 'value="sun" alias="star"'))
    assert control_for(model, given).choices == {"sea", "sky", "star"}


def test_the_control_with_most_of_the_labels_is_filled(classifier):
    model = Model(classifier, "v", X=X)
    weather = choices(SKY, 'value="rain"', name="weather")
    parts = choices(SEA, SKY, SUN, name="parts", more='perRegion="true"')
    assert control_for(model, form(weather, choices(SEA, SKY), parts)).name == "this"


BOMB = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>' + FORM.replace("dog", "&b;")
OUTSIDE = '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + FORM.replace("dog", "&a;")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (None, "no form"),
        ("<View", "not XML"),
        (FORM + " " * 1_000_000, "more than 1,000,000 characters"),
        (BOMB, "DOCTYPE"),
        (OUTSIDE, "DOCTYPE"),
        (FORM.replace("dog", "&b;"), "not XML"),
        (form(), "offers a label"),
        (form(choices(DOG, name="pets")), "'sea'; its controls with choices: 'pets'"),
        (form(choices(SEA, more='perRegion="true"')), "offers a label"),
        (form(choices(SEA), choices(SKY, name="that")), "'this' and 'that'"),
        (form(choices(SEA, SKY, name="not_this"), choices(SEA, SKY)), "in its control 'not_this'"),
        (form(choices('value="yes"', 'value="no"', name="answer")), "offers a label"),
        (form(choices(name="applies", more='value="$options"')), "in its control 'applies'"),
        (form(choices(name="mine", more='value="$options"')), "offers a label"),
    ],
    ids=range(14),
)
def test_forms_without_a_place_for_the_labels_are_refused(client, ask, caplog, given, told):
    for answer in (client.post("/setup", json={"schema": given}), ask([task(1, item="1")], given)):
        assert answer.status_code == 400
        assert told in answer.json()["error"]
    assert told in caplog.text  # Label Studio shows only the status


def test_a_task_without_data_is_refused(ask):
    for wrong in ({"id": 1}, {"data": ["a"]}, 7):
        answer = ask([task(1, item="1"), wrong])
        assert answer.status_code == 400
        assert "data" in answer.json()["error"]


def test_a_model_of_texts_reads_what_the_form_shows(classifier, tmp_path):
    def encode(texts):
        return np.array([[len(text), 0, 0, 1] for text in texts], dtype=float)

    model = Model(classifier, "v", encoder=Encoder("text", "lengths", "by test", encode))
    shown = '<Text name="item" value="$body"/><Text name="other" value="$title"/>'
    given = form(choices(SEA, SKY, SUN), shown=shown)
    assert control_for(model, given).text == "body"
    classifier.save(tmp_path / "m.safetensors")
    file = ModelFile(tmp_path / "m.safetensors", items=lambda *_: (ITEMS, X))
    file.now = model
    tasks = [task(1, body="abc", title="no"), task(2, title="no")]
    tasks += [task(3, body=""), task(4, body=5)]
    client = TestClient(predicting(file, most_rows=5))
    results = client.post("/predict", json={"tasks": tasks, "label_config": given}).json()[
        "results"
    ]
    chances = classifier.predict_proba(np.array([[3.0, 0, 0, 1], [0, 0, 0, 1]]))
    expected = [min(max(p, 1 - p) for p in row) for row in chances]
    scores = [each["score"] for each in results]
    assert scores == [pytest.approx(expected[0]), None, pytest.approx(expected[1]), None]
    with raises(FormError, "'this'", "'item'"):
        control_for(model, FORM)


def test_without_features_and_texts_nothing_can_be_predicted(classifier):
    with raises(FormError, "--features"):
        control_for(Model(classifier, "v"), FORM)
