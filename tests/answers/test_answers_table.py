import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.answers.records import back, make, records, same
from tests.examples import examples
from tests.refusals import raises, warns
from tests.spawned import python

from complabel.answers import Answers, UnlistedLabelsWarning
from complabel.errors import AnnotationError, InputError

LABELS = ["city", "fog", "sea", "sky"]


def table(*rows, columns=("item", "label", "answer")):
    """A mapping of columns."""
    return {name: [each[at] for each in rows] for at, name in enumerate(columns)}


def rows_of(found):
    """The rows of a table that say what records say."""
    words = dict.fromkeys(("named", "absent", "excluded"), "no")
    words |= dict.fromkeys(("relevant", "positive", "tagged"), "yes")
    for at, record in enumerate(found):
        said = [(label, words[name]) for name in words for label in record[name]]
        for label, word in said or [
            (None, "no" if record["question"] in ("positive", "tagged") else "yes")
        ]:
            yield {
                "answer_id": f"a{at}",
                "item": record["item"],
                "label": None if label is None else f"l{label}",
                "answer": word,
                "question": record["question"],
                "offered": json.dumps([f"l{label}" for label in sorted(record["offered"])]),
                "asked_for": record["asked_for"] or None,
                "annotator": record["annotator"],
                "time": "yesterday",
                "probability": record["probability"],
                "seconds": record["seconds"],
                "weight": None if record["weight"] == 1 else record["weight"],  # a gap is 1
            }


def with_the_same_meaning(found):
    """Records that a table can tell: what was struck off is by not being offered."""
    struck = {"named": "absent", "positive": "relevant"}
    besides = {"named": "relevant", "excluded": "relevant"}
    besides |= {"positive": "absent", "tagged": "absent"}
    return [
        record | ({struck[question]: frozenset()} if question in struck else {})
        for record in found
        # Of a menu of which nothing was named, a table says that all apply, and nothing besides.
        if (question := record["question"]) not in besides
        or record[question]
        or not record[besides[question]]
    ]


@examples(25)
@given(records(), st.randoms(use_true_random=False))
def test_what_answers_say_survives_a_table(given_records, random):
    n_items, n_labels, found = given_records
    found = with_the_same_meaning(found)
    expected = make(n_items, n_labels, found)
    options = {
        "items": range(n_items),
        "label_names": [f"l{label}" for label in range(n_labels)],
        "contradictions": "keep",
    }
    rows = list(rows_of(found))
    if rows:
        frame = pd.DataFrame(rows)
        answers = Answers.from_table(frame, **options)
        assert same(back(answers), back(expected))
        mapping = {name: frame[name].tolist() for name in frame}
        assert same(back(Answers.from_table(mapping, **options)), back(expected))
        random.shuffle(rows)
        again = Answers.from_table(pd.DataFrame(rows), **options)
        np.testing.assert_array_equal(again.complementary, expected.complementary)
        np.testing.assert_array_equal(again.known_relevant, expected.known_relevant)
        assert again.n_answers == expected.n_answers


def test_questions_are_inferred_where_the_table_has_none():
    columns = ("answer_id", "item", "label", "answer", "offered", "asked_for")
    answers = Answers.from_table(
        table(
            (1, "x", "sea", "no", "", None),  # asked about one label
            (2, "x", "sea", "no", '["sea", "sky"]', None),  # chosen from a menu
            (3, "x", "sky", "yes", '["sky"]', None),  # asked
            (4, "x", "sea", "no", None, 1),  # chosen from all labels
            (5, "x", None, "yes", '["sky", "fog"]', None),  # all of these apply
            (6, "x", "sky", "yes", "[]", None),
            (6, "x", "sea", "no", None, None),
            columns=columns,
        ),
        label_names=LABELS,
        contradictions="keep",
    )
    assert answers.question.tolist() == ["asked", "named", "asked", "named", "named", "asked"]
    assert answers.asked_for.tolist() == [0, 1, 0, 1, 1, 0]
    assert answers.n_offered.tolist() == [1, 2, 1, 4, 2, 2]
    np.testing.assert_array_equal(answers[0].known_relevant, [[0, 1, 0, 1]])
    assert answers.label_names == tuple(LABELS)
    assert answers.item_names.tolist() == ["x"]


