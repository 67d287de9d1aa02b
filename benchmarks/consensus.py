"""Who is right: consensus beside votes and Dawid-Skene; wrong answers found; people's intervals?

Forty simulated people miss labels with rates from 0 to .75, and invent some with rates of about
.03. They answer one yes/no question about each of 2,000 items, and a second person answers 30 % of
these again ("asked"); or three people tick all labels of each item ("ticked"). Compared on the
judged pairs, by average ``precision`` and the share that is ``right``: the prediction of a model
that finds rates, the share of "yes", Dawid-Skene of crowd-kit label by label, share and probability
of ``find_consensus``, and the consensus of the model. ``missed_held`` and ``invented_held``: the
share of intervals of people's rates that hold, by a model of the other half of the items.
``wrong``: 3 % of true answers are turned around; how many of as many doubtful ones are wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score

from benchmarks._people import AUTO, PEOPLE, aggregated, aggregations, ask, linear
from complabel.answers import Answers
from complabel.experiments.datasets import load_dataset
from complabel.people import find_consensus
from complabel.simulate import draw_answers

CELLS = {"set": ("digits", "scene", "yeast"), "question": ("asked", "ticked")}
DRAWS, QUICK, NEEDS = 3, {"set": ("digits",), "question": ("asked",)}, ("scene", "yeast")
MOST_ITEMS, PLANTED = 2000, 0.03


def drawn(question: str, Y: Any, missed: Any, invented: Any, rng: Any) -> Answers:
    """Draw answers with mistakes; missed and invented are rates of people."""
    if question == "ticked":
        how: Any = {"answers_per_item": 3, "missed": missed, "invented": invented}
        return draw_answers(Y, question="ticked", random_state=rng, **how)
    asked = ask(Y, 0.3, rng)
    rates_of = np.where(asked.applies, missed[asked.person], invented[asked.person])
    return asked.answers(asked.applies ^ (rng.random(len(rates_of)) < rates_of))


def compared(X: Any, Y: Any, answers: Answers) -> Any:
    """Yield average precision and accuracy of each way, on the pairs that were judged."""
    said = answers.statements()
    counts = np.zeros((2, *Y.shape))
    np.add.at(counts, (said.applies.astype(int), said.item, said.label), 1)
    model = linear(**AUTO).fit(X, answers)
    together = find_consensus(X, answers, random_state=0)
    ways = {
        "prediction": model.predict_proba(X),
        "votes": counts[1] / np.maximum(counts.sum(axis=0), 1),
        "share": together.share,
        "applies": together.applies,
        "consensus": model.predict_consensus(X, answers),
    }
    if make := aggregations().get("Dawid-Skene"):
        by_pair = said.item, said.label, answers.annotator[said.answer], said.applies
        ways["Dawid-Skene"] = aggregated(make, Y.shape, *by_pair)
    judged = counts.sum(axis=0) > 0
    for name, scores in ways.items():
        columns = zip(Y.T, scores.T, judged.T, strict=True)
        precision = [average_precision_score(y[j], s[j]) for y, s, j in columns if y[j].any()]
        right = ((scores > 0.5) == Y)[judged].mean()
        yield {"by": name}, {"precision": np.mean(precision), "right": right}


def wrong_among_doubtful(X: Any, Y: Any, question: str, rng: np.random.Generator) -> float:
    """Turn some answers around; return how many of as many doubtful ones are wrong."""
    right = drawn(question, Y, *np.zeros((2, PEOPLE)), rng)
    said = right.statements()
    yes = said.applies ^ (rng.random(len(said)) < PLANTED)
    marks = np.zeros((2, right.n_answers, Y.shape[1]), dtype=np.uint8)
    marks[yes.astype(int), said.answer, said.label] = 1
    about: Any = {"offered": right.offered, "question": question, "item": right.item}
    answers = Answers.from_arrays(absent=marks[0], relevant=marks[1], n_items=len(Y), **about)
    model = linear(missed=PLANTED, invented=PLANTED).fit(X, answers)
    found = model.doubtful_answers(X, answers)
    wrong = found["said"] != Y[found["item"], found["label"]]
    return float(wrong[: wrong.sum()].mean())


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return the figures of each way; intervals and wrong answers are those of the model."""
    loaded: Any = load_dataset(cell["set"], data_dir=data)
    rng = np.random.default_rng(draw)
    rows = rng.permutation(len(loaded.Y))[:MOST_ITEMS]
    X, Y = loaded.X[rows], np.asarray(loaded.Y)[rows].astype(np.uint8)
    rates = np.linspace(0, 0.75, PEOPLE), 0.03 * np.exp(0.5 * rng.standard_normal(PEOPLE))
    answers = drawn(cell["question"], Y, *rates, rng)
    found, half = [*compared(X, Y, answers)], len(Y) // 2
    teacher = linear(missed=0.375, invented=0.034).fit(X[:half], answers[:half])
    table = teacher.annotators_table(X[half:], answers[half:])
    people = np.array([int(name) for name in table["annotator"]])
    more = {"wrong": wrong_among_doubtful(X, Y, cell["question"], rng)}
    for name, rate in zip(("missed", "invented"), rates, strict=True):
        held = (table[f"{name}_low"] <= rate[people]) & (rate[people] <= table[f"{name}_high"])
        more[f"{name}_held"] = held.mean()
    return [(way, of | (more if way["by"] == "consensus" else {})) for way, of in found]
