"""Models that learned from one yes/no about each item of one half; figures of the other."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score

from complabel.answers import Answers
from complabel.datasets import make_synthetic
from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_answers

Array: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.uint8]
FIGURES = ("precision", "recall", "f1", "average_precision")


def parts(name: str, data: Any, n_parts: int) -> list[tuple[Any, Labels]]:
    """Return features and true labels of random parts of a data set, equally large."""
    if name == "synthetic":
        found: Any = make_synthetic(3000, n_labels=12, cardinality=0.8, random_state=0)
    else:
        found = load_dataset(name, data_dir=data)
    order = np.random.default_rng(0).permutation(len(found.Y))
    return [(found.X[rows], found.Y[rows]) for rows in np.array_split(order, n_parts)]


def halves(name: str, data: Any) -> tuple[Any, ...]:
    """Return features and labels of two random halves: X, Y, X, Y."""
    first, second = parts(name, data, 2)
    return *first, *second


def fitted(X: Any, Y: Labels) -> SelectionLikelihoodClassifier:
    """Return a model that learned from one yes/no for each item."""
    answers = draw_answers(Y, question="asked", random_state=0)
    return SelectionLikelihoodClassifier(random_state=0).fit(X, answers)


def linear_half(name: str, data: Any) -> tuple[Labels, Array]:
    """Return the labels (n, K) of the items to ask about, and a linear model's probabilities."""
    loaded: Any = load_dataset(name, data_dir=data)
    X, Y = loaded.X, loaded.Y
    train, test = np.split(np.random.default_rng(0).permutation(len(Y)), [len(Y) // 2])
    answers = draw_answers(Y[train], question="asked", random_state=1)
    model = SelectionLikelihoodClassifier(kernel="linear", random_state=0).fit(X[train], answers)
    return Y[test], model.predict_proba(X[test])


def true_figures(Y: Any, probabilities: Array) -> dict[str, float]:
    """Compute the figures of a model with scikit-learn, over all pairs."""
    y, predicted = Y.ravel(), (probabilities >= 0.5).ravel()
    criteria = (precision_score, recall_score, f1_score)
    values = [
        *(each(y, predicted) for each in criteria),
        average_precision_score(y, probabilities.ravel()),
    ]
    return dict(zip(FIGURES, map(float, values), strict=True))


def asked(Y: Labels, n: int, seed: list[int], question: str = "asked") -> Answers:
    """Return answers to n random questions; each item is asked about again as late as possible."""
    rounds, rng = -(-n // len(Y)), np.random.default_rng(seed)
    how: Any = {"question": question, "items_share": n / rounds / len(Y), "random_state": rng}
    return Answers.concatenate([draw_answers(Y, **how) for _ in range(rounds)])
