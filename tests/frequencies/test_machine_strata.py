"""What one machine says or several say: every kind of machine, and intervals that hold."""

import numpy as np
import pytest
from scipy import special
from tests.frequencies.test_strata import asked_about, world

from complabel._drawn import opened
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.frequencies import audit_machine
from complabel.frequencies._machine_strata import Strata, _combined


def drawn(Y, machines, sizes, seed):
    """Ask by what machines say, in rounds."""
    known = asked_about(Y, np.empty(0, dtype=int), np.empty(0, dtype=int))
    for size in sizes:
        table = suggest_questions(known, size, against=machines, random_state=seed)
        items, labels = np.asarray(table["item"]), np.asarray(table["label"]).astype(int)
        how = [*map(opened, table["drawn"], table["item"], table["label"])]
        known = Answers.concatenate([known, asked_about(Y, items, labels, drawn=how)])
    return known


def machines_of(Y, said, rng):
    """Machines of all kinds."""
    scores = special.expit(4.0 * said - 2.5 + rng.normal(size=Y.shape))
    steep = np.round(special.expit(12 * (scores - 0.5)), 1)
    gaps = np.where(rng.random(Y.shape) < 0.2, np.nan, said)
    second, third = (np.where(rng.random(Y.shape) < 0.1, 1 - said, Y) for _ in range(2))
    constant = said.copy()
    constant[:, :2] = (0, 1)
    return {
        "words": said,
        "scores": scores,
        "scores of exactly 0 and 1": steep,
        "gaps": gaps,
        "constant": constant,
        "lies": 1 - said,
        "two": [said, second],
        "three, one lies": [said, 1 - second, third],
        "three with scores": [steep, scores, third],
        "many": [said, second, third, gaps, 1 - said],
    }


KINDS = [*machines_of(*world(50, 8), np.random.default_rng(0))]


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_beside_every_kind_of_machine(kind):
    held = []
    for seed in range(3):
        Y, said = world(800, 8, seed=seed, missed=0.3)
        machines = machines_of(Y, said, np.random.default_rng(seed))[kind]
        answers = drawn(Y, machines, (80, 60), seed)
        found = audit_machine(answers, machines)
        low, high = found.frequencies.intervals.T
        held.extend((low <= Y.mean(axis=0)) & (Y.mean(axis=0) <= high))
        for each, machine in zip(
            (found, *found.others),
            machines if isinstance(machines, list) else [machines],
            strict=True,
        ):
            of = each.as_dict()["all_pairs"]["precision"][1:]
            yes = np.nan_to_num(machine) >= 0.5
            assert of[0] - 0.1 < Y[yes].mean() < of[1] + 0.1
    assert np.mean(held) > 0.87  # 24 intervals of 95 %


def test_all_answers_give_the_rates_of_each_of_several_machines_in_any_order():
    Y, first = world(600, 3, missed=0.3)
    second = np.where(np.random.default_rng(1).random(Y.shape) < 0.2, 1 - Y, Y)
    answers = asked_about(Y, *np.divmod(np.arange(Y.size), 3))
    both = audit_machine(answers, [first, second])
    swapped = audit_machine(answers, np.stack([second, first]))
    for found, machine in ((both, first), (both.others[0], second), (swapped, second)):
        right = (Y * machine).sum(axis=0)
        np.testing.assert_allclose(found.precision.values, right / machine.sum(axis=0))
        np.testing.assert_allclose(found.recall.values, right / Y.sum(axis=0))
    orders = [Strata.of(np.stack(each), answers) for each in ((first, second), (second, first))]
    assert orders[0].digests[0] == orders[1].digests[0]
    np.testing.assert_array_equal(orders[0].cell, orders[1].cell)
    # What one of them drew is random beside both.
    alone = drawn(Y, first, (60, 40), 0)
    assert audit_machine(alone, [first, second]).n_asked.sum() == 100


def test_zeros_and_ones_that_people_contradict_are_found_and_said():
    Y, said = world(1500, 6, missed=0.4, bad=0)
    rng = np.random.default_rng(3)
    between = np.where(rng.random(Y.shape) < 0.3, 0.2 + 0.6 * said, said)
    answers = drawn(Y, between, (300,), 0)
    found = audit_machine(answers, between)
    n_wrong, n_sure, expected = found.too_sure
    told = answers.statements()
    sure = np.isin(between, (0, 1))[told.item, told.label]
    assert (n_sure, expected) == (sure.sum(), 0.0)
    assert n_wrong == (told.applies != between[told.item, told.label])[sure].sum()
    # As scores of .001 and .999 they are other cells: nothing takes one for the other.
    clipped = np.clip(between, 0.001, 0.999)
    cells = [Strata.of(each).of_pairs for each in (between, clipped)]
    exact = np.isin(between, (0, 1))
    assert (cells[0] != cells[1])[exact].all()
    assert (cells[0] == cells[1])[~exact].all()
    # A machine that is right as often as it says is not too sure.
    chance = np.clip(rng.beta(0.3, 0.9, Y.shape), 0.001, 0.999)
    Y = (rng.random(Y.shape) < chance).astype(np.uint8)
    assert audit_machine(drawn(Y, chance, (200,), 0), chance).too_sure is None


def test_answers_tell_that_a_machine_among_several_lies():
    Y, said = world(1500, 6, missed=0.2)
    rng = np.random.default_rng(4)
    scores = special.expit(4.0 * said - 2 + rng.normal(size=Y.shape))
    machines = np.stack([1 - scores, special.expit(2.0 * Y - 1 + rng.normal(size=Y.shape))])
    answers = drawn(Y, [*machines], (300,), 0)
    for told, agrees in ((None, False), (answers, True)):
        p = _combined(machines, np.isin(machines, (0, 1)), told)
        assert (np.corrcoef(p.ravel(), scores.ravel())[0, 1] > 0.5) == agrees
