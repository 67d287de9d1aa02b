"""What is on the disk: events, answers as a table, and one server at a time."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import raises

from complabel._questions import QuestionKind
from complabel._sqlite import DamagedError
from complabel.answers import Answers
from complabel.errors import StoreError
from complabel.files import AnswerWriter, read_answers
from complabel.live._asker import Asker, Event
from complabel.live._drawing import Question, RandomQuestions
from complabel.live._store import AnswerStore

ITEMS = ["a.jpg", "b.jpg", "c.jpg"]
NUMBERS = {name: at for at, name in enumerate(ITEMS)}
LABELS = ["sea", "sky", "city"]
ABOUT = {"labels": LABELS, "question": "asked", "seed": 0}


def _given(number, kind, answer, *, labels=None, probability=None, asked_for=None, person="ann"):
    """Return a question about item ``number``, and an answer to it."""
    id_ = 2 * number + 1
    return [
        Question(number, number % 3, kind, labels, probability, asked_for),
        Event(id_, 0.0, "asked", person, number, 0),
        Event(id_ + 1, 60.0, "answered", person, number, 0, id_, answer, 2.5),
    ]


def _table(tmp_path, *answers):
    with AnswerStore(tmp_path / "store", ABOUT) as store:
        store.append(ITEMS, [each for given in answers for each in given])
        with AnswerWriter(tmp_path / "answers.csv") as writer:
            writer.write(store.answers_table())
    path = tmp_path / "answers.csv"
    return read_answers(path, items=ITEMS, label_names=LABELS, contradictions="keep").answers


@pytest.mark.parametrize("kind", ["asked", "ticked", "ticked-2", "menu-2", "named"])
def test_answers_for_the_model_are_those_of_the_table(tmp_path, kind):
    rng = random.Random(kind)
    one = QuestionKind.parse(kind, len(LABELS))
    source = RandomQuestions(ITEMS, len(LABELS), lambda: one, one, 0.5, 0)
    asker = Asker(source, LABELS, lambda: 60.0)
    heard = asker.news(0, len(ITEMS))
    for _ in range(40):
        person = rng.choice(["ann", "ben", "cy"])
        event = asker.next(person)
        if event is None:
            break
        labels = asker.labels_of(asker.questions[event.number])
        most = 1 if kind in ("menu-2", "named") else len(labels)
        chosen = rng.sample(labels, rng.randint(0, most))
        answer = rng.choice(["yes", "no"]) if kind == "asked" else chosen
        answer = rng.choice([answer, answer, answer, "unsure"])
        asker.answer(event.id, person, answer, rng.choice([None, rng.uniform(1, 9)]))
        if event.id % 3:  # else, an answer may be taken back before anybody hears of it
            heard = heard.then(asker.news(heard.mark[0], len(ITEMS)))
        if rng.random() < 0.2:
            asker.undo(person)
    heard = heard.then(asker.news(heard.mark[0], len(ITEMS)))
    answers, seconds = heard.answers, heard.seconds
    item_of = {event.of: asker.questions[event.number].item for event in asker.done.values()}
    assert [item_of[each] for each in heard.ids] == answers.item.tolist()
    with AnswerStore(tmp_path / "store", {**ABOUT, "question": kind}) as store:
        store.append(ITEMS, asker.new)
        table = store.answers_table()
    known = Answers.from_table(table, items=ITEMS, label_names=LABELS, contradictions="keep")
    assert 0 < answers.n_answers < len(seconds) == asker.answered
    assert answers.shape == known.shape
    assert answers.label_names == known.label_names
    for name in ("item", "question", "asked_for", "probability", "seconds", "all_apply"):
        np.testing.assert_array_equal(getattr(answers, name), getattr(known, name))
    for name in ("named", "absent", "relevant", "excluded", "offered"):
        assert (getattr(answers, name) != getattr(known, name)).nnz == 0, name
    people = [[each.annotator_names[code] for code in each.annotator] for each in (answers, known)]
    assert people[0] == people[1]


def test_what_is_appended_comes_back(tmp_path):
    new = [
        *_given(0, "asked", "yes", labels=(1,), probability=1 / 3),
        *_given(1, "named", ["sea"], asked_for=1, person="bén\u202f"),
        Event(5, 61.0, "undone", "ann", 0, 0, 1),
    ]
    with AnswerStore(tmp_path / "store", ABOUT) as store:
        store.append(ITEMS, new[:3])
        store.append(ITEMS, new[3:])
    with AnswerStore(tmp_path / "store", ABOUT) as store:
        found = list(store.load(NUMBERS))

    assert found == new


def test_answers_of_all_kinds_mean_the_same_in_the_table(tmp_path):
    answers = _table(
        tmp_path,
        _given(0, "asked", "yes", labels=(1,), probability=1 / 3),
        _given(1, "asked", "no", labels=(0,), probability=1 / 3),
        _given(2, "asked", "unsure", labels=(0,), probability=1 / 3),
        _given(3, "ticked", ["sky"], probability=1.0),
        _given(4, "ticked", [], labels=(0, 2), probability=1 / 3),
        _given(5, "menu", ["city"], labels=(2, 1), probability=1 / 3, asked_for=1),
        _given(6, "menu", [], labels=(0, 1), probability=1 / 3, asked_for=1),
        _given(7, "named", ["sea"], asked_for=1),
        _given(8, "ticked", "unsure", labels=(0, 2), probability=1 / 3),
    )

    none = [0, 0, 0]  # answers are in the order of their items: 0, 3, 6, then 1, 4, 7, then 5
    assert answers.item.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert answers.question.tolist() == [*["asked", "ticked", "named"] * 2, "named"]
    found = {
        name: getattr(answers, name).toarray().tolist()
        for name in ("relevant", "absent", "named", "offered", "implied")
    }
    assert found["relevant"] == [[0, 1, 0], [0, 1, 0], none, none, none, none, none]
    assert found["absent"] == [none, [1, 0, 1], none, [1, 0, 0], [1, 0, 1], none, none]
    assert found["named"] == [none, none, none, none, none, [1, 0, 0], [0, 0, 1]]
    assert [found["offered"][at] for at in (2, 5, 6)] == [[1, 1, 0], none, [0, 1, 1]]
    assert found["implied"][2] == [1, 1, 0]
    assert answers.seconds.tolist() == [2.5] * 7
    third = 1 / 3
    assert answers.probability.tolist() == pytest.approx(
        [third, 1, third, third, third, float("nan"), third], nan_ok=True
    )
    assert answers.annotator_names == ("ann",)


def test_an_answer_that_was_taken_back_is_not_in_the_table(tmp_path):
    first = _given(0, "asked", "yes", labels=(1,), probability=1 / 3)
    back = Event(3, 61.0, "undone", "ann", 0, 0, 1)
    again = Event(4, 62.0, "answered", "ann", 0, 0, 3, "no", 1.0)
    with AnswerStore(tmp_path / "store", ABOUT) as store:
        store.append(ITEMS, [*first, back])
        assert store.answers_table()["item"] == []
        store.append(ITEMS, [again])
        table = store.answers_table()

    assert (table["answer_id"], table["answer"]) == (["3"], ["no"])
    assert table["time"] == ["1970-01-01T00:01:02+00:00"]


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ({"labels": ["sea", "sky"]}, ("'city'", "--merge")),
        ({"question": "ticked"}, ('"asked"', '"ticked"')),
    ],
    ids=["fewer", "question"],
)
def test_what_was_asked_otherwise_is_not_continued(tmp_path, about, told):
    AnswerStore(tmp_path / "store", ABOUT).close()

    with raises(StoreError, told):
        AnswerStore(tmp_path / "store", ABOUT | about)
    AnswerStore(tmp_path / "store", ABOUT).close()


def test_what_was_asked_before_a_label_was_added_says_nothing_about_it(tmp_path):
    path, grown = tmp_path / "store", ["moon", "sky", "city", "sea"]
    with AnswerStore(path, ABOUT) as store:
        store.append(ITEMS, _given(0, "ticked", ["sky"], probability=1.0))
        store.append(ITEMS, _given(1, "named", [], asked_for=1))
        old = sqlite3.connect(path).execute("SELECT * FROM log").fetchall()
    with AnswerStore(path, ABOUT | {"labels": ["city", "sea", "sky"]}) as store:
        assert (store.labels, store.history.since, store.added) == (LABELS, [0] * 3, [])
    for added in (["moon"], []):
        with AnswerStore(path, ABOUT | {"labels": grown}) as store:
            assert (store.labels, store.added) == ([*LABELS, "moon"], added)
            assert store.history.since == [0, 0, 0, 2]
            asked = [each.labels for each in store.load(NUMBERS) if isinstance(each, Question)]
            assert asked[:2] == [(0, 1, 2)] * 2
            if added:
                store.append(ITEMS, _given(2, "ticked", ["moon"], probability=1.0))
            table = store.answers_table()
    assert asked[2] is None
    assert sqlite3.connect(path).execute("SELECT * FROM log").fetchall()[: len(old)] == old
    answers = Answers.from_table(table, items=ITEMS, label_names=grown)
    assert answers.complementary.tolist() == [[0, 0, 1, 1], [0] * 4, [0, 1, 1, 1]]
    assert answers.known_relevant.tolist() == [[0, 1, 0, 0], [0, 1, 1, 1], [1, 0, 0, 0]]
    with raises(StoreError, "'moon'"):
        AnswerStore(path, ABOUT)


def test_one_server_at_a_time_and_the_lock_of_a_killed_one_is_free(tmp_path):
    code = f"""
