"""How often do intervals of label frequencies hold, from few random answers and from others, too?

Some items are asked yes or no about a random label ("asked"); in "both", all are also named one
label each, with propensities exp(sd z). Figures: of 100 intervals of 95 %, how many hold the truth,
and of those of the sum. "Drawn" labels are independent, and apply as often as the real ones. A draw
of the frame has four.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._draws import block, means
from complabel.answers import Answers
from complabel.experiments.datasets import load_dataset
from complabel.frequencies import estimate_label_frequencies
from complabel.simulate import draw_answers, draw_propensities

CELLS = {
    "set": ("digits", "scene", "yeast", "corel5k"),
    "labels": ("real", "drawn"),
    "sd": (0.0, 0.5, 1.0),
    "asked": (50, 200, 600),
}
DRAWS, IN_A_DRAW, NEEDS = 3, 4, CELLS["set"][1:]
QUICK = {"set": ("digits",), "sd": (1.0,), "asked": (200,)}


@means
def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Yield which intervals hold, by source."""
    labels: Any = load_dataset(cell["set"], data_dir=data).Y
    real = np.asarray(labels.toarray() if hasattr(labels, "toarray") else labels, dtype=np.uint8)
    for each in block(draw, IN_A_DRAW):
        streams = [np.random.default_rng([each, number]) for number in range(4)]
        Y = real
        if cell["labels"] == "drawn":
            Y = (streams[0].random(real.shape) < real.mean(axis=0)).astype(np.uint8)
            Y = Y[~Y.all(axis=1)]
        w = draw_propensities(Y.shape[1], cell["sd"], streams[1])
        named = draw_answers(Y, propensities=w, random_state=streams[2])
        share = cell["asked"] / len(Y)
        asked = draw_answers(Y, question="asked", items_share=share, random_state=streams[3])
        truth = Y.mean(axis=0)
        both = Answers.concatenate([named, asked])
        for source, answers in (("asked", asked), ("both", both)):
            found = estimate_label_frequencies(answers)
            low, high = found.intervals.T
            off = abs(found.cardinality - truth.sum())
            held = 100 * ((low <= truth) & (truth <= high)).mean()
            sum_held = 100 * (off < 1.96 * found.cardinality_error)
            yield {"from": source}, {"held": held, "sum_held": sum_held}
