"""Rows of X and answers about them are paired by the names that both have."""

import numpy as np
import pandas as pd
import pytest
from tests.refusals import raises

from complabel.answers import Answers, pair_rows
from complabel.errors import InputError


def answers_about(names):
    """Answers of which the one about item i denies label i of a table that lists the names."""
    labels = [str(at) for at in range(len(names))]
    table = {"item": names, "label": labels, "answer": ["no"] * len(names)}
    return Answers.from_table(table, items=names, question="asked")


def frame(index):
    return pd.DataFrame({"x": np.arange(len(index))}, index=index)


def order_of(y):
    """The item that each row had before."""
    return (y.complementary if isinstance(y, Answers) else y.to_numpy()).argmax(axis=1).tolist()


@pytest.mark.parametrize(
    ("index", "names", "order"),
    [
        (["c", "a", "b"], ["a", "b", "c"], [2, 0, 1]),
        (["a", "b", "c"], ["a", "b", "c"], [0, 1, 2]),
        ([12, 10, 11], [10, 11, 12], [2, 0, 1]),
        ([12, 10, 11], ["10", "11", "12"], [2, 0, 1]),
        (["12", "10", "11"], [10, 11, 12], [2, 0, 1]),
        ([2, 0, 1], [0, 1, 2], [2, 0, 1]),
        (pd.RangeIndex(3), [2, 1, 0], [0, 1, 2]),  # the default index names nothing
        ([7, 2, 4], ["a", "b", "c"], [0, 1, 2]),  # row numbers, as after a split
        (pd.RangeIndex(3, 6), ["a", "b", "c"], [0, 1, 2]),
    ],
)
def test_rows_are_paired_by_name_if_both_have_names(index, names, order):
    answers = answers_about(names)
    assert order_of(pair_rows(frame(index), answers)) == order
    assert order_of(pair_rows(frame(index).to_numpy(), answers)) == [0, 1, 2]
    assert list(pair_rows(frame(index), frame(names))["x"]) == order


@pytest.mark.parametrize(
    ("index", "names", "found"),
    [
        (["a", "b", "d"], ["a", "b", "c"], ("1 of 3", "'d'")),
        (["b", "a"], ["a", "b", "c"], ("1 of 3", "'c'")),
        (["a", "b", "c", "d"], ["b", "a"], ("2 of 4", "'c'", "'d'")),
        (["a", "b"], ["c", "d"], "2 of 2"),
        ([1, 2, 3], [2, 3, 4], "(1)"),
    ],
)
def test_different_names_are_refused_and_counted(index, names, found):
    with raises(InputError, found):
        pair_rows(frame(index), answers_about(names))
    with raises(InputError, found):
        pair_rows(frame(index), frame(pd.Index(names)))


def test_names_that_occur_twice_are_paired_only_in_the_same_order():
    answers = answers_about(["a", "b", "c"])[[0, 1, 1, 2]]
    assert pair_rows(frame(["a", "b", "b", "c"]), answers) is answers
    with raises(InputError, "X.to_numpy()"):
        pair_rows(frame(["b", "a", "b", "c"]), answers)
