"""Goals as they are typed, and how far they are: by counts, and beside the estimates themselves."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from complabel.answers import Answers
from complabel.errors import InputError
from complabel.frequencies import interval_whenever
from complabel.simulate import draw_answers
from complabel.trust import (
    Goal,
    Part,
    Standing,
    estimate_metrics,
    how_far,
    order_of_evaluation,
    questions_left,
)
from complabel.trust._goals import _left, _spread_of_left
from complabel.trust._metrics import _chances, chances_after
from complabel.trust._pairs import ScoredPairs


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("frequencies +-.03", Goal("frequencies", 0.03, True)),
        ("F1 ± 0.05", Goal("f1", 0.05)),
        ("average-precision +/-.1 by label", Goal("average_precision", 0.1, True)),
        ("average precision+-.1", Goal("average_precision", 0.1)),
        ("model", Goal("model")),
    ],
)
def test_goals_as_they_are_typed(text, goal):
    assert repr(Goal.parse(text)) == repr(goal)
    assert repr(Goal.parse(str(goal))) == repr(goal)


@pytest.mark.parametrize(
    "text", [" ", "f1", "f2 +-.1", "f1 +-.5", "f1 +-0", "f1 +-1.2.3", "f1 5", "model +-.1", "+-.1"]
)
def test_what_is_no_goal_is_refused(text):
    with pytest.raises(InputError, match=re.escape(text)):
        Goal.parse(text)


def asked(Y, **options):
    return draw_answers(Y, question="asked", random_state=0, **options)


def labels(n_items=3000, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n_items, 3)) < [0.05, 0.3, 0.6]).astype(np.uint8)


def test_a_pair_counts_once_and_not_if_people_contradict_each_other():
    yes, no = [[1, 0]], [[0, 0]]
    answers = Answers.from_arrays(
        relevant=np.array(yes * 3 + no), absent=np.array(no * 3 + yes),
        item=[0, 0, 1, 1], question="asked", probability=0.5, n_items=10,
        annotator=["ann", "bob", "ann", "bob"],
    )  # fmt: skip
    (standing,) = how_far(answers, ["frequencies +-.1"])
    assert (standing.n_judgements, standing.parts[0].value) == (1, 1)
    assert math.isnan(standing.parts[1].value)
    assert (standing.parts[1].low, standing.parts[1].high) == (0, 1)


def test_an_open_goal_has_the_interval_that_holds_at_all_times():
    answers = asked(labels(), items_share=0.1)
    (standing,) = how_far(answers, ["frequencies +-.01"])
    said = answers.statements()
    for at, part in enumerate(standing.parts):
        here = said.applies[said.label == at]
        ends = interval_whenever(np.array([here.sum()]), np.array([len(here)]))[0]
        np.testing.assert_allclose([part.low, part.high], ends, rtol=1e-9)
        assert not part.is_reached
        assert 0 < part.left[0] <= part.left[1] <= part.left[2]
    assert standing.n_judgements == len(said.label)
    assert standing.farthest.label == max(standing.parts, key=lambda part: part.left[1]).label
    assert f"0 of 3 labels are known within ± 0.01, by {len(said.label)} " in standing.sentence()


def test_a_machine_saves_answers_about_frequencies():
    Y = labels()
    machine = Y ^ (np.random.default_rng(1).random(Y.shape) < 0.03)
    how = {"missed": 0.25, "invented": 0.05}
    answers = asked(Y, items_share=0.1, **how)
    (alone,) = how_far(answers, ["frequencies +-.05"], **how)
    (beside,) = how_far(answers, ["frequencies +-.05"], probabilities=machine, **how)
    for part, plain, truth in zip(beside.parts, alone.parts, Y.mean(axis=0), strict=True):
        assert part.low <= truth <= part.high
        if truth > 0.2:  # where labels are rare, what people invent hides the machine's errors
            assert part.high - part.low < plain.high - plain.low
            assert part.left[1] < plain.left[1]


def test_mistakes_are_taken_out():
    Y = labels(20_000)
    answers = asked(Y, missed=0.25, invented=0.05)
    (raw,) = how_far(answers, ["frequencies +-.03"])
    (mended,) = how_far(answers, ["frequencies +-.03"], missed=0.25, invented=0.05)
    assert mended.is_reached
    for part, told, truth in zip(mended.parts, raw.parts, Y.mean(axis=0), strict=True):
        assert part.low <= truth <= part.high
        assert part.value == pytest.approx(np.clip((told.value - 0.05) / 0.7, 0, 1))
        assert part.high - part.low > told.high - told.low


def test_how_well_it_is_known_how_many_answers_are_left():
    # 100 judgements; 50 say yes. What mistakes add scatters three times as much as the truth.
    half, place = np.full(400, 0.5), np.arange(100)
    judged = (np.ones(100), half[:100], np.full(100, 0.75), np.ones(100, dtype=int))
    pairs = ScoredPairs(half, half > 0, np.arange(400), half, place, *judged)
    assert _spread_of_left(pairs, 0.2, False) == pytest.approx(0.55 * (4 / (50 * 0.16)) ** 0.5)
    # A variance that is wrong by a little makes this number wrong by as much as it says.
    for more, smaller in ((300, 0.5), (400, 0.6), (350, 0.9)):
        _, middle, high = _left(more, 100, smaller, 1e-4)
        worse = _left(more, 100, smaller * math.exp(-1e-4 / 2), 1e-4)[1]
        assert math.log(high / middle) == pytest.approx(math.log(worse / middle), rel=1e-3)
    assert _left(300, 100, 0.5, 0.1)[1] == pytest.approx(300)  # a quarter of the variance


@pytest.mark.parametrize("figure", ["precision", "recall", "f1", "average_precision"])
def test_figures_are_those_of_estimate_metrics(figure):
    rng = np.random.default_rng(1)
    p = rng.random((4000, 3)) ** 2
    answers = asked((rng.random(p.shape) < p).astype(np.uint8))
    near, far = how_far(answers, [f"{figure} +-.2", f"{figure} +-.005"], probabilities=p)
    plain = getattr(estimate_metrics(answers, p, confidence=0.97), figure)
    (reached,), (open_,) = near.parts, far.parts
    assert (near.is_reached, far.is_reached, open_.value) == (True, False, plain.value)
    assert (reached.low, reached.value, reached.high) == (plain.low, plain.value, plain.high)
    assert open_.low < plain.low < plain.high < open_.high
    assert f"{plain.low:.3f} and {plain.high:.3f}" in near.sentence()
    by_label = how_far(answers, [f"{figure} +-.2 by label"], probabilities=p)[0]
    assert [part.label for part in by_label.parts] == ["0", "1", "2"]


def test_nothing_is_reached_where_labels_may_not_apply_at_all():
    rng, rates = np.random.default_rng(0), {"missed": 0.2, "invented": 0.05}
    Y = (rng.random((4000, 3)) < 0.02).astype(np.uint8)
    p = np.clip(np.where(Y, 0.6, 0.2) + rng.normal(0, 0.25, Y.shape), 0, 1)
    how: dict = {"probabilities": p, **rates}
    few, every = asked(Y, **rates, items_share=0.2), asked(Y, **rates)
    for standing in how_far(few, ["recall +-.2", "average_precision +-.2"], **how):
        assert not standing.is_reached
        assert [(part.low, part.high) for part in standing.parts] == [(0.0, 1.0)]
    near, far = how_far(every, ["f1 +-.2", "f1 +-.01"], **how)
    (reached,), (open_,) = near.parts, far.parts
    plain = estimate_metrics(every, p, confidence=0.97, **rates).f1
    assert (near.is_reached, far.is_reached, reached.value) == (True, False, plain.value)
    assert open_.low < reached.low <= plain.low < plain.high <= reached.high < open_.high
    assert reached.high - reached.low < 1.3 * (plain.high - plain.low)


def test_few_answers_or_answers_of_one_sort_reach_nothing():
    p = np.random.default_rng(0).random((400, 2))
    for Y in (np.ones(p.shape, dtype=np.uint8), np.zeros(p.shape, dtype=np.uint8)):
        (standing,) = how_far(asked(Y), ["precision +-.2"], probabilities=p)
        assert not standing.is_reached
    for few in (np.zeros(p.shape), np.where(np.arange(400)[:, np.newaxis] < 2, 0.9, p / 3)):
        (standing,) = how_far(asked(labels(400)[:, 1:]), ["f1 +-.2"], probabilities=few)
        assert not standing.is_reached  # hardly anything is predicted
    (standing,) = how_far(Answers.from_complementary(1 - Y), ["f1 +-.2"], probabilities=p)
    assert (standing.is_reached, standing.n_judgements) == (False, 0)
    assert "not known yet" in standing.sentence()


@pytest.mark.parametrize(
    ("goal", "options"),
    [("f1 +-.1", {}), ("model", {"probabilities": np.zeros((3000, 3))}),
     ("f1 +-.1", {"probabilities": np.zeros((3, 3))})],
)  # fmt: skip
def test_goals_that_lack_something_are_refused(goal, options):
    with pytest.raises(InputError):
        how_far(asked(labels()), [goal], **options)


def standing(*left):
    parts = [Part(str(at), 0.5, 0, 1, not each[1], each) for at, each in enumerate(left)]
    return Standing(Goal.parse("frequencies +-.1"), parts, 9, tuple(np.sum(left, axis=0)))


def test_questions_left_by_what_a_question_is_about():
    found = standing((8, 10, 12), (20, 30, 50), (0, 0, 0))
    assert questions_left(found, 1, 1.0) == (28, 40, 62)
    assert questions_left(found, 1) == (60, 90, 150)  # 30 of each label, until the last is known
    assert questions_left(found, 1, 0.9) == (32, 45, 69)  # a tenth is about the others
    open_ = standing((8, 10, 12), (20, 30, 50))
    assert questions_left(open_, 1, 0.5) == (42, 60, 93)  # 2 x 10 before the first one is known
    assert questions_left(found, 3) == (20, 30, 50)  # all labels at once
    assert questions_left(replace(found, goal=Goal.parse("f1 +-.1")), 2) == (14, 20, 31)
    for parts in ([(math.nan,) * 3, (8, 10, 12)], [(8, 10, 12), (math.nan,) * 3]):
        assert np.isnan(questions_left(standing(*parts), 1)).all()  # of one label nobody knows


@pytest.mark.parametrize("n", [25, 60, 80])
def test_any_first_questions_have_the_chances_that_are_said(n):
    p = np.random.default_rng(2).random((40, 2)) ** 2
    share, first = np.zeros(p.size), _chances(p.ravel(), p.ravel() >= 0.5, "f1", len(p))
    for seed in range(2000):
        order, chance = order_of_evaluation(p, "f1", p.size, np.random.default_rng(seed))
        share[order[:n]] += 1 / 2000
    assert sorted(order) == list(range(p.size))
    np.testing.assert_array_equal(chance, first)
    wanted = chances_after(n, len(p), chance, chance)
    error = np.abs(share - wanted * n / len(p))
    assert (error < 4.5 * np.sqrt(share * (1 - share) / 2000) + 0.02).all()
    assert wanted.sum() == pytest.approx(len(p))
    if n < len(p):
        np.testing.assert_allclose(wanted, first)
    some, _ = order_of_evaluation(p, "f1", 10, np.random.default_rng(1999))
    np.testing.assert_array_equal(some, order[:10])
