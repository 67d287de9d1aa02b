"""Questions by what a machine says: spread, then where they tell most; never about known pairs."""

import numpy as np
import pytest
from tests.frequencies.test_strata import asked_about
from tests.refusals import raises

from complabel._drawn import ByMachine, opened
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.asking._against import sizes_of
from complabel.errors import InputError
from complabel.frequencies import (
    audit_machine,
    estimate_label_frequencies,
    inverse_probability,
    judged_at_random,
)
from complabel.frequencies._machine_strata import Strata


def nothing_said(n, n_labels):
    empty = np.zeros((0, n_labels), dtype=np.uint8)
    return Answers.from_arrays(
        relevant=empty, absent=empty, question="asked", item=np.empty(0, dtype=int), n_items=n
    )


def pairs_of(table):
    return np.asarray(table["item"]), np.asarray(table["label"]).astype(int)


def test_the_first_questions_are_half_about_yes_and_half_about_no():
    machine = (np.random.default_rng(0).random((500, 4)) < 0.1).astype(int)
    table = suggest_questions(nothing_said(500, 4), 80, against=machine, random_state=0)
    items, labels = pairs_of(table)
    assert len(set(zip(items.tolist(), labels.tolist(), strict=True))) == 80
    words = machine[items, labels]
    np.testing.assert_array_equal(np.bincount(words), 40)
    np.testing.assert_allclose(np.bincount(labels + 4 * words), 10, atol=1)
    assert list(table["question"].unique()) == ["asked"]
    assert table["probability"].isna().all()
    assert table["answer"].isna().all()


def test_a_label_has_questions_by_the_root_of_its_share():
    machine = np.zeros((900, 3), dtype=int)
    machine[:400, 0] = machine[:100, 1] = machine[:25, 2] = 1
    table = suggest_questions(nothing_said(900, 3), 70, against=machine, random_state=0)
    items, labels = pairs_of(table)
    about_yes = labels[machine[items, labels] == 1]
    np.testing.assert_allclose(np.bincount(about_yes), [20, 10, 5], atol=1)


def test_with_scores_questions_go_where_the_machine_is_unsure():
    rng = np.random.default_rng(2)
    scores = np.where(rng.random((800, 3)) < 0.2, 0.3, 0.001)
    scores[:50] = 0.9
    table = suggest_questions(nothing_said(800, 3), 120, against=scores, random_state=0)
    items, labels = pairs_of(table)
    asked = scores[items, labels]
    assert (asked == 0.9).sum() == 60
    # Shares .19 and .75, standard deviations .46 and .03: four of five are about the smaller part.
    assert 45 <= (asked == 0.3).sum() <= 52


def test_later_questions_go_to_the_label_that_the_machine_has_wrong():
    rng = np.random.default_rng(1)
    machine = (rng.random((600, 5)) < 0.3).astype(int)
    Y = machine.copy()
    Y[:, 3] &= rng.random(600) < 0.5  # half of its yes are wrong
    known = nothing_said(600, 5)
    for seed, n in enumerate((100, 60)):
        table = suggest_questions(known, n, against=machine, random_state=seed)
        items, labels = pairs_of(table)
        marks = np.eye(5, dtype=np.uint8)[labels]
        yes = marks * Y[items].astype(np.uint8)
        more = Answers.from_arrays(
            relevant=yes, absent=marks - yes, question="asked", item=items, n_items=600
        )
        before = {
            *zip(
                *map(np.ndarray.tolist, np.nonzero(known.complementary + known.known_relevant)),
                strict=True,
            )
        }
        assert before.isdisjoint(zip(items.tolist(), labels.tolist(), strict=True))
        known = Answers.concatenate([known, more])
    about_yes = machine[items, labels] == 1
    counts = np.bincount(labels[about_yes], minlength=5)
    assert counts.argmax() == 3
    assert counts[3] > 2 * np.delete(counts, 3).mean()
    # Every stratum is kept alive.
    assert (~about_yes).sum() >= 4


def test_pairs_of_which_a_machine_says_nothing_are_asked_about():
    machine = np.where(np.arange(40)[:, None] < 10, np.nan, np.eye(2)[np.arange(40) % 2])
    table = suggest_questions(nothing_said(40, 2), 30, against=machine, random_state=0)
    assert (pairs_of(table)[0] < 10).sum() in (7, 8)  # a quarter of the pairs


