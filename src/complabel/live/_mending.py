"""Files of answers that take the place of others: of damaged ones, and where labels are merged."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from complabel._sqlite import DamagedError
from complabel._writing import explained, replacing
from complabel.answers import Answers, merge_labels
from complabel.errors import InputError, StoreError
from complabel.files import some_of
from complabel.live._asker import Event
from complabel.live._drawing import Question
from complabel.live._store import ROWS, AnswerStore, about_of, digest_of, taken_lock
from complabel.live._tables import beside, told_of

_ENDINGS = ("", "-wal")  # of the files that make up a store
_ABOUT: dict[str, Any] = {"mark": str, "token": str, "question": str, "labels": list | dict}
_ABOUT |= {"merged": dict, "weighted": bool}

_logger = logging.getLogger(__name__)


def open_store(path: Path, about: Mapping[str, Any], *, mend: bool = False) -> AnswerStore:
    """Open a store; with ``mend``, move a damaged one aside and keep what is whole in it.

    A DamagedError says what is wrong, what could be kept, and how.
    """
    try:
        return AnswerStore(path, about)
    except DamagedError as error:
        with contextlib.ExitStack() as held:
            held.callback(taken_lock(path).release)
            _mend(path, about, error, mend=mend)
        return AnswerStore(path, about)


def _mend(path: Path, about: Mapping[str, Any], error: DamagedError, *, mend: bool) -> None:
    """Put what is whole in a damaged store in its place; without ``mend``, say what is whole."""
    found = _whole_rows(path)
    rows = {"questions": found[0], "events": _consistent(*found[:2])}
    undone = {event[6] for event in rows["events"] if event[2] == "undone"}
    n_whole = sum(e[2] == "answered" and e[6] not in undone for e in rows["events"])
    whole = f"{n_whole:,} answers in it are as they were written"
    table = told_of(path.with_suffix(""))
    if not rows["events"]:
        raise DamagedError(
            f"{error}. No answer in it can be read; {table}. Keep both files, and begin anew with"
            " another --out and another --seed"
        ) from error
    if not mend:
        raise DamagedError(
            f"{error}. Every answer in it is left as it was. {whole}; {table}. To go on with the"
            " answers that are whole, type the same command with --mend, without --merge; it also"
            " keeps the damaged file"
        ) from error
    if gone := [name for name in found[2].get("labels", ()) if name not in about["labels"]]:
        told = f"{error}. It has the labels {some_of(gone)}; give them, too"
        raise DamagedError(told) from error
    aside = _put_aside(path, {**about, **found[2]}, lambda store: store.add(rows))
    _logger.warning("%s. It is now %s; %s, and asking goes on with them", error, aside, whole)


def _put_aside(path: Path, about: Mapping[str, Any], fill: Callable[[AnswerStore], None]) -> Path:
    """Put a new file in the place of a store, which is never missing; return the old one's name."""
    aside, journals = beside(path), [Path(f"{path}{ending}") for ending in ("-wal", "-shm")]
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        made = Path(folder) / path.name
        with AnswerStore(made, about) as store:
            fill(store)
        if left := [each.name for each in journals if each.exists()]:  # it would read them
            raise StoreError(
                f"{path}: another program has this file open; end it first. If there is none, move"
                f" {' and '.join(left)} to another folder, and keep them"
            )
        with explained(path):
            try:
                os.link(path, aside)
            except OSError:  # this file system has no links
                with replacing(aside) as copy:
                    copy.touch(0o600)
                    shutil.copyfile(path, copy)
            made.replace(path)
    return aside


def merge_store(
    path: Path,
    about: Mapping[str, Any],
    merged: Mapping[str, str],
    items: Collection[str],
    *,
    mend: bool = False,
) -> None:
    """Merge labels in a file of answers, and keep the old file under another name.

    ``about`` is what is asked from now on, and ``merged`` has the new name of each label that is
    merged. The file goes on with what follows from its answers. They have no ``probability``: they
    say nothing of how often the merged label applies, and so are no random sample of all pairs.
    Nothing happens if nothing is left to merge, or before anything is refused: labels or ``items``
    that are gone, or what is asked otherwise than in the file.
    """
    if still := [old for old in merged if old in about["labels"]]:
        raise InputError(
            f"--merge is about {some_of(still)}, which --labels still has; leave out there what is"
            " merged into another label"
        )
    try:
        known = about_of(path)
    except DamagedError:
        open_store(path, about).close()  # says what is whole, and what to do
        raise
    done = known.get("merged", {})
    left = {
        old: new for old, new in merged.items() if old in known["labels"] or done.get(old) != new
    }
    if not left:
        return
    with open_store(path, {**about, "labels": [*known["labels"]]}, mend=mend) as store:
        columns, token = store.answers_table(), store.token
        answers = Answers.from_table(columns, label_names=store.labels, contradictions="keep")
        answers = merge_labels(answers, left)
        names, asked = [*(answers.label_names or ())], np.asarray(answers.item_names).tolist()
        gone = [name for name in names if name not in about["labels"]]
        gone += [item for item in asked if item not in items]
        if gone:
            raise StoreError(
                f"{path}: there are answers about {some_of(gone)}, which --labels or the things to"
                " ask about lack; add what is missing, or say into which label it is merged"
            )
        # Questions of now come after those.
        labels = dict.fromkeys([*names, *about["labels"]], answers.n_answers)
        now = {**about, "labels": labels, "token": token, "merged": {**done, **left}}
        store.end()
        aside = _put_aside(path, now, lambda new: new.append(asked, _happened(answers, columns)))
    _logger.warning("labels are merged; the answers of before are kept as %s", aside)


