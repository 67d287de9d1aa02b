"""How much questions tell that are drawn for one figure of a model, beside random ones.

A model learned from one yes/no about a random label of each item of one half, once. Then 200 yes/no
questions about the other half are drawn many times: at random, and for each figure by
``suggest_evaluation_questions``. ``estimate_metrics`` reads the answers. Figures are the squared
error, how often the interval of 95 % holds the truth (the figure of all pairs of these items), and
its mean width, of random questions, of questions for the figure, and of questions for F1 (``_f1``);
``worth`` is the ratio of squared widths: how many random questions do the work of one.

"misled": questions are drawn by the probabilities of other items, so by wrong ones. "learn": a
model learns from its first answers with and without the answers to the questions; average
precision on items about which nothing was asked, and mean absolute error of label frequencies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._models import FIGURES, Array, Labels, fitted, halves
from benchmarks._sets import answers_to
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.frequencies import estimate_label_frequencies
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers
from complabel.trust import estimate_metrics, suggest_evaluation_questions

CELLS = [
    {"by": by, "set": name}
    for by in ("model", "misled", "learn")
    for name in ("digits", "scene", "yeast")
]
QUICK, NEEDS = {"set": ("digits",), "by": ("misled",)}, ("scene", "yeast")
N, N_DRAWS = 200, {"model": 200, "misled": 40, "learn": 4}


def nothing_said(n_items: int, n_labels: int) -> Answers:
    """Return no answers about some items."""
    names = [str(label) for label in range(n_labels)]
    return Answers.from_table({"item": [], "label": []}, items=range(n_items), label_names=names)


def answered(table: Any, Y: Labels, *, with_chances: bool = True) -> Answers:
    """Return the true answers to the questions of a table."""
    item, label = (table[name].to_numpy().astype(int) for name in ("item", "label"))
    return answers_to(Y, item, label, table["probability"].to_numpy() if with_chances else None)


def compared(Y: Labels, p: Array, by: Array, draws: range) -> Any:
    """Return what questions tell that are drawn by the probabilities ``by``."""
    nothing = nothing_said(*Y.shape)
    truth = estimate_metrics(draw_answers(Y, question="ticked", random_state=0), p, new_items=False)
    found: dict[tuple[str, str], list[Any]] = {}
    for draw in draws:
        tables = {"random": suggest_questions(nothing, N, random_state=draw)}
        for of in FIGURES:
            tables[of] = suggest_evaluation_questions(nothing, by, N, figure=of, random_state=draw)
        for way, table in tables.items():
            estimates = estimate_metrics(answered(table, Y), p, new_items=False)
            for of in FIGURES:
                each = getattr(estimates, of)
                found.setdefault((way, of), []).append((each.value, each.low, each.high))
    rows = []
    for of in FIGURES:
        true, told = getattr(truth, of).value, {}
        for way, end in (("random", "_random"), (of, ""), ("f1", "_f1")):
            value, low, high = np.array(found[way, of]).T
            told[f"square{end}"] = np.nanmean((value - true) ** 2)
            told[f"held{end}"] = np.mean((low <= true) & (true <= high))
            told[f"width{end}"] = np.mean(high - low)
        told["worth"] = (told["width_random"] / told["width"]) ** 2
        told["worth_by_error"] = told["square_random"] / told["square"]
        rows.append(({"figure": of}, told))
    return rows


def learned(parts: tuple[Any, ...], p: Array, draws: range) -> Any:
    """Return what a model learns from its first answers and those to the questions."""
    X, Y, X_held, Y_held = parts
    first = draw_answers(Y, question="asked", random_state=0)
    cut = len(Y_held) // 2  # questions are about these, the others measure the model
    both, labels = np.vstack([X, X_held[:cut]]), np.vstack([Y, Y_held[:cut]])
    ways: dict[str, list[Any]] = {}

    def learn(way: str, X_fit: Any, said: Answers, true: Labels) -> None:
        model = SelectionLikelihoodClassifier(random_state=0).fit(X_fit, said)
        score = average_precision(Y_held[cut:], model.predict_proba(X_held[cut:]))
        gap = np.abs(estimate_label_frequencies(said).values - true.mean(axis=0)).mean()
        ways.setdefault(way, []).append((score, gap))

    learn("first answers", X, first, Y)
    for draw in draws:
        nothing = nothing_said(cut, Y.shape[1])
        random = suggest_questions(nothing, N, random_state=draw)
        of_f1 = suggest_evaluation_questions(nothing, p[:cut], N, random_state=draw)
        for way, table in (("and random questions", random), ("and questions for F1", of_f1)):
            learn(way, both, stacked(first, answered(table, Y_held[:cut])), labels)
        without = answered(of_f1, Y_held[:cut], with_chances=False)
        learn("and the same without chances", both, stacked(first, without), labels)
    return [
        ({"from": way}, dict(zip(("precision", "gap"), np.mean(values, axis=0), strict=True)))
        for way, values in ways.items()
    ]


def stacked(first: Answers, second: Answers) -> Answers:
    """Return answers about two sets of items, one below the other."""
    n_items = first.n_items + second.n_items
    parts = [
        Answers.from_arrays(
            item=each.item + start,
            n_items=n_items,
            relevant=each.relevant,
            absent=each.absent,
            probability=each.probability,
        )
        for each, start in ((first, 0), (second, first.n_items))
    ]
    return Answers.concatenate(parts)


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return what questions tell about a model, or what a model learns from them."""
    parts = halves(cell["set"], data)
    p = fitted(*parts[:2]).predict_proba(parts[2])
    n = N_DRAWS[cell["by"]]
    draws = range(n * draw, n * (draw + 1))
    if cell["by"] == "learn":
        return learned(parts, p, draws)
    by = np.random.default_rng(0).permutation(p) if cell["by"] == "misled" else p
    return compared(parts[3], p, by, draws)