import time
from complabel.live._store import AnswerStore
store = AnswerStore({str(tmp_path / "store")!r}, {ABOUT!r})
print("open", flush=True)
time.sleep(60)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "open\n"
    with raises(StoreError, "--out"):
        AnswerStore(tmp_path / "store", ABOUT)
    process.kill()
    process.communicate()

    AnswerStore(tmp_path / "store", ABOUT).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store"]


def test_a_file_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "text").write_text("no database " * 100)
    with sqlite3.connect(tmp_path / "other") as other:
        other.execute("CREATE TABLE mine (a)")
    other.close()
    for name in ("text", "other"):
        before = (tmp_path / name).read_bytes()
        with raises(StoreError, name):
            AnswerStore(tmp_path / name, ABOUT)
        assert (tmp_path / name).read_bytes() == before
    with raises(StoreError, "--out"):
        AnswerStore(tmp_path / "no folder" / "store", ABOUT)


def _stored(path):
    """Write some answers, one of them taken back, and return what was written."""
    new = [each for at in range(12) for each in _given(at, "asked", "yes", labels=(1,))]
    new.append(Event(25, 61.0, "undone", "ann", 11, 0, 23))
    with AnswerStore(path, ABOUT) as store:
        store.append(ITEMS, new)
        return list(store.load(NUMBERS))


