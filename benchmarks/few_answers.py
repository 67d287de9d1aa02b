"""How long do a few answers about wide features take, beside fits without the rotation of rows?

Processor seconds of one thread. People answer one yes/no about a random label of each item, of 15
labels, and each item is answered about twice for ``consensus`` (``find_consensus`` with features).
``fit`` is a fit with all choices, ``first`` the first fit of ``annotate``, and ``later`` the one
after 50 more answers. "kept" keeps the columns as they are: fewer rows than columns are else
rotated to as many columns as rows. Hashed words are drawn from topics, 16,384 columns; dense ones
are normal; "wordllama" are features of such texts (``pip install wordllama``).
"""

import json
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse, special

from benchmarks._fits import timed
from benchmarks._frame import need
from complabel.answers import Answers
from complabel.features import text_features
from complabel.methods import SelectionLikelihoodClassifier
from complabel.methods.selection import _features
from complabel.metrics import average_precision
from complabel.people import find_consensus
from complabel.simulate import draw_answers

CELLS = [
    {"features": features, "answers": n, "columns": columns}
    for features in ("hashed words", "768 columns", "20 columns", "wordllama")
    for n in (100, 1000, 10_000)
    for columns in ("kept", "rotated")
]
QUICK = {"features": ("20 columns", "768 columns"), "answers": (100,)}
TIMES, LABELS, TEST, MORE = ("fit", "consensus", "first", "later"), 15, 1500, 50


def hashed_words(n: int, rng: np.random.Generator, columns: int = 16_384) -> tuple[Any, Any]:
    """Texts of 60 words; of each label that applies, some words are likelier."""
    p = special.expit(rng.normal(-2.5, 0.7, LABELS))
    Y = (rng.random((n, LABELS)) < p).astype(np.uint8)
    words = rng.zipf(1.3, size=(n, 60)) % columns
    topics = rng.integers(columns, size=(LABELS, 40))
    for label in range(LABELS):
        at = np.flatnonzero(Y[:, label])
        place = rng.integers(60, size=(len(at), 6))
        words[at[:, np.newaxis], place] = topics[label, rng.integers(40, size=place.shape)]
    rows = np.repeat(np.arange(n), 60)
    X = sparse.csr_matrix((np.ones(n * 60), (rows, words.ravel())), shape=(n, columns))
    return X, Y


def embedded(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Features by wordllama of such texts."""
    need("wordllama")
    import wordllama

    file = next(Path(wordllama.__file__).parent.rglob("*tokenizer_config.json"))
    pieces = json.loads(file.read_text("utf-8"))["model"]["vocab"]
    starts = [piece[1:] for piece in pieces if piece[0] == "\u2581" and len(piece) > 3]
    words = sorted(word for word in starts if word.isascii() and word.isalpha())
    X, Y = hashed_words(n, rng, len(words))
    rows = zip(X.indptr, X.indptr[1:], strict=False)
    texts = [
        " ".join(np.repeat([words[at] for at in X.indices[a:b]], X.data[a:b].astype(int)))
        for a, b in rows
    ]
    return np.asarray(text_features(texts, model="wordllama")), Y


def dense(n: int, rng: np.random.Generator, columns: int) -> tuple[Any, Any]:
    """Features like embeddings, or a few columns."""
    X = rng.normal(size=(n, columns)) * np.arange(1, columns + 1) ** -0.25
    weights = rng.normal(size=(columns, LABELS)) * 3 / np.linalg.norm(X, axis=1).mean()
    return X, (rng.random((n, LABELS)) < special.expit(X @ weights - 2)).astype(np.uint8)


def measure(*, draw: int, data: Any, features: str, answers: int, columns: str) -> dict[str, float]:
    """Return seconds of each task, and the average precision on other items."""
    n, rng = answers, np.random.default_rng(0)
    made: Any = {"hashed words": hashed_words, "wordllama": embedded}
    made = made.get(features) or partial(dense, columns=int(features.split()[0]))
    X, Y = made(n + MORE + TEST, rng)
    said, again = (draw_answers(Y[:n], question="asked", random_state=at) for at in (1, 2))
    more = draw_answers(Y[: n + MORE], question="asked", random_state=1)
    most = 0 if columns == "kept" else _features._MOST_ROTATED
    with patch.object(_features, "_MOST_ROTATED", most):
        model = SelectionLikelihoodClassifier(random_state=0)
        found = {"fit": timed(lambda: model.fit(X[:n], said))[2]}
        if n < 10_000:
            both = Answers.concatenate([said, again])
            found["consensus"] = timed(lambda: find_consensus(X[:n], both, random_state=0))[2]
        warm = SelectionLikelihoodClassifier(warm_start=True, random_state=0)
        found["first"] = timed(lambda: warm.fit(X[:n], said))[2]
        found["later"] = timed(lambda: warm.fit(X[: n + MORE], more))[2]
    p = model.predict_proba(X[-TEST:])
    return {**found, "precision": average_precision(Y[-TEST:], p)}
