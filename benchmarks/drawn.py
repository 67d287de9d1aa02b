"""How well figures do that rest on questions which were drawn by what a machine says.

A simulated machine of recall .7 and precision .85 labels 2,000 items with 12 labels. People answer
``suggest_questions(against=...)`` in one or two rounds, without mistakes; of "half", the upper half
of each round. The model is another one that errs as often. Figures are how often the interval of
``estimate_metrics`` holds the truth, and how far the estimate lies above it: by how questions were
drawn, and with all taken for random ones ("read"). A block has 25 draws.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks._draws import block, means
from benchmarks._sets import Array
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.trust import estimate_metrics

N, K = 2000, 12
DESIGNS = {"200": (200,), "200 + 60": (200, 60), "half of 200 + 60": (200, 60)}
CELLS = {"questions": tuple(DESIGNS)}
DRAWS, QUICK, N_DRAWS = 4, {"questions": ("200",)}, 25


def asked(design: str, seed: int) -> tuple[Array, Array, Answers]:
    """Return the truth, the model's labels, and what people answered."""
    names: Any = {"items": range(N), "label_names": [str(label) for label in range(K)]}
    rng, often = np.random.default_rng(seed), np.geomspace(0.03, 0.3, K)
    Y = (rng.random((N, K)) < often).astype(np.uint8)
    invented = often * 0.7 * 0.15 / 0.85 / (1 - often)
    machine, model = (
        np.where(Y, rng.random(Y.shape) < 0.7, rng.random(Y.shape) < invented).astype(float)
        for _ in range(2)
    )
    said = Answers.from_table({"item": [], "label": []}, **names)
    for n in DESIGNS[design]:
        table = suggest_questions(said, n, against=machine, random_state=seed)
        table = table[: n // 2] if design.startswith("half") else table
        applies = Y[table["item"].astype(int), table["label"].astype(int)]
        table["answer"] = np.where(applies, "yes", "no")
        said = Answers.concatenate([said, Answers.from_table(table, **names)])
    return Y, model, said


@means
def measure(*, draw: int, questions: str, **_: Any) -> Any:
    """Yield what holds of each figure, by how the questions are read."""
    for seed in block(draw, N_DRAWS):
        Y, model, said = asked(questions, seed)
        right = (Y * model).sum()
        truth = {"precision": right / model.sum(), "recall": right / Y.sum(), "share": Y.mean()}
        chance, word = np.full(said.n_answers, 1 / K), np.full(said.n_answers, "random")
        readings = {"drawn": said, "random": replace(said, probability=chance, drawn=word)}
        for read, answers in readings.items():
            figures = estimate_metrics(answers, np.where(model > 0, 0.8, 0.04))
            for figure, true in truth.items():
                each = getattr(figures, figure)
                told = {"held": each.low <= true <= each.high, "bias": each.value - true}
                yield {"read": read, "figure": figure}, told
