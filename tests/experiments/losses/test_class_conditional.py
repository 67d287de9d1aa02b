"""Losses under class-conditional naming: by hand, and unbiased by enumeration of all label sets."""

import itertools

import numpy as np
import pytest
import torch
from scipy.special import expit

from complabel.errors import InputError
from complabel.experiments.losses import (
    BinaryCrossEntropy,
    CCMNLoss,
    COMESHammingLoss,
    COMESRankingLoss,
    GDFLoss,
)

RATES = {3: [0.3, 0.9, 0.5], 4: [0.2, 1.0, 0.65, 0.4]}
every_size = pytest.mark.parametrize("n_labels", [3, 4])


def tensor(values):
    return torch.tensor(np.asarray(values), dtype=torch.float64)


def label_sets(n_labels):
    """All label sets, the empty and the full one too, (2^K, K)."""
    return np.array(list(itertools.product([0, 1], repeat=n_labels)))


def logits_of(n_labels, n_rows=1):
    return tensor(np.random.default_rng(n_labels).normal(scale=2.0, size=(n_rows, n_labels)))


def ways_to_name(relevant, rates):
    """All complementary sets of a label set, each label by itself, with their chances."""
    for named in label_sets(len(relevant)):
        if (named & relevant).any():
            continue
        chances = np.where(named == 1, rates, 1 - np.asarray(rates))[relevant == 0]
        yield named, float(np.prod(chances))


def expected(loss, logits, relevant, rates):
    """The mean of a loss over what is named where these labels apply."""
    return sum(
        chance * float(loss(logits, tensor(named[np.newaxis])))
        for named, chance in ways_to_name(relevant, rates)
    )


def supervised_ranking(logits, relevant):
    """Sum over pairs of an irrelevant and a relevant label, and the pairs of two irrelevant."""
    f = logits.numpy()[0]
    wrong, right = np.flatnonzero(relevant == 0), np.flatnonzero(relevant)
    constant = len(wrong) * (len(wrong) - 1) / 2
    pairs = sum(expit(f[j] - f[k]) for j in wrong for k in right)
    return (pairs + constant) / (len(f) - 1)


@every_size
def test_ccmn_has_the_supervised_loss_as_its_mean_for_every_label_set(n_labels):
    rates, logits = RATES[n_labels], logits_of(n_labels)
    for relevant in label_sets(n_labels):
        truth = float(BinaryCrossEntropy()(logits, tensor(relevant[np.newaxis])))
        found = expected(CCMNLoss(rates), logits, relevant, rates)
        assert found == pytest.approx(truth, rel=1e-12)


@every_size
def test_comes_rl_has_the_supervised_ranking_loss_and_a_constant_as_its_mean(n_labels):
    rates, logits = RATES[n_labels], logits_of(n_labels)
    for relevant in label_sets(n_labels):
        truth = supervised_ranking(logits, relevant)
        found = expected(COMESRankingLoss(rates), logits, relevant, rates)
        assert found == pytest.approx(truth, rel=1e-12, abs=1e-14)


def test_uncorrected_comes_hl_is_ccmn_and_both_are_gdf_where_all_is_named():
    logits = logits_of(4, 20)
    complementary = tensor(np.random.default_rng(1).random((20, 4)) < 0.4)
    complementary[complementary.sum(dim=1) == 0, 1] = 1  # GDF leaves out rows without a label
    by_ccmn = CCMNLoss(RATES[4])(logits, complementary)
    uncorrected = COMESHammingLoss(RATES[4], corrected=False)(logits, complementary)
    torch.testing.assert_close(by_ccmn, uncorrected, rtol=1e-12, atol=0)
    gdf = GDFLoss()(logits, complementary)
    torch.testing.assert_close(CCMNLoss(np.ones(4))(logits, complementary), gdf, rtol=1e-12, atol=0)
    torch.testing.assert_close(
        COMESHammingLoss(np.ones(4))(logits, complementary), gdf, rtol=1e-12, atol=0
    )


def test_the_correction_by_hand():
    """One label of two rows, named in the first with rate 1/4, logits -2 and 3.

    The relevant part is the mean of -3 log(1 + e^2) and log(1 + e^-3), which is negative; it counts
    with the other sign. The rest is the mean of 4 log(1 + e^-2) and 0.
    """
    logits, complementary = tensor([[-2.0, 0.0], [3.0, 0.0]]), tensor([[1, 0], [0, 1]])
    soft = lambda z: np.log1p(np.exp(z))  # noqa: E731
    relevant = (-3 * soft(2.0) + soft(-3.0)) / 2
    others = 4 * soft(-2.0) / 2
    of_second = np.log(2)  # of rate 1/2: (log 2 - log 2) / 2, and log 2
    loss = COMESHammingLoss([0.25, 0.5])
    assert relevant < 0
    assert float(loss(logits, complementary)) == pytest.approx(
        -relevant + others + of_second, rel=1e-12
    )
    plain = COMESHammingLoss([0.25, 0.5], corrected=False)
    assert float(plain(logits, complementary)) == pytest.approx(
        relevant + others + of_second, rel=1e-12
    )


def test_the_ranking_loss_by_hand():
    """Label 0 at 1, others at 0 and 2, named with rate 1/2: (sigma(1) + sigma(-1)) / (2 / 2)."""
    loss = COMESRankingLoss([0.5, 1.0, 1.0])
    logits = tensor([[1.0, 0.0, 2.0]])
    assert float(loss(logits, tensor([[1, 0, 0]]))) == pytest.approx(1.0, rel=1e-12)
    # Labels 0 and 2 named: 2 sigma(-1) + 2 sigma(1) from the first, sigma(1) + sigma(2) besides.
    both = (2 + expit(1) + expit(2)) / 2
    assert float(loss(logits, tensor([[1, 0, 1]]))) == pytest.approx(both, rel=1e-12)
    assert float(loss(logits, tensor([[0, 0, 0]]))) == 0


def test_flooding_turns_back_below_its_level():
    logits, complementary = logits_of(3, 5), tensor(np.eye(3)[[0, 1, 2, 0, 1]])
    plain = COMESRankingLoss(RATES[3])
    level = float(plain(logits, complementary))
    low, high = (COMESRankingLoss(RATES[3], flooding=share * level) for share in (0.5, 1.5))
    assert float(low(logits, complementary)) == pytest.approx(level, rel=1e-12)
    assert float(high(logits, complementary)) == pytest.approx(2 * level, rel=1e-12)
    gradient = plain.logit_gradient(logits, complementary)
    torch.testing.assert_close(low.logit_gradient(logits, complementary), gradient)
    torch.testing.assert_close(high.logit_gradient(logits, complementary), -gradient)


@pytest.mark.parametrize("rates", [[0.5, 0.0], [1.5, 0.5], [0.5, float("nan")], 0.5], ids=str)
def test_settings_out_of_range_are_refused(rates):
    for make in (CCMNLoss, COMESHammingLoss, COMESRankingLoss):
        with pytest.raises(InputError, match="naming_rates"):
            make(rates)
    with pytest.raises(InputError, match="flooding is -1"):
        COMESRankingLoss([0.5, 0.5], flooding=-1)
