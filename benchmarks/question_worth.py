"""What is one answer of each kind worth, also where some labels come to mind more readily?

One answer for each training item, the exact likelihood, everything automatic. Figures are means
over folds; ``cardinality`` is the number of labels for each item that is found, beside the true
one. With ``unequal`` propensities (exp(z), z standard normal) maps are linear, folds are three, and
a draw is a seed.
"""

from typing import Any

from benchmarks._frame import PARTS
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import Store, benchmark_plan, run_study

FOLDS = {"scene": 10, "yeast": 10, "corel5k": 10, "corel16k": 3, "delicious": 3}
QUESTIONS = ("asked", "menu-2", "menu-3", "menu-4", "free")
CELLS = [("equal", name, question) for name in FOLDS for question in QUESTIONS]
CELLS += [("unequal", name, question) for name in ("scene", "yeast") for question in QUESTIONS[:2]]
CELLS = [dict(zip(("propensities", "set", "question"), each, strict=True)) for each in CELLS]
DRAWS, NEEDS = 5, tuple(FOLDS)
QUICK = {"propensities": ("equal",), "set": ("scene",), "question": ("menu-2",)}


def measure(*, draw: int, data: Any, propensities: str, question: str, **cell: str) -> Any:
    """Return criteria of one way of asking; with equal propensities there is one seed."""
    unequal, name = propensities == "unequal", cell["set"]
    if draw and not unequal:
        return []
    method = "selection-likelihood" + ":kernel=linear" * unequal
    asked = {"question": question, "propensity_sd": float(unequal)}
    n_folds = 3 if unequal else FOLDS[name]
    plan = benchmark_plan([name], [method], draw=asked, n_folds=n_folds, seed=draw)
    PARTS.mkdir(exist_ok=True)
    with Store(PARTS / "studies.sqlite") as store:
        run_study(plan, store, data_dir=data, n_jobs=1, allow_missing=False)
        (record,) = store.results(plan.name).records()
    found = {each: record["metrics"][each]["mean"] for each in ("ranking_loss", "coverage")}
    ranked = record["metrics"]["average_precision"]
    found |= {"precision": ranked["mean"], "sd": ranked["std"]}
    found["true"] = load_dataset(name, data_dir=data).Y.sum(axis=1).mean()
    return found | {"cardinality": record["fitted"]["cardinality"]}
