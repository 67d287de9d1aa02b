"""Questions to ask next: who is drawn with which chance, and what becomes of the table."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from tests.refusals import raises

from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.datasets import make_synthetic
from complabel.errors import AnnotationError, InputError
from complabel.simulate import draw_answers


def nothing_known(n_items, n_labels):
    return Answers.from_arrays(absent=np.zeros((0, n_labels)), n_items=n_items)


def to_ask(table):
    return table[table["answer"].isna()]


def pairs_of(table):
    return list(zip(table["item"], table["label"].astype(int), strict=True))


def known_pairs(answers):
    return answers.complementary.astype(bool) | answers.known_relevant.astype(bool)


@pytest.fixture(scope="module")
def data():
    return make_synthetic(60, n_features=3, n_labels=5, random_state=0)


@pytest.fixture(scope="module")
def named(data):
    """Labels 0 and 1 are ruled out for many items, and some are known to apply."""
    excluded = draw_answers(
        data.Y, question="excluded", exclusion_rates=[0.9, 0.7, 0.2, 0.2, 0.0], random_state=0
    )
    asked = draw_answers(data.Y, question="asked", items_share=0.3, random_state=1)
    return Answers.concatenate([excluded, asked, draw_answers(data.Y, random_state=2)])


@pytest.mark.parametrize("n", [1, 3, 40, 87])
def test_as_many_questions_as_wanted_each_of_them_once(named, n):
    asked = to_ask(suggest_questions(named, n, random_state=0))
    assert len(set(pairs_of(asked))) == len(asked) == n
    assert set(asked["question"]) == {"asked"}


def test_what_is_known_is_not_asked_and_stands_with_its_answer(named, data):
    known = known_pairs(named)
    for seed in range(5):
        table = suggest_questions(named, 60, random_state=seed)
        for (item, label), answer in zip(pairs_of(table), table["answer"], strict=True):
            assert known[item, label] == isinstance(answer, str)
            if known[item, label]:
                assert answer == ("yes" if data.Y[item, label] else "no")


def test_labels_are_asked_about_equally_often():
    table = suggest_questions(nothing_known(50, 4), 42, random_state=0)
    counts = table["label"].value_counts()
    assert sorted(counts) == [10, 10, 11, 11]
    assert_array_equal(table["probability"], np.full(42, 1 / 4))


def test_a_label_with_few_open_items_leaves_its_questions_to_the_others():
    Y = np.zeros((20, 3), dtype=int)
    most = np.ones_like(Y)
    most[:3, 0], most[:, 1:] = 0, 0  # all but three pairs of label 0 are known
    answers = Answers.from_arrays(
        absent=most[3:], item=np.arange(3, 20), question="asked", n_items=20
    )
    table = suggest_questions(answers, 21, random_state=0)
    assert to_ask(table)["label"].value_counts().to_dict() == {"0": 3, "1": 9, "2": 9}
    chance = table.groupby("label")["probability"].first() * 21 / 20
    np.testing.assert_allclose(chance, [1, 9 / 20, 9 / 20], rtol=1e-12)
    assert (table["label"] == "0").sum() == 20  # drawn with certainty, so all of them are there


@pytest.mark.parametrize("n", [33])
def test_every_pair_known_or_not_is_drawn_with_the_chance_that_is_told(named, n):
    draws = 200
    rng = np.random.default_rng(0)
    count, chance = np.zeros(named.shape), np.full(named.n_labels, np.nan)
    for _ in range(draws):
        table = suggest_questions(named, n, random_state=rng)
        item, label = np.transpose(pairs_of(table))
        count[item, label] += 1
        chance[label] = table["probability"] * n / named.n_items  # told for a question per item
    open_items = (~known_pairs(named)).sum(axis=0)
    np.testing.assert_allclose(chance, n / named.n_labels / open_items, rtol=1e-12)
    error = np.sqrt(chance * (1 - chance) / draws)
    off = (count / draws - chance) / error
    # 300 standard normal numbers: the mean square has a standard deviation of 0.08, none passes 5.
    assert 0.7 < (off**2).mean() < 1.3
    assert abs(off).max() < 5
    for part in (known_pairs(named), ~known_pairs(named)):
        for label in range(named.n_labels):
            if part[:, label].any():
                of_part = off[part[:, label], label]
                assert abs(of_part.mean()) < 4 / np.sqrt(len(of_part))


def test_a_label_that_is_wholly_known_takes_part():
    answers = Answers.from_arrays(absent=[[1, 0, 0]] * 30, question="asked", n_items=30)
    table = suggest_questions(answers, 20, random_state=0)
    assert to_ask(table)["label"].value_counts().to_dict() == {"1": 10, "2": 10}
    of_first = table[table["label"] == "0"]
    assert set(of_first["answer"]) == {"no"}
    assert len(of_first) == 10
    assert set(of_first["probability"]) == {10 / 20}


def test_contradictions_are_not_known():
    answers = Answers.from_arrays(
        absent=[[1, 0], [0, 0]], relevant=[[0, 0], [1, 0]], item=[0, 0], n_items=1
    )
    assert pairs_of(to_ask(suggest_questions(answers, 2, random_state=0))) in (
        [(0, 0), (0, 1)],
        [(0, 1), (0, 0)],
    )


def test_the_filled_table_becomes_answers(data):
    labels = ["a", "b", "c", "d", "e"]
    items = [f"{at}.png" for at in range(len(data.Y))]
    truth = {
        (item, label): bool(data.Y[i, k])
        for i, item in enumerate(items)
        for k, label in enumerate(labels)
    }
    ruled_out = [item for item in items if not truth[item, "a"]]
    before = Answers.from_table(
        {
            "item": ruled_out,
            "label": ["a"] * len(ruled_out),
            "question": ["excluded"] * len(ruled_out),
        },
        items=items,
        label_names=labels,
    )
    table = suggest_questions(before, 50, random_state=0)
    pairs = list(zip(table["item"], table["label"], strict=True))
    filled = np.array(["yes" if truth[pair] else "no" for pair in pairs])
    given = table["answer"].notna()
    assert_array_equal(table["answer"][given], filled[given])
    table["answer"] = filled
    after = Answers.from_table(table, items=items, label_names=labels)
    assert set(after.question) == {"asked"}
    said = {
        (items[after.item[at]], labels[label]): (answer, chance)
        for answer, mask in ((True, after.relevant), (False, after.absent))
        for at, label in zip(*mask.nonzero(), strict=True)
        for chance in [after.probability[at]]
    }
    chances = dict(zip(pairs, table["probability"], strict=True))
    assert said == {pair: (truth[pair], chances[pair]) for pair in pairs}

    both = Answers.concatenate([before, after])
    following = to_ask(suggest_questions(both, 100, random_state=1))
    assert not said.keys() & set(zip(following["item"], following["label"], strict=True))


def test_the_same_seed_asks_the_same_and_another_one_something_else(named):
    first, again, other = (suggest_questions(named, 20, random_state=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert pairs_of(first) != pairs_of(other)
    rng = np.random.default_rng(1)
    assert pairs_of(suggest_questions(named, 20, random_state=rng)) == pairs_of(first)
    assert pairs_of(suggest_questions(named, 20, random_state=rng)) != pairs_of(first)


def test_all_pairs_that_are_left_can_be_asked_and_no_more(named):
    known = known_pairs(named)
    left = int((~known).sum())
    table = suggest_questions(named, left, random_state=0)
    assert len(to_ask(table)) == left
    assert len(set(pairs_of(table))) == known.size  # every pair is there
    np.testing.assert_allclose(table["probability"], named.n_items / left, rtol=1e-12)
    with raises(InputError, f"n={left + 1}", left):
        suggest_questions(named, left + 1)


@pytest.mark.parametrize(
    ("refused", "name"),
    [({"n": 0}, "n"), ({"random_state": "seed"}, "random_state"), ({"answers": [[0]]}, "answers")],
)
def test_what_cannot_be_asked_is_refused(named, refused, name):
    with raises(InputError, name):
        suggest_questions(**({"answers": named, "n": 1} | refused))


def test_without_pandas_the_columns_come_alone(named, without):
    frame = suggest_questions(named, 20, random_state=0)
    told = {name: frame[name].astype(object).where(frame[name].notna(), None) for name in frame}
    told = {name: values.to_numpy() for name, values in told.items()}
    without("pandas")
    columns = suggest_questions(named, 20, random_state=0)
    assert isinstance(columns, dict)
    assert list(columns) == list(told)
    for name, values in columns.items():
        assert_array_equal(values, told[name])
    columns["answer"] = ["unsure" if answer is None else answer for answer in columns["answer"]]
    read = Answers.from_table(columns, items=range(60), label_names=["0", "1", "2", "3", "4"])
    assert read.n_answers == len(frame) - 20


@pytest.mark.parametrize(("kind", "size"), [("ticked", 5), ("ticked-5", 5), ("ticked-2", 2)])
def test_questions_to_tick_are_about_different_items_and_all_menus_are_as_likely(kind, size):
    before, counts = nothing_known(40, 5), np.zeros(5)
    for seed in range(30):
        table = suggest_questions(before, 20, kind=kind, random_state=seed)
        forms = table.groupby("answer_id", sort=False)
        assert len(forms) == forms["item"].first().nunique() == 20
        assert set(table["question"]) == {"ticked"}
        assert table["answer"].isna().all()
        np.testing.assert_allclose(table["probability"], 1 / math.comb(5, size))
        for _, form in forms:
            assert form["label"].tolist() == json.loads(form["offered"].iloc[0])
            assert form["label"].nunique() == len(form) == size
        counts += np.bincount(table["label"].astype(int), minlength=5)
    assert abs(counts / (30 * 20) - size / 5).max() <= (0.1 if size < 5 else 0)


def test_a_form_that_is_known_stands_with_its_answers():
    known = np.zeros((30, 3), dtype=int)
    known[:20] = [1, 0, 1]
    answers = Answers.from_arrays(
        absent=known[:20], relevant=1 - known[:20], item=np.arange(20), n_items=30
    )
    table = suggest_questions(answers, 10, kind="ticked", random_state=0)
    told = table["answer"].notna()
    assert set(table["item"][~told]) == set(range(20, 30))
    assert 0 < told.sum() <= 60
    assert table[told].groupby("label")["answer"].unique().map(list).to_dict() == {
        "0": ["no"], "1": ["yes"], "2": ["no"]
    }  # fmt: skip
    with raises(InputError, "n=11", "10 items"):
        suggest_questions(answers, 11, kind="ticked", random_state=0)


def test_ticks_become_answers_and_what_was_left_blank_does_not_apply(data):
    items, labels = [f"{at}.png" for at in range(60)], ["a", "b", "c", "d", "e"]
    before = Answers.from_table({"item": [], "label": []}, items=items, label_names=labels)
    table = suggest_questions(before, 50, kind="ticked-3", random_state=0)
    with raises(AnnotationError, "'ticked'", "--answer"):
        Answers.from_table(table, items=items, label_names=labels)
    applies = [
        bool(data.Y[items.index(item), labels.index(label)])
        for item, label in zip(table["item"], table["label"], strict=True)
    ]
    table["answer"] = [("yes" if yes else None) for yes in applies]
    none = ~table["answer"].notna().groupby(table["answer_id"]).transform("any")
    table.loc[none & ~table["answer_id"].duplicated(), "answer"] = "no"  # of nothing ticked
    table["seconds"] = np.where(table["answer_id"].duplicated(), np.nan, 7.5)
    after = Answers.from_table(table, items=items, label_names=labels)
    assert set(after.question) == {"ticked"}
    assert after.n_answers == 50
    assert set(after.seconds) == {7.5}
    assert_array_equal(after.n_offered, np.full(50, 3))
    for at in range(50):
        seen = after.offered[[at]].toarray()[0] > 0
        assert_array_equal(after.relevant[[at]].toarray()[0][seen], data.Y[after.item[at]][seen])


@pytest.mark.parametrize(("kind", "size"), [("named", 5), ("menu-2", 2), ("menu-4", 4)])
def test_namings_are_drawn_from_all_items_and_menus(named, data, kind, size):
    table = suggest_questions(named, 60, kind=kind, random_state=0)
    assert sorted(table["item"]) == list(range(60)), "also items about which all is known"
    assert set(table["question"]) == {"named"}
    assert set(table["asked_for"]) == {1}
    assert table["label"].isna().all() & table["answer"].isna().all()
    menus = [json.loads(menu) for menu in table["offered"]]
    assert {len(set(menu)) for menu in menus} == {size}
    assert len({*map(tuple, menus)}) == math.comb(5, size)
    assert table["probability"].unique() == pytest.approx([1 / math.comb(5, size)])
    for at, (item, menu) in enumerate(zip(table["item"], menus, strict=True)):
        absent = [label for label in menu if not data.Y[item, int(label)]]
        table.loc[at, "label" if absent else "answer"] = absent[0] if absent else "yes"
    labels = [str(k) for k in range(5)]
    answers = Answers.from_table(table, items=range(60), label_names=labels)
    assert answers.n_answers == 60
    assert set(answers.n_offered) == {size}
    with raises(InputError, "n=61", "60 items"):
        suggest_questions(named, 61, kind=kind)


@pytest.mark.parametrize("size", [2, 3])
def test_menus_are_drawn_with_equal_chances(size):
    table = suggest_questions(nothing_known(4_000, 4), 4_000, kind=f"menu-{size}", random_state=0)
    counts = table["offered"].value_counts()
    n_menus = math.comb(4, size)
    assert len(counts) == n_menus
    expected = 4_000 / n_menus
    assert ((counts - expected) ** 2 / expected).sum() < 25  # chi-square, 3 or 5 degrees of freedom


@pytest.mark.parametrize("kind", ["ticked-1", "ticked-6", "menu-1", "named-2", "ticked-x", None])
def test_kinds_that_cannot_be_asked_are_refused(kind):
    with raises(InputError, "2", "5"):
        suggest_questions(nothing_known(40, 5), 3, kind=kind)