def test_pairs_about_which_somebody_was_unsure_are_not_asked_again():
    machine = np.eye(2)[np.arange(40) % 2]
    unsure = (np.repeat(np.arange(35), 2), np.tile([0, 1], 35))
    known = nothing_said(40, 2)
    table = suggest_questions(known, 10, against=machine, unsure=unsure, random_state=0)
    assert set(pairs_of(table)[0]) == {35, 36, 37, 38, 39}
    with raises(InputError, "11 questions", "10 pairs"):
        suggest_questions(known, 11, against=machine, unsure=unsure)
    with raises(InputError, "unsure"):
        suggest_questions(known, 3, unsure=unsure)
    for wrong in (([-1], [0]), ([0], [2]), ([0.5], [0]), ([0, 1], [0])):
        with raises(InputError, "unsure"):
            suggest_questions(known, 3, against=machine, unsure=wrong)
        with raises(InputError, "unsure"):
            audit_machine(known, machine, unsure=wrong)
    # Who is unsure gives nothing to follow: these are first questions, half about yes.
    more = suggest_questions(known, 8, against=machine, unsure=unsure, random_state=0)
    assert machine[pairs_of(more)].sum() == 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": 81}, "81"),
        ({"n": 5, "kind": "named"}, "kind"),
        ({"n": 5, "kind": "ticked", "before": [(None, None)]}, "before"),
        ({"n": 41, "kind": "ticked"}, "40 items"),
        ({"n": 5, "against": np.zeros((3, 2))}, "against"),
        ({"n": 5, "against": np.full((40, 2), 2.0)}, "against"),
    ],
)
def test_what_cannot_be_asked_is_refused(given, message):
    machine = np.eye(2)[np.arange(40) % 2]
    with raises(InputError, message):
        suggest_questions(nothing_said(40, 2), **{"against": machine, **given})


def test_half_of_the_first_questions_follow_an_earlier_month_and_count_as_led_there():
    """The earlier month knows that label 0 hardly applies, and nothing of label 3."""
    rng = np.random.default_rng(0)
    machine = (rng.random((500, 4)) < 0.2).astype(int)
    items, labels = np.divmod(np.arange(1500), 3)
    marks = np.eye(4, dtype=np.uint8)[labels]
    yes = marks * (rng.random((500, 4)) < [0.05, 0.5, 0.95, 0]).astype(np.uint8)[items]
    about = {"question": "asked", "item": items, "n_items": 500}
    old = Answers.from_arrays(relevant=yes, absent=marks - yes, **about)
    how = {"against": machine, "random_state": 0}
    table = suggest_questions(nothing_said(500, 4), 40, before=[(old, machine)], **how)
    rows = zip(table["drawn"], table["item"], table["label"], strict=True)
    led = np.array([" 0/" in opened(*row) for row in rows])
    _, labels = pairs_of(table)
    assert led.sum() == 20
    counts = np.bincount(labels[led], minlength=4)
    assert counts[0] == 0
    assert counts[3] >= 5
    assert np.ptp(np.bincount(labels[~led])) <= 2


def forms_of(Y, machine, n, known, seed, stop=None):
    """Draw n forms with all labels, and fill in the first ones."""
    table = suggest_questions(known, n, kind="ticked", against=machine, random_state=seed)
    table = table.drop_duplicates("answer_id")[:stop]
    items = table["item"].to_numpy()
    drawn = [opened(*each, "") for each in zip(table["drawn"], items.tolist(), strict=True)]
    about = {"question": "ticked", "item": items, "n_items": len(Y), "drawn": drawn}
    return Answers.from_arrays(relevant=Y[items], absent=1 - Y[items], **about)


def busy_world(n, n_labels, seed=0):
    """True labels, and a machine that is the worse the more labels it says of an item."""
    rng = np.random.default_rng(seed)
    machine = (rng.random((n, n_labels)) < 0.05 + 0.6 * rng.random((n, 1)) ** 2).astype(np.uint8)
    share = machine.mean(axis=1, keepdims=True)
    is_right = rng.random(machine.shape) < np.clip(1 - 1.3 * share, 0.05, 1)
    is_missed = rng.random(machine.shape) < 0.02 + 0.3 * share
    return np.where(machine == 1, is_right, is_missed).astype(np.uint8), machine


