"""The kinds of questions: one grammar for all rooms."""

import itertools
import math

import pytest
from tests.refusals import raises

from complabel._questions import ASKED, BY_STEM, KINDS, QuestionKind
from complabel.answers import QUESTIONS, Answers
from complabel.errors import InputError

WORDS = ("asked", "ticked", "ticked-2", "ticked-10", "named", "menu-2", "menu-10")


@pytest.mark.parametrize("word", WORDS)
def test_a_kind_is_typed_as_it_is_read(word):
    assert QuestionKind.parse(word, 10).word == word


@pytest.mark.parametrize(
    "word",
    [
        *("menu", "menu-", "menu-0", "menu-1", "menu--3", "menu-02", "menu-11", "menu-M"),
        *("ticked-1", "asked-2", "several", "excluded", "free", "mixed", "Asked", "", None, 4),
    ],
)
def test_other_words_are_refused_by_name(word):
    with raises(InputError, f"kind='{word}'") as refusal:
        QuestionKind.parse(word, 10, parameter="kind")
    assert refusal.value.parameter == "kind"


def test_more_words_are_kinds_only_where_somebody_wants_them():
    assert QuestionKind.parse("free", others=("free",)) is KINDS["named"]
    assert QuestionKind.parse("excluded", others=("excluded",)) is KINDS["excluded"]
    with raises(InputError, "excluded"):
        QuestionKind.parse("mixed", others=("mixed", "excluded"))  # the caller reads it itself


@pytest.mark.parametrize("word", WORDS)
def test_the_probability_is_one_over_the_number_of_menus(word):
    kind = QuestionKind.parse(word, 10)
    menus = list(itertools.combinations(range(10), kind.n_offered(10)))
    assert kind.probability(10) == 1 / len(menus)
    assert all(len(menu) == kind.n_offered(10) for menu in menus)


def test_the_probability_of_a_menu_of_many_labels_is_above_0():
    assert QuestionKind.parse("ticked-2000").probability(5000) > 0


def test_each_kind_has_its_words():
    for kind in KINDS.values():
        assert kind.held_as in QUESTIONS
        assert "" not in (kind.title, kind.question)
    for kind in ASKED:
        assert kind.asks.endswith("?")
        assert kind.drawn_short
        assert BY_STEM[kind.stem].question == kind.question
        assert BY_STEM[kind.question].held_as == kind.held_as


def _read(question, rows, offered):
    n = len(rows)
    return Answers.from_table(
        {
            "answer_id": ["one"] * n,
            "item": ["a"] * n,
            "label": [label for label, _ in rows],
            "answer": [word for _, word in rows],
            "question": [question] * n,
            "offered": [None if offered is None else [*offered]] * n,
        },
        label_names=["cat", "dog", "fox"],
    )


@pytest.mark.parametrize(
    ("stem", "answer", "offered", "no", "yes"),
    [
        ("asked", "yes", ["dog"], [], ["dog"]),
        ("asked", "no", ["dog"], ["dog"], []),
        ("ticked", ["dog"], ["cat", "dog", "fox"], ["cat", "fox"], ["dog"]),
        ("ticked", [], ["cat", "dog"], ["cat", "dog"], []),
        ("menu", ["cat"], ["cat", "dog"], ["cat"], []),
        ("menu", [], ["cat", "dog"], [], ["cat", "dog"]),
        ("named", ["fox"], ["cat", "dog", "fox"], ["fox"], []),
    ],
)
def test_the_rows_of_an_answer_say_what_was_chosen(stem, answer, offered, no, yes):
    kind = BY_STEM[stem]
    read = _read(kind.question, kind.rows(answer, offered), offered)
    names = read.label_names
    assert [names[at] for at in read.complementary.nonzero()[1]] == no
    assert [names[at] for at in read.known_relevant.nonzero()[1]] == yes
    assert read.judges.tolist() == [kind.judges]


@pytest.mark.parametrize("stem", [kind.stem for kind in ASKED])
def test_who_is_unsure_says_nothing(stem):
    assert [word for _, word in BY_STEM[stem].rows("unsure", ["cat"])] == ["unsure"]


def test_answers_know_their_kind():
    menus = [[1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 0], [1, 1, 0], [0, 0, 0], [0, 0, 0]]
    questions = ["asked", "asked", "ticked", "ticked", "named", "named", "excluded"]
    answers = Answers.from_arrays(
        absent=[*menus[:3], [1, 1, 1], *[[0, 0, 0]] * 3],
        named=[*[[0, 0, 0]] * 4, [1, 0, 0], [1, 0, 0], [0, 0, 0]],
        relevant=[[0, 0, 0]] * 7,
        excluded=[*[[0, 0, 0]] * 6, [0, 1, 0]],
        offered=menus,
        question=questions,
        asked_for=[int(each == "named") for each in questions],
    )
    wanted = ["asked", "several", "ticked-M", "ticked", "menu-M", "named", "excluded"]
    assert answers.kind.tolist() == wanted
    assert [KINDS[name].judges for name in wanted] == answers.judges.tolist()
    assert math.comb(3, 2) == round(1 / QuestionKind.parse("menu-2").probability(3))
