"""The losses of single positive labels by hand: each is held against its formula in NumPy."""

import numpy as np
import pytest
import torch

from complabel.experiments.losses import (
    AssumedNegativeLoss,
    EntropyMaximizationLoss,
    HillLoss,
    LargeLoss,
    ROLELoss,
    SPLCLoss,
)

P = np.array([[0.75, 0.25, 0.5], [0.9, 0.2, 0.05]])  # scores; label 0, then label 1, was named
POSITIVE = torch.tensor([[1.0, 0, 0], [0, 1, 0]], dtype=torch.float64)
LOGITS, ROWS = torch.logit(torch.tensor(P)), torch.arange(2)
YES, NO = -np.log(P), -np.log(1 - P)
NAMED = POSITIVE.numpy() > 0
LOWERED = P / (P + np.e * (1 - P))  # the score of a logit that is lower by 1
FOCAL = -np.log(LOWERED) * (1 - LOWERED) ** 2
ENTROPY = P * YES + (1 - P) * NO


def ended(loss, *, epoch=1, epochs=2):
    loss.end(epoch, epochs, lambda: LOGITS)
    return loss


CASES = {
    "AN": (AssumedNegativeLoss(POSITIVE), np.where(NAMED, YES, NO)),
    "AN-LS": (
        AssumedNegativeLoss(POSITIVE, smoothing=0.1),
        np.where(NAMED, 0.9 * YES + 0.1 * NO, 0.9 * NO + 0.1 * YES),
    ),
    "WAN": (AssumedNegativeLoss(POSITIVE, weak=True), np.where(NAMED, YES, NO / 2)),
    "EM": (EntropyMaximizationLoss(POSITIVE, entropy=0.3), np.where(NAMED, YES, -0.3 * ENTROPY)),
    "Hill": (HillLoss(POSITIVE), np.where(NAMED, FOCAL, (1.5 - P) * P**2)),
    "SPLC, first epoch": (SPLCLoss(POSITIVE), np.where(NAMED, FOCAL, NO * P**2)),
    # of the assumed "no", only the score .9 is above .6
    "SPLC": (
        ended(SPLCLoss(POSITIVE)),
        np.where(NAMED, FOCAL, np.where(P > 0.6, YES * (1 - P) ** 2, NO * P**2)),
    ),
    # 2 of 6 labels: the largest losses of an assumed "no" have the scores .9 and .5
    "LL, first epoch": (LargeLoss(POSITIVE, rejected=1 / 3), np.where(NAMED, YES, NO)),
    "LL-R": (
        ended(LargeLoss(POSITIVE, rejected=1 / 3)),
        np.where(NAMED, YES, np.where(P >= 0.5, 0, NO)),
    ),
    "LL-Ct": (
        ended(LargeLoss(POSITIVE, rejected=1 / 3, corrects=True)),
        np.where(NAMED, YES, np.where(P >= 0.5, YES, NO)),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_loss_is_that_of_its_formula(name):
    loss, expected = CASES[name]
    np.testing.assert_allclose(loss.cells(LOGITS, ROWS), expected)
    assert float(loss(LOGITS, ROWS)) == pytest.approx(expected.sum(axis=1).mean())
    swapped = loss(LOGITS.flip(0), ROWS.flip(0))  # a batch finds what is known of its rows
    assert float(swapped) == pytest.approx(float(loss(LOGITS, ROWS)))
    extreme = torch.tensor([[1e4, -1e4, 1e4], [-1e4, 1e4, -1e4]]).requires_grad_()
    loss(extreme, ROWS).backward()
    assert torch.isfinite(extreme.grad).all()


def test_pseudo_labels_are_the_lowest_scores_of_each_label_and_stay():
    rng = np.random.default_rng(0)
    positive = torch.tensor(np.eye(4)[rng.integers(4, size=40)])
    loss = EntropyMaximizationLoss(positive, entropy=0.1, pseudo=0.3, share=0.5)
    logits, others = (torch.tensor(rng.normal(size=(40, 4))) for _ in range(2))
    loss.end(4, 10, lambda: logits)  # the first half is over after epoch 5
    assert loss.targets.isnan().all()
    loss.end(5, 10, lambda: logits)
    first, scores = loss.targets.clone(), torch.sigmoid(logits)
    for target, score, known in zip(first.T, scores.T, positive.T, strict=True):
        unknown = score[known == 0]
        chosen = ~target.isnan()
        assert chosen.sum() == int(0.5 * len(unknown) / 5)
        assert not (chosen & (known == 1)).any()
        np.testing.assert_array_equal(target[chosen].sort()[0], unknown.sort()[0][: chosen.sum()])
    for epoch in range(6, 11):
        loss.end(epoch, 10, lambda: others)
    assert torch.equal(loss.targets[~first.isnan()], first[~first.isnan()])
    n_unknown = (positive == 0).sum(dim=0)
    assert ((~loss.targets.isnan()).sum(dim=0) <= n_unknown / 2).all()
    rows = torch.arange(40)
    p, q = torch.sigmoid(others), loss.targets
    soft = -0.3 * (q * p.log() + (1 - q) * (1 - p).log())
    found = loss.cells(others, rows)
    np.testing.assert_allclose(found[~q.isnan()], soft[~q.isnan()])


def test_role_and_its_gradients_which_take_the_other_side_for_given():
    loss = ROLELoss(POSITIVE, cardinality=1.7, generator=torch.Generator().manual_seed(0))
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
    for slope, own, other, over, factor in (
        (leaf.grad, P, q, excess[0], 1),
        (estimates.grad, q, P, excess[1], 10),
    ):
        by_hand = 0.5 * (NAMED * (own - 1) + own - other) / 2 + over / 3 * own * (1 - own) / 2
        np.testing.assert_allclose(slope, factor * by_hand, rtol=1e-6)
