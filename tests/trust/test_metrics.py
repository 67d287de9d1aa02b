"""Figures with intervals from random answers: beside scikit-learn, by enumeration, by simulation."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score

from complabel.simulate import draw_answers
from complabel.trust import estimate_metrics

NAMES = ("precision", "recall", "f1", "average_precision")


def items(n_items, n_labels, seed=0):
    """Return rough probabilities, with ties, and labels that they exaggerate."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1, 2, size=(n_items, n_labels))
    Y = (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(np.uint8)
    return np.round(1 / (1 + np.exp(-1.5 * logits)), 2), Y


def by_scikit_learn(Y, probabilities, threshold):
    y, predicted = Y.ravel(), (probabilities > threshold).ravel()
    return {
        "precision": precision_score(y, predicted),
        "recall": recall_score(y, predicted),
        "f1": f1_score(y, predicted),
        "average_precision": average_precision_score(y, probabilities.ravel()),
        "share": y.mean(),
    }


@pytest.mark.parametrize("threshold", [0.5, [0.2, 0.5, 0.7]], ids=["one", "by-label"])
def test_all_pairs_judged_give_the_figures_of_scikit_learn(threshold):
    probabilities, Y = items(80, 3)
    answers = draw_answers(Y, question="ticked", random_state=0)
    found = estimate_metrics(answers, probabilities, threshold=threshold, new_items=False)
    for name, value in by_scikit_learn(Y, probabilities, threshold).items():
        figure = getattr(found, name)
        assert figure.value == pytest.approx(value, rel=1e-12)
        assert figure.low == pytest.approx(value, rel=1e-12)
        assert figure.high == pytest.approx(value, rel=1e-12)
    of_label = found.labels["1"]
    cut = np.broadcast_to(threshold, 3)[1]
    for name, value in by_scikit_learn(Y[:, [1]], probabilities[:, [1]], cut).items():
        assert getattr(of_label, name).value == pytest.approx(value, rel=1e-12)