def test_a_table_needs_no_more_than_items_and_labels():
    two = {"item": ["b", "a", "b"], "label": ["sea", "sky", "fog"]}
    with pytest.warns(UnlistedLabelsWarning):
        answers = Answers.from_table(two, question="excluded")
    assert answers.label_names == ("fog", "sea", "sky")
    assert answers.item_names.tolist() == ["a", "b"]
    assert answers.question.tolist() == ["excluded"] * 3
    np.testing.assert_array_equal(answers.complementary, [[0, 0, 1], [1, 1, 0]])
    assert np.isnan(answers.probability).all()
    assert (answers.annotator == -1).all()
    assert answers[[1, 0]].item_names.tolist() == ["b", "a"]


def test_who_is_unsure_says_nothing():
    columns = ("answer_id", "item", "label", "answer", "question", "offered")
    answers = Answers.from_table(
        table(
            ("a", 0, "sea", "unsure", "asked", None),
            ("b", 1, "sea", "unsure", "asked", '["sea", "sky"]'),
            ("b", 1, "sky", "yes", "asked", '["sea", "sky"]'),
            ("c", 2, "sea", "unsure", "ticked", None),
            ("c", 2, "sky", "no", "ticked", None),
            ("d", 3, None, "unsure", "ticked", None),
            columns=columns,
        ),
        label_names=LABELS,
        items=range(4),
    )
    np.testing.assert_array_equal(answers.answered, [False, True, True, False])
    np.testing.assert_array_equal(answers.offered.toarray(), [[0, 0, 0, 1], [1, 1, 0, 1]])
    np.testing.assert_array_equal(answers[2].known_relevant, [[1, 1, 0, 0]])
    np.testing.assert_array_equal(answers[2].complementary, [[0, 0, 0, 1]])


def test_numbers_may_be_text_or_have_gaps():
    columns = ("answer_id", "item", "label", "question", "asked_for", "annotator", "probability")
    rows = [
        ("a", 5, "sea", "named", "2", 7, "0,5"),
        ("a", None, "sky", None, None, None, None),  # gaps say nothing else
        ("b", 4, "sea", " Named ", 1.0, None, np.nan),
    ]
    frame = pd.DataFrame(rows, columns=list(columns))
    for given_table in (table(*rows, columns=columns), frame, frame.convert_dtypes()):
        answers = Answers.from_table(given_table, label_names=LABELS)
        assert answers.item_names.tolist() == [4, 5]
        assert answers.asked_for.tolist() == [1, 2]
        assert answers.probability.tolist()[1] == 0.5
        assert answers.annotator_names == ("7",)
        assert answers.annotator.tolist() == [-1, 0]


def test_labels_may_be_numbers_and_menus_lists():
    answers = Answers.from_table(
        {"item": [0, 1], "label": [10, 2], "offered": [[10, 2], np.array([9, 2])]}
    )
    assert answers.label_names == ("2", "9", "10")
    np.testing.assert_array_equal(answers.offered.toarray(), [[1, 0, 1], [1, 1, 0]])
    assert answers.question.tolist() == ["named", "named"]


def test_items_are_in_the_order_of_the_features_rows():
    said = {"item": ["b", "c"], "label": ["sea", "sky"]}
    answers = Answers.from_table(said, items=["c", "a", "b"], label_names=LABELS, question="named")
    np.testing.assert_array_equal(answers.complementary, np.eye(4)[[3, 0, 2]] * [[1], [0], [1]])
    assert answers.item_names.tolist() == ["c", "a", "b"]


