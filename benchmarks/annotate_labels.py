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

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
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
FIGURES = ("precision", "average_precision")


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


def answers_of(sittings: Any, question: str, n_items: int) -> tuple[Answers, Any]:
    """Hold sittings, (truth, n, options) each; return the answers, and the items of the first."""
    items, first = [str(row) for row in range(n_items)], None
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name), Path(name) / "answers.csv"
        rows = "".join(f"{each},x\n" for each in items)
        (folder / "items.csv").write_text(f"item,text\n{rows}")
        for truth, n, options in sittings:
            sit(folder, truth, question, n, **options)
            first = pd.read_csv(out)["item"] if first is None else first
        return read_answers(out, items=items, label_names=[*sittings[-1][0]]).answers, first


def measured(draw: int) -> list[Any]:
    """Return how often intervals held the truth in some sittings."""
    rng = np.random.default_rng(0)
    p = rng.random((6000, 5)) ** 2
    Y = rng.random(p.shape) < p * [1, 1, 1, 1, 0.4]  # the last label applies less often than said
    every = Answers.from_arrays(
        relevant=Y, absent=~Y, question="ticked", probability=1.0, n_items=len(Y)
    )
    truth, n = estimate_metrics(every, p, new_items=False), 34
    held = {way: dict.fromkeys(FIGURES, 0.0) for way in ("in the table", "when asked")}
    now = {str(at): Y[:, at] for at in range(5)}
    then = {label: now[label] for label in [*now][:4]}
    for seed in range(n * draw, n * (draw + 1)):
        halves = [(each, 1000, {"seed": seed}) for each in (then, now)]
        answers, first = answers_of(halves, "asked", len(Y))
        chance = np.where(np.isin(answers.item, first), 1 / 4, 1 / 5)  # all are asked once
        for way, each in zip(held, (answers, replace(answers, probability=chance)), strict=True):
            found = estimate_metrics(each, p)
            for name in FIGURES:
                figure, value = getattr(found, name), getattr(truth, name).value
                held[way][name] += 100 / n * (figure.low <= value <= figure.high)
    return [({"chances": way}, figures) for way, figures in held.items()]


def measure(*, draw: int, data: Any, what: str, **cell: Any) -> Any:
    """Return a row for the labels that changed, and one for the others."""
    if what == "measured":
        return measured(draw)
    name, n, found = cell["set"], KINDS[cell["asks"]], {}
    loaded: Any = make_digits() if name == "digits" else load_dataset(name, data_dir=data)
    X, Y = loaded.X, np.asarray(loaded.Y) > 0
    train, test = np.split(np.random.default_rng(draw).permutation(len(Y)), [len(Y) // 2])
    Y = Y[:, np.random.default_rng([draw, 1]).permutation(Y.shape[1])]
    then, unseen = {str(at): column for at, column in enumerate(Y[train].T)}, Y[test]
    now, options, n_new = dict(then), {}, N_ADDED[name] if what == "added" else 1
    if what == "added":
        then = {label: then[label] for label in [*then][:-n_new]}
    else:  # the last two labels become one
        first, second = [*then][-2:]
        now[first], options = now[first] | now.pop(second), {"merge": {second: first}}
        unseen = np.column_stack([unseen[:, :-2], unseen[:, -2:].any(axis=1)])
    sittings = {"start": [(now, n, {})], "third": [(then, n // 3, {}), (now, n - n // 3, options)]}
    if what == "merged":
        sittings["anew"] = [(now, n - n // 3, {})]
    for way, each in sittings.items():
        answers = answers_of(each, cell["asks"], len(train))[0]
        model = SelectionLikelihoodClassifier(random_state=0).fit(X[train], answers)
        found[way] = average_precision_score(unseen, model.predict_proba(X[test]), average=None)
    return [
        ({"labels": what}, {way: np.mean(each[-n_new:]) for way, each in found.items()}),
        ({"labels": "other"}, {way: np.mean(each[:-n_new]) for way, each in found.items()}),
    ]
