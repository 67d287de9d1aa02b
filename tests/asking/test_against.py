"""Questions by what a machine says: spread, then where they tell most; never about known pairs."""

import numpy as np
import pytest
from tests.refusals import raises

from complabel._drawn import opened
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.errors import InputError
from complabel.frequencies import audit_machine


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
        ({"n": 5, "kind": "ticked"}, "kind"),
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
