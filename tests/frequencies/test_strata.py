"""What a machine says beside people's answers: enumeration, simulation, and what is ignored."""

import itertools

import numpy as np
import pytest
from scipy import special, stats

from complabel.answers import Answers
from complabel.frequencies import estimate_label_frequencies
from complabel.frequencies._counts import Audit, Counts
from complabel.frequencies._exchangeable import HETEROGENEITY, UNLIKE
from complabel.frequencies._machine_strata import Strata, scores_of
from complabel.frequencies._strata import Asked, _Left, what_is_left


def asked_about(Y, items, labels, said=None, **about):
    marks = np.zeros((len(items), Y.shape[1]), dtype=np.uint8)
    marks[np.arange(len(items)), labels] = 1
    yes = marks * (Y[items] if said is None else np.asarray(said)[:, np.newaxis])
    return Answers.from_arrays(
        relevant=yes, absent=marks - yes, question="asked", item=items, n_items=len(Y), **about
    )


def world(n=2000, n_labels=12, seed=0, missed=0.05, invented=0.012, bad=1):
    """True labels, and a machine that misses and invents, one label far more than others."""
    rng = np.random.default_rng(seed)
    pi = special.expit(rng.normal(-2.5, 1.0, n_labels))
    Y = (rng.random((n, n_labels)) < pi).astype(np.uint8)
    invents = np.full(n_labels, invented)
    invents[:bad] = 0.12
    flip = np.where(Y == 1, rng.random(Y.shape) < missed, rng.random(Y.shape) < invents)
    return Y, np.where(flip, 1 - Y, Y).astype(np.uint8)