def test_labels_that_nobody_mentioned_are_warned_of():
    said = {"item": [0, 1], "label": ["sea", "sky"], "question": ["named", "asked"]}
    said["answer"] = [None, "no"]
    with warns(UnlistedLabelsWarning, "1 answers", "2") as w:
        Answers.from_table(said)
    assert w[0].filename == __file__
    Answers.from_table(said, label_names=LABELS)
    Answers.from_table(said | {"offered": ['["sea", "sky"]', ""]})


ONE = {"answer_id": ["a", "a"], "item": [1, 1], "label": ["sea", "sky"]}

REFUSED = [
    ({"item": [1], "labels": ["sea"]}, "column 'label'"),
    ({"item": [1, 2], "label": ["sea"]}, ("column 'label'", "1 rows", "'item'", "2")),
    ({"item": [1], "label": ["sea"], "probability": 0.5}, "column 'probability'"),
    ({"item": "a", "label": ["sea"]}, ("column 'item'", "'a'")),
    ({"item": [1], "label": ["sea"], "offered": '["sea", "sky"]'}, "column 'offered'"),
    (table((1, "sea", "no"), (1, "sky", "maybe")), ("row 1", "answer 'maybe'")),
    (table((1, "sea", 2)), ("row 0", "answer 2")),
    ({"item": [1], "label": ["sea"], "question": ["told"]}, "question 'told'"),
    ({"item": [1], "label": ["sea"], "asked_for": ["two"]}, ("asked_for", "'two'")),
    ({"item": [1], "label": ["sea"], "probability": ["half"]}, "'half'"),
    ({"item": [1], "label": ["sea"], "offered": ['"sea"']}, "'\"sea\"'"),
    (table((1, "sea", "no"), (1, "Sky", "no")), ("row 1", "label 'Sky'", "'Sky'")),
    ({"item": [1], "label": ["sea"], "offered": ['["sea", "skye"]']}, "'skye'"),
    (table((None, "sea", "no")), "row 0"),
    (table((1, " ", "no")), "row 0"),
    ({"item": [1], "label": [None], "answer": ["yes"], "question": ["asked"]}, "row 0"),
    (ONE | {"label": [None, "sea"], "answer": ["yes", "no"]}, ("'yes'", "'no'")),
    (ONE | {"item": [1, 2]}, ("'a'", "item 1", "row 0", "2", "row 1")),
    (ONE | {"question": ["asked", "ticked"]}, ("'a'", "question 'asked'", "row 0", "'ticked'")),
    (ONE | {"offered": ['["sea", "sky"]', '["fog"]']}, ("'a'", "row 0", "row 1")),
    (ONE | {"label": ["sea"] * 2, "answer": ["no", "yes"]}, ("'a'", "item 1", "label 'sea'")),
    (
        {"item": ["x"], "label": ["sea"], "offered": ['["sky"]'], "question": ["asked"]}
        | {"answer": ["no"]},
        ("row 0", "item 'x'", "label 'sea'"),
    ),
    ({"item": ["x"], "label": ["sea"], "offered": ['["sky", "fog"]']}, "item 'x'"),
    (
        ONE
        | {"label": ["sea", None], "offered": ['["sea"]'] * 2, "question": ["ticked"] * 2}
        | {"answer": ["unsure", "yes"]},
        "answer 'a'",
    ),
    (
        table(("x", "sea", "no"), ("x", "sea", "yes"), ("y", "sky", "no")),
        ("label 'sea'", "item 'x'"),
    ),
]


@pytest.mark.parametrize(("said", "message"), REFUSED)
def test_what_a_table_must_not_say_is_refused_with_its_row(said, message):
    with raises(AnnotationError, message):
        Answers.from_table(said, label_names=LABELS)


