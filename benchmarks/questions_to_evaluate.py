"""How much questions tell that are drawn for one figure of a model, beside random ones.

A model learned from one yes/no about a random label of each item of one half, once. Then 200 yes/no
questions about the other half are drawn many times: at random, and for each figure by
``suggest_evaluation_questions``. ``estimate_metrics`` reads the answers. Figures are how often the
interval of 95 % holds the truth (the figure of all pairs of these items), and its mean width, of
random questions, of questions for the figure, and of questions for F1 (``_f1``); ``worth`` is the
ratio of squared widths: how many random questions do the work of one; ``worth_by_error`` that of
squared errors. "misled": questions are drawn by the probabilities of other items, so by wrong ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._draws import block
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
    """Yield what questions tell that are drawn by the probabilities ``by``."""
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
                each, true = getattr(estimates, of), getattr(truth, of).value
                told = ((each.value - true) ** 2, each.low <= true <= each.high)
                found.setdefault((way, of), []).append((*told, each.high - each.low))
    for of in FIGURES:
        square, held, width = np.nanmean(found[of, of], axis=0)
        random_square, random_held, random_width = np.nanmean(found["random", of], axis=0)
        figures = {
            "held_random": random_held,
            "width_random": random_width,
            "held": held,
            "width": width,
            "held_f1": np.mean(found["f1", of], axis=0)[1],
            "worth": (random_width / width) ** 2,
            "worth_by_error": random_square / square,
        }
        yield {"figure": of}, figures


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return what questions tell about a model."""
    X, Y, X_held, Y_held = halves(cell["set"], data)
    p = fitted(X, Y).predict_proba(X_held)
    by = np.random.default_rng(0).permutation(p) if cell["by"] == "misled" else p
    return [*compared(Y_held, p, by, block(draw, N_DRAWS[cell["by"]]))]
