"""The oracle for answers, itself held against numbers by hand."""

import itertools
import math

import numpy as np
import pytest
from tests.losses.answers_reference import Answer, item_log_likelihood

rng = np.random.default_rng(13)
HALVES = np.zeros(3)


def answer(question, n_labels, *, offered=None, **given):
    """An answer from lists of labels."""
    masks = {"offered": range(n_labels) if offered is None else offered}
    masks |= {name: given.pop(name, ()) for name in ("named", "absent", "relevant", "excluded")}
    if question == "named":
        given.setdefault("asked_for", max(1, len(masks["named"])))
    marks = {name: np.isin(np.arange(n_labels), list(m)) for name, m in masks.items()}
    return Answer(question, **marks, **given)


def chance(logits, *answers, **settings):
    return math.exp(item_log_likelihood(logits, answers, **settings))


def subsets(labels, sizes):
    return itertools.chain.from_iterable(itertools.combinations(labels, s) for s in sizes)


def sum_over_namings(logits, sizes, *, offered, propensities=None, exclusion_rates=None, **given):
    """The probability of all answers to one question."""
    return sum(
        chance(
            logits,
            answer("named", len(logits), offered=offered, named=named, **given),
            propensities=propensities,
        )
        for named in subsets(offered, sizes)
    )


# By hand


def test_three_labels_at_one_half():
    assert chance(HALVES, answer("named", 3, named=[0])) == pytest.approx(7 / 24)
    assert chance(HALVES, answer("named", 3, asked_for=1)) == pytest.approx(1 / 8)
    # Two asked for: labels 0 and 1 of 2 (one set) or of 3 (one set, a third of the choices).
    assert chance(HALVES, answer("named", 3, named=[0, 1])) == pytest.approx((1 + 1 / 3) / 8)
    # Label 0 alone, though two were asked for: all others apply.
    alone = answer("named", 3, named=[0], asked_for=2)
    assert chance(HALVES, alone) == pytest.approx(1 / 8)


def test_a_menu_of_two():
    p = 1 / (1 + np.exp(-np.array([0.3, -1.0, 2.0])))
    logits = np.log(p / (1 - p))
    of = {"offered": [0, 2], "named": [2]}
    only, both = p[0] * (1 - p[2]), (1 - p[0]) * (1 - p[2])
    assert chance(logits, answer("named", 3, **of)) == pytest.approx(only + both / 2)
    all_apply = p[0] * p[2]
    for treatment, value in {
        "never": only + both / 2,
        "pick": only + both / 2 + all_apply / 2,
        "skip": (only + both / 2) / (1 - all_apply),
    }.items():
        found = chance(logits, answer("named", 3, all_apply=treatment, **of))
        assert found == pytest.approx(value)
    weighed = chance(logits, answer("named", 3, **of), propensities=[1, 50, 4])
    assert weighed == pytest.approx(only + both * 4 / 5)
    wrong = chance(logits, answer("named", 3, mistakes=0.3, **of))
    assert wrong == pytest.approx(0.7 * (only + both / 2) + 0.3 / 3)
    wrong = chance(logits, answer("named", 3, mistakes=0.3, all_apply="skip", **of))
    # Nobody answers where all labels on offer apply, but by mistake.
    expected = (0.7 * (only + both / 2) + 0.3 / 2) / (1 - 0.7 * all_apply)
    assert wrong == pytest.approx(expected)


def test_judged_labels():
    p = 1 / (1 + math.exp(-0.4))
    logits = np.array([0.4, 2.0])
    yes, no = answer("asked", 2, relevant=[0]), answer("asked", 2, absent=[0])
    assert chance(logits, yes) == pytest.approx(p)
    assert chance(logits, no) == pytest.approx(1 - p)
    assert chance(logits, answer("asked", 2, relevant=[0], mistakes=0.2)) == pytest.approx(
        p * 0.9 + (1 - p) * 0.1
    )
    twice = [answer("asked", 2, absent=[0], mistakes=e) for e in (0.2, 0.6)]
    assert chance(logits, *twice) == pytest.approx(p * 0.1 * 0.3 + (1 - p) * 0.9 * 0.7)


def test_excluded_labels():
    p = 1 / (1 + np.exp(-np.array([0.4, 2.0, 1.0])))
    logits = np.log(p / (1 - p))
    ruled_out = answer("excluded", 3, offered=[0, 2], excluded=[0])
    rates = {"listed": {"exclusion_rates": [0.3, 0.8, 0.6]}}
    expected = 0.3 * (1 - p[0]) * (p[2] + 0.4 * (1 - p[2]))
    assert chance(logits, ruled_out, **rates) == pytest.approx(expected)
    # A "no" and an exclusion of one label: e q, not e q^2.
    no = answer("asked", 3, absent=[0])
    assert chance(logits, ruled_out, no, **rates) == pytest.approx(expected)


def test_two_menus_are_a_composite():
    menus = [answer("named", 3, offered=[0, 1], named=[0]), answer("named", 3, named=[2])]
    no = answer("asked", 3, absent=[1])
    expected = chance(HALVES, menus[0], no) * chance(HALVES, menus[1], no) / chance(HALVES, no)
    assert chance(HALVES, *menus, no) == pytest.approx(expected)


# Sums


@pytest.mark.parametrize("offered", [(0, 3, 4), (2,)], ids=str)
@pytest.mark.parametrize("asked_for", [1, 2, 3])
@pytest.mark.parametrize("mistakes", [0.0, 0.3])
@pytest.mark.parametrize("propensities", [None, [2, 0.1, 1, 3, 7]], ids=["equal", "weighed"])
def test_all_namings_sum_to_one(offered, asked_for, mistakes, propensities):
    logits = rng.normal(size=5)
    of = {"offered": offered, "asked_for": asked_for, "mistakes": mistakes}
    of["propensities"] = propensities
    said = range(asked_for + 1)
    assert sum_over_namings(logits, said, **of) == pytest.approx(1, rel=1e-13)
    never = sum_over_namings(logits, said[1:], all_apply="never", **of)
    all_apply = np.prod(1 / (1 + np.exp(-logits[list(offered)])))
    assert never == pytest.approx(1 - (1 - mistakes) * all_apply, rel=1e-13)
    skip = sum_over_namings(logits, said[1:], all_apply="skip", **of)
    assert skip == pytest.approx(1, rel=1e-13)
    if asked_for == 1:
        pick = sum_over_namings(logits, [1], all_apply="pick", **of)
        assert pick == pytest.approx(1, rel=1e-13)
