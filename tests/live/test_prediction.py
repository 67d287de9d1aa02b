import asyncio
import base64
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time

import httpx
import numpy as np
import pandas as pd
import pytest
from PIL import Image
from starlette.testclient import TestClient
from tests.features.pictures import write_pictures
from tests.refusals import raises

from complabel.answers import ClassPerRowWarning
from complabel.features import Encoder, encoder_for, picture_features
from complabel.live._model import Answer, Model, ModelFile, answers_to
from complabel.live._prediction import predicting, question_of
from complabel.live._server import guarded
from complabel.methods import ComplementaryRidgeClassifier

LABELS = ["sea", "sky", "sun"]
NPY = "application/x-npy"
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
EXCLUDED = np.eye(3, dtype=int)[np.add(X[:, 0] > 0, X[:, 1] > 0, dtype=int)]


def fitted(alpha=1.0, columns=None):
    features = pd.DataFrame(X, columns=columns) if columns else X
    answers = pd.DataFrame(EXCLUDED, columns=LABELS)
    return ComplementaryRidgeClassifier(alpha=alpha).fit(features, answers)


@pytest.fixture(scope="module")
def classifier():
    return fitted()


@pytest.fixture
def path(tmp_path, classifier):
    classifier.save(tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


@pytest.fixture
def client(path):
    items = [f"{row}.jpg" for row in range(len(X))]
    file = ModelFile(path, items=lambda *_: (items, X))
    with TestClient(predicting(file, most_rows=50)) as client:
        yield client


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_rows_get_the_model_s_probabilities_and_labels(client, classifier):
    found = client.post("/predict", json={"rows": X[:5].tolist()}).json()
    assert found["label_names"] == LABELS
    np.testing.assert_allclose(found["probabilities"], classifier.predict_proba(X[:5]), atol=6e-8)
    predicted = classifier.predict(X[:5])
    assert found["labels"] == [[LABELS[k] for k in np.flatnonzero(row)] for row in predicted]
    assert predicted.any()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", ">f8", "i2"])
def test_arrays_of_numpy_in_and_out(client, classifier, dtype, order):
    rows = np.asarray(X[:5] * 3, dtype=dtype, order=order)
    headers = {"content-type": NPY, "accept": NPY}
    answer = client.post("/predict", content=npy(rows), headers=headers)
    assert answer.headers["content-type"] == NPY
    found = np.load(io.BytesIO(answer.content))
    assert found.dtype == np.float32
    expected = classifier.predict_proba(rows.astype(float))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_the_model_s_thresholds_decide(tmp_path):
    model = fitted()
    chances = model.predict_proba(X[:1])[0]
    just_above = {LABELS[0]: chances[0] + 0.01, LABELS[1]: chances[1] - 0.01, LABELS[2]: 0.99}
    model.set_thresholds(just_above).save(tmp_path / "m.safetensors")
    with TestClient(predicting(ModelFile(tmp_path / "m.safetensors"), most_rows=9)) as client:
        assert client.post("/predict", json={"rows": X[:1].tolist()}).json()["labels"] == [["sky"]]
        about = client.get("/labels").json()
    assert about["thresholds"] == pytest.approx(list(just_above.values()))
    assert (about["label_names"], about["n_features"]) == (LABELS, 4)


def test_a_model_of_one_class_per_row_predicts_one_label(tmp_path):
    classes = np.array(LABELS)[EXCLUDED.argmax(axis=1)]
    with pytest.warns(ClassPerRowWarning):
        ComplementaryRidgeClassifier().fit(X, classes).save(tmp_path / "m.safetensors")
    model = ModelFile(tmp_path / "m.safetensors").now
    predicted, probabilities = model.predict(X)
    np.testing.assert_array_equal(predicted.argmax(axis=1), probabilities.argmax(axis=1))
    np.testing.assert_array_equal(predicted.sum(axis=1), 1)


def test_known_items_are_asked_by_name(client, classifier):
    found = client.post("/predict", json={"items": ["7.jpg", "2.jpg"]}).json()
    expected = classifier.predict_proba(X[[7, 2]])
    np.testing.assert_allclose(found["probabilities"], expected, atol=6e-8)
    answer = client.post("/predict", json={"items": ["7.jpg", "x.jpg", "y.jpg"]})
    assert answer.status_code == 400
    assert "2 of 3 items" in answer.json()["error"]
    assert "'x.jpg'" in answer.json()["error"]


def test_texts_become_features_as_the_model_says(classifier):
    given = []

    def encode(texts):
        given.append(len(texts))
        return np.array([[len(text), 0, 0, 1] for text in texts], dtype=float)

    model = Model(classifier, "v", encoder=Encoder("text", "lengths", "by test", encode, rows=2))
    body = json.dumps({"texts": ["a", "bcd", ""]}).encode()
    question = question_of(body, model, kind="application/json", accept="*/*", most_rows=3)
    np.testing.assert_array_equal(question.X, [[1, 0, 0, 1], [3, 0, 0, 1], [0, 0, 0, 1]])
    assert given == [2, 1]  # at most as many at a time as the encoder takes


def test_a_model_of_hashed_words_reads_texts(tmp_path):
    from complabel.methods import PriorClassifier

    encoder = encoder_for("text", "words")
    recipe, words = encoder.recipe, encoder.encode(["the sea", "the sun", "rain"])
    model = PriorClassifier().fit(words, pd.DataFrame(np.eye(3, dtype=int), columns=LABELS))
    model.save(tmp_path / "m.safetensors", provenance={"recipe": recipe})
    found = ModelFile(tmp_path / "m.safetensors").now
    assert (found.of_things("text", ["rain", "the sea"]) != words[[2, 0]]).nnz == 0
    model.save(tmp_path / "m.safetensors", provenance={"recipe": recipe + "!"})
    changed = ModelFile(tmp_path / "m.safetensors").now
    with raises(ValueError, "--features"):
        changed.of_things("text", ["rain"])
    assert changed.predict(words)[1].shape == (3, 3)


@pytest.fixture
def shown(tmp_path):
    """Pictures, a model that learned from them, and a server of it."""
    paths = write_pictures(tmp_path / "photos", 3)
    rows = picture_features(paths, model="pixels")
    excluded = pd.DataFrame(1 - np.eye(3, dtype=int), columns=LABELS)
    model = ComplementaryRidgeClassifier(cv=3).fit(rows, excluded)
    recipe = encoder_for("pictures", "pixels").recipe
    model.save(tmp_path / "m.safetensors", provenance={"recipe": recipe})
    with TestClient(predicting(ModelFile(tmp_path / "m.safetensors"), most_rows=4)) as client:
        yield client, [path.read_bytes() for path in paths], model.predict_proba(rows)


def in_base64(*files):
    return {"pictures": [base64.b64encode(file).decode() for file in files]}


def test_pictures_are_predicted_as_their_features_are(shown):
    """In JSON, as the address of a data URL, or one alone, as curl sends a file."""
    client, files, expected = shown
    sent = in_base64(*files)
    found = client.post("/predict", json=sent).json()["probabilities"]
    np.testing.assert_allclose(found, expected, atol=6e-8)
    sent["pictures"][0] = f"data:image/png;base64,{sent['pictures'][0]}"
    assert client.post("/predict", json=sent).json()["probabilities"] == found
    alone = client.post("/predict", content=files[1], headers={"content-type": "image/png"})
    np.testing.assert_allclose(alone.json()["probabilities"], expected[1:2], atol=6e-8)


def test_pictures_that_cannot_be_read_are_named_and_none_is_answered(shown):
    client, (good, *_), _ = shown
    bomb = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(bomb, "PNG")  # 50 kB, which unpack to 1.2 GB
    answer = client.post("/predict", json=in_base64(good, good[:-60], bomb.getvalue(), b"x"))
    told = answer.json()["error"]
    assert (answer.status_code, "3 of 4 pictures" in told, "pictures[0]" in told) == (400, 1, 0)
    assert all(f"pictures[{at}]: " in told for at in (1, 2, 3))
    assert "it has more than 100,000,000 pixels" in told
    answer = client.post("/predict", json={"pictures": [*in_base64(good)["pictures"], "%"]})
    assert (answer.status_code, "pictures[1] is not base64" in answer.text) == (400, True)
    assert client.post("/predict", json=in_base64(*[good] * 5)).status_code == 413
    assert "learned from pictures" in client.post("/predict", json={"texts": ["sea"]}).text
    large = io.BytesIO()
    Image.new("1", (7_000, 7_000)).save(large, "PNG")  # two of them stay below the limit
    sent = in_base64(large.getvalue(), large.getvalue(), large.getvalue(), good)
    told = client.post("/predict", json=sent).json()["error"]
    assert "1 of 4 pictures cannot be read: pictures[2]: it has 49,000,000 pixels" in told


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"nothing", "not JSON"),
        (b"[[1, 2, 3, 4]]", "JSON object"),
        (b"{}", "none of rows, texts, pictures and items"),
        (b'{"rows": [[1, 2, 3, 4]], "items": ["1.jpg"]}', "rows and items"),
        (b'{"rows": []}', "lists of numbers"),
        (b'{"rows": {"a": 1}}', "lists of numbers"),
        (b'{"rows": [[1, 2, 3]]}', "3 features"),
        (b'{"rows": [[1, 2, 3, 4], [1]]}', "lists of 4 numbers"),
        (b'{"rows": [1, 2, 3, 4]}', "lists of numbers"),
        (b'{"rows": [["a", "b", "c", "d"]]}', "lists of numbers"),
        (b'{"rows": [[1, 2, 3, null]]}', "lists of numbers"),
        (b'{"rows": [[1, 2, 3, "4"]]}', "lists of numbers"),
        (b'{"rows": [[1, 2, 3, true]]}', "lists of numbers"),
        (b'{"rows": [[1, 2, 3, %d]]}' % (10**400), "lists of numbers"),
        (b'{"rows": [[1, 2, 3, NaN]]}', "not JSON"),
        (b'{"rows": [[1, 2, 3, 1e999]]}', "row 0, column 3"),
        (b'{"items": [1]}', "list of texts"),
        (b'{"texts": ["sea"]}', "not made of text"),
        (b'{"tasks": [1]}', "object data"),
        (b'{"rows": ' + b"[" * 50_000, "not JSON"),
    ],
    ids=range(20),
)
def test_wrong_requests_are_refused_in_words(client, body, told):
    answer = client.post("/predict", content=body)
    assert answer.status_code == 400
    assert told in answer.json()["error"]


