"""How long answers took, and which question is worth its time."""

import numpy as np
import pytest

from complabel.answers import Answers
from complabel.asking import inspect_answers

LABELS = ["a", "b", "c", "d", "e", "f"]


def timed(**by_kind):
    """Answers of each kind with the seconds given: "asked", "ticked", or "menu" of two labels."""
    rows = [(kind, seconds) for kind, all_ in by_kind.items() for seconds in all_]
    offered = [{"asked": [0], "menu": [0, 1]}.get(kind, range(6)) for kind, _ in rows]
    masks = np.array([np.isin(range(6), each) for each in offered]).astype(int)
    return Answers.from_arrays(
        absent=masks,
        offered=masks,
        question=["asked" if kind == "asked" else "ticked" for kind, _ in rows],
        seconds=[seconds for _, seconds in rows],
        n_items=200,
        label_names=LABELS,
    )


def names(found):
    told = ("tick-labels", "ask-yes-or-no", "ask-either", "time-trial", "let-people-tick")
    return [each.name for each in found.findings if each.name in told]


def test_medians_of_each_kind_and_somebody_who_left_the_desk():
    seconds = [*range(1, 21), 5_000]
    found = inspect_answers(timed(asked=seconds, ticked=[30.0] * 10 + [np.nan]))
    asked, ticked = found.kinds
    assert (asked.kind, asked.answers, asked.timed, asked.seconds) == ("asked", 21, 21, 11)
    assert (asked.low, asked.high, asked.each) == (6, 16, 11)
    assert (ticked.kind, ticked.answers, ticked.timed, ticked.offered) == ("ticked", 11, 10, 6)
    assert (ticked.seconds, ticked.each) == (30, 5)
    assert found.times.n_long == 1


@pytest.mark.parametrize("desk", [0, 4])
def test_the_line_goes_through_looking_and_judging(desk):
    """Of each size a fifth may have left the desk."""

    def around(size):
        exact = 4 + 1.5 * size
        return [*(exact + np.linspace(-1, 1, 21)), *[900.0] * desk, *[0.0] * desk]

    found = inspect_answers(timed(asked=around(1), menu=around(2), ticked=around(6)))
    assert found.times.looking == pytest.approx(4)
    assert found.times.each == pytest.approx(1.5)
    assert found.times.ratio == pytest.approx(13 / 5.5)


def test_without_two_sizes_there_is_no_line():
    found = inspect_answers(timed(asked=[3.0] * 10, ticked=[9.0] * 9))
    assert (found.times.looking, found.times.each, found.times.ratio) == (None, None, None)
    assert inspect_answers(timed(asked=[np.nan] * 3)).times is None


@pytest.mark.parametrize(
    ("by_kind", "finding", "words", "command"),
    [
        ({"asked": 5, "ticked": 9}, "tick-labels", "all 6 labels of an item takes 1.8", "ticked"),
        ({"asked": 5, "ticked": 19}, "ask-either", "at 4.5 times", None),
        ({"asked": 5, "ticked": 30}, "ask-yes-or-no", "up to about 4.5 times", "asked"),
        ({"asked": 5, "menu": 5.5}, "tick-labels", "a menu of 2 labels of an item", "ticked-2"),
        ({"asked": 5, "menu": 7, "ticked": 9}, "tick-labels", "all 6 labels of an it", "ticked"),
        ({"asked": 5, "menu": 5.5, "ticked": 90}, "tick-labels", "a menu of 2 labels", "ticked-2"),
        ({"asked": 5}, "time-trial", "less than about 4.5 times as long: 22.5 seconds", "ticked"),
        ({"ticked": 20}, "time-trial", "one yes or no takes more than 4.4 seconds", "asked"),
        ({"menu": 3.2}, "time-trial", "one yes or no takes more than 2.1 seconds", "asked"),
    ],
)
def test_what_to_ask_at_these_times(by_kind, finding, words, command):
    answers = timed(**{kind: [float(seconds)] * 10 for kind, seconds in by_kind.items()})
    found = inspect_answers(answers)
    assert names(found) == [finding]
    assert words in found.finding(finding).what
    kind = "" if command == "asked" else f" --question {command}"
    assert found.finding(finding).command.startswith(
        f"complabel ask answers.csv{kind} -n " if command else ""
    )
    assert bool(found.finding(finding).command) == bool(command)
    assert found.as_json()["times"]["asked"] == by_kind.get("asked")


def test_people_agree_by_kind_and_have_their_own_times():
    answers = Answers.from_arrays(
        absent=[[1, 0], [0, 0], [1, 1], [1, 1]],
        relevant=[[0, 0], [1, 0], [0, 0], [0, 0]],
        question=["asked", "asked", "ticked", "ticked"],
        item=[0, 0, 1, 1],
        annotator=["p", "q", "p", "q"],
        seconds=[2, 7, 4, np.nan],
    )
    found = inspect_answers(answers)
    assert {kind.kind: kind.agreement.observed for kind in found.kinds} == {"asked": 0, "ticked": 1}
    people = {each.annotator: each for each in found.annotators}
    assert (people["p"].seconds, people["q"].seconds) == (3, 7)


def test_where_all_say_yes_or_no_about_one_of_many_labels_people_could_tick():
    """Half of the labels of an item, few labels, a form, or a machine's choice: nothing is said."""
    for n_labels, size in ((8, 8), (30, 30), (50, 10)):
        absent = np.eye(n_labels, dtype=int)[np.arange(40) % n_labels]
        given = {"question": "asked", "seconds": 5.0, "item": np.arange(40) // 2}
        found = inspect_answers(Answers.from_arrays(absent=absent, **given))
        (name,) = names(found)
        told = found.finding(name)
        assert name == "let-people-tick"
        assert f"about one of {n_labels} labels, 2.0 for each item" in told.what
        assert f"told as much as about {0.75 * size:.2g} such answers" in told.what
        assert f"Let one person tick {size} labels of 20 items" in told.advice
        assert f"less than {5 * 0.75 * size:.3g} seconds" in told.advice
        assert f"--question ticked{'' if size == n_labels else '-10'} -n 20" in told.command
        form = Answers.from_arrays(absent=absent[:1], question="ticked", item=[30], n_items=31)
        by_machine = given | {"drawn": "machine 3f2a91c0 yes 8.33/218"}
        for other in (
            Answers.concatenate([Answers.from_arrays(absent=absent, n_items=31, **given), form]),
            Answers.from_arrays(absent=absent, **by_machine),
            Answers.from_arrays(absent=absent, **given | {"item": np.arange(40) // size}),
            Answers.from_arrays(absent=np.eye(7, dtype=int)[np.arange(40) % 7], **given),
        ):
            assert inspect_answers(other).finding("let-people-tick") is None
