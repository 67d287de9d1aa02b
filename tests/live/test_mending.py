"""What becomes of a damaged file of answers."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from pathlib import Path

import pytest
from tests.refusals import raises

from complabel._questions import KINDS
from complabel._sqlite import DamagedError
from complabel.errors import StoreError
from complabel.files import AnswerWriter
from complabel.live._asker import Asker, Event
from complabel.live._drawing import Question, RandomQuestions
from complabel.live._mending import mend_store, open_store
from complabel.live._store import AnswerStore, taken_lock

LABELS = ["sea", "sky", "city"]
ABOUT = {"labels": LABELS, "question": "asked", "seed": 0}
ITEMS = [f"{at}.jpg" for at in range(20)]
NUMBERS = {name: at for at, name in enumerate(ITEMS)}


class _Clock:
    now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


def _asker():
    kind = KINDS["asked"]
    source = RandomQuestions(ITEMS, len(LABELS), lambda: kind, kind, overlap=0.5)
    return Asker(source, LABELS, _Clock())


def _history(seed, n_steps=60):
    """Return an asker after people answered, took back, and went away."""
    asker, chance = _asker(), random.Random(seed)
    for _ in range(n_steps):
        person = chance.choice(["ann", "ben"])
        asker.now.now += chance.choice([0, 0, 0, 200])
        event = asker.next(person, chance.randrange(3))
        event = asker.next(person)
        if chance.random() < 0.3 and asker.answered_by(person):
            asker.undo(person)
        else:
            asker.answer(event.id, person, chance.choice(["yes", "no", "unsure"]), 2.0)
    return asker


def _write(path, asker):
    with AnswerStore(path, ABOUT) as store:
        store.append(ITEMS, asker.new)
        return store.answers_table(), store.token, store.mark


def _rows(table):
    return set(zip(table["answer_id"], table["item"], table["label"], table["answer"], strict=True))


def _lose(path, statement, *values):
    with sqlite3.connect(path) as file:
        file.execute(statement, values)
    file.close()


@pytest.mark.parametrize("seed", range(6))
def test_whatever_rows_are_lost_asking_goes_on_with_the_others(tmp_path, seed):
    path, chance = tmp_path / "answers.csv.sqlite", random.Random(seed)
    asker = _history(seed)
    before, token, mark = _write(path, asker)
    events = [each for each in asker.new if not isinstance(each, Question)]
    lost = chance.sample([each.id for each in events], 8)
    for id_ in lost:
        _lose(path, "DELETE FROM log WHERE json_extract(entry, '$[0]') = ?1"
                    " AND what NOT IN ('question', 'began')", id_)  # fmt: skip
    with raises(DamagedError, "--mend"):
        open_store(path, ABOUT)

    again = _asker()
    mend_store(path)
    with open_store(path, ABOUT) as store:
        assert store.token == token
        assert store.mark != mark  # pages of before send nothing to it
        again.restore(store.load(NUMBERS))
        after = _rows(store.answers_table())
        n_lost = sum(each.id in lost for each in events if each.what != "asked")
        assert len(_rows(before) - after) <= n_lost  # one for each answer, or undo, that is lost
        assert len(after - _rows(before)) <= n_lost
        assert len(after) == again.answered == sum(again.by_person().values())
        for person in ("ann", "ben"):
            while again.answered_by(again.next(person).person):
                again.undo(person)
        store.append(ITEMS, again.new)
    kept = tmp_path / "answers.kept-1.csv.sqlite"
    assert {each.name for each in tmp_path.iterdir()} == {kept.name, path.name}
    with pytest.raises(DamagedError):
        AnswerStore(kept, ABOUT)


def test_a_lost_hand_out_costs_nothing(tmp_path):
    path, asker = tmp_path / "answers.csv.sqlite", _asker()
    for _ in range(9):
        asker.answer(asker.next("ann").id, "ann", "yes", 2.0)
    before, *_ = _write(path, asker)
    _lose(path, "UPDATE log SET digest = x'00' WHERE what = 'asked' AND id % 2")

    mend_store(path)
    with open_store(path, ABOUT) as store:
        assert store.answers_table() == before


def test_what_follows_a_lost_merge_is_not_guessed(tmp_path):
    path, asker = tmp_path / "answers.csv.sqlite", _history(0)
    _write(path, asker)
    now = {**ABOUT, "labels": ["sea", "city"], "merged": {"sky": "sea"}}
    with AnswerStore(path, now) as store:
        n_before = len(store.answers_table()["item"])
        more = Question(90, 0, "asked", (3,), 0.5, None)
        asked = Event(900, 0.0, "asked", "ann", 90, 0)
        said = Event(901, 0.0, "answered", "ann", 90, 0, 900, "no", 1.0)
        store.append(ITEMS, [more, asked, said])
        assert len(store.answers_table()["item"]) == n_before + 1
    _lose(path, "DELETE FROM log WHERE what = 'labels'")
    mend_store(path)
    with open_store(path, ABOUT) as store:  # as if nothing had been merged
        assert store.labels == LABELS
        assert len(store.answers_table()["item"]) == asker.answered


@pytest.mark.parametrize("has_links", [True, False])
@pytest.mark.parametrize("step", range(3))
def test_a_crash_while_the_file_is_mended_loses_nothing(tmp_path, monkeypatch, step, has_links):
    path = tmp_path / "answers.csv.sqlite"
    _write(path, _history(0))
    _lose(path, "DELETE FROM log WHERE id = 9")
    steps, replace = iter([True] * step), Path.replace

    def crashing(*files):
        next(steps)
        replace(*files)

    def link(*files):
        with raises(StoreError, "answers.csv.sqlite", "--out"):
            taken_lock(path)
        raise PermissionError

    with contextlib.suppress(StopIteration, RuntimeError), monkeypatch.context() as patch:
        patch.setattr(Path, "replace", crashing)
        if not has_links:
            patch.setattr("os.link", link)
        mend_store(path)

    def n_rows():
        with open_store(path, ABOUT) as store:
            return len(list(store.load(NUMBERS)))

    found = []
    with contextlib.suppress(DamagedError):
        found.append(n_rows())
    mend_store(path)
    assert len({*found, n_rows(), n_rows()}) == 1
    assert (tmp_path / "answers.kept-1.csv.sqlite").stat().st_mode & 0o777 == 0o600


def test_of_a_file_in_which_nothing_can_be_read_nothing_is_changed(tmp_path):
    path = tmp_path / "answers.csv.sqlite"
    table, *_ = _write(path, _history(0))
    with AnswerWriter(tmp_path / "answers.csv") as writer:
        writer.write(table)
    damaged = bytearray(path.read_bytes())
    damaged[100:200] = bytes(100)
    path.write_bytes(damaged)
    for _ in range(2):
        with raises(DamagedError, "answers.csv", len(_rows(table))):
            open_store(path, ABOUT)
        mend_store(path)
    assert path.read_bytes() == damaged
