"""MLCL's losses against the paper's equations, written out number by number."""

import numpy as np
import pytest
import torch
from scipy.special import expit, log_softmax
from tests.refusals import raises

from complabel.errors import TransitionError
from complabel.experiments.losses import BinaryCrossEntropy
from complabel.losses import ComplementaryCrossEntropy, MLCLLoss, implied_complementary

TRANSITION = np.array(
    [[0, 0.5, 0.3, 0.2], [0.1, 0, 0.6, 0.3], [0.4, 0.4, 0, 0.2], [0.7, 0.2, 0.1, 0]]
)
LOGITS = np.array([[0.3, -1.2, 2.0, -0.4], [-2.5, 0.1, 0.9, -3.0], [1.0, 1.0, -1.0, -1.0]])
COMPLEMENTARY = np.array([[0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0]])
RELEVANT = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]])


def implied_by_loops(scores):
    """Eq. 8: fbar_j = sum over k of T_kj f_k."""
    labels = range(4)
    return np.array(
        [[sum(TRANSITION[k, j] * row[k] for k in labels) for j in labels] for row in scores]
    )


def bce_of(implied, chosen):
    """Eq. 10 of one instance."""
    return -sum(np.log(p) if y else np.log(1 - p) for p, y in zip(implied, chosen, strict=True))


def squared_distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def tensor(array):
    return torch.tensor(np.asarray(array), dtype=torch.float64)


def test_implied_probabilities_are_equation_8():
    scores = expit(LOGITS)
    found = implied_complementary(tensor(scores), tensor(TRANSITION))
    np.testing.assert_allclose(found, implied_by_loops(scores), rtol=1e-14)


@pytest.mark.parametrize("beta", [0.0, 1.0, 3.0])
def test_total_is_equation_12_of_equations_10_and_11(beta):
    implied = implied_by_loops(expit(LOGITS))
    expected = np.mean(
        [
            bce_of(p, y) + beta * squared_distance(p, y)
            for p, y in zip(implied, COMPLEMENTARY, strict=True)
        ]
    )
    loss = MLCLLoss(tensor(TRANSITION), beta=beta)
    found = loss(tensor(LOGITS), tensor(COMPLEMENTARY))
    assert float(found) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_rows_with_known_relevant_labels_are_equation_13_and_the_others_12(beta):
    scores = expit(LOGITS)
    terms = []
    for f, p, y, known in zip(
        scores, implied_by_loops(scores), COMPLEMENTARY, RELEVANT, strict=True
    ):
        second = squared_distance(known, f) if known.any() else beta * squared_distance(p, y)
        terms.append(bce_of(p, y) + second)
    loss = MLCLLoss(tensor(TRANSITION), beta=beta)
    found = loss(tensor(LOGITS), tensor(COMPLEMENTARY), tensor(RELEVANT))
    assert float(found) == pytest.approx(np.mean(terms), rel=1e-13)


def test_softmax_cross_entropy_of_the_shared_target():
    target = COMPLEMENTARY / COMPLEMENTARY.sum(axis=1, keepdims=True)
    expected = -(target * log_softmax(LOGITS, axis=1)).sum(axis=1).mean()
    found = ComplementaryCrossEntropy()(tensor(LOGITS), tensor(COMPLEMENTARY))
    assert float(found) == pytest.approx(expected, rel=1e-13)


def test_supervised_loss_sums_over_labels_and_averages_over_instances():
    f = expit(LOGITS)
    expected = np.mean([bce_of(row, y) for row, y in zip(f, RELEVANT, strict=True)])
    found = BinaryCrossEntropy()(tensor(LOGITS), tensor(RELEVANT))
    assert float(found) == pytest.approx(expected, rel=1e-13)


def test_implied_probabilities_are_bounded_but_their_gradient_is_not_stopped():
    scores = tensor([[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]).requires_grad_()
    implied = implied_complementary(scores, tensor(TRANSITION))
    assert float(implied.detach().min()) == pytest.approx(1e-6)
    assert float(implied.detach().max()) == pytest.approx(1 - 1e-6)
    implied.sum().backward()
    np.testing.assert_allclose(scores.grad, np.ones((2, 4)), rtol=1e-12)  # rows of T sum to 1


def test_the_transition_travels_in_the_state_of_a_module():
    saved = MLCLLoss(tensor(TRANSITION)).state_dict()
    loaded = MLCLLoss((1 - np.eye(4)) / 3)
    loaded.load_state_dict(saved)
    np.testing.assert_array_equal(loaded.transition, TRANSITION)
    assert not list(loaded.parameters())


@pytest.mark.parametrize(
    ("transition", "found"),
    [
        (torch.eye(3), ("label 0", "1")),
        ((1 - torch.eye(3)) / 3, "1"),
        ([[0, 2, -1], [1, 0, 0], [1, 0, 0]], "label 0"),
        ((1 - np.eye(3)) * np.nan, ("row 0", "column 0")),
        (torch.ones(2, 3) / 3, "shape (2, 3)"),
        (torch.tensor(0.5), "2-D array"),
        ((1 - torch.eye(4)) / 3, ("3 columns", "4 labels")),
    ],
)
def test_other_matrices_are_refused(transition, found):
    with raises(TransitionError, found):
        MLCLLoss(transition)(torch.zeros(1, 3), torch.ones(1, 3))


# One label takes most choices: the column of T sums to more than 2.
CROWDED = np.array([[0, 0.5, 0.5, 0], [1, 0, 0, 0], [0.9, 0.1, 0, 0], [0.8, 0, 0.2, 0]])


@pytest.mark.parametrize(
    ("transition", "logit"), [(CROWDED, 0.0), (TRANSITION, -15.0)], ids=["above one", "near zero"]
)
def test_the_gradient_by_hand_equals_autograd_where_probabilities_are_bounded(transition, logit):
    logits = torch.full((1, 4), logit, dtype=torch.float64).requires_grad_()
    complementary = tensor([[0, 0, 1, 0]])
    loss = MLCLLoss(tensor(transition), beta=1.0)
    loss(logits, complementary).backward()
    found = loss.logit_gradient(logits.detach(), complementary)
    torch.testing.assert_close(found, logits.grad, rtol=1e-3, atol=1e-5)
