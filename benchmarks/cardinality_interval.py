"""How well does a fit know how many labels apply to an item, where labels were only named?

One label that does not apply is named for each item: uniformly, or with a sharpness of 1 some
labels more readily than others, which the fit does not know. "low" and "high" are the ends of the
interval that the fit gives, "held" is 1 if the true number lies in it.
"""

from typing import Any

from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_complementary

CELLS = {"set": ("synthetic", "scene", "yeast", "corel5k"), "sharpness": (0, 1)}
DRAWS, QUICK, NEEDS = 5, {"set": ("synthetic",), "draws": 2}, CELLS["set"][1:]


def measure(*, draw: int, data: Any, sharpness: float, **cell: str) -> dict[str, float]:
    """Return what a fit says about the number of labels."""
    items = load_dataset(cell["set"], data_dir=data)
    scheme = {"scheme": "biased", "sharpness": sharpness} if sharpness else {}
    labels = draw_complementary(items.Y, random_state=draw, **scheme)
    model = SelectionLikelihoodClassifier(random_state=draw).fit(items.X, labels)
    low, high = map(float, model.cardinality_interval_)
    true, predicted = items.label_cardinality, model.mean_cardinality_
    held = int(low <= true <= high)
    return {"true": true, "predicted": predicted, "low": low, "high": high, "held": held}