def test_a_file_in_which_any_bit_is_another_is_refused_or_has_the_same_answers(tmp_path):
    path, chance = tmp_path / "store", random.Random(0)
    before = _stored(path)
    whole, n_refused = path.read_bytes(), 0
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            with AnswerStore(path, ABOUT) as store:
                assert list(store.load(NUMBERS)) == before
                assert len(store.answers_table()["item"]) == 11
        except StoreError:
            n_refused += 1
    assert n_refused > 5


def test_after_a_kill_whatever_happens_to_a_file_no_confirmed_answer_is_missing(tmp_path):
    code = f"""
import itertools, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_store import ABOUT, ITEMS, AnswerStore, _given
with AnswerStore(sys.argv[1], ABOUT) as store:
    for at in itertools.count():
        store.append(ITEMS, _given(at, "asked", "yes", labels=(1,)))
        print(at + 1, flush=True)
"""
    chance, outcomes = random.Random(0), Counter()
    for trial in range(4):
        path = tmp_path / f"{trial}" / "store"
        path.parent.mkdir()
        process = subprocess.Popen(
            [sys.executable, "-c", code, path], stdout=subprocess.PIPE, text=True
        )
        for _ in range(4):
            process.stdout.readline()
        time.sleep(chance.uniform(0, 0.2))
        process.kill()
        confirmed = int((["4", *process.communicate()[0].split()])[-1])
        files = {each: each.read_bytes() for each in path.parent.iterdir()}
        for _ in range(8):
            for file, whole in files.items():
                file.write_bytes(whole)
            damaged = bytearray(whole := files[at := chance.choice([*filter(files.get, files)])])
            damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
            at.write_bytes(damaged)
            try:
                with AnswerStore(path, ABOUT) as store:
                    assert len(store.answers_table()["item"]) in (confirmed, confirmed + 1)
                outcomes["same"] += 1
            except StoreError:
                outcomes["refused"] += 1
    assert min(outcomes["same"], outcomes["refused"]) > 0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("DELETE FROM log WHERE id = 24", "24"),
        ("DELETE FROM log WHERE id = 38", ("37 entries", "38")),
        ("INSERT INTO log VALUES (39, 'undone', '[]', 1, x'00')", ("39 entries", "38")),
        ("UPDATE log SET entry = '[]' WHERE id = 2", "2"),
        ("UPDATE log SET digest = x'00' WHERE id = 2", "2"),
        ("UPDATE log SET changes = 2 WHERE id = 2", "2"),
        ("UPDATE head SET seal = x'00'", "all entries"),
        ("DELETE FROM head", "how many answers"),
        ("UPDATE head SET count = 'x'", "how many answers"),
        ("CREATE INDEX more ON log (what)", "all entries"),
        ("DROP TABLE log", "first page"),
        ("PRAGMA application_id = 7", "first page"),
    ],
)
def test_what_another_program_changed_is_seen_at_the_start(tmp_path, change, told):
    _stored(tmp_path / "store")
    with sqlite3.connect(tmp_path / "store") as other:
        other.execute(change)
    other.close()

    with raises(DamagedError, told):
        AnswerStore(tmp_path / "store", ABOUT)


