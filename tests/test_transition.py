from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import matthews_corrcoef
from tests.refusals import raises

from complabel.errors import TransitionError
from complabel.transition import (
    check_transition,
    corrected_transition,
    initial_transition,
    label_correlation,
    phi_correlation,
    uniform_transition,
)


def algorithm_one(probabilities, complementary):
    """The paper's Algorithm 1, one number at a time."""
    n, n_labels = len(complementary), len(complementary[0])
    labels = range(n_labels)
    having = {k: [i for i in range(n) if not complementary[i][k]] for k in labels}
    initial = [
        [
            0 if j == k else sum(probabilities[i][j] for i in having[k]) / len(having[k])
            for j in labels
        ]
        for k in labels
    ]
    correlation = [
        [sum(i in having[j] for i in having[k]) / len(having[k]) for j in labels] for k in labels
    ]
    corrected = [
        [0 if j == k else sum(initial[k][m] * correlation[j][m] for m in labels) for j in labels]
        for k in labels
    ]
    transition = [[value / sum(row) for value in row] for row in corrected]
    return np.array(initial), np.array(correlation), np.array(transition)


@st.composite
def annotated_predictions(draw):
    """Random distributions and complementary sets, every label a candidate somewhere."""
    n_labels = draw(st.integers(3, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(0, 12))
    sizes = rng.integers(1, n_labels, size=n)
    rows = [np.isin(np.arange(n_labels), rng.permutation(n_labels)[:size]) for size in sizes]
    complementary = np.array([*rows, *np.eye(n_labels, dtype=bool)[:2]], dtype=np.uint8)
    return rng.dirichlet(np.ones(n_labels), size=n + 2), complementary


@given(annotated_predictions())
def test_all_three_matrices_equal_algorithm_one_by_loops(case):
    predicted, complementary = case
    given = predicted.copy(), complementary.copy()
    initial, correlation, transition = algorithm_one(predicted.tolist(), complementary.tolist())
    found_initial = initial_transition(predicted, complementary)
    found_correlation = label_correlation(complementary)
    np.testing.assert_allclose(found_initial, initial, rtol=1e-12)
    np.testing.assert_allclose(found_correlation, correlation, rtol=1e-12)
    found = corrected_transition(found_initial, found_correlation)
    np.testing.assert_allclose(found, transition, rtol=1e-12)
    np.testing.assert_array_equal(check_transition(found, n_labels=len(found)), found)
    alone = corrected_transition(found_initial)
    np.testing.assert_array_equal(alone, corrected_transition(found_initial, np.eye(len(found))))
    for each, same in zip((predicted, complementary), given, strict=True):
        np.testing.assert_array_equal(each, same)


def test_single_precision_predictions_are_averaged_in_double():
    predicted = np.full((3000, 3), 1 / 3, dtype=np.float32)
    complementary = np.eye(3, dtype=np.uint8)[np.arange(3000) % 3]
    found = initial_transition(predicted, complementary)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, (1 - np.eye(3)) / 3, rtol=1e-7)


@given(st.lists(st.integers(1, 20), min_size=2, max_size=6))
def test_uniform_transition_gives_the_exact_choice_rates_when_one_label_is_relevant(weights):
    # All pairs (relevant k, complementary j != k) with p(k) as given and j uniform.
    n_labels, total = len(weights), sum(weights)
    rates = [Fraction(0)] * n_labels
    for k, j in permutations(range(n_labels), 2):
        rates[j] += Fraction(weights[k], total) / (n_labels - 1)
    assert sum(rates) == 1
    found = np.array(weights) / total @ uniform_transition(n_labels)
    np.testing.assert_allclose(found, [float(rate) for rate in rates], rtol=1e-12)


def test_phi_correlation_is_the_normalized_matthews_coefficient():
    rng = np.random.default_rng(0)
    complementary = np.eye(5, dtype=np.uint8)[rng.choice(5, size=80, p=[0.3, 0.3, 0.2, 0.1, 0.1])]
    phi = np.array(
        [
            [
                0 if j == k else matthews_corrcoef(complementary[:, k], complementary[:, j])
                for j in range(5)
            ]
            for k in range(5)
        ]
    )
    assert (phi <= 0).all()
    found = phi_correlation(complementary)
    np.testing.assert_allclose(found, phi / phi.sum(axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found >= 0).all()


@given(
    hnp.arrays(np.float64, (4, 4), elements=st.floats(0.01, 10)),
    hnp.arrays(np.float64, 4, elements=st.floats(0.01, 100)),
)
def test_normalizing_forgets_the_scale_of_rows_and_the_diagonal(matrix, scale):
    expected = corrected_transition(matrix)
    np.testing.assert_allclose(expected.sum(axis=1), 1)
    assert not np.diagonal(expected).any()
    other = corrected_transition(scale[:, None] * (matrix + np.diag(scale)))
    np.testing.assert_allclose(other, expected, rtol=1e-10)


UNIFORM = uniform_transition(3)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: uniform_transition(1), "at least 2"),
        (lambda: label_correlation(np.array([[1, 1, 0], [1, 0, 1]])), "label 0"),
        (lambda: initial_transition(np.full((1, 2), 0.5), np.array([[0, 1]])), "label 1"),
        (lambda: phi_correlation(np.array([[0, 1, 0], [0, 0, 1]])), "label 0"),
        (lambda: phi_correlation(np.array([[1, 1, 0], [1, 0, 1]])), "label 0"),
        # Two labels chosen independently of each other.
        (lambda: phi_correlation(np.array([[0, 0], [0, 1], [1, 0], [1, 1]])), ("label 0", "1")),
        (lambda: corrected_transition(np.diag([0.0, 5, 0])), ("label 0", "1", "2")),
        (lambda: corrected_transition(np.zeros((7, 7))), "label 0"),
        (lambda: corrected_transition(np.array([[0, np.nan], [1, 0]])), "label 0"),
        (lambda: corrected_transition(np.array([[0, 1, 1], [1, 0, 1], [2, -1, 0]])), "label 2"),
        (lambda: corrected_transition(UNIFORM, np.diag([-1.0, 1, 1])), ("label 1", "2")),
    ],
)
def test_what_has_no_transitions_is_refused(call, said):
    with raises(TransitionError, said):
        call()


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        (np.eye(3), ("label 0", "1", "2")),
        (uniform_transition(4), "shape (4, 4)"),
        (np.zeros(3), "shape"),
        ([["a"] * 3] * 3, "transition"),
        ([[0, 1], [1, 0, 0], [1]], "transition"),
        ([[0, 0.5, 0.5], [np.nan, 0, 1], [1, 0, 0]], ("nan", "row 1", "column 0")),
        ([[0, 0.5, 0.5], [1.5, 0, -0.5], [1, 0, 0]], "label 1"),
        ([[0, 0.5, 0.5], [1, 0, 0], [0.9, 0, 0]], "label 2"),
    ],
)
def test_a_given_transition_is_checked(matrix, said):
    with raises(TransitionError, said):
        check_transition(matrix, n_labels=3)


def test_a_given_transition_is_copied_and_may_be_in_single_precision():
    given = np.array([[0, 0.5, 0.5], [0.25, 0, 0.75], [1, 0, 0]])
    checked = check_transition(given, n_labels=3)
    checked[:] = 0
    assert given.sum() == 3
    third = np.float32([[0, 1 / 3, 2 / 3], [1 / 3, 0, 2 / 3], [1, 0, 0]])
    assert check_transition(third.tolist(), n_labels=3).dtype == np.float64
