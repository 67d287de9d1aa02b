"""A look at answers: counts, bounds and contradictions, beside what a loop over them finds."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from tests.refusals import raises

from complabel.answers import Answers
from complabel.asking import inspect_answers
from complabel.errors import InputError
from complabel.simulate import draw_answers


def draw_labels(n_items=300, n_labels=5, seed=100):
    """Independent labels, by a generator that no draw of answers uses."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_items, n_labels)) < np.linspace(0.1, 0.5, n_labels)).astype(np.uint8)
    Y[Y.all(axis=1), 0] = 0
    return Y


@pytest.fixture(scope="module")
def mixed():
    """All questions, mistakes, unknown annotators, and items without an answer."""
    Y = draw_labels()
    return Answers.concatenate(
        [
            draw_answers(Y, question="named", items_share=0.4, random_state=1),
            draw_answers(Y, question="menu-2", items_share=0.7, random_state=2),
            draw_answers(
                Y, question="asked", error_rate=[0.4, 0.2, 0.0], answers_per_item=3, random_state=3
            ),
            draw_answers(Y, question="ticked", items_share=0.1, error_rate=[0.3], random_state=4),
            draw_answers(
                Y, question="excluded", exclusion_rates=0.2, items_share=0.3, random_state=5
            ),
        ]
    )


@pytest.fixture(scope="module")
def seen(mixed):
    return inspect_answers(mixed, np.zeros((300, 2)))


def said_by_loop(answers):
    """Each statement as (item, label, kind, annotator), answer by answer."""
    for at in range(answers.n_answers):
        item, person = int(answers.item[at]), int(answers.annotator[at])
        rows = {
            kind: set(getattr(answers, kind)[[at]].indices.tolist())
            for kind in ("named", "absent", "relevant", "excluded", "offered")
        }
        offered = rows.pop("offered") or set(range(answers.n_labels))
        question = answers.question[at]
        if question == "named" and len(rows["named"]) < answers.asked_for[at]:
            rows["relevant"] |= offered - rows["named"]
        for kind, labels in rows.items():
            for label in labels:
                yield item, label, kind, person, question in ("asked", "ticked")


def test_counts_by_label_are_those_of_a_loop(mixed, seen):
    said = list(said_by_loop(mixed))
    by_kind = Counter((label, kind) for _, label, kind, _, _ in said)
    judged = Counter(label for _, label, _, _, alone in said if alone)
    yes = Counter(label for _, label, kind, _, alone in said if alone and kind == "relevant")
    for at, label in enumerate(seen.labels):
        for kind in ("named", "absent", "relevant", "excluded"):
            assert getattr(label, kind) == by_kind[at, kind]
        assert (label.judged, label.yes) == (judged[at], yes[at])
        assert label.mentioned == sum(by_kind[at, kind] for kind in
                                      ("named", "absent", "relevant", "excluded"))  # fmt: skip
        about = np.asarray(mixed.offered[:, [at]].sum(axis=1)).ravel() > 0
        about |= np.diff(mixed.offered.indptr) == 0
        assert label.offered == about.sum()


def test_counts_of_everything(mixed, seen):
    assert (seen.n_items, seen.n_labels, seen.n_answers) == (300, 5, mixed.n_answers)
    assert seen.n_unanswered == (~mixed.answered).sum()
    assert seen.questions == Counter(mixed.question.tolist())
    assert seen.n_all_apply == sum(
        question == "named" and n < wanted
        for question, n, wanted in zip(
            mixed.question, np.diff(mixed.named.indptr), mixed.asked_for, strict=True
        )
    )
    said = Counter((i, k, kind, person) for i, k, kind, person, _ in said_by_loop(mixed)
                   if person >= 0)  # fmt: skip
    assert seen.n_repeated == sum(count - 1 for count in said.values())


def test_bounds_are_shares_of_items_that_are_known(mixed, seen):
    at_least = mixed.known_relevant.mean(axis=0)
    at_most = 1 - mixed.complementary.mean(axis=0)
    assert_allclose([label.at_least for label in seen.labels], at_least)
    assert_allclose([label.at_most for label in seen.labels], at_most)
    assert seen.knowledge.at_least == pytest.approx(at_least.sum())
    assert seen.knowledge.at_most == pytest.approx(at_most.sum())