def test_an_item_has_a_form_with_the_chance_of_its_size():
    # Of one item of 20 a machine says all 4 labels, and of the others none.
    machine = np.zeros((20, 4))
    machine[0] = 1
    wanted = np.sqrt(np.r_[10.0, np.full(19, 20 / 38)] + 0.2)
    wanted /= wanted.mean()
    nobody, is_in, chances = nothing_said(20, 4), [], []
    rng = np.random.default_rng(0)
    for _ in range(150):
        form = forms_of(machine.astype(np.uint8), machine, 6, nobody, rng)
        sizes = [ByMachine.of(text).planned for text in form.drawn]
        np.testing.assert_allclose(sizes, wanted[form.item], rtol=1e-3)
        is_in.append(0 in form.item)
        chances += (1 / inverse_probability(form))[form.item == 0].tolist()
    assert np.mean(is_in) > 0.5  # 6 of 20 are .3
    assert abs(np.mean(is_in) - np.mean(chances)) < 0.1


def test_forms_are_about_more_items_with_labels_that_the_machine_says_of_few_items():
    machine = (np.random.default_rng(0).random((4000, 6)) < 0.017).astype(np.uint8)
    n_yes = [
        machine[forms_of(machine, machine.astype(float), 133, nothing_said(4000, 6), seed).item]
        for seed in range(10)
    ]
    assert np.sum(n_yes) > 2 * 10 * 133 * machine.sum() / 4000  # twice as many as random items


def test_shares_are_right_where_the_machine_is_worse_on_items_of_which_it_says_more():
    # 40 of 100 items in two rounds, and both rounds end early.
    Y, machine = busy_world(400, 6, 1)
    words = machine.astype(float)
    truth = (Y * machine).sum(axis=0) / machine.sum(axis=0)
    errors, of_plain = [], []
    for draw in range(100):
        known = forms_of(Y, words, 120, nothing_said(400, 6), [draw, 0], stop=80)
        known = Answers.concatenate([known, forms_of(Y, words, 90, known, [draw, 1], stop=80)])
        assert len(set(known.item.tolist())) == 160
        np.testing.assert_allclose(inverse_probability(known).sum(), 400)
        audit = Strata.of(words, known).audit(known)
        is_yes = machine[audit.item, audit.label] == 1
        for weight, found in ((audit.weight, errors), (1.0, of_plain)):
            parts = [
                np.bincount(audit.label, is_yes * weight * each, 6) for each in (audit.applies, 1.0)
            ]
            found.append(parts[0] / parts[1] - truth)
    error = np.std(np.mean(errors, axis=1)) / 10
    assert abs(np.mean(errors)) < 3 * error
    assert np.mean(of_plain) < -4 * error


def test_intervals_hold_and_single_questions_may_follow_forms():
    held, errors = [], []
    for seed in range(8):
        Y, machine = busy_world(500, 10, seed)
        words, truth = machine.astype(float), Y.mean(axis=0)
        known = forms_of(Y, words, 60, nothing_said(500, 10), seed)
        table = suggest_questions(known, 150, against=words, random_state=seed)
        drawn = [*map(opened, table["drawn"], table["item"], table["label"])]
        single = asked_about(Y, *pairs_of(table), drawn=drawn)
        for answers in (known, Answers.concatenate([known, single])):
            found = estimate_label_frequencies(answers, predictions=words)
            low, high = found.intervals.T
            held.extend((low <= truth) & (truth <= high))
            errors.append(np.square(found.values - truth).mean())
    assert 0.91 <= np.mean(held) <= 0.995  # 160 intervals of 95 %
    assert np.mean(errors[1::2]) < np.mean(errors[::2])


def test_a_form_is_no_question_about_a_pair_and_has_no_label_that_somebody_is_unsure_about():
    Y, machine = busy_world(60, 4)
    words = machine.astype(float)
    known = forms_of(Y, words, 20, nothing_said(60, 4), 0)
    left = Answers.from_arrays(
        relevant=known.relevant.toarray() * [[1, 1, 1, 0]],
        absent=known.absent.toarray() * [[1, 1, 1, 0]],
        offered=np.tile([1, 1, 1, 0], (20, 1)),
        question="ticked",
        item=known.item,
        n_items=60,
        drawn=known.drawn,
    )
    assert judged_at_random(left).all()
    np.testing.assert_array_equal(inverse_probability(left), inverse_probability(known))
    # An item whose form is known, or about which somebody was unsure, has no other form.
    unsure = (np.repeat(np.setdiff1d(np.arange(60), known.item)[:5], 4), np.tile(np.arange(4), 5))
    more = {"kind": "ticked", "against": words, "unsure": unsure, "random_state": 1}
    items = set(suggest_questions(left, 35, **more)["item"])
    assert items.isdisjoint({*known.item.tolist(), *unsure[0].tolist()})
    with raises(InputError, "36", "35 items"):
        suggest_questions(left, 36, **more)
    assert sizes_of(Strata.of(np.full((5, 3), np.nan))).tolist() == [1.0] * 5
