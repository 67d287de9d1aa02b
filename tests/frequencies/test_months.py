"""Answers of earlier months: enumeration, both limits, and what is said to have changed."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats
from tests.frequencies.test_strata import asked_about, half_and_half, world

from complabel.answers import Answers
from complabel.errors import InputError
from complabel.frequencies import _months, _strata, audit_machine, months_of, what_is_left
from complabel.frequencies._exchangeable import HETEROGENEITY, UNLIKE
from complabel.frequencies._machine_strata import Strata

ONES = np.ones((50, 2))


def counted(yes, judged):
    """Answers about two labels: so many yes, of so many; other items of 50 each month."""
    said = np.concatenate([np.arange(n) < y for y, n in zip(yes, judged, strict=True)])
    items = np.concatenate([np.arange(n) for n in judged])
    Y = np.zeros((50, 2), dtype=np.uint8)
    return asked_about(Y, items, np.repeat([0, 1], judged), said.astype(np.uint8))


def test_the_posterior_of_two_months_is_what_a_grid_over_everything_gives():
    old, new = ((9, 2), (12, 10)), ((6, 4), (8, 5))
    z = np.linspace(-14, 14, 561)
    means = np.linspace(-9, 11, 201)
    p = special.expit(z)
    first, second = (
        [stats.binom.pmf(y, n, p) for y, n in zip(*each, strict=True)] for each in (old, new)
    )

    def integrals(likelihoods):
        """The evidence of the product, and that times each label's frequency."""
        weight, moments = 0.0, np.zeros(2)
        for sd, unlike in itertools.product(HETEROGENEITY, UNLIKE):
            prior = (1 - unlike) * stats.norm.pdf(z, means[:, None], sd)
            prior += unlike * stats.norm.pdf(z, means[:, None], np.hypot(sd, 1.5))
            of = np.stack([prior @ each for each in likelihoods]) * (z[1] - z[0])
            mean = np.stack([prior @ (each * p) for each in likelihoods]) * (z[1] - z[0]) / of
            joint = stats.norm.pdf(means, 1, 2) * of.prod(axis=0) * sd / (1 + sd**2) * 0.1
            weight += joint.sum() / len(UNLIKE)
            moments += (joint * mean).sum(axis=1) / len(UNLIKE)
        total = sum(sd / (1 + sd**2) for sd in HETEROGENEITY)
        return weight / total, moments / total

    together = integrals(first)[0]
    nothing = np.ones_like(z)
    others = integrals([nothing, first[1]])[0], integrals([first[0], nothing])[0]
    alone = [together / each for each in others]  # of each label's old answers, by the other label
    blur = stats.norm.pdf(z[:, None], z, 0.5) * (z[1] - z[0])
    evidence, moments = 0.0, np.zeros(2)
    for drift in _months.DRIFTS:
        told = [drift.anew * r + (1 - drift.anew) * x for r, x in zip(alone, first, strict=True)]
        if drift.sd:
            moved = [blur @ x for x in first]
            told = [0.1 * r + 0.9 * x for r, x in zip(alone, moved, strict=True)]
        factor = drift.chance
        if drift.anew == 1:
            told, factor = [nothing, nothing], factor * together
        weight, mean = integrals([a * b for a, b in zip(told, second, strict=True)])
        evidence, moments = evidence + factor * weight, moments + factor * mean
    answers = counted(*new)
    strata = Strata.of(ONES)
    mean, _ = what_is_left(answers, strata, months_of([(counted(*old), ONES)], answers, strata))
    np.testing.assert_allclose(mean[1], moments / evidence, rtol=5e-4)


@pytest.mark.parametrize("drift", [(0.0, 0.0), (0.0, 1.0), (1e4, 0.0)])
def test_no_drift_is_one_month_and_an_endless_one_is_the_new_month_alone(drift, monkeypatch):
    only = (_months.Drift(*drift, 1.0),)
    monkeypatch.setattr(_months, "DRIFTS", only)
    monkeypatch.setattr(_strata, "DRIFTS", only)
    new, old = counted((6, 4), (8, 5)), counted((9, 2), (12, 10))
    strata = Strata.of(ONES)
    older = counted((3, 0), (3, 1))
    months = months_of([(old, ONES), (older, ONES)], new, strata)
    found = what_is_left(new, strata, months)
    expected = new if any(drift) else counted((18, 6), (23, 16))
    np.testing.assert_allclose(found, what_is_left(expected, strata), rtol=1e-6)


