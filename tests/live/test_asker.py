"""Who is asked what: a few stories by hand, and everything that people can do in any order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice, pairwise

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.refusals import raises

from complabel._questions import QuestionKind
from complabel.live._asker import LAPSE, Asker, RefusedError
from complabel.live._drawing import Mixed, Period, RandomQuestions

LABELS = ["sea", "sky", "city", "night", "forest"]


class _Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def _asker(kind="asked", *, n_items=6, overlap=0.0, seed=0, clock=None):
    names = [f"{at}.jpg" for at in range(n_items)]
    one = QuestionKind.parse(kind, len(LABELS))
    source = RandomQuestions(names, len(LABELS), lambda: one, one, overlap, seed)
    return Asker(source, LABELS, clock or _Clock())


def _held_by(asker, person):
    """Return the questions that a person has to answer, the present one first."""
    return list(asker._people[person].held) if person in asker._people else []


def _again(asker, clock):
    """Return an asker that a new server makes of what is stored."""
    made = _asker(n_items=len(asker.source.names), overlap=asker.source.overlap, clock=clock)
    made.restore(asker.new)
    made.new = list(asker.new)
    return made


def _answer_all(asker, person, answer):
    found = []
    while (event := asker.next(person)) is not None:
        asker.answer(event.id, person, answer, 1.0)
        found.append(asker.questions[event.number])
    return found


def test_each_item_is_asked_about_once_before_one_is_asked_about_again_and_no_pair_twice():
    found = _answer_all(_asker(), "ann", "yes")

    assert len(found) == 6 * 5
    assert {(each.item, *each.labels) for each in found} == {
        (item, label) for item in range(6) for label in range(5)
    }
    for start in range(0, 30, 6):
        assert sorted(each.item for each in found[start : start + 6]) == [*range(6)]
    orders = [[each.item for each in found[at : at + 6]] for at in range(0, 30, 6)]
    assert any(one != other for one, other in pairwise(orders))
    assert {each.probability for each in found} == {1 / 5}


def test_labels_and_items_are_drawn_evenly():
    labels, firsts = Counter(), Counter()
    for seed in range(300):
        asker = _asker(seed=seed)
        question = asker.questions[asker.next("ann").number]
        labels[question.labels] += 1
        firsts[question.item] += 1
    # 300 draws of 5 and of 6: at most four standard deviations from the mean.
    assert all(abs(count - 60) < 4 * (300 * 0.2 * 0.8) ** 0.5 for count in labels.values())
    assert all(abs(count - 50) < 4 * (300 / 6 * 5 / 6) ** 0.5 for count in firsts.values())
    assert (len(labels), len(firsts)) == (5, 6)


@pytest.mark.parametrize(
    ("kind", "rounds", "chance"),
    [
        *(("ticked", 1, 1.0), ("ticked-2", 3, 1 / 10), ("menu-3", 2, 1 / 10), ("named", 1, None)),
        *(("positive-menu-3", 2, 1 / 10), ("positive", 1, None)),
    ],
)
def test_menus_cover_all_labels_of_an_item(kind, rounds, chance):
    found = _answer_all(_asker(kind), "ann", [])

    assert len(found) == 6 * rounds
    assert {each.probability for each in found} == {chance}
    for item in range(6):
        menus = [each.labels or range(5) for each in found if each.item == item]
        assert {label for menu in menus for label in menu} == {*range(5)}
        assert all(len({*menu}) == len(menu) for menu in menus)


def periods_of(since, seed=0):
    """Return the periods of labels that were added one after another."""
    starts = sorted({*since})
    return [Period(at, tuple(range(sum(each <= at for each in since))), seed) for at in starts]


@pytest.mark.parametrize(
    "kind", ["asked", "ticked", "ticked-2", "menu-3", "named", "positive-menu-3", "positive"]
)
def test_labels_that_are_added_are_asked_about_and_nothing_twice(kind):
    asked = []
    for since, n_asked in (([0] * 3, 4), ([0, 0, 0, 4], 5), ([0, 0, 0, 4, 9], 99)):
        one = QuestionKind.parse(kind, len(since))
        source = RandomQuestions(
            [*"abc"], len(since), lambda one=one: one, one, periods=periods_of(since)
        )
        for each in asked:
            source.restore(each)
        before, made = source.total, [*islice(iter(source.draw, None), n_asked)]
        asked += [replace(each, labels=each.labels or (*range(len(since)),)) for each in made]
        assert before == source.total
    assert len(asked) == source.total
    pairs = Counter((each.item, label) for each in asked for label in each.labels)
    assert {*pairs} == {(item, label) for item in range(3) for label in range(5)}
    # The last menu of two is filled up as long as there are three labels.
    assert {*pairs.values()} == ({1, 2} if kind == "ticked-2" else {1})


@pytest.mark.parametrize(("kind", "n_chances"), [("asked", 2), ("ticked-2", 3)])
def test_the_probability_is_the_chance_with_which_labels_were_drawn(kind, n_chances):
    chances, drawn, one = {}, Counter(), QuestionKind.parse(kind, 4)
    for seed in range(2000):
        first, source = (
            RandomQuestions(["a"], len(since), lambda: one, one, periods=periods_of(since, seed))
            for since in ([0] * 4, [0, 0, 0, 0, 1, 1])
        )
        source.restore(first.draw())
        second = source.draw()
        drawn[second.labels] += 1
        assert chances.setdefault(second.labels, second.probability) == second.probability
    assert (sum(chances.values()), len({*chances.values()})) == (pytest.approx(1), n_chances)
    for labels, chance in chances.items():
        assert abs(drawn[labels] - 2000 * chance) < 4 * (2000 * chance) ** 0.5


def test_a_reload_shows_the_same_question_and_what_comes_after_it_stays():
    asker = _asker()
    first, third = asker.next("ann"), asker.next("ann", 2)

    assert asker.next("ann") == first
    asker.answer(first.id, "ann", "yes", None)
    assert asker.next("ann", 1) == third
    assert asker.next("ben").number not in {first.number, third.number}


def test_a_question_lapses_after_two_minutes_without_a_sign_and_goes_to_one_who_needs_one():
    clock = _Clock()
    asker = _asker(clock=clock)
    held = asker.next("ann")
    clock.now += LAPSE - 1
    assert asker.next("ben").number != held.number
    asker.next("ann")  # a sign of life
    clock.now += LAPSE - 1
    assert asker.next("cleo").number != held.number
    clock.now += 2

    assert asker.next("dan").number == held.number
    assert asker.next("ann").number not in {held.number}


def test_of_two_who_were_asked_the_first_answer_counts_even_if_it_comes_late():
    clock = _Clock()
    asker = _asker(clock=clock)
    late = asker.next("ann")
    clock.now += LAPSE + 1
    taken = asker.next("ben")
    assert taken.number == late.number

    assert asker.answer(late.id, "ann", "no", 3.0) == (True, 1)
    with raises(RefusedError) as refusal:
        asker.answer(taken.id, "ben", "yes", 3.0)
    assert refusal.value.status == 409
    assert asker.next("ben").number != late.number
    assert asker.by_person() == {"ann": 1}


def test_the_same_answer_again_changes_nothing_also_after_an_undo():
    asker = _asker()
    event = asker.next("ann")
    asker.answer(event.id, "ann", "yes", None)

    assert asker.answer(event.id, "ann", "no", None) == (False, 1)
    undone, back = asker.undo("ann")
    assert (undone, back.number) == (event.id, event.number)
    assert asker.next("ann") == back
    assert asker.answer(event.id, "ann", "yes", None) == (False, 0)
    assert asker.answer(back.id, "ann", "no", None) == (True, 1)
    assert asker.undo("ann")[0] == back.id
    with raises(RefusedError):
        asker.undo("ann")


def test_what_overlaps_goes_to_a_second_person_and_never_twice_to_one():
    asker = _asker(overlap=1.0)
    alone = [asker.questions[event.number] for event in iter(lambda: _one(asker, "ann"), None)]
    assert len(alone) == 30

    assert len(_answer_all(asker, "ben", "no")) == 30
    assert _answer_all(asker, "cleo", "no") == []
    assert asker.answered == 60
    assert asker.left() == 0


def _one(asker, person):
    event = asker.next(person)
    if event is not None:
        asker.answer(event.id, person, "yes", None)
    return event


def test_a_newcomer_gets_new_questions_beside_second_copies():
    asker = _asker(n_items=50, overlap=1.0)
    for _ in range(20):
        _one(asker, "ann")
    numbers = [_one(asker, "ben").number for _ in range(20)]

    assert sum(number < 20 for number in numbers) == 10


@pytest.mark.parametrize(
    ("kind", "answer", "told"),
    [
        ("asked", "maybe", "answer='maybe'"),
        ("asked", ["sea"], ('"yes"', '"no"')),
        ("ticked", "yes", ("answer='yes'", '"unsure"')),
        ("ticked", ["moon"], "'moon'"),
        ("ticked", ["sea", "sea"], "twice"),
        ("menu-2", ["sea", "sky", "city", "night", "forest"], "'city'"),
        ("named", ["sea", "sky"], "1"),
    ],
)
def test_an_answer_that_the_question_does_not_allow_is_refused(kind, answer, told):
    asker = _asker(kind)
    event = asker.next("ann")

    with raises(RefusedError, told) as refusal:
        asker.answer(event.id, "ann", answer, None)
    assert refusal.value.status == 400
    assert asker.next("ann") == event
    with raises(RefusedError, "id='1'"):
        asker.answer(event.id, "ben", "unsure", None)
    assert asker.answer(event.id, "ann", "unsure", None) == (True, 1)


def test_a_new_server_knows_all_that_happened():
    clock = _Clock()
    asker = _asker(overlap=0.5, clock=clock)
    for person in ("ann", "ben", "ann"):
        event = asker.next(person, 1)
        asker.answer(asker.next(person).id, person, "yes", 2.0)
    asker.undo("ann")
    again = _again(asker, clock)

    assert again.by_person() == asker.by_person()
    assert again.left() == asker.left()
    assert again.latest_seconds("asked") == asker.latest_seconds("asked")
    assert again.next("ann") == asker.next("ann")
    assert again.next("ben") == asker.next("ben")
    assert again.answer(event.id, "ann", "no", None) == asker.answer(event.id, "ann", "no", None)


@pytest.mark.parametrize(
    ("n_labels", "ticking", "wanted", "trial"),
    [
        (17, 3.0, "ticked", 3),  # far below three quarters of 17: three of each decide
        (5, 2.04, "ticked", 8),  # 3.75 yes/no are worth as much
        (5, 6.0, "asked", 14),
        (5, 30.0, "asked", 3),
        (5, 3.7, "", 30),  # both are worth the same
        (2, None, "asked", 20),  # nobody ticks
    ],
)
def test_mixed_questions_take_turns_until_it_is_clear_which_kind_is_better(
    n_labels, ticking, wanted, trial
):
    mixed = Mixed.of(n_labels)
    source = RandomQuestions([f"{at}" for at in range(200)], n_labels, mixed, None)
    asker = Asker(source, [f"{at}" for at in range(n_labels)], _Clock())
    mixed.times = asker.latest_seconds
    kinds = []
    for _ in range(60):
        event = asker.next("ann")
        kinds.append(asker.questions[event.number].kind)
        said = (
            ("yes", 1.0) if kinds[-1] == "asked" else ("unsure" if ticking is None else [], ticking)
        )
        asker.answer(event.id, "ann", *said)
    assert Counter(kinds[: 2 * trial]) == {"asked": trial, "ticked": trial}
    assert {*kinds[2 * trial :]} == ({wanted} if wanted else set())
    told = (
        f"ticking {n_labels} labels {ticking:.1f} s" if ticking else "was skipped again and again"
    )
    assert (told if wanted else "take turns") in mixed.why
    assert asker.left() is None


class People(RuleBasedStateMachine):
    """People ask, answer, take back and leave; servers end; in any order."""

    people = st.sampled_from(["ann", "ben", "cleo"])

    def __init__(self) -> None:
        super().__init__()
        self.clock = _Clock()
        self.asker = _asker(n_items=3, overlap=0.4, clock=self.clock)
        self.asked: dict[int, tuple[str, int]] = {}  # by id, whatever was shown: who, and what
        self.answered: dict[int, str] = {}  # by id
        self.heard: dict[str, float] = {}  # when each person did something
        self.holder: dict[tuple[int, int], str] = {}  # who was shown a copy last

    def _shown(self, event) -> None:
        """Nobody gets what another has, unless that one was not heard of for two minutes."""
        copy = (event.number, event.copy)
        other = self.holder.get(copy, event.person)
        if event.id not in self.asked and other != event.person:
            assert self.clock.now - self.heard[other] > LAPSE
        self.holder[copy] = event.person
        self.asked[event.id] = (event.person, event.number)

    @rule(person=people, skip=st.integers(0, 3))
    def ask(self, person: str, skip: int) -> None:
        event = self.asker.next(person, skip)
        for each in _held_by(self.asker, person):
            assert each.person == person
            assert each.id not in self.answered
            self._shown(each)
        self.heard[person] = self.clock.now
        assert event is None or event == _held_by(self.asker, person)[skip]

    @precondition(lambda self: self.asked)
    @rule(data=st.data(), answer=st.sampled_from(["yes", "no", "unsure"]))
    def answer(self, data, answer) -> None:
        id_ = data.draw(st.sampled_from(list(self.asked)[-6:]))
        person, _ = self.asked[id_]
        before = self.asker.by_person().get(person, 0)
        self.heard[person] = self.clock.now
        try:
            is_new, count = self.asker.answer(id_, person, answer, 1.0)
        except RefusedError:
            assert id_ not in self.answered
            return
        assert is_new == (id_ not in self.answered)
        assert count == before + is_new
        self.answered.setdefault(id_, person)

    @rule(person=people)
    def undo(self, person: str) -> None:
        try:
            undone, back = self.asker.undo(person)
        except RefusedError:
            assert not self.asker.by_person().get(person)
            return
        finally:
            self.heard[person] = self.clock.now
        assert self.answered[undone] == person
        assert self.asked[undone] == (person, back.number)
        assert self.asker.next(person) == back
        self._shown(back)

    @rule(seconds=st.sampled_from([1.0, LAPSE + 1]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule()
    def begin_anew(self) -> None:
        self.heard = dict.fromkeys(self.heard, self.clock.now)
        self.asker = _again(self.asker, self.clock)

    @invariant()
    def nobody_is_asked_what_another_holds_and_no_copy_has_two_answers(self) -> None:
        standing = self.asker.done
        held = Counter()
        for person in ("ann", "ben", "cleo"):
            numbers = [event.number for event in _held_by(self.asker, person)]
            assert len({*numbers}) == len(numbers)
            for event in _held_by(self.asker, person):
                held[event.number, event.copy] += 1
                assert (event.number, event.copy) not in standing
            answered = [number for (number, _), one in standing.items() if one.person == person]
            assert len({*answered}) == len(answered)
            assert not {*answered} & {*numbers}
        assert all(count == 1 for count in held.values())
        assert sum(self.asker.by_person().values()) == len(standing)
        pairs = [(each.item, each.labels) for each in self.asker.questions.values()]
        assert len({*pairs}) == len(pairs)
        left = self.asker.left()
        assert left == 15 - len({number for number, _ in standing})


People.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestPeople = People.TestCase
