"""Goals as they are typed, and how far they are: by counts, and beside the estimates themselves."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import raises

from complabel.answers import Answers
from complabel.errors import InputError
from complabel.frequencies import interval_whenever
from complabel.simulate import draw_answers
from complabel.trust import (
    Goal,
    Part,
    Standing,
    estimate_metrics,
    foreseen,
    how_far,
    order_of_evaluation,
    questions_left,
)
from complabel.trust._metrics import _chances, chances_after


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
    with raises(InputError, repr(text)):
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


@pytest.mark.parametrize("figure", ["precision", "recall", "f1", "average_precision"])
def test_the_number_of_answers_left_ends_where_the_pairs_do(figure):
    # With all pairs judged, errors are as large as the law says at a part of them.
    rng = np.random.default_rng(3)
    p = rng.random((150, 4)) ** 2
    Y = (rng.random(p.shape) < p).astype(np.uint8)
    every = draw_answers(Y, question="ticked", random_state=0)
    half = getattr(estimate_metrics(every, p, confidence=0.97), figure)
    length = (half.high - half.low) / 2
    some = asked(np.repeat(Y, 2, axis=0)[::2], items_share=1.0)
    far, near = (
        how_far(some, [f"{figure} +-{times * length:.4f}"], probabilities=p)[0]
        for times in (0.75, 1.3)
    )
    assert far.left[1] == math.inf
    assert far.parts[0].best[0] == pytest.approx(length, rel=0.25)
    assert far.parts[0].best[1] == pytest.approx((length / (0.75 * length)) ** 2, rel=0.5)
    assert f"{figure} +-" in far.obstacle().split(", or the goal ")[1]
    assert near.obstacle() is None
    assert 0 < near.left[0] < near.left[1] <= near.left[2]
    assert near.left[1] <= p.size - 150
    # The same was foreseen before the first answer, as the chances are right.
    for goal, standing in ((far.goal, far), (near.goal, near)):
        ahead = foreseen(goal, p.shape, "abcd", p, 0.0, 0.0)
        assert (ahead.obstacle() is None) == (standing.obstacle() is None)


def test_as_many_items_as_an_obstacle_says_are_enough():
    p = np.random.default_rng(4).random((60, 3)) ** 2
    for text, rates in (("f1 +-.05", (0, 0)), ("recall +-.1 by label", (0.2, 0.1)),
                        ("precision +-.1 by label", (0, 0)), ("frequencies +-.1", (0.2, 0.1)),
                        ("average-precision +-.05", (0.1, 0.05))):  # fmt: skip
        goal, names = Goal.parse(text), ["sea", "sky", "city"]
        few = foreseen(goal, p.shape, names, p, *rates)
        assert few.obstacle() is not None
        times = max(part.best[1] for part in few.parts if not part.is_reached)
        for factor, is_enough in ((1.15, True), (0.85, False)):
            more = np.resize(p, (int(60 * times * factor), 3))
            found = foreseen(goal, more.shape, names, more, *rates)
            assert (found.obstacle() is None) == found.is_reached == is_enough
        wider = few.obstacle().split(", or the goal ")[1]
        assert foreseen(Goal.parse(wider), p.shape, names, p, *rates).is_reached
    assert foreseen(Goal.parse("frequencies +-.01"), (9, 3), names, None, 0.0, 0.0) is None
    (part,) = foreseen(Goal.parse("frequencies +-.05"), (100, 3), names, None, 0.2, 0.1).parts
    half = 1.96 * 0.5 / 10 / 0.7  # about, of 100 answers
    assert half < part.best[0] < 1.3 * half
    none = foreseen(Goal.parse("f1 +-.2 by label"), p.shape, names, p * [1, 1, 0.1], 0.0, 0.0)
    assert "city" in none.obstacle()  # no number of such items helps: it is never predicted
    assert "times" not in none.obstacle()


def test_how_many_answers_are_left_is_known_by_leaving_out_parts():
    rng, held, lengths = np.random.default_rng(5), [], []
    for _ in range(30):
        p = rng.random((1500, 3)) ** 2
        Y = (rng.random(p.shape) < p).astype(np.uint8)
        order = rng.permutation(1500)
        label = rng.integers(3, size=1500)
        yes = np.zeros_like(Y)
        yes[order, label] = 1
        early, late = (
            how_far(
                Answers.from_arrays(
                    relevant=(Y * yes)[at], absent=((1 - Y) * yes)[at], item=at, question="asked",
                    probability=1 / 3, n_items=1500,
                ),
                ["precision +-.03"], probabilities=p, n_items=n_items,
            )[0].left
            for at, n_items in ((order[:300], None), (order[:900], None))
        )  # fmt: skip
        held.append(early[0] + 300 < late[1] + 900 < early[2] + 300)
        lengths.append([early[2] / early[0], late[2] / late[0]])
    assert 20 <= sum(held) < 30  # 80 of 100, and it is not known exactly
    assert np.median(lengths, axis=0)[1] < np.median(lengths, axis=0)[0] < 2
    # Where other items come with the answers, items add nothing that stays.
    assert math.isfinite(how_far(asked(Y), ["f1 +-.01"], probabilities=p, n_items=10**5)[0].left[2])
    assert how_far(asked(Y), ["f1 +-.01"], probabilities=p)[0].left[0] == math.inf


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
    assert questions_left(found, 1) == (60, 90, 150)  # 30 of each label, until the last is known
    assert questions_left(found, 3) == (20, 30, 50)  # all labels at once
    assert questions_left(replace(found, goal=Goal.parse("f1 +-.1")), 2) == (14, 20, 31)
    drawn = np.array([[8.0, 0, 20], [30, 10, 20], [np.inf, 10, 20]])
    assert questions_left(replace(found, drawn_left=drawn), 1) == (60, 90, math.inf)
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