def two_months(seed, n=200, shared=0, **changed):
    """What people said and the machine says in two months of one world, and the truth."""
    Y, machine = world(4000, 12, seed)
    newest = slice(2000 - shared, 4000 - shared)
    said = [machine[:2000].astype(float), machine[newest].astype(float)]
    if changed:
        said[1] = world(4000, 12, seed, **changed)[1][newest].astype(float)
    rng = np.random.default_rng(seed)
    asked = [
        asked_about(Y[at], *half_and_half(Y[at], each, n, rng))
        for at, each in zip((slice(2000), newest), said, strict=True)
    ]
    return *zip(asked, said, strict=True), Y[newest]


def test_old_answers_narrow_intervals_which_hold_whether_or_not_the_machine_changed():
    held, widths, found, of_change = [], [], [], []
    for seed, changed in itertools.product(range(6), ({}, {"missed": 0.4, "invented": 0.06})):
        old, new, Y = two_months(seed, **changed)
        audit = audit_machine(*new, before=[old])
        low, high = audit.frequencies.intervals.T
        held.append(((low <= Y.mean(axis=0)) & (Y.mean(axis=0) <= high)).mean())
        alone = audit_machine(*new).frequencies.intervals
        widths.append((high - low).mean() / (alone[:, 1] - alone[:, 0]).mean())
        found.append(audit.changes.what)
        _, low, high = audit.changes.differences["precision"][:-1].T
        truth = zip((world(4000, 12, seed)[0][:2000], Y), (old[1], new[1]), strict=True)
        right = [(y * said).sum(axis=0) / said.sum(axis=0) for y, said in truth]
        apart = right[1] - right[0]
        of_change.append(((low <= apart) & (apart <= high)).mean())
    assert np.mean(held) > 0.9
    assert np.mean(of_change) > 0.92
    assert np.mean(widths[::2]) < 0.85
    assert found[::2].count("") >= 5
    assert set(found[1::2]) <= {"machine", "either"}


def test_labels_are_known_by_name_and_what_an_old_month_lacks_is_open():
    (answers, said), (newer, new_said), _ = two_months(0)
    names = [f"l{at}" for at in range(12)]
    order = np.random.default_rng(1).permutation(12)[:9]
    mine = [names[at] for at in order]
    newer = replace(newer, label_names=tuple(names))
    masks = {
        of: np.asarray(getattr(answers, of).todense())[:, order] for of in ("relevant", "absent")
    }
    some = np.flatnonzero((masks["relevant"] + masks["absent"]).any(axis=1))
    about = {"question": "asked", "item": answers.item[some], "n_items": answers.n_items}
    fewer = Answers.from_arrays(
        relevant=masks["relevant"][some], absent=masks["absent"][some], label_names=mine, **about
    )
    found = audit_machine(newer, new_said, before=[(fewer, said[:, order])]).changes
    gone = np.isnan(found.differences["precision"][:-1, 0])
    np.testing.assert_array_equal(gone, ~np.isin(np.arange(12), order))
    with pytest.raises(InputError, match="before"):
        audit_machine(newer, [new_said, new_said], before=[(fewer, said[:, order])])
    strangers = replace(fewer, label_names=tuple("abcdefghi"))
    with pytest.raises(InputError, match="before"):
        audit_machine(newer, new_said, before=[(strangers, said[:, order])])


def test_scores_and_words_of_two_months_go_together():
    old, new, Y = two_months(1)
    alone = audit_machine(*new).frequencies.intervals
    for at in range(2):
        said = [old[1], new[1]]
        said[at] = np.where(said[at] > 0, 0.8, 0.03)
        found = audit_machine(new[0], said[1], before=[(old[0], said[0])]).frequencies
        assert np.diff(found.intervals).mean() < np.diff(alone).mean()
        assert abs(found.values - Y.mean(axis=0)).max() < 0.1


def test_items_of_both_months_tell_that_the_machine_changed():
    old, new, _ = two_months(0, shared=500)
    names = np.arange(3500).astype(str).astype(object)
    first, newest = (
        replace(old[0], item_names=names[:2000]),
        replace(new[0], item_names=names[1500:]),
    )
    how = {"before": [(first, old[1])], "same_items": True}
    same = audit_machine(newest, new[1], **how).changes
    assert (same.n_shared, same.agreement[-1], same.what) == (500, 1.0, "")
    said = new[1].copy()
    n = int((said[:60, 3] == 0).sum())
    said[:60, 3] = 1
    found = audit_machine(newest, said, **how).changes
    assert found.what == "machine"
    np.testing.assert_allclose(found.agreement[[3, -1]], [1 - n / 500, 1 - n / 6000])
    unknown = audit_machine(newest, said, before=how["before"]).changes
    assert (unknown.n_named, unknown.n_shared) == (500, 0)