def test_contradictions_are_those_of_the_answers_with_who_says_what(mixed, seen):
    expected = mixed.contradictions()
    assert seen.n_contradictions == len(expected) > 20
    names = [(int(each.item), int(each.label)) for each in seen.contradictions]
    assert names == [tuple(pair) for pair in expected.tolist()][:100]
    said = list(said_by_loop(mixed))
    for each in seen.contradictions:
        here = [
            (kind, person)
            for item, label, kind, person, _ in said
            if (str(item), str(label)) == (each.item, each.label)
        ]
        yes = [person for kind, person in here if kind == "relevant"]
        no = [person for kind, person in here if kind != "relevant"]
        assert (each.yes, each.no) == (len(yes), len(no))
        assert each.says_yes == tuple(sorted({mixed.annotator_names[p] for p in yes if p >= 0}))
        assert each.says_no == tuple(sorted({mixed.annotator_names[p] for p in no if p >= 0}))


def test_annotators_have_their_answers_and_shares(mixed, seen):
    by_name = {each.annotator: each for each in seen.annotators}
    assert set(by_name) == set(mixed.annotator_names)
    assert [each.answers for each in seen.annotators] == sorted(
        (each.answers for each in seen.annotators), reverse=True
    )
    said = [each for each in said_by_loop(mixed) if each[4]]
    for code, name in enumerate(mixed.annotator_names):
        own = [kind for _, _, kind, person, _ in said if person == code]
        assert by_name[name].answers == (mixed.annotator == code).sum()
        assert by_name[name].judged == len(own)
        assert by_name[name].yes_share == pytest.approx(own.count("relevant") / len(own))


def test_names_are_those_of_the_table():
    table = {
        "item": ["x", "y", "x"],
        "label": ["sea", "sky", "sea"],
        "answer": ["no", "yes", "yes"],
        "annotator": ["ann", "bob", None],
        "question": ["asked"] * 3,
    }
    seen = inspect_answers(Answers.from_table(table, contradictions="keep"))
    (only,) = seen.contradictions
    assert (only.item, only.label, only.says_yes, only.says_no) == ("x", "sea", (), ("ann",))
    assert [label.label for label in seen.labels] == ["sea", "sky"]


def test_frequencies_are_those_of_the_random_answers():
    from complabel.frequencies import estimate_label_frequencies

    Y = draw_labels(2000)
    asked = draw_answers(Y, question="asked", random_state=1)
    seen, found = inspect_answers(asked), estimate_label_frequencies(asked)
    assert_allclose([label.frequency for label in seen.labels], found.values)
    assert seen.knowledge.cardinality == pytest.approx(found.cardinality)
    assert seen.knowledge.error == pytest.approx(found.cardinality_error)
    for label, truth in zip(seen.labels, Y.mean(axis=0), strict=True):
        assert 0 < label.low < label.frequency < label.high < 1
        assert label.low - 0.03 < truth < label.high + 0.03


def test_exclusion_rates_are_known_with_frequencies():
    Y = draw_labels(3000)
    rates = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    excluded = draw_answers(Y, question="excluded", exclusion_rates=rates, random_state=1)
    alone = inspect_answers(excluded)
    assert not alone.knowledge.known
    assert alone.labels[0].exclusion_rate is None
    asked = draw_answers(Y, question="asked", random_state=2)
    both = inspect_answers(Answers.concatenate([excluded, asked]))
    assert_allclose([label.exclusion_rate for label in both.labels], rates, atol=0.08)


def test_it_is_plain_data(seen):
    plain = seen.as_json()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["next_step"] == seen.next_step.name
    assert plain["labels"][0]["named"] == seen.labels[0].named


def test_nothing_at_all():
    seen = inspect_answers(Answers.from_arrays(absent=np.zeros((0, 3)), n_items=4))
    assert seen.next_step.name == "no-answers"
    assert seen.next_step.command == "complabel ask answers.csv -n 12 --out questions.csv"
    json.dumps(seen.as_json(), allow_nan=False)


@pytest.mark.parametrize("n_items", [0, 1])
def test_hardly_any_items(n_items):
    inspect_answers(Answers.from_arrays(absent=np.eye(3)[:n_items], n_items=n_items))


def test_something_else_is_refused():
    with raises(InputError, "answers"):
        inspect_answers(np.eye(3))


def test_features_in_another_order_are_paired_with_the_answers_by_name():
    """Only items a and b have equal features, and they contradict each other."""
    table = {"item": ["a", "b", "c"], "label": ["x", "x", "y"], "answer": ["yes", "no", "no"]}
    answers = Answers.from_table(table, items=["a", "b", "c"], label_names=["x", "y", "z"])
    X = pd.DataFrame([[1.0], [2.0], [1.0]], index=["b", "c", "a"])
    assert inspect_answers(answers, X).features.n_contradicting == 2
    assert inspect_answers(answers, X.to_numpy()).features.n_contradicting == 0
    with raises(InputError, "1 of 3", "'c'"):
        inspect_answers(answers, X.drop("c"))
