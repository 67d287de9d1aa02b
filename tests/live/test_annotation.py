"""The routes of `complabel annotate`, as a page or a script uses them."""

from __future__ import annotations

import contextlib
import csv
import importlib
import io
import json
import sqlite3
import threading
import time

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.refusals import raises

from complabel._questions import QuestionKind
from complabel.answers import Answers
from complabel.errors import OutputError, StoreError
from complabel.files import HEIC, PICTURES, READ_PICTURES, read_answers, shown_pictures
from complabel.live import MOST_BYTES, Annotation, guarded, read_things

LABELS = ["sea", "sky", "city", "night"]
HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def opened(tmp_path):
    """Return a function that opens an annotation of three texts, and a client of its routes."""
    table = tmp_path / "items.csv"
    table.write_text(f'item,body\na,one\n"{HOSTILE}",two\nc,"{HOSTILE}"\n')
    made = []

    def call(**options):
        things = read_things(options.pop("things", table), **options.pop("shown", {"text": "body"}))
        options.setdefault("out", tmp_path / "answers.csv")
        labels = options.pop("labels", LABELS)
        annotation = Annotation.open(things, labels, token="secret", **options)
        made.append(annotation)
        app = guarded(annotation.app(), token="secret", most_bytes=MOST_BYTES)
        return annotation, TestClient(app, headers={"X-Token": "secret"})

    yield call
    for annotation in made:
        annotation.ended.set()
        annotation.store.close()


def _answer(client, person="ann", answer="yes", **more):
    question = client.get("/api/next", params={"person": person}).json()
    body = {"id": question["id"], "person": person, "answer": answer, "seconds": 1.5, **more}
    return question, client.post("/api/answer", json=body)


def _rows(client):
    return list(csv.DictReader(io.StringIO(client.get("/answers.csv").text)))


def test_a_question_its_answer_and_the_table(opened):
    _, client = opened()
    question, reply = _answer(client)

    assert set(question) == {"id", "item", "question", "label", "renamed", "show", "answered"}
    assert question["question"] == "asked"
    assert question["label"] in LABELS
    assert question["show"] == {
        "text": {"a": "one", HOSTILE: "two", "c": HOSTILE}[question["item"]]
    }
    assert reply.json() == {"stored": True, "again": False, "answered": 1}
    (row,) = _rows(client)
    assert (row["item"], row["label"]) == (question["item"], question["label"])
    assert (row["answer"], row["question"], row["annotator"]) == ("yes", "asked", "ann")
    assert (float(row["seconds"]), float(row["probability"])) == (1.5, 0.25)


def test_the_same_answer_again_changes_nothing(opened):
    _, client = opened()
    question, _ = _answer(client)
    body = {"id": question["id"], "person": "ann", "answer": "no", "seconds": 9}

    reply = client.post("/api/answer", json=body).json()
    assert (reply["again"], reply["answer"]) == (True, "yes")
    assert [row["answer"] for row in _rows(client)] == ["yes"]
    client.post("/api/undo", json={"person": "ann"})
    assert client.post("/api/answer", json=body).json()["answer"] is None


def test_undo_brings_the_question_back(opened):
    _, client = opened()
    question, _ = _answer(client)
    reply = client.post("/api/undo", json={"person": "ann"}).json()

    assert reply["undone"] == question["id"]
    assert reply["question"] == client.get("/api/next?person=ann").json()
    same = ("item", "label", "show")
    assert [reply["question"][name] for name in same] == [question[name] for name in same]
    assert _rows(client) == []
    assert client.post("/api/undo", json={"person": "ann"}).status_code == 409


