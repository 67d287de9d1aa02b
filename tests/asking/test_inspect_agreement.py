"""Agreement by hand, and mistakes of annotators whose rates are known."""

import itertools

import numpy as np
import pytest
from tests.asking.test_inspect import draw_labels

from complabel.answers import Answers
from complabel.asking import inspect_answers
from complabel.simulate import draw_answers


def answers_of(values):
    """Yes/no answers about one label: a row for each annotator, None where there is none."""
    table = [
        (str(item), "a", "yes" if value else "no", f"person {person}")
        for person, row in enumerate(values)
        for item, value in enumerate(row)
        if value is not None
    ]
    columns = zip(*table, strict=True)
    named = dict(zip(("item", "label", "answer", "annotator"), columns, strict=True))
    return Answers.from_table(named, contradictions="keep", label_names=["a", "b"])


def alpha_by_definition(values):
    """1 - D_o / D_e over all ordered couples, as Krippendorff defines it."""
    units = [[row[at] for row in values if row[at] is not None] for at in range(len(values[0]))]
    units = [unit for unit in units if len(unit) > 1]
    n = sum(map(len, units))
    observed = sum(
        sum(a != b for a, b in itertools.permutations(unit, 2)) / (len(unit) - 1) for unit in units
    )
    everything = [value for unit in units for value in unit]
    expected = sum(a != b for a, b in itertools.permutations(everything, 2)) / (n - 1)
    return 1 - observed / expected, 1 - observed / n


def test_krippendorffs_own_example():
    # Binary data of two observers on ten units: Computing Krippendorff's Alpha-Reliability, B.
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    found = inspect_answers(answers_of([first, second])).agreement
    assert found.alpha == pytest.approx(0.095, abs=5e-4)
    assert found.observed == pytest.approx(0.6)
    assert (found.n_pairs, found.n_judgements) == (10, 20)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_alpha_with_gaps_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    values = rng.choice([0, 1, None], p=[0.4, 0.3, 0.3], size=(4, 12)).tolist()
    found = inspect_answers(answers_of(values)).agreement
    alpha, observed = alpha_by_definition(values)
    assert found.alpha == pytest.approx(alpha)
    assert found.observed == pytest.approx(observed)


def test_agreement_of_each_with_others_by_hand():
    seen = inspect_answers(answers_of([[1, 1, 0], [1, 0, None], [0, 0, None]]))
    by_name = {each.annotator: each for each in seen.annotators}
    # Item 0: yes, yes, no. Item 1: yes, no, no. Item 2 is not shared.
    assert by_name["person 0"].agreement == pytest.approx((0.5 + 0) / 2)
    assert by_name["person 1"].agreement == pytest.approx((0.5 + 0.5) / 2)
    assert by_name["person 2"].agreement == pytest.approx((0 + 0.5) / 2)
    assert by_name["person 0"].shared == 2


def test_all_say_the_same():
    found = inspect_answers(answers_of([[1, 1], [1, 1]])).agreement
    assert found.alpha is None
    assert (found.observed, found.error_rate) == (1, 0)


@pytest.mark.parametrize("first", ["no", "yes"])
def test_of_somebody_who_judged_twice_the_first_judgement_counts(first):
    other = {"no": "yes", "yes": "no"}[first]
    table = {
        "item": ["x"] * 3,
        "label": ["a"] * 3,
        "answer": [first, other, first],
        "annotator": ["p", "p", "q"],
    }
    found = inspect_answers(Answers.from_table(table, contradictions="keep")).agreement
    assert (found.n_judgements, found.observed) == (2, 1)


def test_one_person_twice_is_no_agreement():
    table = {"item": ["x", "x"], "label": ["a", "a"], "answer": ["no"] * 2, "annotator": ["p"] * 2}
    seen = inspect_answers(Answers.from_table(table, question="asked"))
    assert seen.agreement is None
    assert seen.n_repeated == 1


def ask_several(seed, rates, n_per_item=3, n_items=1500):
    """Ticked by several people, so that all their judgements are shared."""
    return draw_answers(
        draw_labels(n_items, 4, seed=seed + 1000),
        question="ticked",
        error_rate=rates,
        answers_per_item=n_per_item,
        random_state=seed,
    )


@pytest.mark.parametrize("seed", range(2))
def test_mistakes_are_found_as_they_were_drawn(seed):
    rates = [0.0, 0.1, 0.2, 0.5]
    seen = inspect_answers(ask_several(seed, rates))
    found = {int(each.annotator): each.error_rate for each in seen.annotators}
    assert [found[at] for at in range(4)] == pytest.approx(rates, abs=0.06)
    assert seen.finding("mistakes") is not None
    assert "'3'" in seen.finding("mistakes").what


@pytest.mark.parametrize("seed", range(2))
def test_the_common_rate_has_the_right_error(seed):
    found = inspect_answers(ask_several(seed, [0.2, 0.2, 0.2])).agreement
    assert abs(found.error_rate - 0.2) < 4 * found.error
    assert 0.001 < found.error < 0.02


@pytest.mark.parametrize("seed", range(2))
def test_careful_people_are_not_blamed(seed):
    seen = inspect_answers(ask_several(seed, [0.01, 0.02, 0.0]))
    assert seen.finding("mistakes") is None
    assert seen.finding("no-agreement") is None


def test_two_people_cannot_be_told_apart():
    seen = inspect_answers(ask_several(0, [0.0, 0.4], n_per_item=2))
    assert seen.agreement.error_rate == pytest.approx(0.22, abs=0.03)
    assert [each.error_rate for each in seen.annotators] == [None, None]


def test_answers_at_random_are_no_agreement():
    seen = inspect_answers(ask_several(5, [1.0, 1.0, 1.0]))
    assert seen.agreement.alpha == pytest.approx(0, abs=0.03)
    found = seen.finding("no-agreement") or seen.finding("mistakes")
    assert found is not None
