"""Labels added or merged at a third of a sitting of `complabel annotate`, and what that costs.

One simulated person, who makes no mistakes, answers yes/no questions or ticks labels. ``added`` and
``merged`` print the average precision on true labels of other items, beside a sitting that had the
labels of the end from the start; ``merged`` also beside one that began anew. ``measured`` prints in
how many of 100 sittings intervals of figures held the truth, if a label was added after half of the
answers: with the chances in the table, and with those that the label had when it was asked about.
"""

from __future__ import annotations

import argparse
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

WHAT = ("added", "merged", "measured")
KINDS = (("asked", 1500), ("ticked", 300))
FIGURES = ("precision", "recall", "f1", "average_precision")


def sit(folder: Path, truth: Mapping[str, Any], question: str, n: int, **options: Any) -> None:
    """Answer n questions about labels, and go on with what is there."""
    things = read_things(folder / "items.csv", text="text")
    out = folder / "answers.csv"
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


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--draws", type=int, default=3)
    given = parser.parse_args()
    if given.what == "measured":
        measured(given.draws)
        return
    ways = ("start", "third") if given.what == "added" else ("start", "third", "anew")
    titles = {"start": "from the start", "third": f"{given.what} at a third", "anew": "begun anew"}
    print(f"| data | asked | answers | labels | {' | '.join(titles[way] for way in ways)} |")
    print("|---|---|--:|---|" + "--:|" * len(ways))
    for name, n_new in (("digits", 3), ("scene", 2), ("yeast", 4)):
        data = make_digits() if name == "digits" else load_dataset(name, data_dir=given.data_dir)
        Y = np.asarray(data.Y) > 0
        n_new = n_new if given.what == "added" else 1
        for question, n in KINDS:
            found: dict[str, list[Any]] = {way: [] for way in ways}
            for draw in range(given.draws):
                for way in ways:
                    each = scores(data.X, Y, question, n, draw, way, n_new, given.what)
                    found[way].append((np.mean(each[:-n_new]), np.mean(each[-n_new:])))
            for at, of in enumerate(("other", given.what)):
                cells = [np.array(found[way])[:, at] for way in ways]
                told = " | ".join(f"{cell.mean():.3f} ± {cell.std():.3f}" for cell in cells)
                print(f"| {name} | {question} | {n:,} | {of} | {told} |", flush=True)


def scores(
    X: Any, Y: Any, question: str, n: int, draw: int, way: str, n_new: int, what: str
) -> list[float]:
    """Return the average precision of each label, those that were added or merged last."""
    order = np.random.default_rng(draw).permutation(len(Y))
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
    sittings = [(then, question, n // 3, {}), (now, question, n - n // 3, options)]
    if way == "start":
        sittings = [(now, question, n, {})]
    elif way == "anew":
        sittings = [(now, question, n - n // 3, {})]
    answers, _ = answers_of(sittings, now, len(train))
    model = SelectionLikelihoodClassifier(random_state=0)
    p = model.fit(X[train], answers).predict_proba(X[test])
    return [float(average_precision_score(unseen[:, at], p[:, at])) for at in range(len(p.T))]


def measured(draws: int) -> None:
    """Print how often intervals held the truth, if the last of five labels was added."""
    rng = np.random.default_rng(0)
    p = rng.random((6000, 5)) ** 2
    applies = p * [1, 1, 1, 1, 0.4]  # the last label applies less often than the model says
    Y = rng.random(p.shape) < applies
    every = Answers.from_arrays(
        relevant=Y, absent=~Y, question="ticked", probability=1.0, n_items=len(Y)
    )
    truth = estimate_metrics(every, p, new_items=False)
    held = {way: np.zeros(len(FIGURES)) for way in ("in the table", "when asked")}
    for draw in range(draws):
        now = {str(at): Y[:, at] for at in range(5)}
        then = {label: now[label] for label in [*now][:4]}
        seed = {"seed": draw}
        sittings = [(then, "asked", 1000, seed), (now, "asked", 1000, seed)]
        answers, drawn = answers_of(sittings, now, len(Y))
        chance = np.array([drawn[item] for item in answers.item.tolist()])  # each was asked once
        for way, each in zip(held, (answers, replace(answers, probability=chance)), strict=True):
            found = estimate_metrics(each, p)
            for at, name in enumerate(FIGURES):
                figure, value = getattr(found, name), getattr(truth, name).value
                held[way][at] += figure.low <= value <= figure.high
    print(f"| chances | {' | '.join(FIGURES)} |")
    print("|---|" + "--:|" * len(FIGURES))
    for way, counts in held.items():
        print(f"| {way} | {' | '.join(f'{100 * count / draws:.0f}' for count in counts)} |")


if __name__ == "__main__":
    main()
