"""A loss as somebody might write it: one class with a ``forward``, trained in every way."""

import numpy as np
import pytest
import torch

from complabel import metrics
from complabel.datasets import make_synthetic
from complabel.losses import LogitLoss
from complabel.methods import ComplementaryLossClassifier
from complabel.simulate import draw_complementary

PROBLEM = make_synthetic(1200, n_features=6, n_labels=5, signal=6.0, random_state=1)
COMPLEMENTARY = draw_complementary(PROBLEM.Y, random_state=1)
TRAIN, TEST = slice(0, 800), slice(800, None)


class OwnGDF(LogitLoss):
    """GDF written anew, with a buffer, and without a gradient by hand."""

    def __init__(self):
        super().__init__()
        self.register_buffer("one", torch.ones(()))

    def forward(self, logits, complementary):
        sign = 2 * complementary - self.one
        return torch.nn.functional.softplus(sign * logits).sum(dim=1).mean()


class OwnClassifier(ComplementaryLossClassifier):
    """A method of that loss."""

    loss = OwnGDF


@pytest.mark.parametrize("network", [None, torch.nn.Linear], ids=["linear", "network"])
def test_an_estimator_learns_by_it(network):
    classifier = OwnClassifier(network=network, epochs=15, learning_rate=0.05, random_state=0)
    classifier.fit(PROBLEM.X[TRAIN], COMPLEMENTARY[TRAIN])
    decision = classifier.decision_function(PROBLEM.X[TEST])
    constant = np.broadcast_to(PROBLEM.Y[TRAIN].mean(axis=0), decision.shape)
    found, least = (
        metrics.average_precision(PROBLEM.Y[TEST], scores) for scores in (decision, constant)
    )
    assert found > least + 0.1
