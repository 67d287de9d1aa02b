"""Models that learned from one yes/no about each item of one half; figures of the other."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score

from complabel.answers import Answers
from complabel.datasets import make_synthetic
from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_answers

Array: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.uint8]
FIGURES = ("precision", "recall", "f1", "average_precision")


def whole(name: str, data: Any) -> tuple[Any, Any]:
    """Return dense features and labels of a data set."""
    loaded: Any = load_dataset(name, data_dir=data)
    X = loaded.X.toarray() if sparse.issparse(loaded.X) else loaded.X
    Y = loaded.Y.toarray() if sparse.issparse(loaded.Y) else loaded.Y
    return np.asarray(X), np.asarray(Y, dtype=np.uint8)


def halves(name: str, data: Any) -> tuple[Any, ...]:
    """Return features and labels of two random halves: X, Y, X, Y."""
    X, Y = whole(name, data)
    order = np.random.default_rng(0).permutation(len(Y))
    first, second = np.array_split(order, 2)
    return X[first], Y[first], X[second], Y[second]


def fitted(X: Any, Y: Labels) -> SelectionLikelihoodClassifier:
    """Return a model that learned from one yes/no for each item."""
    answers = draw_answers(Y, question="asked", random_state=0)
    return SelectionLikelihoodClassifier(random_state=0).fit(X, answers)


def linear_half(name: str, data: Any) -> tuple[Labels, Array]:
    """Return the labels (n, K) of the items to ask about, and a linear model's probabilities."""
    X, Y = whole(name, data)
    order = np.random.default_rng(0).permutation(len(Y))
    train, test = np.split(order, [len(Y) // 2])
    answers = draw_answers(Y[train], question="asked", random_state=1)
    model = SelectionLikelihoodClassifier(kernel="linear", random_state=0).fit(X[train], answers)
    return Y[test], model.predict_proba(X[test])


def true_figures(Y: Any, probabilities: Array) -> dict[str, float]:
    """Compute the figures of a model with scikit-learn, over all pairs."""
    y, predicted = Y.ravel(), (probabilities >= 0.5).ravel()
    return {
        "precision": float(precision_score(y, predicted)),
        "recall": float(recall_score(y, predicted)),
        "f1": float(f1_score(y, predicted)),
        "average_precision": float(average_precision_score(y, probabilities.ravel())),
    }


def parts(name: str, data: Any, n_parts: int) -> list[tuple[Any, Labels]]:
    """Return features and true labels of random parts of a data set, equally large."""
    if name == "synthetic":
        made = make_synthetic(3000, n_labels=12, cardinality=0.8, random_state=0)
        X, Y = made.X, made.Y
    else:
        loaded: Any = load_dataset(name, data_dir=data)
        X, Y = loaded.X, loaded.Y
    Y = np.asarray(Y.toarray() if sparse.issparse(Y) else Y, dtype=np.uint8)
    order = np.random.default_rng(0).permutation(len(Y))
    return [(X[rows], Y[rows]) for rows in np.array_split(order, n_parts)]


def asked(Y: Labels, n: int, seed: list[int], question: str = "asked") -> Answers:
    """Return answers to n random questions; each item is asked about again as late as possible."""
    rounds = -(-n // len(Y))
    rng = np.random.default_rng(seed)
    share = n / rounds / len(Y)
    drawn = (
        draw_answers(Y, question=question, items_share=share, random_state=rng)
        for _ in range(rounds)
    )
    return Answers.concatenate([*drawn])