def test_too_many_rows_and_bytes_are_413(client):
    for way, content in (("rows", [[0] * 4]), ("items", ["1.jpg"]), ("tasks", [{}])):
        answer = client.post("/predict", json={way: content * 51})
        assert answer.status_code == 413, way
        assert "at most 50" in answer.json()["error"]
    headers = {"content-type": NPY}
    answer = client.post("/predict", content=npy(np.zeros((51, 4))), headers=headers)
    assert answer.status_code == 413
    small = TestClient(guarded(client.app, token=None, most_bytes=100))
    assert small.post("/predict", content=b" " * 101).status_code == 413


def test_the_token_may_be_the_password_of_basic_authentication(client):
    asks = TestClient(guarded(client.app, token="open sesame", most_bytes=9_000))
    assert asks.get("/health", auth=("anybody", "open sesame")).status_code == 200
    assert asks.get("/health", auth=("open sesame", "anybody")).status_code == 403
    assert asks.get("/health", headers={"authorization": "Basic ?"}).status_code == 403
    assert asks.get("/health").status_code == 403


def test_another_name_of_this_machine_is_answered_only_with_a_token(client):
    def status(**given):
        app = guarded(client.app, most_bytes=9_000, any_host=True, **given)

        async def called(scope, receive, send):
            await app({**scope, "server": ("127.0.0.1", 80)}, receive, send)

        asks = TestClient(called, base_url="http://host.docker.internal")
        return asks.get("/health?token=sesame").status_code

    assert status(token="sesame") == 200
    assert status(token=None) == 403