def half_and_half(Y, machine, n, rng):
    """Ask about n pairs, half of them where the machine says yes, the labels drawn at random."""
    items, labels = [], []
    for word, size in ((1, n // 2), (0, n - n // 2)):
        for label in rng.integers(Y.shape[1], size=size):
            at = np.flatnonzero(machine[:, label] == word)
            if len(at):
                items.append(rng.choice(at))
                labels.append(label)
    return np.array(items), np.array(labels)


def test_the_posterior_of_two_labels_is_what_a_grid_over_everything_gives():
    # One stratum: a machine that says yes everywhere. Two labels, 6 of 8 and 1 of 5 apply.
    yes, judged = np.array([6, 1]), np.array([8, 5])
    logits = np.linspace(-14, 14, 561)
    means = np.linspace(-9, 11, 201)
    likelihood = [
        stats.binom.pmf(y, n, special.expit(logits)) for y, n in zip(yes, judged, strict=True)
    ]
    weight, moments = 0.0, np.zeros(2)
    for sd, unlike in itertools.product(HETEROGENEITY, UNLIKE):
        prior = (1 - unlike) * stats.norm.pdf(logits, means[:, None], sd)
        prior += unlike * stats.norm.pdf(logits, means[:, None], np.hypot(sd, 1.5))
        of_label = np.stack([prior @ each for each in likelihood])
        mean = np.stack([prior @ (each * special.expit(logits)) for each in likelihood]) / of_label
        joint = stats.norm.pdf(means, 1, 2) * of_label.prod(axis=0) * sd / (1 + sd**2)
        weight += joint.sum()
        moments += (joint * mean).sum(axis=1)
    machine = np.ones((50, 2))
    Y = np.zeros((50, 2), dtype=np.uint8)
    items = np.r_[np.arange(8), np.arange(5)]
    labels = np.repeat([0, 1], judged)
    said = np.r_[np.arange(8) < 6, np.arange(5) < 1].astype(np.uint8)
    answers = asked_about(Y, items, labels, said)
    found = estimate_label_frequencies(answers, predictions=machine)
    # What people said of some pairs is known. The grids are about as close as the estimate's.
    expected = (yes + (50 - judged) * moments / weight) / 50
    np.testing.assert_allclose(found.values, expected, rtol=3e-4)


@pytest.mark.parametrize(("missed", "invented"), [(0.0, 0.0), (0.2, 0.1)])
def test_a_share_of_the_pairs_is_what_enumeration_gives(missed, invented):
    # 9 of 30 pairs are judged, 6 with "yes"; each chance to apply is as likely before.
    chance = np.linspace(0.0005, 0.9995, 1000)
    of_yes = (1 - missed) * chance + invented * (1 - chance)
    posterior = of_yes**6 * (1 - of_yes) ** 3
    posterior /= posterior.sum()
    right, wrong = (1 - missed) * chance / of_yes, missed * chance / (1 - of_yes)
    numbers = np.arange(31)
    parts = [
        stats.binom.pmf(numbers[:, None], *each) for each in ((6, right), (3, wrong), (21, chance))
    ]
    joint = np.array(
        [
            np.convolve(np.convolve(a, b), c)[:31]
            for a, b, c in zip(*(part.T for part in parts), strict=True)
        ]
    )
    expected = posterior @ joint
    counts = Counts.of_one_group(np.array([6.0]), np.array([9.0]), missed, invented)
    mean = posterior @ chance
    left = _Left.of(np.array([[30.0]]), np.array([[mean]]), [(0, counts)])
    rng = np.random.default_rng(0)
    drawn = left.draw(rng.choice(chance, 40_000, p=posterior)[:, np.newaxis], rng)[:, 0]
    value, variance = left.moments(np.array([mean]), np.array([[posterior @ (chance - mean) ** 2]]))
    center = expected @ numbers / 30
    sd = np.sqrt(expected @ (numbers / 30 - center) ** 2)
    rtol = 0.02 if missed else 1e-9  # the mean chance stands for all
    np.testing.assert_allclose(value[0], center, rtol=rtol)
    np.testing.assert_allclose(np.sqrt(variance[0, 0]), sd, rtol=3 * rtol)
    np.testing.assert_allclose([drawn.mean(), drawn.std()], [center, sd], rtol=0.02 + 3 * rtol)


def test_many_answers_in_every_stratum_give_the_plain_stratified_shares():
    Y, machine = world(4000, 3, bad=0, missed=0.2, invented=0.1)
    items, labels = np.divmod(np.arange(Y.size), 3)
    found = estimate_label_frequencies(asked_about(Y, items, labels), predictions=machine)
    np.testing.assert_allclose(found.values, Y.mean(axis=0), atol=2e-3)
    assert (found.intervals[:, 1] - found.intervals[:, 0]).max() < 0.03


def test_two_hundred_answers_come_closer_than_the_machine_and_intervals_hold():
    rmse, of_machine, held = [], [], []
    for seed in range(12):
        Y, machine = world(seed=seed, bad=2)
        items, labels = half_and_half(Y, machine, 200, np.random.default_rng(seed))
        found = estimate_label_frequencies(asked_about(Y, items, labels), predictions=machine)
        truth = Y.mean(axis=0)
        rmse.append(np.sqrt(((found.values - truth) ** 2).mean()))
        of_machine.append(np.sqrt(((machine.mean(axis=0) - truth) ** 2).mean()))
        low, high = found.intervals.T
        held.extend((low <= truth) & (truth <= high))
        assert ((low <= found.values) & (found.values <= high)).all()
    assert np.mean(rmse) < 0.6 * np.mean(of_machine)
    assert np.mean(held) > 0.9  # 144 intervals of 95 %


def test_scores_tell_more_than_their_words():
    errors = {"scores": [], "words": []}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        truth = special.expit(rng.normal(-1.5, 0.7, 8) + rng.normal(0, 2, (1500, 8)))
        Y = (rng.random(truth.shape) < truth).astype(np.uint8)
        score = special.expit(1.6 * special.logit(truth) + 0.5)  # too sure, and too high
        items, labels = rng.integers(1500, size=300), rng.integers(8, size=300)
        answers = asked_about(Y, items, labels, probability=1 / 8)
        for name, said in (("scores", score), ("words", (score > 0.5).astype(float))):
            found = estimate_label_frequencies(answers, predictions=said)
            errors[name].append(((found.values - Y.mean(axis=0)) ** 2).mean())
    assert np.mean(errors["scores"]) < np.mean(errors["words"])


def test_people_who_err_are_corrected_in_each_stratum():
    off, ignored = [], []
    for seed in range(4):
        Y, machine = world(3000, 6, seed=seed)
        rng = np.random.default_rng(seed)
        items, labels = half_and_half(Y, machine, 1500, rng)
        right = Y[items, labels]
        said = np.where(right == 1, rng.random(len(right)) > 0.3, rng.random(len(right)) < 0.1)
        answers = asked_about(Y, items, labels, said.astype(np.uint8))
        known = estimate_label_frequencies(answers, predictions=machine, missed=0.3, invented=0.1)
        off.append(known.cardinality - Y.sum(axis=1).mean())
        plain = estimate_label_frequencies(answers, predictions=machine)
        ignored.append(plain.cardinality - Y.sum(axis=1).mean())
    assert abs(np.mean(off)) < 0.1
    assert abs(np.mean(ignored)) > 0.2


def test_answers_without_a_chance_count_only_beside_a_machine():
    Y, machine = world()
    items, labels = half_and_half(Y, machine, 60, np.random.default_rng(0))
    answers = asked_about(Y, items, labels)
    assert Audit.of(answers).item.size == 0
    assert estimate_label_frequencies(answers, predictions=machine).n_audit == 60
    # With one chance for all of them, the answers mean the same.
    given = asked_about(Y, items, labels, probability=0.3)
    with_chance = estimate_label_frequencies(given, predictions=machine)
    without = estimate_label_frequencies(answers, predictions=machine)
    np.testing.assert_allclose(with_chance.values, without.values, rtol=1e-9)


def test_a_machine_that_says_nothing_of_some_pairs():
    Y, machine = world(3000, 5, bad=0)
    said = machine.astype(float)
    said[::3] = np.nan
    rng = np.random.default_rng(1)
    items, labels = rng.integers(3000, size=1500), rng.integers(5, size=1500)
    found = estimate_label_frequencies(
        asked_about(Y, items, labels, probability=0.2), predictions=said
    )
    apart = abs(found.values - Y.mean(axis=0))
    assert (apart < 4 * found.standard_errors).all()
    assert found.standard_errors.max() < 0.05


def test_strata_of_words_of_scores_and_of_gaps():
    of_words = Strata.of(np.array([[0.0, 1.0], [1.0, np.nan]]))
    np.testing.assert_array_equal(of_words.of_pairs, [[0, 1], [1, 2]])
    np.testing.assert_allclose(of_words.shares[:3], [[0.5, 0], [0.5, 0.5], [0, 0.5]])
    of_scores = Strata.of(np.array([[0.2, 0.9], [0.5, np.nan], [1.0, 0.0]]))
    np.testing.assert_array_equal(of_scores.of_pairs, [[3, 4], [4, 2], [1, 0]])
    np.testing.assert_allclose(of_scores.shares.sum(axis=0), 1)


def test_what_a_machine_says_is_what_its_answers_say():
    machine = Answers.from_arrays(
        relevant=[[1, 0, 0], [0, 0, 0], [0, 0, 0]],
        absent=[[0, 0, 0], [0, 1, 0], [1, 0, 0]],
        question="asked",
        item=[0, 0, 1],
        n_items=2,
    )
    np.testing.assert_array_equal(scores_of(machine), [[1, 0, np.nan], [0, np.nan, np.nan]])


def test_the_rates_of_a_machine_agree_with_all_answers():
    Y, machine = world(4000, 4, bad=1, missed=0.2)
    items, labels = np.divmod(np.arange(Y.size), 4)
    strata = Strata.of(machine.astype(float))
    audit = Audit.of(asked_about(Y, items, labels), strata.of_pairs)
    rates = Asked.of(strata, audit).frequencies().draws.rates()
    both = ((Y == 1) & (machine == 1)).sum(axis=0)
    expected = {
        "precision": both / machine.sum(axis=0),
        "recall": both / Y.sum(axis=0),
        "missed": 1 - both / Y.sum(axis=0),
        "invented": (machine.sum(axis=0) - both) / (1 - Y).sum(axis=0),
    }
    for name, truth in expected.items():
        np.testing.assert_allclose(rates[name][:, :4], np.tile(truth, (len(rates[name]), 1)))
    np.testing.assert_allclose(rates["precision"][:, -1], both.sum() / machine.sum())


def test_unsure_that_is_said_of_what_applies_counts_for_it():
    # People are unsure about .4 of what applies, and about nothing that does not.
    Y, machine = world(4000, 5, bad=0, missed=0.3, invented=0.05)
    rng = np.random.default_rng(2)
    items, labels = half_and_half(Y, machine, 2000, rng)
    unsure = (Y[items, labels] == 1) & (rng.random(len(items)) < 0.4)
    strata = Strata.of(machine.astype(float))
    audit = Audit.of(asked_about(Y, items[~unsure], labels[~unsure]), strata.of_pairs)
    counted = np.zeros_like(strata.shares)
    np.add.at(counted, (strata.cell[items, labels][unsure], labels[unsure]), 1)
    ignored = Asked.of(strata, audit).frequencies()
    found = Asked.of(strata, audit, unsure=counted).frequencies()
    truth = Y.mean(axis=0)
    assert found.unsure is not None
    assert found.unsure[0] > 0.25
    assert found.unsure[1] < 0.05
    better = abs(found.posterior().values - truth).mean()
    assert better < 0.6 * abs(ignored.posterior().values - truth).mean()


def test_what_is_left_falls_where_people_answered():
    Y, machine = world(1000, 6)
    some = np.flatnonzero(machine[:, 2])[:20]
    answers = asked_about(Y, some, np.full(len(some), 2))
    mean, variance = what_is_left(answers, Strata.of(machine.astype(float)))
    assert variance[1].argmin() == 2
    assert ((mean[:2] > 0) & (mean[:2] < 1)).all()


def test_labels_about_which_nobody_was_asked_tell_nothing_about_the_others():
    Y, machine = world(1000, 5, bad=0)
    rng = np.random.default_rng(4)
    machine = rng.permuted(np.tile(np.arange(1000) < 100, (5, 1)), axis=1).T.astype(np.uint8)
    items, labels = half_and_half(Y, machine, 60, rng)
    kept = labels < 3
    answers = asked_about(Y, items[kept], labels[kept])
    fewer = asked_about(Y[:, :3], items[kept], labels[kept])
    found = estimate_label_frequencies(answers, predictions=machine)
    alone = estimate_label_frequencies(fewer, predictions=machine[:, :3])
    np.testing.assert_allclose(found.values[:3], alone.values, rtol=1e-9)


def test_ends_of_intervals_are_whole_numbers_of_items_and_reach_zero():
    Y, machine = world(200, 40, bad=0)
    Y[:, 20:] = 0
    machine[:, 20:] = 0
    items, labels = half_and_half(Y, machine, 200, np.random.default_rng(5))
    found = estimate_label_frequencies(asked_about(Y, items, labels), predictions=machine)
    ends = found.intervals * len(Y)
    inside = np.abs(ends - np.stack([found.values, found.values], 1) * len(Y)) > 1e-9
    np.testing.assert_allclose(ends[inside], ends[inside].round(), atol=1e-9)
    assert (found.intervals[20:, 0] == 0).mean() > 0.9