def test_what_another_program_changes_meanwhile_is_seen_and_nothing_is_added_to_it(tmp_path):
    _stored(tmp_path / "store")
    new = _given(20, "asked", "yes", labels=(1,))
    with AnswerStore(tmp_path / "store", ABOUT) as store:
        with sqlite3.connect(tmp_path / "store") as other:
            other.execute("UPDATE log SET digest = x'00' WHERE id = 2")
            other.execute("UPDATE head SET seal = x'00'")
        other.close()
        with pytest.raises(DamagedError):
            store.answers_table()
        with raises(StoreError, "store"):
            store.append(ITEMS, new)
        assert len(list(store.load(NUMBERS))) == 12 + 25


def test_a_file_that_is_moved_away_or_replaced_gets_no_answers(tmp_path):
    _stored(tmp_path / "other")
    with AnswerStore(tmp_path / "store", ABOUT) as store:
        (tmp_path / "store").rename(tmp_path / "away")
        for replaced in (False, True):
            if replaced:
                (tmp_path / "other").rename(tmp_path / "store")
            with raises(StoreError, "store"):
                store.append(ITEMS, _given(0, "asked", "yes", labels=(1,)))
            with raises(StoreError, "store"):
                store.answers_table()


@pytest.mark.parametrize("version", [1, 3, 99])
def test_a_file_of_another_version_is_left_alone(tmp_path, version):
    _stored(tmp_path / "store")
    with sqlite3.connect(tmp_path / "store") as file:
        file.execute(f"PRAGMA user_version = {version}")
    file.close()
    before = (tmp_path / "store").read_bytes()

    with raises(StoreError, version) as refusal:
        AnswerStore(tmp_path / "store", ABOUT)
    assert not isinstance(refusal.value, DamagedError)
    assert (tmp_path / "store").read_bytes() == before


def test_an_empty_file_in_the_place_of_answers_is_refused_and_its_journal_kept(tmp_path):
    path, journal = tmp_path / "answers.csv.sqlite", tmp_path / "answers.csv.sqlite-journal"
    path.touch()
    AnswerStore(path, ABOUT).close()  # what is left of a server that was killed at its start
    path.write_bytes(b"")
    (tmp_path / "answers.csv").write_text("answer_id,item,label,answer\n")
    with raises(DamagedError, "answers.csv"):
        AnswerStore(path, ABOUT)
    path.unlink()
    journal.write_bytes(b"journal")
    with raises(DamagedError, "journal"):
        AnswerStore(path, ABOUT)
    assert journal.read_bytes() == b"journal"
    journal.unlink()
    path.mkdir()
    with raises(StoreError, "answers.csv.sqlite", "--out"):
        AnswerStore(path, ABOUT)


def test_numbers_come_back_as_they_were_written_whatever_they_are(tmp_path):
    kinds = [(0.1, 3.0), (1, -0.0), (5e-324, 86_400), (float("nan"), float("nan"))]
    new = []
    for at, (probability, seconds) in enumerate(kinds):
        question, asked, _ = _given(at, "asked", "yes", labels=(1,), probability=probability)
        given = Event(asked.id + 1, 7, "answered", "ann", at, 0, asked.id, "yes", seconds)
        new += [question, asked, given]
    with AnswerStore(tmp_path / "store", ABOUT) as store:
        store.append(ITEMS, new)
    with AnswerStore(tmp_path / "store", ABOUT) as store:
        assert store.answers_table()["seconds"] == [3.0, 0.0, 86_400.0, None]
        assert store.answers_table()["probability"] == [0.1, 1.0, 5e-324, None]