def test_contradictions_are_kept_on_demand():
    said = table(*((item, "sea", word) for item in range(7) for word in ("no", "yes")))
    with raises(AnnotationError, "'sea'", "item 4", "7 in all"):
        Answers.from_table(said)
    assert len(Answers.from_table(said, contradictions="keep").contradictions()) == 7
    with raises(InputError, "contradictions", "'error'", "'drop'"):
        Answers.from_table(said, contradictions="guess")


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (["a", "c"], ("'b'", "1 in all")),
        (["a", "b", "a"], ("items", "'a'")),
        ([1], ("'a'", "'b'", "2 in all")),
    ],
)
def test_items_that_do_not_fit_are_refused(items, message):
    with raises(AnnotationError, message):
        Answers.from_table({"item": ["a", "b"], "label": ["sea", "sky"]}, items=items)


def test_numbers_and_text_are_different_items():
    with raises(AnnotationError, "int", "str"):
        Answers.from_table({"item": [1], "label": ["sea"]}, items=["0", "1"])
    mixed = Answers.from_table(
        {"item": [1, "a"], "label": ["sea", "sky"]}, question="named", label_names=LABELS
    )
    assert mixed.item_names.tolist() == [1, "a"]


@pytest.mark.parametrize("said", [[("a", "sea")], "item,label", None, np.eye(2)])
def test_what_is_no_table_is_refused(said):
    with raises(AnnotationError, "pandas.DataFrame"):
        Answers.from_table(said)


def test_a_table_without_labels_is_refused():
    with raises(AnnotationError, "label_names"):
        Answers.from_table({"item": [1], "label": [None], "answer": ["yes"]})
    empty = Answers.from_table({"item": [], "label": []}, label_names=LABELS, items=[3, 4])
    assert empty.shape == (2, 4)
    assert empty.n_answers == 0


def test_a_mapping_is_read_without_pandas():
    script = """
import sys
sys.modules["pandas"] = None
from complabel.answers import Answers
said = {
    "item": ["x", "x", "y", "y"],
    "label": ["sea", "sky", float("nan"), "fog"],
    "answer": ["no", "yes", "yes", "unsure"],
    "offered": [None, "", ["sea", "sky"], float("nan")],
}
answers = Answers.from_table(said)
print(answers, answers.label_names, answers.known_relevant.tolist())
"""
    assert python("-c", script) == (
        "Answers(2 items, 3 labels, 3 answers: 1 named, 2 asked) "
        "('fog', 'sea', 'sky') [[0, 0, 1], [0, 1, 1]]\n"
    )


def test_a_random_question_without_an_answer_is_not_taken_as_no():
    table = {"item": [0, 1, 2], "label": ["a", "b", "a"], "question": ["asked"] * 3}
    open_ones = table | {"answer": ["yes", None, "no"], "probability": [0.5, 0.5, 0.5]}
    with raises(AnnotationError, "row 1"):
        Answers.from_table(open_ones)
    with raises(AnnotationError, "3 in all"):
        Answers.from_table(table | {"probability": [0.5, 0.5, 0.5]})
    filled = Answers.from_table(open_ones | {"answer": ["yes", "unsure", "no"]})
    assert filled.n_answers == 2
    with raises(AnnotationError, "row 1", "1 in all"):
        Answers.from_table(table | {"answer": ["yes", " ", "no"]})
    for more in ({}, {"answer": [None] * 3}, {"question": ["ticked"] * 3}):
        with raises(AnnotationError, "row 0", "3 in all"):
            Answers.from_table(table | more)  # nobody drew them at random, and nobody says "no"


TWO = {"item": ["x", "x"], "label": ["sea", "sky"]}


@pytest.mark.parametrize(
    "more",
    [{}, {"answer": ["no", "no"]}, {"question": ["named", None]}, {"answer": ["", "unsure"]}],
)
def test_what_was_asked_is_not_guessed(more):
    with raises(AnnotationError, "'no'", "question"):
        Answers.from_table(TWO | more, label_names=LABELS)


