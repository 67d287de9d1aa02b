"""How well figures do that rest on questions which were drawn by what a machine says.

A simulated machine of recall .7 and precision .85 labels 2,000 items with 12 labels. People answer
``suggest_questions(against=...)`` in one or two rounds, without mistakes. The model is another one
that errs as often. Shown is how often the intervals of ``estimate_metrics`` hold the truth, and how
far the estimates lie from it: by how questions were drawn, and with all taken for random ones.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace

import numpy as np

from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.trust import estimate_metrics

N, K = 2000, 12
ITEMS, LABELS = [f"t{at}" for at in range(N)], [f"L{at}" for at in range(K)]
DESIGNS = {"200": (200,), "200 + 60": (200, 60), "half of 200 + 60 answered": (200, 60)}


def draw(
    seed: int, rounds: tuple[int, ...], share: float
) -> tuple[np.ndarray, np.ndarray, Answers]:
    """Return the truth, the machine's labels, and what people answered."""
    rng = np.random.default_rng(seed)
    often = np.geomspace(0.03, 0.3, K)
    Y = (rng.random((N, K)) < often).astype(np.uint8)
    invented = often * 0.7 * 0.15 / 0.85 / (1 - often)
    machine, model = (
        np.where(Y, rng.random(Y.shape) < 0.7, rng.random(Y.shape) < invented).astype(float)
        for _ in range(2)
    )
    said = Answers.from_table({"item": [], "label": []}, items=ITEMS, label_names=LABELS)
    for n in rounds:
        table = suggest_questions(said, n, against=machine, random_state=seed)[: int(n * share)]
        pairs = zip(table["item"], table["label"], strict=True)
        table["answer"] = [["no", "yes"][Y[int(item[1:]), int(label[1:])]] for item, label in pairs]
        new = Answers.from_table(table, items=ITEMS, label_names=LABELS)
        said = Answers.concatenate([said, new])
    return Y, model, said


def main() -> None:
    """Print a line for each design and reading."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100)
    n_draws = parser.parse_args().draws
    warnings.simplefilter("ignore")
    print("| questions | read as | figure | held | bias | rmse |\n|---|---|---|--:|--:|--:|")
    for name, rounds in DESIGNS.items():
        found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
        for seed in range(n_draws):
            Y, model, said = draw(seed, rounds, 0.5 if "half" in name else 1)
            right = (Y * model).sum()
            truth = {
                "precision": right / model.sum(),
                "recall": right / Y.sum(),
                "share": Y.mean(),
            }
            chance, word = np.full(said.n_answers, 1 / K), np.full(said.n_answers, "random")
            as_random = replace(said, probability=chance, drawn=word)
            for reading, answers in (("drawn", said), ("random", as_random)):
                figures = estimate_metrics(answers, np.where(model > 0, 0.8, 0.04))
                for figure, true in truth.items():
                    each = getattr(figures, figure)
                    row = (each.low <= true <= each.high, each.value - true)
                    found.setdefault((reading, figure), []).append(row)
        for (reading, figure), rows in found.items():
            held, off = np.array(rows, dtype=float).T
            errors = f"{off.mean():+.3f} | {np.sqrt((off**2).mean()):.3f}"
            print(f"| {name} | {reading} | {figure} | {held.mean():.2f} | {errors} |", flush=True)


if __name__ == "__main__":
    main()