def doing(path, does):
    """Return a file of a model that does something before each prediction."""

    class Doing(ComplementaryRidgeClassifier):
        def predict_with_proba(self, X):
            does()
            return super().predict_with_proba(X)

    file = ModelFile(path)
    file.now = Model(Doing().fit(X, EXCLUDED), "v")
    return file


def test_a_failure_is_told_without_its_details(path):
    app = predicting(doing(path, lambda: 1 / 0), most_rows=9)
    asks = TestClient(app, raise_server_exceptions=False)
    answer = asks.post("/predict", json={"rows": X[:1].tolist()})
    assert answer.status_code == 500
    assert "the server failed" in answer.json()["error"]


def test_routes_that_are_not_there(client):
    assert client.get("/predict").status_code == 405
    answer = client.get("/nothing")
    assert answer.status_code == 404
    assert "/openapi.json" in answer.json()["error"]


def test_requests_answered_together_get_the_same_as_each_alone(classifier):
    model = Model(classifier, "v")
    bodies = [json.dumps({"rows": X[at : at + 1 + at % 3].tolist()}).encode() for at in range(9)]
    bodies[4] = b'{"rows": [[1, 2]]}'
    bodies[6] = b'{"rows": [[1, 2, 3, 1e999]]}'
    bodies[7] = b"nothing"
    kinds = {"kind": "application/json", "accept": "*/*", "most_rows": 10}
    requests = [lambda model, body=body: question_of(body, model, **kinds) for body in bodies]
    calls = []
    counted = Model(classifier, "v")
    object.__setattr__(counted, "predict", lambda X: calls.append(len(X)) or model.predict(X))
    together = answers_to(requests[:4], counted)
    assert calls == [1 + 2 + 3 + 1]
    together += answers_to(requests[4:], model)
    alone = [answers_to([request], model)[0] for request in requests]
    for at, (one, other) in enumerate(zip(together, alone, strict=True)):
        assert isinstance(one, Answer) == (at not in (4, 6, 7))
        if isinstance(one, Answer):
            found, expected = json.loads(one.body), json.loads(other.body)
            np.testing.assert_allclose(
                found.pop("probabilities"), expected.pop("probabilities"), atol=1e-6
            )
            assert found == expected
        else:
            assert str(one) == str(other)