@pytest.mark.parametrize(
    "more", [{"answer": ["no", "yes"]}, {"probability": [0.25, 0.25], "answer": ["no", "no"]}]
)
def test_a_yes_or_a_chance_tells_that_people_were_asked(more):
    assert Answers.from_table(TWO | more).question.tolist() == ["asked", "asked"]


@pytest.mark.parametrize("question", ["named", "asked", "ticked", "excluded"])
def test_the_question_may_be_told_for_all_rows_that_have_none(question):
    two = TWO | {"item": ["x", "y"], "answer": ["no", "no"]}
    told = Answers.from_table(two, label_names=LABELS, question=question)
    assert told.question.tolist() == [question] * 2
    mixed = TWO | {"question": ["excluded", None], "answer": ["no", "no"]}
    mixed = Answers.from_table(mixed, label_names=LABELS, question=question, contradictions="keep")
    assert mixed.question.tolist() == ["excluded", question]
    with raises(InputError, "question"):
        Answers.from_table(TWO, question="chosen")


def test_ticked_labels_of_one_answer_need_its_id():
    two = TWO | {"answer": ["no", "no"]}
    with raises(AnnotationError, "row 0"):
        Answers.from_table(two, label_names=LABELS, question="ticked")
    joined = Answers.from_table(two | {"answer_id": [1, 1]}, label_names=LABELS, question="ticked")
    assert joined.complementary.tolist() == [[0, 0, 1, 1]]
    Answers.from_table(two | {"annotator": ["a", "b"]}, label_names=LABELS, question="ticked",
                       contradictions="keep")  # fmt: skip


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        (["y", "YES", " Yes ", "true", True, 1, 1.0, "1", np.True_], "yes"),
        (["n", "NO", "No", "FALSE", False, 0, 0.0, "0"], "no"),
        (["unsure", "Unsure", "?", "skip"], "unsure"),
    ],
)
def test_words_for_an_answer(words, meaning):
    rows = [(at, "sea", word, "asked") for at, word in enumerate([*words, "yes", "no"])]
    answers = Answers.from_table(table(*rows, columns=("item", "label", "answer", "question")))
    said = {"yes": answers.known_relevant, "no": answers.complementary}
    n_said = {word: int(each.sum()) - 1 for word, each in said.items()}
    assert n_said == {word: len(words) * (word == meaning) for word in said}


def test_numbers_as_labels_are_in_their_order_however_long():
    long = "9" * 5000
    table = {"item": ["a"] * 5, "label": [long, "10", "9", "007", "0"], "answer": ["yes"] * 5}
    assert Answers.from_table(table).label_names == ("0", "007", "9", "10", long)


TICKED = ("answer_id", "item", "label", "answer", "question", "offered", "probability")


def ticked(*rows, offered=None, chance=None):
    """A table of ticked answers; rows have an id, which is the item, too, a label and a word."""
    said = [(each, each, label, word, "ticked", offered, chance) for each, label, word in rows]
    return table(*said, columns=TICKED)


def applies(said):
    """By item, which labels apply, and which do not."""
    answers = Answers.from_table(said, label_names=LABELS)
    return answers.known_relevant.tolist(), answers.complementary.tolist()


