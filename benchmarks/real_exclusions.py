"""What do labels teach that a real rule excluded: alone, with questions asked, with its rates?

All learn from mirflickr's own exclusions, and are measured on true labels of the test fold; a draw
is a fold of five. "rules and 50" has the answers to 50 random questions, too; "only 50" has nothing
else. "true rates" knows how often labels are excluded that do not apply, "supervised" all labels.
"""

from typing import Any

from complabel import metrics
from complabel.answers import Answers
from complabel.experiments.datasets import load_dataset
from complabel.experiments.methods import make_paper_classifier
from complabel.experiments.studies import split_folds
from complabel.methods import make_classifier
from complabel.simulate import draw_answers

LEARNERS = ("prior", "ridge", "rules", "rules and 50", "rules and 200", "rules and 500")
LEARNERS += ("only 50", "only 200", "only 500", "true rates", "supervised")
CELLS = {"set": ("mirflickr",), "learns_from": LEARNERS}
DRAWS, NEEDS = 5, ("mirflickr",)
QUICK = {"learns_from": ("prior", "ridge", "rules and 200")}


def learner(name: str, items: Any, train: Any, fold: int) -> tuple[Any, Any]:
    """Return a classifier, and what it learns from."""
    rules = Answers.from_arrays(excluded=items.excluded[train], question="excluded")
    if name == "supervised":
        return make_paper_classifier("supervised", items.name, random_state=0), items.Y[train]
    if name in ("prior", "ridge"):
        return make_classifier(name), rules.complementary
    given: dict[str, Any] = {}
    if name == "true rates":
        share, frequency = items.excluded[train].mean(axis=0), items.Y[train].mean(axis=0)
        given["exclusion_rates"] = share / (1 - frequency)
    kind, _, asked = name.rpartition(" ")
    if asked.isdecimal():
        how: Any = {"question": "asked", "items_share": int(asked) / len(train)}
        said = draw_answers(items.Y[train], random_state=fold, **how)
        rules = said if kind == "only" else Answers.concatenate([rules, said])
    return make_classifier("selection-likelihood", random_state=0, **given), rules


def measure(*, draw: int, data: Any, learns_from: str, **cell: str) -> dict[str, float]:
    """Return criteria on the test part of a fold."""
    items: Any = load_dataset(cell["set"], data_dir=data)
    train, test = split_folds(items, n_folds=5, seed=0)[draw]
    classifier, answers = learner(learns_from, items, train, draw)
    classifier.fit(items.X[train], answers)
    predicted, p = classifier.predict_with_proba(items.X[test])
    found: Any = metrics.evaluate(items.Y[test], p, predicted, skip_trivial_rows=True)
    return {each: found[each] for each in ("average_precision", "ranking_loss", "one_error")}
