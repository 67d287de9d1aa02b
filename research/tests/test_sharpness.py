"""How sharply labels were chosen: recovered from draws, and against loops, SciPy and simulation."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from research.sharpness import estimate_sharpness
from scipy import optimize, sparse, stats
from tests.examples import examples

from complabel.answers import indicator_from_indices
from complabel.errors import AnnotationError, InputError
from complabel.simulate import draw_complementary

SMALL = np.array(
    [
        [1, 0, 0, 0],
        [1, 1, 0, 0],
        [0, 1, 0, 1],
        [0, 0, 1, 0],
        [1, 0, 1, 0],
        [0, 1, 0, 0],
        [1, 0, 0, 1],
    ]
)
CHOSEN = [2, 3, 0, 0, 1, 2, 1]


def correlated(n, n_labels=6, seed=0):
    """Relevant sets in which neighbouring labels go together."""
    rng = np.random.default_rng(seed)
    centres = rng.random(n)[:, np.newaxis] * n_labels
    Y = (np.abs(centres - np.arange(n_labels) - 0.5) < rng.uniform(0.6, 1.4, (n, 1))).astype(int)
    Y[Y.sum(axis=1) == 0, 0] = 1
    return Y


def choices(Y):
    """For each row, log(1 - r_j) of the labels that do not apply, by the definition."""
    rows = []
    for row in Y:
        rates = {}
        for j in np.flatnonzero(row == 0):
            shares = [Y[Y[:, k] == 1, j].mean() for k in np.flatnonzero(row)]
            rates[int(j)] = math.log(1 - sum(shares) / len(shares))
        rows.append(rates)
    return rows


def log_likelihood(sharpness, Y, chosen):
    """Row by row, label by label."""
    total = 0.0
    for rates, label in zip(choices(Y), chosen, strict=True):
        weights = {j: math.exp(sharpness * rate) for j, rate in rates.items()}
        total += math.log(weights[label] / sum(weights.values()))
    return total


def test_a_small_case_by_loops():
    found = estimate_sharpness(SMALL, indicator_from_indices(CHOSEN, 4), against=1.5)
    best = optimize.minimize_scalar(
        lambda s: -log_likelihood(s, SMALL, CHOSEN),
        bounds=(-60, 60),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert found.sharpness == pytest.approx(best.x, rel=1e-5)
    ratio = 2 * (-best.fun - log_likelihood(1.5, SMALL, CHOSEN))
    assert found.likelihood_ratio == pytest.approx(ratio, rel=1e-8)
    assert found.p_value == pytest.approx(stats.chi2.sf(ratio, 1), rel=1e-8)
    step = 1e-3  # the information is the curvature
    three = [log_likelihood(found.sharpness + d, SMALL, CHOSEN) for d in (-step, 0, step)]
    curvature = -(three[0] - 2 * three[1] + three[2]) / step**2
    assert found.standard_error == pytest.approx(curvature**-0.5, rel=1e-4)
    half = stats.norm.ppf(0.975) * found.standard_error
    assert found.interval() == pytest.approx((found.sharpness - half, found.sharpness + half))


def test_the_distance_of_the_counts_by_loops():
    Y, seed = correlated(60, n_labels=4), 5
    drawn = draw_complementary(Y, scheme="biased", sharpness=2.0, random_state=seed)
    found = estimate_sharpness(Y, drawn)
    V, b, expected = np.zeros((4, 4)), np.zeros(4), np.zeros(4)
    information = 0.0
    for rates in choices(Y):
        weights = {j: math.exp(found.sharpness * rate) for j, rate in rates.items()}
        q = np.array([weights.get(j, 0.0) for j in range(4)]) / sum(weights.values())
        rate = np.array([rates.get(j, 0.0) for j in range(4)])
        one = np.diag(q) - np.outer(q, q)
        V += one
        b += one @ rate
        information += rate @ one @ rate
        expected += q
    # Any three of the four counts tell the fourth, so that this covariance has an inverse.
    covariance = (V - np.outer(b, b) / information)[:3, :3]
    off = (drawn.sum(axis=0) - expected)[:3]
    assert found.degrees_of_freedom == 3
    assert found.chi_square == pytest.approx(off @ np.linalg.solve(covariance, off), rel=1e-8)
    assert found.fit_p_value == pytest.approx(stats.chi2.sf(found.chi_square, 3), rel=1e-8)


@pytest.mark.parametrize("sharpness", [0.0, 0.5, 1.0, 4.0])
def test_a_known_sharpness_is_found_again(sharpness):
    Y = correlated(4000)
    drawn = draw_complementary(Y, scheme="biased", sharpness=sharpness, random_state=1)
    found = estimate_sharpness(Y, drawn, against=sharpness)
    assert abs(found.sharpness - sharpness) < 3 * found.standard_error
    assert found.standard_error < 0.2
    assert found.p_value > 1e-3
    assert found.fit_p_value > 1e-3
    low, high = found.interval(0.997)
    assert low < sharpness < high
    other = estimate_sharpness(Y, drawn, against=sharpness + 2)
    assert other.p_value < 1e-6


@pytest.mark.slow
def test_p_values_are_as_likely_as_they_say():
    Y = correlated(250)
    found = [
        estimate_sharpness(
            Y,
            draw_complementary(Y, scheme="biased", sharpness=1.0, random_state=seed),
            against=1.0,
        )
        for seed in range(300)
    ]
    for name in ("p_value", "fit_p_value"):
        assert stats.kstest([getattr(each, name) for each in found], "uniform").pvalue > 1e-3
    standardized = [(each.sharpness - 1) / each.standard_error for each in found]
    assert stats.kstest(standardized, "norm").pvalue > 1e-3


@examples(30)
@given(seed=st.integers(0, 2**32 - 1), sharpness=st.floats(0, 3))
def test_order_and_form_play_no_part(seed, sharpness):
    Y = correlated(80, seed=seed)
    drawn = draw_complementary(Y, scheme="biased", sharpness=sharpness, random_state=seed)
    found = estimate_sharpness(Y, drawn)
    rng = np.random.default_rng(seed)
    rows, labels = rng.permutation(80), rng.permutation(6)
    other = estimate_sharpness(
        sparse.csr_array(Y[rows][:, labels]), sparse.csr_array(drawn[rows][:, labels])
    )
    assert dataclasses.astuple(other) == pytest.approx(dataclasses.astuple(found), rel=1e-6)


def test_a_label_that_occurs_often_with_the_relevant_ones_gives_a_negative_sharpness():
    Y = correlated(2000)
    rates = choices(Y)
    rng = np.random.default_rng(0)
    nearest = [min(row, key=row.get) for row in rates]
    anything = [rng.choice([*row]) for row in rates]
    mixed = np.where(rng.random(len(Y)) < 0.5, nearest, anything)
    found = estimate_sharpness(Y, indicator_from_indices(mixed, 6))
    assert found.interval()[1] < 0
    assert found.p_value < 1e-9


def test_a_far_sharpness_is_compared_without_overflow():
    found = estimate_sharpness(SMALL, indicator_from_indices(CHOSEN, 4), against=1e6)
    assert 1e3 < found.likelihood_ratio < np.inf
    assert found.p_value == 0


@pytest.mark.parametrize(
    ("Y", "chosen", "message"),
    [
        ([[1, 0, 0], [0, 1, 0]], [[0, 1, 1], [1, 0, 0]], "marks several labels in row 0; the"),
        ([[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 0]], "marks no label in row 1"),
        ([[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 1, 0]], "as complementary and as relevant"),
        ([[1, 0, 0], [1, 1, 0]], [[0, 0, 1], [0, 0, 1]], "occurs least with its relevant ones"),
        ([[1, 0, 0], [1, 1, 0]], [[0, 1, 0], [0, 0, 1]], "occurs most with its relevant ones"),
        ([[1, 1, 0], [0, 1, 1]], [[0, 0, 1], [1, 0, 0]], "occurs equally with its relevant ones"),
        ([[1, 0, 0]], [[0, 1, 0], [0, 1, 0]], "shape"),
    ],
    ids=["several", "none", "relevant", "least", "most", "no-choice", "shapes"],
)
def test_what_tells_nothing_is_refused(Y, chosen, message):
    with pytest.raises(AnnotationError, match=message):
        estimate_sharpness(Y, chosen)


def test_parameters_are_checked():
    chosen = indicator_from_indices(CHOSEN, 4)
    with pytest.raises(InputError, match="against must be a finite number"):
        estimate_sharpness(SMALL, chosen, against=np.inf)
    with pytest.raises(InputError, match="level must be"):
        estimate_sharpness(SMALL, chosen).interval(1.0)