def test_yes_alone_ticked_what_applies_and_no_alone_what_does_not():
    assert applies(ticked((1, "sea", "yes"), (1, "city", "yes"), (2, "fog", "yes"))) == (
        [[1, 0, 1, 0], [0, 1, 0, 0]],
        [[0, 1, 0, 1], [1, 0, 1, 1]],
    )
    assert applies(ticked((1, "sea", "no"), (1, "city", "no"))) == ([[0, 1, 0, 1]], [[1, 0, 1, 0]])
    menu = '["sea", "sky", "fog"]'
    assert applies(ticked((1, "sea", "yes"), offered=menu)) == ([[0, 0, 1, 0]], [[0, 1, 0, 1]])
    unsure = ticked((1, "sea", "yes"), (1, "sky", "unsure"))
    assert applies(unsure) == ([[0, 0, 1, 0]], [[1, 1, 0, 0]])
    assert applies(ticked((1, None, "yes"))) == ([[1, 1, 1, 1]], [[0, 0, 0, 0]])
    everything = ticked((1, None, "yes"), (2, "sea", "no"))  # nobody ticked anything of item 1
    assert applies(everything) == ([[1, 1, 1, 1], [1, 1, 0, 1]], [[0] * 4, [0, 0, 1, 0]])


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([(1, "sea", "yes"), (1, "sky", "no")], ("answer 1", "label 'city'")),
        ([(1, "sea", "yes"), (2, "sky", "no")], ("answer 2", "'no'", "answer 1", "'yes'")),
        ([(1, "sea", "yes"), (1, "fog", None), (2, "sky", "no")], ("answer 2", "answer 1")),
        ([(1, "sea", "no"), (1, "sky", None)], ("row 1", "'no'")),
        ([(1, "sea", "unsure"), (1, "sky", None)], "row 1"),
        ([(1, "sea", "yes"), (2, "sky", None)], "row 1"),
    ],
)
def test_ticks_that_may_mean_the_opposite_are_refused_with_their_answer(rows, told):
    with raises(AnnotationError, told):
        Answers.from_table(ticked(*rows), label_names=LABELS)


def test_a_no_in_a_random_list_never_says_that_the_rest_applies():
    menu, none = '["sea", "sky"]', ([[0, 0, 0, 0]], [[0, 0, 1, 1]])
    said = [(1, "sea", "no"), (1, "sky", None)]  # one "no", for nothing applies
    assert applies(ticked(*said, offered=menu, chance=1 / 6)) == none
    assert applies(ticked(*said[:1], (1, "sky", "no"), offered=menu, chance=1 / 6)) == none
    cut = [(0, "sea", "yes"), (0, "sky", None), said[0]]  # the last row was deleted
    with raises(AnnotationError, "answer 1", "'no'", "label 'sky'"):
        applies(ticked(*cut, offered=menu, chance=1 / 6))


@pytest.mark.parametrize(
    "more", [{"question": ["named"]}, {"asked_for": [1]}, {"question": ["excluded"]}]
)
def test_a_naming_that_only_says_yes_is_no_naming(more):
    """Else it would have named nothing, so that all labels apply, or would exclude the opposite."""
    said = {"item": ["a"], "label": ["sea"], "answer": ["yes"]} | more
    with raises(AnnotationError, "row 0", "'yes'", "'ticked'", "'asked'"):
        Answers.from_table(said, label_names=LABELS)


@pytest.mark.parametrize("words", [["0", "1"], [1, 0], [True, False], ["no", "Yes"]])
def test_a_column_of_answers_that_is_called_label_is_refused(words):
    said = {"item": ["a", "b"], "label": words, "question": ["asked"] * 2}
    with raises(AnnotationError, "label_names"):
        Answers.from_table(said)
    names = [str(each) for each in words]
    named = said | {"question": ["excluded"] * 2}
    assert Answers.from_table(named, label_names=names).n_answers == 2
    if set(names) != {"True", "False"}:  # these are refused everywhere
        assert Answers.from_table(said | {"answer": ["yes", "no"]}).n_answers == 2


@pytest.mark.parametrize("nested", [20_000, 100_000])
def test_a_menu_that_is_nested_deeply_is_refused_with_its_row(nested):
    menus = ["[" * nested + "]" * nested, [["sea"]], '["sea", null]', [None, "sea"]]
    for menu in menus:
        said = {"item": [0, 1], "label": ["sea", "sea"], "offered": [None, menu]}
        with raises(AnnotationError, "row 1") as caught:
            Answers.from_table(said, label_names=LABELS, question="named")
        assert len(str(caught.value)) < 500