def test_nothing_is_left_after_all_pairs(opened):
    _, client = opened()
    seen = set()
    for at in range(12):
        assert client.get("/api/progress").json()["left"] == 12 - at
        question, _ = _answer(client, person=f"person {at % 2}")
        seen.add((question["item"], question["label"]))

    assert len(seen) == 12
    assert client.get("/api/next?person=ann").status_code == 204
    progress = client.get("/api/progress").json()
    each = {"answers": 6, "skips": 0, "changes": 0, "seconds": 1.5}
    assert progress == {
        "items": 3,
        "labels": 4,
        "answered": 12,
        "by_person": {"person 0": 6, "person 1": 6},
        "people": {"person 0": each, "person 1": each},
        "by_kind": {"asked": {"answers": 12, "seconds": 1.5}},
        "left": 0,
        "why": None,
        "learning": None,
        "until": None,
    }


@pytest.mark.parametrize(
    ("kind", "given", "wanted"),
    [
        ("ticked", {"offered": LABELS}, {"yes": 1, "no": 3}),
        ("ticked-2", {}, {"yes": 1, "no": 1}),
        ("menu-2", {"asked_for": 1}, {"no": 1}),
        ("named", {"offered": LABELS, "asked_for": 1}, {"no": 1}),
        ("positive-menu-2", {"asked_for": 1}, {"yes": 1}),
        ("positive", {"offered": LABELS, "asked_for": 1}, {"yes": 1}),
    ],
)
def test_other_questions(opened, tmp_path, kind, given, wanted):
    annotation, client = opened(question=kind)
    question = client.get("/api/next?person=ann").json()
    assert question["question"] == QuestionKind.parse(kind).stem
    assert {name: question[name] for name in given} == given

    first = question["offered"][0]
    assert _answer(client, answer=[first])[1].status_code == 200
    assert _answer(client, answer=[])[1].status_code == 200
    annotation.end()
    rows = [row for row in _rows(client) if row["answer_id"] == question["id"]]
    assert {word: sum(row["answer"] == word for row in rows) for word in wanted} == wanted
    answers = read_answers(tmp_path / "answers.csv", label_names=LABELS).answers
    assert answers.n_answers == 2
    if kind.startswith("positive"):  # the second says that none applies
        assert set(answers.question) == {"positive"}
        assert (answers.positive.sum(), answers.relevant.sum(), answers.named.sum()) == (1, 0, 0)
        second = answers.exhausted.nonzero()[0]
        assert answers[answers.item[second]].complementary.any()


def test_the_questions_of_a_file_and_what_it_knows(opened, tmp_path):
    menu = '"[""sky"", ""sea""]"'
    (tmp_path / "questions.csv").write_text(
        "answer_id,item,label,answer,question,offered,probability\n"
        ",c,sea,,asked,,0.3\n,c,sky,no,asked,,0.2\n"
        f"f 1,a,sea,,ticked,{menu},0.1\nf 1,a,sky,,ticked,{menu},0.1\n,a,city,yes,asked,,0.4\n"
    )
    annotation, client = opened(questions=tmp_path / "questions.csv")
    first, _ = _answer(client)
    known = [row["answer_id"] for row in _rows(client)]
    assert (first["item"], first["label"], known) == ("c", "sea", ["1"])
    early = annotation.news()
    second, _ = _answer(client, answer=["sea"])
    assert (second["item"], second["offered"]) == ("a", ["sky", "sea"])
    assert client.get("/api/next?person=ann").status_code == 204

    annotation.end()
    answers = read_answers(tmp_path / "answers.csv", label_names=LABELS).answers
    both = early.then(annotation.news(early.mark))
    for_the_model, seconds = both.answers, both.seconds
    assert sorted(for_the_model.question) == sorted(answers.question)
    assert for_the_model.absent.sum() == answers.absent.sum()
    assert sorted(for_the_model.probability) == sorted(answers.probability)
    assert len(seconds) == 3
    assert sorted(answers.question.tolist()) == ["asked", "asked", "ticked"]
    assert sorted(answers.probability.tolist()) == pytest.approx([0.1, 0.2, 0.3])
    client.post("/api/undo", json={"person": "ann"})  # so the answer in the file does not count
    assert both.then(annotation.news(both.mark)).ids.tolist() == [int(first["id"])]


