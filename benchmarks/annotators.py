"""What do mistakes cost, and is their rate found: of all alike, or of one bad annotator of five?

One answer per item, of which a share is given at random: "none"; 10 % of all answers; or 40 % of
the answers of the last of five people. The selection likelihood (linear) is fitted without an error
rate ("0"), and with those that it finds: means over three folds of average ``precision``, label
ranking ``loss`` and the log-``likelihood`` of held-out answers; ``rate``, the rate that is found of
all or of the last person; ``greatest``, the share of folds in which the last person has the
greatest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import label_ranking_loss

from benchmarks._people import linear
from complabel import metrics
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import split_folds
from complabel.simulate import draw_answers

SETS, QUESTIONS = ("digits", "scene", "yeast"), ("free", "asked", "menu-2")
WAYS: tuple[tuple[str, str], ...] = (("none", "0"), ("all", "0"), ("all", "auto"))
WAYS += (("one", "0"), ("one", "per-annotator"))
CELLS = [
    {"set": name, "question": question, "mistakes": who, "error_rate": rate}
    for name in SETS
    for question in QUESTIONS
    for who, rate in WAYS
]
QUICK, NEEDS = {"set": ("digits",), "question": ("asked",), "mistakes": ("one",)}, SETS[1:]
MISTAKES: dict[str, Any] = {"none": [0.0] * 5, "all": 0.1, "one": [*[0.0] * 4, 0.4]}


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return the means over folds."""
    dataset: Any = load_dataset(cell["set"], data_dir=data)
    X, Y, rows = dataset.X, dataset.Y, []
    how: Any = {"question": cell["question"], "error_rate": MISTAKES[cell["mistakes"]]}
    answers = draw_answers(Y, random_state=draw, **how)
    given = 0.0 if cell["error_rate"] == "0" else cell["error_rate"]
    for train, test in split_folds(dataset, n_folds=3, seed=draw):
        model = linear(error_rate=given, random_state=draw).fit(X[train], answers[train])
        p = model.predict_proba(X[test])
        row = {
            "precision": metrics.average_precision(Y[test], p),
            "loss": label_ranking_loss(Y[test], p),
            "likelihood": model.score(X[test], answers[test]),
        }
        if given == "auto":
            row["rate"] = model.error_rate_
        elif given == "per-annotator":
            rates = np.asarray(model.error_rates_)
            row |= {"rate": rates[-1], "greatest": float(rates.argmax() == len(rates) - 1)}
        rows.append(row)
    return pd.DataFrame(rows).mean().to_dict()
