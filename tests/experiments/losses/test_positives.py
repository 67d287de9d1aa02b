"""The losses of single positive labels by hand: each is held against its formula in NumPy."""

import numpy as np
import pytest
import torch

from complabel.experiments import losses

P = np.array([[0.75, 0.25, 0.5], [0.9, 0.2, 0.05]])  # scores; label 0, then label 1, was named
POSITIVE = torch.tensor([[1.0, 0, 0], [0, 1, 0]], dtype=torch.float64)
LOGITS, ROWS, NAMED = torch.logit(torch.tensor(P)), torch.arange(2), POSITIVE.numpy() > 0
YES, NO = -np.log(P), -np.log(1 - P)
LOWERED = P / (P + np.e * (1 - P))  # the score of a logit that is lower by 1
FOCAL = -np.log(LOWERED) * (1 - LOWERED) ** 2
HIGH = P >= 0.5  # of the assumed "no", .9 and .5; only .9 is above .6

# By name: the loss of named labels, of others, and how it is made; * is after the first epoch.
CASES = {
    "AN": (YES, NO, "AssumedNegativeLoss", {}),
    "AN-LS": (YES + (NO - YES) / 5, NO + (YES - NO) / 5, "AssumedNegativeLoss", {"smoothing": 0.2}),
    "WAN": (YES, NO / 2, "AssumedNegativeLoss", {"weak": True}),
    "EM": (YES, -0.3 * (P * YES + (1 - P) * NO), "EntropyMaximizationLoss", {"entropy": 0.3}),
    "Hill": (FOCAL, (1.5 - P) * P**2, "HillLoss", {}),
    "SPLC": (FOCAL, NO * P**2, "SPLCLoss", {}),
    "SPLC*": (FOCAL, np.where(P > 0.6, YES * (1 - P) ** 2, NO * P**2), "SPLCLoss", {}),
    "LL": (YES, NO, "LargeLoss", {"rejected": 1 / 3}),
    "LL-R*": (YES, np.where(HIGH, 0, NO), "LargeLoss", {"rejected": 1 / 3}),
    "LL-Ct*": (YES, np.where(HIGH, YES, NO), "LargeLoss", {"rejected": 1 / 3, "corrects": True}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_loss_is_that_of_its_formula(name):
    of_named, of_rest, kind, settings = CASES[name]
    loss, expected = getattr(losses, kind)(POSITIVE, **settings), np.where(NAMED, of_named, of_rest)
    if name.endswith("*"):
        loss.end(1, 2, lambda: LOGITS)
    np.testing.assert_allclose(loss.cells(LOGITS, ROWS), expected)
    # a batch finds what is known of its rows
    assert float(loss(LOGITS.flip(0), ROWS.flip(0))) == pytest.approx(expected.sum(axis=1).mean())
    extreme = torch.tensor([[1e4, -1e4, 1e4], [-1e4, 1e4, -1e4]]).requires_grad_()
    loss(extreme, ROWS).backward()
    assert torch.isfinite(extreme.grad).all()


def test_pseudo_labels_are_the_lowest_scores_of_each_label_and_stay():
    rng = np.random.default_rng(0)
    positive = torch.tensor(np.eye(4)[rng.integers(4, size=40)])
    loss = losses.EntropyMaximizationLoss(positive, pseudo=0.3, share=0.5)
    logits, others = (torch.tensor(rng.normal(size=(40, 4))) for _ in range(2))
    loss.end(4, 10, lambda: logits)  # the first half is over after epoch 5
    assert loss.targets.isnan().all()
    loss.end(5, 10, lambda: logits)
    first = loss.targets
    for target, score, known in zip(first.T, torch.sigmoid(logits).T, positive.T, strict=True):
        unknown, chosen = score[known == 0], ~target.isnan()
        assert chosen.sum() == int(0.5 * len(unknown) / 5)
        assert not (chosen & (known == 1)).any()
        np.testing.assert_array_equal(target[chosen].sort()[0], unknown.sort()[0][: chosen.sum()])
    for epoch in range(6, 11):
        loss.end(epoch, 10, lambda: others)
    assert torch.equal(loss.targets[~first.isnan()], first[~first.isnan()])
    p, q, chosen = torch.sigmoid(others), loss.targets, ~loss.targets.isnan()
    assert (chosen.sum(dim=0) > 3 * (~first.isnan()).sum(dim=0)).all()
    assert (chosen.sum(dim=0) <= (positive == 0).sum(dim=0) / 2).all()
    soft = -0.3 * (q * p.log() + (1 - q) * (1 - p).log())
    np.testing.assert_allclose(loss.cells(others, torch.arange(40))[chosen], soft[chosen])


def test_role_and_its_gradients_which_take_the_other_side_for_given():
    loss = losses.ROLELoss(POSITIVE, cardinality=1.7)
    (estimates,) = loss.trained()
    q = torch.sigmoid(10 * estimates.detach()).numpy()
    np.testing.assert_allclose(q[NAMED], 0.995, rtol=1e-6)
    assert ((q[~NAMED] > 0.4) & (q[~NAMED] < 0.6)).all()
    crossed = [q * YES + (1 - q) * NO, -P * np.log(q) - (1 - P) * np.log(1 - q)]
    expected = 0.5 * (sum(crossed) + NAMED * (YES - np.log(q))).sum(axis=1).mean()
    excess = [each.sum(axis=1).mean() - 1.7 for each in (P, q)]
    expected += 0.5 * np.square(excess).sum() / 3
    leaf = LOGITS.clone().requires_grad_()
    value = loss(leaf, ROWS)
    assert float(value.detach()) == pytest.approx(expected)
    value.backward()
    sides = (leaf.grad, P, q, excess[0], 1), (estimates.grad, q, P, excess[1], 10)
    for slope, own, other, over, factor in sides:
        by_hand = 0.5 * (NAMED * (own - 1) + own - other) / 2 + over / 3 * own * (1 - own) / 2
        np.testing.assert_allclose(slope, factor * by_hand, rtol=1e-6)