def _happened(answers: Answers, before: Mapping[str, list[Any]]) -> Iterator[Question | Event]:
    """Yield a question for each answer, that it was asked, and that it was answered.

    They are in the order of the table of before, by what a person last said of an item.
    """
    names, events = answers.label_names or (), list[Event]()
    who = zip(before["item"], before["annotator"], strict=True)
    last = {each: at for at, each in enumerate(who)}
    items, people = np.asarray(answers.item_names), np.asarray(answers.annotator_names)
    rows = [last[pair] for pair in zip(items[answers.item], people[answers.annotator], strict=True)]
    for number, at in enumerate(np.argsort(rows, kind="stable").tolist()):
        marked = {
            name: mask.indices[mask.indptr[at] : mask.indptr[at + 1]].tolist()
            for name in ("offered", "named", "relevant", "absent")
            for mask in [getattr(answers, name)]
        }
        kind, said = str(answers.question[at]), marked["relevant"]
        if kind == "named":
            kind, said = ("menu", "named")[answers.all_apply[at] == "answer"], marked["named"]
        labels = marked["offered"] or range(len(names))
        answer: Any = [names[label] for label in said]
        if kind == "asked":
            labels, answer = marked["relevant"] + marked["absent"], "yes" if said else "no"
        asked_for = int(answers.asked_for[at]) or None
        yield Question(number, int(answers.item[at]), kind, tuple(labels), None, asked_for)
        person, of = str(people[answers.annotator[at]]), 2 * number + 1
        then = datetime.fromisoformat(before["time"][rows[at]]).timestamp()
        events.append(Event(of, then, "asked", person, number, 0))
        told = (of, answer, float(answers.seconds[at]))
        events.append(Event(of + 1, then, "answered", person, number, 0, *told))
    yield from events


def _whole_rows(path: Path) -> tuple[list[list[Any]], list[list[Any]], dict[str, Any]]:
    """Return the whole questions and events of a damaged file; what it says of itself."""
    found: dict[str, list[list[Any]]] = {name: [] for name in ROWS}
    about: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:  # SQLite may change what it reads
        copy = Path(folder) / "copy"
        for ending in _ENDINGS:
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(f"{path}{ending}", f"{copy}{ending}")
        with contextlib.closing(sqlite3.connect(copy)) as connection:
            for name in ROWS:
                found[name] = list(_read_whole(connection, name))
            for key, kind in _ABOUT.items():
                told = "SELECT value FROM about WHERE key = ?"
                with contextlib.suppress(sqlite3.Error, ValueError, TypeError):
                    value = json.loads(connection.execute(told, (key,)).fetchone()[0])
                    about |= {key: value} if isinstance(value, kind) else {}
    return found["questions"], found["events"], about


def _read_whole(connection: sqlite3.Connection, name: str) -> Iterator[list[Any]]:
    """Yield the rows whose digests are right, in their order; each is looked for by itself."""
    number, missing = 0, 0
    while missing < 10_000:  # rows on pages that are lost
        row = None
        with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):
            told = f"SELECT * FROM {name} WHERE rowid = ?"
            row = connection.execute(told, (number,)).fetchone()
        number, missing = number + 1, 0 if row else missing + 1
        with contextlib.suppress(TypeError):  # bytes are no value of a row
            if row and row[-1] == digest_of(row[:-1]):
                yield [*row[:-1]]


def _consistent(questions: list[list[Any]], events: list[list[Any]]) -> list[list[Any]]:
    """Return events that follow from each other, although some between them are lost.

    A lost hand-out is made anew from its answer. Of two answers to a copy of a question the first
    was taken back. People take answers back from their latest one on; so what came after an answer
    that was taken back was taken back as well.
    """
    known = {number for number, *_ in questions}
    made: dict[int, list[Any]] = {}
    handed: set[int] = set()
    standing: dict[tuple[int, int], list[Any]] = {}  # copies: the answers that count
    latest: dict[str, list[list[Any]]] = {}  # each person's answers that count

    def forget(answer: list[Any]) -> None:
        latest[answer[3]].remove(answer)
        del made[answer[0]], standing[answer[4], answer[5]]

    for event in events:
        id_, time, what, person, number, copy, of, *_ = event
        mine = latest.setdefault(person, [])
        anew = [time, "asked", person, number, copy, None, None, None]
        if number not in known:
            continue
        if what == "answered":
            if (before := standing.get((number, copy))) is not None:
                forget(before)
            if of not in handed:
                made[of] = [of, *anew]
            standing[number, copy] = event
            mine.append(event)
        elif what == "undone" and any(each[6] == of for each in mine):
            while mine[-1][6] != of:
                forget(mine[-1])
            mine.pop()
            del standing[number, copy]
        else:
            event = [id_, *anew]
        handed.add(of if what == "answered" else id_)
        made[id_] = event
    return [made[id_] for id_ in sorted(made)]
