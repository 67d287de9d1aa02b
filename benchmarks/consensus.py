"""Consensus beside votes and Dawid-Skene; wrong answers that are found; people's intervals.

Forty simulated people miss labels with rates spread evenly from 0 to .75, and invent some with
rates of about .03. They answer one yes/no question about each item, and a second person answers
30 % of these again (asked); or three people tick all labels of each item (ticked). A model with
``missed="auto", invented="auto"`` learns from all answers. Compared on the pairs of an item and a
label that people judged are: the model's prediction, the share of "yes", Dawid-Skene of crowd-kit
(``pip install crowd-kit``; without it, the line is missing) label by label, the share of people and
the probability of ``complabel.people.find_consensus``, and the consensus of the model.

Intervals of people's rates are those of a model that learned from half of the items, with common
rates; the answers are about the other half. Then 3 % of the answers of people without mistakes are
turned around, and as many of the most doubtful answers are looked at: how many of these are wrong.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from benchmarks.mistakes import ask
from complabel.answers import Answers, Statements
from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier
from complabel.people import find_consensus
from complabel.simulate import draw_answers

Array: TypeAlias = NDArray[np.float64]
_PEOPLE, _MOST_ITEMS, _PLANTED = 40, 2000, 0.03


def drawn(
    question: str, Y: Any, missed: Array, invented: Array, rng: np.random.Generator
) -> Answers:
    """Draw answers with mistakes; missed and invented are rates of people."""
    if question == "ticked":
        rates = {"missed": missed, "invented": invented}
        return draw_answers(Y, question="ticked", answers_per_item=3, random_state=rng, **rates)
    asked = ask(Y, 0.3, rng)
    rates_of = np.where(asked.applies, missed[asked.person], invented[asked.person])
    return asked.answers(asked.applies ^ (rng.random(len(rates_of)) < rates_of))


def votes(said: Statements, shape: tuple[int, int]) -> Array:
    """Return the share of "yes" among the judgements of each pair."""
    counts = np.zeros((2, *shape))
    np.add.at(counts, (said.applies.astype(int), said.item, said.label), 1)
    return counts[1] / np.maximum(counts.sum(axis=0), 1)


def dawid_skene(said: Statements, person: NDArray[np.intp], shape: tuple[int, int]) -> Array | None:
    """Return the probabilities (n, K) of crowd-kit; None if it is not installed."""
    try:
        import pandas as pd
        from crowdkit.aggregation import DawidSkene
    except ImportError:
        return None
    found = np.zeros(shape)
    for label in range(shape[1]):
        of_label = said.label == label
        table = pd.DataFrame(
            {"task": said.item, "worker": person, "label": said.applies.astype(int)}
        )[of_label]
        chances = DawidSkene(n_iter=100).fit(table).probas_
        if 1 in chances:
            found[chances.index, label] = chances[1]
    return found


def compared(X: Any, Y: Any, answers: Answers) -> dict[str, tuple[float, float]]:
    """Return average precision and accuracy of each way, on the pairs that were judged."""
    said = answers.statements()
    classifier = SelectionLikelihoodClassifier(
        kernel="linear", missed="auto", invented="auto", random_state=0
    ).fit(X, answers)
    together = find_consensus(X, answers, random_state=0)
    ways = {
        "prediction": classifier.predict_proba(X),
        "votes": votes(said, Y.shape),
        "Dawid-Skene": dawid_skene(said, answers.annotator[said.answer], Y.shape),
        "find_consensus, share": together.share,
        "find_consensus, applies": together.applies,
        "consensus": classifier.predict_consensus(X, answers),
    }
    judged = np.zeros(Y.shape, dtype=bool)
    judged[said.item, said.label] = True
    found = {}
    for name, scores in ways.items():
        if scores is not None:
            columns = zip(Y.T, scores.T, judged.T, strict=True)
            precision = [average_precision_score(y[j], s[j]) for y, s, j in columns if y[j].any()]
            right = ((scores > 0.5) == Y)[judged].mean()
            found[name] = float(np.mean(precision)), float(right)
    return found


def covered(
    X: Any, answers: Answers, rates: tuple[Array, Array], classifier: Any
) -> tuple[float, float]:
    """Return how many of the intervals hold the rates of missed and of invented labels."""
    table = classifier.annotators_table(X, answers)
    people = np.array([int(name) for name in table["annotator"]])
    held = (
        (table[f"{name}_low"] <= rate[people]) & (rate[people] <= table[f"{name}_high"])
        for name, rate in zip(("missed", "invented"), rates, strict=True)
    )
    missed, invented = (float(each.mean()) for each in held)
    return missed, invented


def wrong_among_doubtful(X: Any, Y: Any, question: str, rng: np.random.Generator) -> float:
    """Turn some answers around; return how many of as many doubtful ones are wrong."""
    right = drawn(question, Y, *np.zeros((2, _PEOPLE)), rng)
    said = right.statements()
    yes = said.applies ^ (rng.random(len(said)) < _PLANTED)
    marks = np.zeros((2, right.n_answers, Y.shape[1]), dtype=np.uint8)
    marks[yes.astype(int), said.answer, said.label] = 1
    answers = Answers.from_arrays(
        absent=marks[0], relevant=marks[1], offered=right.offered, question=question,
        item=right.item, n_items=len(Y),
    )  # fmt: skip
    classifier = SelectionLikelihoodClassifier(
        kernel="linear", missed=_PLANTED, invented=_PLANTED, random_state=0
    ).fit(X, answers)
    found = classifier.doubtful_answers(X, answers)
    wrong = found["said"] != Y[found["item"], found["label"]]
    return float(wrong[: wrong.sum()].mean())


def main() -> None:
    """Print the figures of all datasets and questions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=["scene", "yeast"])
    parser.add_argument("--questions", nargs="+", default=["asked", "ticked"])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--data-dir", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.datasets:
        data = load_dataset(name, data_dir=options.data_dir)
        for question in options.questions:
            rows_of_table, planted, held = [], [], []
            for draw in range(options.draws):
                rng = np.random.default_rng(draw)
                rows = rng.permutation(len(data.Y))[:_MOST_ITEMS]
                X, Y = data.X[rows], np.asarray(data.Y)[rows].astype(np.uint8)
                rates = (
                    np.linspace(0, 0.75, _PEOPLE),
                    0.03 * np.exp(0.5 * rng.standard_normal(_PEOPLE)),
                )
                answers = drawn(question, Y, *rates, rng)
                rows_of_table.append(compared(X, Y, answers))
                half = len(Y) // 2
                teacher = SelectionLikelihoodClassifier(
                    kernel="linear", missed=0.375, invented=0.034, random_state=0
                ).fit(X[:half], answers[:half])
                held.append(covered(X[half:], answers[half:], rates, teacher))
                planted.append(wrong_among_doubtful(X, Y, question, rng))
            print(f"{name}, {question}")
            for way in rows_of_table[0]:
                precision, right = np.mean([row[way] for row in rows_of_table], axis=0)
                print(f"  {way:23} average precision {precision:.3f}, right {right:.3f}")
            print(f"  intervals of people that hold the rate: {np.mean(held, axis=0).round(2)}")
            print(f"  wrong among the doubtful: {np.mean(planted):.2f} of {_PLANTED}", flush=True)


if __name__ == "__main__":
    main()
