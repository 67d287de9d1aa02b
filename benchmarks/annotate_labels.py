"""What does it cost to add or merge labels at a third of a sitting of ``complabel annotate``?

One simulated person, who makes no mistakes, answers 1,500 yes/no questions or ticks labels of 300
items. "added" and "merged" give the mean average precision of these labels and of the others, on
true labels of other items: "third", beside a sitting with the labels of the end from the start
("start"), and one that begins with the other two thirds ("anew"). "measured": in how many of 100
sittings intervals of figures held the truth, if a label that applies less often than the model says
was added after half of the answers: with the chances in the table, and with those that the label
had when it was asked about.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score

from complabel.answers import Answers
from complabel.datasets import make_digits
from complabel.experiments.datasets import load_dataset
from complabel.files import read_answers
from complabel.live import Annotation, read_things
from complabel.methods import SelectionLikelihoodClassifier
from complabel.trust import estimate_metrics

N_ADDED, KINDS = {"digits": 3, "scene": 2, "yeast": 4}, {"asked": 1500, "ticked": 300}
CELLS = [
    *(
        {"what": what, "set": name, "asks": question}
        for what in ("added", "merged")
        for name in N_ADDED
        for question in KINDS
    ),
    {"what": "measured"},
]
DRAWS, NEEDS = 3, ("scene", "yeast")
QUICK = {"what": ("added",), "set": ("digits",), "asks": ("ticked",)}
FIGURES = ("precision", "recall", "f1", "average_precision")


def sit(folder: Path, truth: Mapping[str, Any], question: str, n: int, **options: Any) -> None:
    """Answer n questions about labels, and go on with what is there."""
    things, out = read_things(folder / "items.csv", text="text"), folder / "answers.csv"
    annotation = Annotation.open(things, [*truth], out=out, question=question, **options)
    asker = annotation.asker
    for _ in range(n):
        event = asker.next("ann")
        if event is None:
            break
        asked = asker.questions[event.number]
        chosen = [label for label in asker.labels_of(asked) if truth[label][asked.item]]
        answer: Any = chosen if question != "asked" else ("yes" if chosen else "no")
        asker.answer(event.id, "ann", answer, 1.0)
    annotation.end()
    annotation.store.close()


def answers_of(sittings: Any, labels: Any, n_items: int) -> tuple[Answers, dict[int, float]]:
    """Hold sittings one after the other: (truth, question, n, options) each.

    Return the answers, and with which chance each item's latest question was drawn.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        rows = "".join(f"{row},x\n" for row in range(n_items))
        (folder / "items.csv").write_text(f"item,text\n{rows}")
        for truth, question, n, options in sittings:
            sit(folder, truth, question, n, **options)
        items = [str(row) for row in range(n_items)]
        with contextlib.closing(sqlite3.connect(folder / "answers.csv.sqlite")) as store:
            drawn = store.execute("SELECT entry FROM log WHERE what = 'question' ORDER BY id")
            entries = [json.loads(entry) for (entry,) in drawn]
            chance = {int(item): probability for _, item, _, _, probability, *_ in entries}
        found = read_answers(folder / "answers.csv", items=items, label_names=[*labels])
        return found.answers, chance


def scores(X: Any, Y: Any, question: str, draw: int, way: str, n_new: int, what: str) -> Any:
    """Return the average precision of each label, those that were added or merged last."""
    n, order = KINDS[question], np.random.default_rng(draw).permutation(len(Y))
    train, test = order[: len(Y) // 2], order[len(Y) // 2 :]
    columns = np.random.default_rng([draw, 1]).permutation(Y.shape[1])
    then = {str(at): Y[train][:, column] for at, column in enumerate(columns)}
    now, unseen, options = dict(then), Y[test][:, columns], {}
    if what == "added":
        for label in [*then][-n_new:]:
            del then[label]
    else:  # the last two labels become one
        first, second = [*then][-2:]
        now[first], options = now[first] | now.pop(second), {"merge": {second: first}}
        unseen = np.column_stack([unseen[:, :-2], unseen[:, -2:].any(axis=1)])
    sittings = {
        "start": [(now, question, n, {})],
        "third": [(then, question, n // 3, {}), (now, question, n - n // 3, options)],
        "anew": [(now, question, n - n // 3, {})],
    }
    answers, _ = answers_of(sittings[way], now, len(train))
    p = SelectionLikelihoodClassifier(random_state=0).fit(X[train], answers).predict_proba(X[test])
    return [float(average_precision_score(unseen[:, at], p[:, at])) for at in range(len(p.T))]


def measured(draw: int) -> list[Any]:
    """Return how often intervals held the truth in some sittings."""
    rng = np.random.default_rng(0)
    p = rng.random((6000, 5)) ** 2
    Y = rng.random(p.shape) < p * [1, 1, 1, 1, 0.4]  # the last label applies less often than said
    every = Answers.from_arrays(
        relevant=Y, absent=~Y, question="ticked", probability=1.0, n_items=len(Y)
    )
    truth = estimate_metrics(every, p, new_items=False)
    held = {way: np.zeros(len(FIGURES)) for way in ("in the table", "when asked")}
    now, n = {str(at): Y[:, at] for at in range(5)}, 34
    then = {label: now[label] for label in [*now][:4]}
    for seed in range(n * draw, n * (draw + 1)):
        halves = [(each, "asked", 1000, {"seed": seed}) for each in (then, now)]
        answers, drawn = answers_of(halves, now, len(Y))
        chance = np.array([drawn[item] for item in answers.item.tolist()])  # each was asked once
        for way, each in zip(held, (answers, replace(answers, probability=chance)), strict=True):
            found = estimate_metrics(each, p)
            for at, name in enumerate(FIGURES):
                figure, value = getattr(found, name), getattr(truth, name).value
                held[way][at] += figure.low <= value <= figure.high
    return [
        ({"chances": way}, dict(zip(FIGURES, 100 * counts / n, strict=True)))
        for way, counts in held.items()
    ]


def measure(*, draw: int, data: Any, what: str, **cell: Any) -> Any:
    """Return a row for the labels that changed, and one for the others."""
    if what == "measured":
        return measured(draw)
    name, question = cell["set"], cell["asks"]
    loaded: Any = make_digits() if name == "digits" else load_dataset(name, data_dir=data)
    Y, n_new = np.asarray(loaded.Y) > 0, N_ADDED[name] if what == "added" else 1
    ways = ("start", "third") if what == "added" else ("start", "third", "anew")
    found = {way: scores(loaded.X, Y, question, draw, way, n_new, what) for way in ways}
    return [
        ({"labels": what}, {way: np.mean(each[-n_new:]) for way, each in found.items()}),
        ({"labels": "other"}, {way: np.mean(each[:-n_new]) for way, each in found.items()}),
    ]
