"""How well does a fit know how many labels apply to an item, where labels were only named?

One label that does not apply is named for each item: uniformly, or with a sharpness of 1 some
labels more readily than others, which the fit does not know. "low" and "high" are the ends of the
interval that the fit gives, "held" is 1 if the true number lies in it.
"""

from __future__ import annotations

from typing import Any

from benchmarks._fits import timed
from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_complementary

CELLS = {"set": ("synthetic", "scene", "yeast", "corel5k"), "sharpness": (0, 1)}
DRAWS, QUICK, NEEDS = 5, {"set": ("synthetic",), "draws": 2}, CELLS["set"][1:]
TIMES = ("seconds",)


def measure(*, draw: int, data: Any, sharpness: float, **cell: str) -> dict[str, float]:
    """Return what a fit says about the number of labels."""
    items = load_dataset(cell["set"], data_dir=data)
    scheme: dict[str, Any] = {"scheme": "biased", "sharpness": sharpness} if sharpness else {}
    labels = draw_complementary(items.Y, random_state=draw, **scheme)
    model = SelectionLikelihoodClassifier(random_state=draw)
    seconds = timed(lambda: model.fit(items.X, labels))[2]
    low, high = map(float, model.cardinality_interval_)
    true = items.label_cardinality
    told = {"true": true, "predicted": model.mean_cardinality_, "low": low, "high": high}
    held = int(low <= true <= high)
    return {**told, "held": held, "seconds": seconds}
