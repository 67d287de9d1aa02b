import math

import numpy as np
import pytest
from tests.refusals import raises

from complabel._parameters import (
    Integer,
    RandomState,
    Real,
    check_array,
    check_choice,
    check_integer,
    check_parameters,
    check_random_state,
    check_real,
)
from complabel.errors import InputError

SHARE, SEVERAL = Real(above=0, at_most=1), Integer(at_least=2)


@pytest.mark.parametrize(
    ("constraint", "within", "beyond"),
    [
        (SHARE, [0.5, 1, np.float32(0.25), np.int64(1)], [0, 1.5, math.nan, math.inf, 1j, None]),
        (SHARE, [], [True, np.bool_(True), "1", [0.5], np.ones(1)]),
        (SEVERAL, [2, np.uint8(9)], [1, True, 2.0, "2", None, [2]]),
    ],
)
def test_numbers_within_bounds_and_what_is_no_such_number(constraint, within, beyond):
    assert all(value in constraint for value in within)
    assert not any(value in constraint for value in beyond)


class Base:
    _constraints = {"cut": Real(above=0), "rule": ("first", "last", None)}  # noqa: RUF012
    cut = 0.5
    rule = "first"


class Derived(Base):
    _constraints = {  # noqa: RUF012
        "cut": ("auto", Real(above=0, below=1)),
        "labels": ("all", None, Integer(at_least=1)),
        "seed": RandomState(),
        "path": (str, None),
    }
    labels = None
    seed = 3
    path = "here"


def changed(**values):
    owner = Derived()
    vars(owner).update(values)
    return owner


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"cut": "auto", "rule": None, "labels": "all", "path": None},
        {"seed": np.random.default_rng(0)},
        {"seed": None},
        {"labels": np.int64(4)},
    ],
)
def test_what_a_class_allows(values):
    check_parameters(changed(**values))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"cut": 1}, "cut must be 'auto' or a finite number above 0 and below 1, got 1"),
        ({"rule": "middle"}, "rule must be one of 'first', 'last', None, got 'middle'"),
        ({"rule": ["first"]}, "rule must be one of 'first', 'last', None, got ['first']"),
        ({"labels": 0}, "labels must be 'all', None or an integer of at least 1, got 0"),
        ({"labels": "few"}, "labels must be 'all', None or an integer of at least 1, got 'few'"),
        ({"seed": -1}, f"seed must be {RandomState()}, got -1"),
        ({"path": 1}, "path must be str or None, got 1"),
        # Of two wrong ones the base class's comes first.
        ({"labels": 0, "rule": 1}, "rule must be one of 'first', 'last', None, got 1"),
    ],
)
def test_refusals_name_the_parameter_what_is_allowed_and_what_was_given(values, message):
    with pytest.raises(InputError) as error:
        check_parameters(changed(**values))
    assert str(error.value) == message


def test_a_generator_is_used_as_it_is():
    rng = np.random.default_rng(0)
    assert check_random_state(rng) is rng
    assert check_random_state(7).integers(100) == np.random.default_rng(7).integers(100)


@pytest.mark.parametrize(
    ("values", "axes", "message"),
    [
        ([[1, 2], [math.inf, math.nan]], ("row", "label"), ("inf", "row 1", "label 0")),
        ([1, math.nan], ("fold",), ("nan", "1")),
        (math.nan, (), "nan"),
        ([1, 2], ("row", "label"), ("2-D array", "shape (2,)")),
        ([[1], [2, 3]], ("row", "label"), "2-D array"),
        (np.empty((0, 3)), ("row", "label"), "shape (0, 3)"),
    ],
)
def test_what_is_no_array_of_finite_numbers_is_refused_with_its_place(values, axes, message):
    with raises(InputError, message):
        check_array("A", values, *axes)


def test_arrays_of_numbers_become_double_precision():
    assert check_array("A", [[1, True]], "row", "label").dtype == np.float64
    given = np.ones(2)
    assert check_array("A", given, "fold") is given


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (lambda: check_integer("epochs", 0, at_least=1), ("epochs", "at least 1")),
        (lambda: check_real("beta", -1, at_least=0), ("beta", "at least 0")),
        (lambda: check_real("cut", 1, below=1), ("cut", "below 1")),
        (lambda: check_choice("solver", "x", ("exact", "fast")), ("solver", "'exact'")),
        (lambda: check_choice("rule", np.eye(2), (1.0, "first")), "rule"),
        (lambda: check_choice("n", True, [1, 2]), ("n", "1", "2")),
        (lambda: check_random_state("x"), "random_state"),
    ],
)
def test_checks_of_single_values(check, said):
    with raises(InputError, said):
        check()
