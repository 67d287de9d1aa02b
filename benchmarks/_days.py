"""A sitting of ``complabel annotate`` of four days, in a process that can be killed."""

from __future__ import annotations

import contextlib
import json
import logging
import multiprocessing
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from complabel.errors import ComplabelError
from complabel.live import Annotation, Until, read_things
from complabel.trust import Goal

STORE = "answers.csv.sqlite"
DAYS: list[dict[str, Any]] = [
    {"labels": ["a", "b", "c", "d", "e"]},
    {"labels": ["a", "b", "c", "d", "e", "f"], "goal": True},
    {"labels": ["a", "c", "d", "e", "f"], "merge": {"b": "a"}},
    {"labels": ["a", "x", "d", "e", "f"], "merge": {"b": "a"}, "rename": {"c": "x"}},
]
Confirm = Callable[[Any], None]


@contextlib.contextmanager
def place(n_items: int = 60) -> Iterator[Path]:
    """Yield a folder with the things that people are asked about."""
    logging.disable()  # of tables that are kept
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "sitting"
        folder.mkdir()
        rows = "".join(f"item {at},some words {at}\n" for at in range(n_items))
        (folder / "items.csv").write_text("item,body\n" + rows)
        yield folder
    logging.disable(logging.NOTSET)


def opened(folder: Path, labels: list[str], *, goal: bool = False, **more: Any) -> Annotation:
    """Open the sitting as a day of it does."""
    until = Until([Goal.parse("frequencies +-.2")], len(labels)) if goal else None
    things, out = read_things(folder / "items.csv", text="body"), folder / "answers.csv"
    return Annotation.open(things, labels, out=out, question="asked", until=until, **more)


def hold(folder: Path, confirm: Confirm, day: int, n: int, seed: int) -> None:
    """Answer n questions of a day; ``confirm`` is called with each answer that was stored."""
    chance, annotation = random.Random(seed), opened(folder, **DAYS[day])
    with contextlib.closing(annotation.store):
        annotation.save()
        asker, names = annotation.asker, annotation.things.names
        for at in range(n):
            event = asker.next(chance.choice(["ann", "bo"]))
            if event is None:
                break
            question, said = asker.questions[event.number], chance.choice(["yes", "no"])
            asker.answer(event.id, event.person, said, 1.5)
            annotation.store.append(names, asker.new)
            asker.new.clear()
            confirm([str(event.id), names[question.item], *asker.labels_of(question), said])
            if at % 10 == 9:
                annotation.save()
            if annotation.until is not None and at % 5 == 4:
                annotation.until.look(annotation.news, asker.answered)
        annotation.end()


def outcome(folder: Path, day: int, said: list[list[str]], most: float = 1) -> str:
    """Say what a start of the same command finds."""
    try:
        annotation = opened(folder, **DAYS[day])
    except ComplabelError as error:
        return "refused" if str(folder / STORE) in str(error) else "other"
    with contextlib.closing(annotation.store):
        table, labels = annotation.table(), DAYS[day]["labels"]
        columns = (table[name] for name in ("answer_id", "item", "label", "answer"))
        rows = {id_: row for id_, *row in zip(*columns, strict=True)}
        for id_, item, label, answer in said:
            is_merged = "b" not in labels and label in ("a", "b")
            now = "x" if "x" in labels and label == "c" else label
            if not is_merged and rows.get(id_) != [item, now, answer]:
                return "other"
        return "same" if 0 <= len(annotation.asker.done) - len(said) <= most else "other"


def forked(run: Callable[..., None], folder: Path, *more: Any) -> Any:
    """Start ``run(folder, confirm, *more)`` in a fork of this process."""
    child = multiprocessing.get_context("fork").Process(target=_told, args=(run, folder, *more))
    child.start()
    return child


def _told(run: Callable[..., None], folder: Path, *more: Any) -> None:
    """Run something, and write down what it confirms."""
    with folder.with_suffix(".told").open("a") as file:

        def confirm(answer: Any) -> None:
            file.write(json.dumps(answer) + "\n")
            file.flush()

        run(folder, confirm, *more)


def confirmed(folder: Path) -> list[Any]:
    """Return what forks confirmed, as far as its lines are whole."""
    told = folder.with_suffix(".told")
    text = told.read_text() if told.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith(("]", "}"))]
