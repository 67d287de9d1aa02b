"""How often labels are named of which features know nothing, and labels of which they know.

Each draw plants hopeless labels, which chance alone decides, beside labels of which the features
know: sets of digits, whether other columns of breast cancer's cells are large, and made labels.
Hopeless labels apply to .1 to .5 of the items. Simulated people make no mistakes, and are asked
about each item once. Models learn as they do in ``annotate`` (five folds), or in ``fit`` (three).
Figures count labels: a hopeless label that is named is found, a label of which the features know
that is named is a false alarm. ``well`` are those that the model of all answers tells well: of two
items, one with the label and one without, the right one is first in 85 of 100 cases, by true labels
of items nobody was asked about. The rule was chosen on other draws, of digits and made labels.
"""

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import roc_auc_score

from complabel.datasets import make_synthetic
from complabel.live._learner import Refits
from complabel.methods import SelectionLikelihoodClassifier, held_out_score
from complabel.simulate import draw_answers
from complabel.trust import features_tell

ROWS = [
    *(("digits", 5, 300, "asked"), ("made", 5, 300, "asked"), ("cells", 5, 300, "asked")),
    *(("digits", 5, 300, "asked in fit"), ("digits", 10, 1000, "asked")),
    *(("made", 10, 1000, "asked"), ("digits", 10, 300, "ticked"), ("digits", 10, 300, "asked")),
    *(("cells", 10, 300, "asked"), ("noise", 10, 5000, "asked in fit")),
    ("digits", 10, 300, "named"),
]
CELLS = [dict(zip(("of", "labels", "answers", "question"), row, strict=True)) for row in ROWS]
QUICK = {"of": ("digits",), "labels": (5,), "question": ("asked",)}
RATES = (0.1, 0.2, 0.3, 0.4, 0.5)
SEEDS, N_DRAWS, WELL = 2000, 10, 0.85


def features_of(name: str, rng: np.random.Generator, n_known: int) -> tuple[Any, Any]:
    """Return features, and labels of which they know."""
    if name == "digits":  # a label applies to some of the ten
        found = load_digits()
        sets = ([0], [1, 7], [0, 2, 4, 6, 8], [6, 7, 8, 9], [0, 6, 8, 9], [3, 5], [0, 1, 2])
        chosen = rng.permutation(len(sets))[:n_known]
        return found.data, np.column_stack([np.isin(found.target, sets[at]) for at in chosen])
    if name == "cells":  # a label applies if a column that is taken away is large
        X = load_breast_cancer().data
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        hidden = rng.permutation(X.shape[1])[:n_known]
        large = np.quantile(X[:, hidden], 1 - rng.choice(RATES, n_known), axis=0).diagonal()
        return np.delete(X, hidden, axis=1), X[:, hidden] > large
    if name == "made":
        seed = int(rng.integers(2**31))
        data = make_synthetic(1600, n_features=20, n_labels=n_known, signal=3.0, random_state=seed)
        return data.X, data.Y
    return rng.normal(size=(6500, 40)), np.zeros((6500, n_known))


def drawn(cell: dict[str, Any], known: int, seed: int) -> tuple[list[bool | None], list[float]]:
    """Return what is told of each label, and how well a model of all answers orders items by it."""
    rng = np.random.default_rng(seed)
    X, Y = features_of(cell["of"], rng, known)
    n_hopeless = cell["labels"] - known
    hopeless = rng.random((len(X), n_hopeless)) < rng.choice(RATES, n_hopeless)
    Y = np.hstack([Y, hopeless]).astype(np.uint8)
    asked, others = np.split(rng.permutation(len(X)), [cell["answers"]])
    question, _, in_fit = cell["question"].partition(" ")
    answers = draw_answers(Y[asked], question=question, random_state=seed)
    if in_fit or question == "named":
        model = SelectionLikelihoodClassifier(random_state=0)
        score = held_out_score(model, X[asked], answers)
        model.fit(X[asked], answers)
        told = features_tell(answers, score.probabilities, folds=score.folds)
    else:
        refits = Refits(X[asked], seed=seed)
        refits.update(answers, np.full(answers.n_answers, 3.0))
        model = refits.model
        logits = refits._logits(refits._points[-1], np.arange(len(asked)), Y.shape[1])
        told = features_tell(answers, 1 / (1 + np.exp(-logits)), folds=refits._fold)
    p = model.predict_proba(X[others])
    columns = zip(Y[others].T, p.T, strict=True)
    truth = [roc_auc_score(y, of) if np.ptp(y) else 0.5 for y, of in columns]
    return [each.told for each in told.labels.values()], truth


def measure(*, draw: int, data: Any, **cell: Any) -> dict[str, int]:
    """Return how many labels there are of each kind, and how many are named."""
    known = 0 if cell["of"] == "noise" else {5: 3, 10: 5}[cell["labels"]]
    states: dict[str, list[bool | None]] = {"hopeless": [], "known": [], "well": []}
    for each in range(N_DRAWS * draw, N_DRAWS * (draw + 1)):
        told, truth = drawn(cell, known, SEEDS + each)
        states["known"] += told[:known]
        states["hopeless"] += told[known:]
        states["well"] += [told[k] for k in range(known) if truth[k] >= WELL]
    counts = {kind: len(of) for kind, of in states.items()}
    counts |= {f"{kind}_named": of.count(False) for kind, of in states.items()}
    return counts | {"hopeless_too_few": states["hopeless"].count(None)}
