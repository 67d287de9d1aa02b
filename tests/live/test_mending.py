"""What becomes of a damaged file of answers."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from pathlib import Path

import pytest

from complabel._questions import KINDS
from complabel._sqlite import DamagedError
from complabel.errors import StoreError
from complabel.files import AnswerWriter
from complabel.live._asker import Asker
from complabel.live._drawing import Question, RandomQuestions
from complabel.live._mending import open_store
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
    return Asker(RandomQuestions(ITEMS, len(LABELS), lambda: kind, kind), LABELS, _Clock())


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
        _lose(path, "DELETE FROM events WHERE id = ?", id_)
    with pytest.raises(DamagedError, match="--mend"):
        open_store(path, ABOUT)

    again = _asker()
    with open_store(path, ABOUT, mend=True) as store:
        assert (store.token, store.mark) == (token, mark)
        for each in store.load(NUMBERS):
            again.restore(each)
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
    _lose(path, "UPDATE events SET person = 'bnn' WHERE what = 'asked' AND number % 2")

    with open_store(path, ABOUT, mend=True) as store:
        assert store.answers_table() == before


def _killed(path):
    """Write a damaged file, and answers in its journal, as a server that is killed leaves them."""
    asker = _history(0)
    later, asker.new = asker.new[-30:], asker.new[:-30]
    _write(path, asker)
    files = [path, Path(f"{path}-wal")]
    with AnswerStore(path, ABOUT) as store:
        store.append(ITEMS, later)
        left = [each.read_bytes() for each in files]
    assert min(map(len, left)) > 5000
    for each, content in zip(files, left, strict=True):
        each.write_bytes(content)
    _lose(path, "DELETE FROM events WHERE id = 9")


@pytest.mark.parametrize("has_links", [True, False])
@pytest.mark.parametrize("step", range(4))
def test_a_crash_while_the_file_is_mended_loses_nothing(tmp_path, monkeypatch, step, has_links):
    path = tmp_path / "answers.csv.sqlite"
    _killed(path)
    steps, replace = iter([True] * step), Path.replace

    def crashing(*files):
        next(steps)
        replace(*files)

    def link(*files):
        with pytest.raises(StoreError, match="another server"):
            taken_lock(path)
        raise PermissionError

    with contextlib.suppress(StopIteration, RuntimeError), monkeypatch.context() as patch:
        patch.setattr(Path, "replace", crashing)
        if not has_links:
            patch.setattr("os.link", link)
        open_store(path, ABOUT, mend=True).close()

    def n_rows(**options):
        with open_store(path, ABOUT, **options) as store:
            return len(list(store.load(NUMBERS)))

    found = []
    with contextlib.suppress(DamagedError):
        found.append(n_rows())
    assert {*found, n_rows(mend=True), n_rows()} == {122}
    assert (tmp_path / "answers.kept-1.csv.sqlite").stat().st_mode & 0o777 == 0o600


def test_a_file_that_another_program_reads_is_not_replaced(tmp_path):
    path = tmp_path / "answers.csv.sqlite"
    _killed(path)
    with contextlib.closing(sqlite3.connect(path)) as reader:
        reader.execute("SELECT count(*) FROM events").fetchone()
        _lose(path, "DELETE FROM events WHERE id = 10")
        with pytest.raises(StoreError, match="another program"):
            open_store(path, ABOUT, mend=True)
    open_store(path, ABOUT, mend=True).close()


def test_of_a_file_in_which_nothing_can_be_read_nothing_is_changed(tmp_path):
    path = tmp_path / "answers.csv.sqlite"
    table, *_ = _write(path, _history(0))
    with AnswerWriter(tmp_path / "answers.csv") as writer:
        writer.write(table)
    damaged = bytearray(path.read_bytes())
    damaged[100:200] = bytes(100)
    path.write_bytes(damaged)
    for mend in (False, True):
        with pytest.raises(DamagedError, match=rf"answers.csv has {len(_rows(table))} answers"):
            open_store(path, ABOUT, mend=mend)
    assert path.read_bytes() == damaged