def test_predictions_do_not_keep_others_waiting(path):
    begun, go_on = threading.Event(), threading.Event()
    file = doing(path, lambda: (begun.set(), go_on.wait(10)))

    async def ask():
        transport = httpx.ASGITransport(predicting(file, most_rows=9))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            body = {"rows": X[:1].tolist()}
            asked = [asyncio.create_task(client.post("/predict", json=body)) for _ in range(5)]
            await asyncio.to_thread(begun.wait, 10)
            health = await client.get("/health")
            assert not any(each.done() for each in asked)
            go_on.set()
            return health, await asyncio.gather(*asked)

    health, answers = asyncio.run(ask())
    assert health.json()["status"] == "UP"
    assert {each.status_code for each in answers} == {200}


def test_a_replaced_model_answers_from_then_on(path, caplog):
    also = path.parent / "X.npy"
    np.save(also, X)
    content = path.read_bytes()
    file = ModelFile(path, also=[also])
    first = file.now
    os.utime(path)
    file.refresh()
    assert file.now.version == first.version  # the same content
    fitted(alpha=100.0).save(path)
    file.refresh()
    second = file.now
    assert second.version != first.version
    assert abs(second.predict(X)[1] - first.predict(X)[1]).max() > 0.01
    path.write_bytes(path.read_bytes()[:-1])
    file.refresh()
    assert file.now is second
    assert "damaged" in file.problem
    assert "still answers" in caplog.text
    path.unlink()
    file.refresh()
    assert file.now is second
    path.write_bytes(content)
    file.refresh()
    assert (file.now.version, file.problem) == (first.version, None)
    np.save(also, X[:3])
    file.refresh()
    assert file.now.version != first.version  # Label Studio asks anew about items


def test_a_model_with_names_of_features_takes_rows_without_warnings(tmp_path):
    fitted(columns=["a", "b", "c", "d"]).save(tmp_path / "m.safetensors")
    predicted, _ = ModelFile(tmp_path / "m.safetensors").now.predict(X)  # warnings are errors
    assert predicted.shape == (40, 3)


def test_the_document_about_the_routes(client, path):
    document = client.get("/openapi.json").json()
    rows = document["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]
    name = rows["schema"]["oneOf"][0]["$ref"].rpartition("/")[2]
    asked = document["components"]["schemas"][name]["properties"]["rows"]
    assert (asked["maxItems"], asked["items"]["minItems"]) == (50, 4)
    assert '"sea","sky","sun"' in client.get("/openapi.json").text
    for route, methods in document["paths"].items():
        for method in methods:
            assert client.request(method, route, json={}).status_code in (200, 201, 400)
    with_token = predicting(ModelFile(path), most_rows=1, has_token=True)
    secured = TestClient(with_token).get("/openapi.json").json()
    assert {each for named in secured["security"] for each in named} == {"basic", "token"}
    validator = pytest.importorskip("openapi_spec_validator")
    validator.validate(document)
    validator.validate(secured)


@pytest.mark.slow
def test_sigterm_answers_what_was_taken(path):
    command = [sys.executable, "-m", "complabel", "serve", str(path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        address = server.stdout.readline().split()[3].rstrip(":")
        counts = dict.fromkeys(("answered", "refused", "lost"), 0)
        running = threading.Barrier(9)

        def ask():
            with httpx.Client(timeout=30) as client:
                for number in range(100_000):
                    try:
                        answer = client.post(f"{address}/predict", json={"rows": X.tolist()})
                    except httpx.ConnectError:  # it was not taken
                        counts["refused"] += 1
                        return
                    except httpx.TransportError:
                        counts["lost"] += 1
                        return
                    assert answer.status_code == 200
                    counts["answered"] += 1
                    if number == 3:
                        running.wait(60)

        clients = [threading.Thread(target=ask) for _ in range(8)]
        for each in clients:
            each.start()
        running.wait(60)
        time.sleep(0.3)
        server.send_signal(signal.SIGTERM)
        for each in clients:
            each.join(60)
        assert server.wait(60) == 0
    assert counts["answered"] > 8 * 4
    assert counts["lost"] == 0