BROKEN = [
    ("answer_id,item,label\n,x,sea\n", ("line 2", "'x'")),
    ("item,label\na,moon\n", ("line 2", "'moon'")),
    ("item,label,question\na,sea,excluded\n", "'excluded'"),
    ("item,label,question,offered\na,,ticked,sea\n", "line 2"),
    ("item,label,answer\na,sea,yes\n", "questions.csv"),
    *(
        (f"item,label,probability\na,sea,0.5\na,sky,{chance}\n", ("line 3", "probability"))
        for chance in ("-1", "0", "7", "nan", "inf", "half")
    ),
    ("item,label,question,asked_for\na,,named,5\n", ("line 2", "asked_for", "5")),
    ("item,label,question,asked_for\na,,named,-1\n", ("line 2", "asked_for", "-1")),
    ('item,label,question,offered\na,,ticked,"[""sea"",""sea""]"\n', ("line 2", "twice")),
    ('item,label,question,offered\na,,ticked,"[]"\n', ("line 2", "offered")),
    ("item,label,question,offered\na,,ticked,7\n", ("line 2", "offered")),
    ('item,label,question,offered\na,city,ticked,"[""sea"",""sky""]"\n', ("line 2", "'city'")),
    ("item,label\na,sea\nc,sea\na,sea\n", ("line 4", "line 2")),
    ("item,label,question\na,,ticked\nc,,ticked\na,,ticked\n", ("line 4", "line 2")),
    ("item,label,answer\na,sea,\nc,sea,maybe\n", ("line 3", "'maybe'")),
    ("item,label,answer\na,sea,\nc,moon,yes\n", ("line 3", "'moon'")),
    (
        "answer_id,item,label,question,answer\n1,a,sea,ticked,yes\n1,a,sky,ticked,\n",
        ("line 2", "answer_id"),
    ),
    (
        "answer_id,item,label,question\n1,a,sea,ticked\n1,c,sky,ticked\n",
        ("line 2", "'item'"),
    ),
]


@pytest.mark.parametrize(("text", "told"), BROKEN, ids=range(len(BROKEN)))
def test_a_file_of_questions_that_cannot_be_asked_is_refused(opened, tmp_path, text, told):
    (tmp_path / "questions.csv").write_text(text)
    with raises(ValueError, told):
        opened(questions=tmp_path / "questions.csv")


WRONG = [
    *(b"", b"x", b"[]", b"null", b'"a"', b"[" * 100_000, b"\xff\xfe", b'{"id": "1"', b"NaN"),
    *(b"{}", b'{"person": "ann"}', b'{"id": "1"}', b'{"id": "1", "person": "ann"}'),
    *({"person": 7}, {"person": ""}, {"person": " "}, {"person": "x" * 61}, {"person": "a\nb"}),
    *({"seconds": "\ud800"}, {"id": "\ud800"}, {"answer": ["\ud800"]}, {"seconds": ["\ud800"]}),
    *({"person": "=1"}, {"person": "-ann"}, {"person": "+ann"}, {"person": " @ann"}),
    *({"person": "\ud800"}, {"person": ["ann"]}, {"person": {"a": 1}}),
    *({"id": 1}, {"id": "x"}, {"id": "-1"}, {"id": "1" * 50}, {"id": "999"}, {"id": "²"}),
    *({"id": ["1"]}, {"id": True}),
    *({"answer": None}, {"answer": True}, {"answer": 1}, {"answer": "maybe"}, {"answer": [1]}),
    *({"answer": ["sea"]}, {"answer": [["sea"]]}, {"answer": {"sea": 1}}, {"answer": ""}),
    *({"seconds": -1}, {"seconds": 86_401}, {"seconds": "2"}, {"seconds": True}, {"seconds": [2]}),
    *({"seconds": float("nan")}, {"seconds": float("inf")}, {"seconds": 10**400}),
]


