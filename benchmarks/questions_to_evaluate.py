"""How much questions tell that are drawn for one figure of a model, beside random ones.

A model learned from one yes/no about a random label of each item of one half, once. Then 200 yes/no
questions about the other half are drawn many times: at random, and for each figure by
``suggest_evaluation_questions``. ``estimate_metrics`` reads the answers. Figures are the squared
error, how often the interval of 95 % holds the truth (the figure of all pairs of these items), and
its mean width, of random questions, of questions for the figure, and of questions for F1 (``_f1``);
``worth`` is the ratio of squared widths: how many random questions do the work of one.

"misled": questions are drawn by the probabilities of other items, so by wrong ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._models import FIGURES, Array, Labels, fitted, halves
from benchmarks._sets import answers_to
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.simulate import draw_answers
from complabel.trust import estimate_metrics, suggest_evaluation_questions

CELLS = {"by": ("model", "misled"), "set": ("digits", "scene", "yeast")}
QUICK, NEEDS = {"set": ("digits",), "by": ("misled",)}, ("scene", "yeast")
N, N_DRAWS = 200, {"model": 200, "misled": 40}


def nothing_said(n_items: int, n_labels: int) -> Answers:
    """Return no answers about some items."""
    names = [str(label) for label in range(n_labels)]
    return Answers.from_table({"item": [], "label": []}, items=range(n_items), label_names=names)


def answered(table: Any, Y: Labels) -> Answers:
    """Return the true answers to the questions of a table."""
    item, label = (table[name].to_numpy().astype(int) for name in ("item", "label"))
    return answers_to(Y, item, label, table["probability"].to_numpy())


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


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return what questions tell about a model."""
    parts = halves(cell["set"], data)
    p = fitted(*parts[:2]).predict_proba(parts[2])
    n = N_DRAWS[cell["by"]]
    draws = range(n * draw, n * (draw + 1))
    by = np.random.default_rng(0).permutation(p) if cell["by"] == "misled" else p
    return compared(parts[3], p, by, draws)