def test_what_is_wrong_gets_an_error_that_says_it_and_changes_nothing(opened):
    _, client = opened()
    question = client.get("/api/next?person=ann").json()
    fine = {"id": question["id"], "person": "ann", "answer": "yes", "seconds": 2}
    for wrong in WRONG:
        content = json.dumps(fine | wrong).encode() if isinstance(wrong, dict) else wrong
        reply = client.post("/api/answer", content=content)
        assert 400 <= reply.status_code < 500, wrong
        assert len(reply.json()["error"]) > 10, wrong
    assert client.get("/api/progress").json()["answered"] == 0
    assert client.post("/api/answer", json=fine).json()["stored"]


WRONG_ADDRESSES = {
    **dict.fromkeys(("/api/next", "/api/next?person=", "/api/next?person=%00"), 400),
    **dict.fromkeys([f"/api/next?person=ann&skip={skip}" for skip in ("-1", "x", "20", "²")], 400),
    **dict.fromkeys(("/api", "/index.html", "/page/../index.html", "/picture/a"), 404),
    **dict.fromkeys(("/picture/../items.csv", "/picture/%2e%2e/items.csv"), 404),
    **dict.fromkeys(("/picture//etc/passwd", "/picture/"), 404),
    "/api/answer": 405,
}


def test_wrong_addresses_get_an_error_that_says_it(opened):
    _, client = opened()
    for path, status in WRONG_ADDRESSES.items():
        reply = client.get(path)
        assert reply.status_code == status, path
        assert len(reply.json()["error"]) > 10, path


def test_the_page_runs_nothing_else(opened):
    _, client = opened()
    reply = client.get("/")

    assert '"page.js"' in reply.text
    assert '"page.css"' in reply.text
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';" in policy
    assert "unsafe" not in policy
    for name, kind in (("page.js", "text/javascript"), ("page.css", "text/css")):
        assert client.get(f"/{name}").headers["content-type"].startswith(kind)


def test_people_see_every_picture_of_which_features_are_made(opened, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    folder = tmp_path / "photos"
    folder.mkdir()
    grey = image.fromarray(np.arange(0, 240, 4, dtype=np.uint8).reshape(6, 10))
    turned, exif = grey.transpose(image.Transpose.ROTATE_90), image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise to show
    with contextlib.suppress(ImportError):
        importlib.import_module("pillow_heif").register_heif_opener()
    for ending in shown_pictures():
        grey.convert("RGB").save(folder / f"a{ending}")
    grey.convert("CMYK").save(folder / "cmyk.tif")
    image.fromarray(np.asarray(grey).astype(np.uint16) * 257).save(folder / "wide.TIF")
    grey.save(folder / "pages.tiff", save_all=True, append_images=[image.new("L", (9, 9))] * 2)
    for name, packed in (("turned.tif", None), ("turned and packed.tif", "tiff_lzw")):
        turned.save(folder / name, exif=exif, compression=packed)
    (folder / "broken.tif").write_bytes(b"II*\0 and nothing more")
    (folder / "text.tif").write_text("text")
    annotation, client = opened(things=folder, shown={})

    assert [annotation.things.names[at] for at in annotation.things.broken] == ["text.tif"]
    assert {*READ_PICTURES} - {*shown_pictures()} <= {*HEIC}  # they need a package that is missing
    assert client.get("/picture/broken.tif").status_code == 404
    for name in {*annotation.things.names} - {"broken.tif", "text.tif"}:
        reply = client.get(f"/picture/{name}")
        assert reply.headers["content-type"] in PICTURES.values()
        assert "max-age" in reply.headers["cache-control"]
        shown = image.open(io.BytesIO(reply.content)).convert("L")
        np.testing.assert_allclose(np.asarray(shown, float), np.asarray(grey, float), atol=8)


def test_pictures_that_a_missing_package_shows_are_named_with_it(tmp_path, without):
    without("PIL", "pillow_heif")
    for name in ("a.jpg", "b.tif", "c.heic"):
        (tmp_path / name).write_bytes(b"\xff\xd8\xff")
    things = read_things(tmp_path)
    assert [*things.names] == ["a.jpg"]
    (told,) = things.problems()
    assert 'complabel[pictures]"' in told
    assert 'complabel[heic]"' in told


def test_pictures_come_with_their_type_and_may_be_kept(opened, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for name in ("a b.png", "<i>.jpg"):
        (folder / name).write_bytes(b"GIF89a picture " + name.encode())
    (tmp_path / "secret.png").write_bytes(b"secret")
    _, client = opened(things=folder, shown={})
    for _ in range(2):
        question, _ = _answer(client)
        reply = client.get(question["show"]["image"])
        assert reply.content == b"GIF89a picture " + question["item"].encode()
        assert reply.headers["content-type"] in ("image/png", "image/jpeg")
        assert reply.headers["cache-control"] == "private, max-age=3600"
        assert reply.headers["x-content-type-options"] == "nosniff"
    assert client.get("/picture/%2e%2e%2fsecret.png").status_code == 404


def test_a_new_server_goes_on(opened):
    first, client = opened()
    held = client.get("/api/next?person=ann&skip=1").json()
    _answer(client)
    first.end()
    first.store.close()
    _, client = opened()

    assert client.get("/api/next?person=ann").json()["id"] == held["id"]
    assert client.get("/api/progress").json()["by_person"] == {"ann": 1}
    assert _answer(client)[1].json()["answered"] == 2


def test_a_new_server_asks_about_labels_that_were_added(opened):
    first, client = opened(question="ticked")
    _answer(client, answer=["sea"])
    client.get("/api/next?person=ann")
    first.end()
    first.store.close()
    again, client = opened(question="ticked", labels=["moon", *LABELS])
    found = []
    while (reply := client.get("/api/next?person=ann")).status_code == 200:
        found.append(reply.json()["offered"])
        _answer(client, answer=["sea"] if "sea" in found[-1] else [])
    # The question that ann had is as it was asked; new ones are in the order of now.
    assert found == [LABELS, ["moon", *LABELS], ["moon"], ["moon"]]
    about = {"items": again.things.names, "label_names": [*LABELS, "moon"]}
    for answers in (Answers.from_table(again.table(), **about), again.news().answers):
        assert answers.known_relevant.tolist() == [[1, 0, 0, 0, 0]] * 3
        assert answers.complementary.tolist() == [[0, 1, 1, 1, 1]] * 3


def test_what_a_page_believes_is_compared_and_nothing_is_stored_that_it_did_not_show(opened):
    annotation, client = opened(question="ticked")
    mark = annotation.store.mark
    shown = client.get("/api/next", params={"person": "ann", "store": mark}).json()
    right = {"item": shown["item"], "offered": shown["offered"][::-1], "store": mark}
    for wrong in ({"item": "other"}, {"offered": ["sea"]}, {"label": "sea"}, {"store": "0"}):
        said = {"id": shown["id"], "person": "ann", "answer": [], **right, **wrong}
        reply = client.post("/api/answer", json=said)
        assert (reply.status_code, reply.json()["reload"]) == (409, True)
    assert client.get("/api/next", params={"person": "ann", "store": "0"}).status_code == 409
    assert client.post("/api/undo", json={"person": "ann", "store": "0"}).status_code == 409
    assert annotation.asker.answered == 0
    said = {"id": shown["id"], "person": "ann", "answer": [], **right}
    assert client.post("/api/answer", json=said).json()["stored"]


def test_people_are_shown_with_what_they_skipped_and_took_back(opened):
    _, client = opened()
    for answer, seconds in (("yes", 3), ("unsure", 50), ("no", 5), ("no", 9)):
        _answer(client, answer=answer, seconds=seconds)
    client.post("/api/undo", json={"person": "ann"})
    people = client.get("/api/progress").json()["people"]
    assert people == {"ann": {"answers": 3, "skips": 1, "changes": 1, "seconds": 4}}


def test_an_answer_that_cannot_be_stored_is_not_confirmed_and_is_stored_later(opened, small_files):
    _, client = opened()
    question = client.get("/api/next?person=ann").json()
    body = {"id": question["id"], "person": "ann", "answer": "yes", "seconds": 2}
    with small_files(100):
        reply = client.post("/api/answer", json=body)
        assert (reply.status_code, "free space" in reply.json()["error"]) == (503, True)
        again = client.post("/api/answer", json=body)
        assert again.status_code == 503  # known, but not on the disk
    assert client.post("/api/answer", json=body).json()["again"]
    assert [row["answer_id"] for row in _rows(client)] == [question["id"]]


class _Learner:
    """Learns slowly, and fails once."""

    def __init__(self):
        self.sizes, self.at_once, self.most_at_once = [], 0, 0
        self.learned = threading.Event()

    def update(self, news_since):
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        self.sizes.append(news_since((0, 0, 0)).answers.n_answers)
        time.sleep(0.05)
        self.at_once -= 1
        if len(self.sizes) == 1:
            raise ValueError("the first fit fails")
        self.learned.set()

    def state(self):
        return {"answers": self.sizes[-1] if self.sizes else 0}


def test_a_learner_gets_the_answers_while_people_answer(opened, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("complabel.live._annotation._LEARN_AFTER", 5)
    (tmp_path / "many.csv").write_text("item,body\n" + "".join(f"{at},x\n" for at in range(99)))
    learner = _Learner()
    annotation, client = opened(things=tmp_path / "many.csv", learner=learner)
    annotation.start()
    for _ in range(30):
        assert _answer(client)[1].json()["stored"]
    deadline = time.monotonic() + 20
    while not learner.learned.is_set() and time.monotonic() < deadline:
        _answer(client)
        time.sleep(0.1)

    assert learner.learned.is_set()
    assert learner.most_at_once == 1
    assert learner.sizes == sorted(learner.sizes)
    assert "the model could not be fitted" in caplog.text
    assert client.get("/api/progress").json()["learning"]["answers"] >= 10


def test_answers_that_are_missing_in_a_damaged_file_stay_in_the_table(opened, tmp_path):
    first, client = opened()
    for _ in range(5):
        _answer(client)
    client.post("/api/undo", json={"person": "ann"})
    first.end()
    first.store.close()
    table, store = tmp_path / "answers.csv", tmp_path / "answers.csv.sqlite"
    before = table.read_bytes()
    with sqlite3.connect(store) as file:
        file.execute("DELETE FROM log WHERE id = 5")
    file.close()
    with raises(StoreError, "answers.csv", "4 answers"):
        opened()
    assert table.read_bytes() == before

    again, _ = opened(mend=True)
    assert again.asker.answered == 3
    again.end()
    assert (tmp_path / "answers.kept-1.csv").read_bytes() == before


def test_a_table_that_cannot_be_written_at_the_end_says_where_the_answers_are(opened, tmp_path):
    annotation, client = opened()
    _answer(client)
    (tmp_path / "answers.csv").mkdir()
    with raises(OutputError, "1 answers", "answers.csv.sqlite"):
        annotation.end()


def test_nobody_is_asked_about_a_file_that_holds_no_picture(opened, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for name in ("a.png", "b.png"):
        (folder / name).write_bytes(b"GIF89a" * (name == "b.png"))
    annotation, client = opened(things=folder, shown={})
    assert annotation.asker.left() == 4
    seen = {_answer(client)[0]["item"] for _ in range(4)}
    assert seen == {"b.png"}
    assert client.get("/api/next?person=ann").status_code == 204
    assert annotation.asker.left() == 0
