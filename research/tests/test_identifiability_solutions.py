"""What the page says of all solutions: curves and propensities are solved for, not looked up."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import torch
from research.tests.enumeration import (
    exact,
    frequencies,
    independent,
    label_sets,
    menus,
    said,
    shares,
    table_after,
)

from complabel.losses import selection_log_likelihood


def absent_sets(n_labels):
    """Label sets by what does not apply, the empty one left out."""
    absent = 1 - label_sets(n_labels)
    return absent[absent.any(axis=1)]


def least(derivatives, x):
    """Minimize a convex function by Newton's method; steps that are cut never overflow."""
    for _ in range(200):
        value, slope, curvature = derivatives(x)
        if np.abs(slope).max() < 1e-15:
            break
        step = np.linalg.lstsq(curvature, slope, rcond=1e-14)[0]
        step /= max(1, np.abs(step).max())
        while derivatives(x - step)[0] > value + 1e-9 * abs(value):
            step /= 2
        x = x - step
    return x


def solve_p(q, r, start=0.0):
    """Return p (K,) of independent labels with shares q (1 - r) and r: statement 2."""
    S, goal = absent_sets(len(q)), np.asarray(q) * (1 - r) / r
    sizes = S.sum(axis=1)

    def derivatives(x):
        each = np.exp(S @ x) / sizes
        return each.sum() - goal @ x, S.T @ each - goal, (S.T * each) @ S

    return 1 / (1 + np.exp(least(derivatives, np.full(len(q), start))))


def solve_w(probabilities, q):
    """Return w (K,), the first 1, that leads to q: statement 5. Return the error of q too."""
    S = absent_sets(len(q))
    chances = probabilities[: len(S)]  # the last label set is that of all labels

    def derivatives(v):
        mass = S * np.exp(v)
        each = mass / mass.sum(axis=1, keepdims=True)
        named = chances @ each
        value = chances @ np.log(mass.sum(axis=1)) - q @ v
        return value, named - q, np.diag(named) - (each.T * chances) @ each

    v = least(derivatives, np.zeros(len(q)))
    return np.exp(v - v[0]), np.abs(derivatives(v)[1]).max()


def test_2_the_loss_cannot_tell_the_ends_of_a_curve_from_its_middle():
    middle = np.array([0.1, 0.3, 0.5])
    answers = shares(independent(middle))
    probabilities = [middle, solve_p(answers[:-1] / (1 - answers[-1]), 0.3)]
    for p in probabilities:
        logits = torch.tensor(np.log(p / (1 - p))).expand(3, 3)
        likelihood = selection_log_likelihood(logits, torch.eye(3, dtype=torch.float64)).exp()
        expected = answers[:-1] / (1 - answers[-1])
        np.testing.assert_allclose(likelihood / (1 - p.prod()), expected, rtol=1e-10)


@pytest.mark.parametrize("row", [0, 1])
def test_2_the_curve_of_the_table(row):
    cells = table_after("is the same to 12 digits")[row]
    columns = [np.array(cell.split(), dtype=float) for cell in cells]
    p = columns[2]
    answers = shares(independent(p))
    r = [1e-6, answers[-1], 0.3]
    q = answers[:-1] / answers[:-1].sum()
    for given, told, cardinality in zip(r, columns[0::2], columns[1::2], strict=True):
        found = solve_p(q, given)
        again = shares(independent(found))
        assert again[-1] == pytest.approx(given, rel=1e-9)
        np.testing.assert_allclose(again[:-1] / again[:-1].sum(), q, rtol=1e-12)
        np.testing.assert_array_equal(found.round(3), told)
        assert round(found.sum(), 3) == cardinality
    np.testing.assert_allclose(solve_p(q, answers[-1]), p)


@pytest.mark.parametrize("seed", range(5))
def test_2_every_share_has_one_p_for_each_r(seed):
    random = np.random.default_rng(seed)
    q = random.dirichlet(np.ones(4))
    for r in (0.01, 0.5, 0.99):
        solutions = [solve_p(q, r, start) for start in (-2.0, 0.0, 1.0)]
        for p in solutions:
            np.testing.assert_allclose(shares(independent(p)), [*(q * (1 - r)), r], rtol=1e-8)
            np.testing.assert_allclose(p, solutions[0], rtol=1e-6)
    assert solve_p(q, 1 - 1e-6).sum() == pytest.approx(4, abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_5_the_shares_give_the_propensities_of_any_label_sets(seed):
    random = np.random.default_rng(seed)
    probabilities, w = random.dirichlet(np.ones(16)), np.exp(random.normal(size=4))
    q = shares(probabilities, w=w)[:-1]
    np.testing.assert_allclose(solve_w(probabilities, q)[0], w / w[0], rtol=1e-5)


def test_6_which_p_some_propensities_lead_to_a_share():
    random, n_fitting = np.random.default_rng(0), 0
    for _ in range(40):
        p, q = random.uniform(0.2, 0.8, size=3), random.dirichlet(np.full(3, 4.0))
        q *= 1 - p.prod()
        fits = _margin(p, q) > 0
        n_fitting += fits
        _, error = solve_w(independent(p), q)
        assert (error < 1e-6) == fits, (p, q)
    assert 5 < n_fitting < 35


def _margin(p, q):
    """Least excess of how often a group of labels is named over how often it must be."""
    probabilities, absent = independent(p), 1 - label_sets(len(p))
    groups = [np.array(g) for g in itertools.product((0, 1), repeat=len(p)) if 0 < sum(g) < len(p)]
    inside = [(absent.sum(axis=1) > 0) & (absent @ (1 - group) == 0) for group in groups]
    return min(group @ q - probabilities[i].sum() for group, i in zip(groups, inside, strict=True))


def test_6_probabilities_turned_round():
    p = exact("1/10", "3/10", "1/2")
    answers = shares(independent(p))
    assert list(answers) == list(exact("93/200", "63/200", "41/200", "3/200"))
    turned = np.array(p[::-1], dtype=float)
    w, error = solve_w(independent(turned), np.array(answers[:-1], dtype=float))
    assert error < 1e-9
    assert list(w.round(4)) == [1, 0.0835, 0.0203]
    np.testing.assert_allclose(shares(independent(turned), w=w), answers.astype(float), rtol=1e-7)
    said("q = (93/200, 63/200, 41/200) and r = 3/200", "with w = (1, 0.0835, 0.0203)")


@pytest.mark.parametrize(("n_labels", "size"), [(4, 3), (5, 2), (5, 4)])
def test_17_larger_menus_give_p(n_labels, size):
    p = exact(*[Fraction(k + 1, 7 + k) for k in range(n_labels)])
    every = {menu: shares(independent(p), menu)[-1] for menu in menus(n_labels, size)}
    common = tuple(range(2, size + 1))
    for j, k in ((0, 1), (1, 0)):
        ratio = every[tuple(sorted((j, *common)))] / every[tuple(sorted((k, *common)))]
        assert ratio == p[j] / p[k]


def test_17_mistakes_in_larger_menus():
    p, w = exact("1/2", "1/3", "1/4", "1/5", "2/3"), exact(1, 2, 3, "1/2", 1)
    e = Fraction("1/10")
    r = {menu: shares(independent(p), menu, w, e)[-1] for menu in menus(5, 3)}
    found = 4 * (r[0, 1, 4] * r[2, 3, 4] - r[0, 2, 4] * r[1, 3, 4])
    assert found / (r[0, 1, 4] + r[2, 3, 4] - r[0, 2, 4] - r[1, 3, 4]) == e


@pytest.mark.parametrize(
    ("n_labels", "size"), [(K, size) for K in (3, 4, 5) for size in range(2, K + 1)]
)
def test_17_larger_menus_do_not_give_the_cardinality_of_dependent_labels(n_labels, size):
    Y = label_sets(n_labels)
    given = [np.where(Y.sum(axis=1) == 0, 1.0, 0.0), (Y.sum(axis=1) == size - 1) * 1.0]
    for probabilities in given:
        probabilities /= probabilities.sum()
        for menu in menus(n_labels, size):
            expected = [1 / size] * size + [0]
            np.testing.assert_allclose(shares(probabilities, menu), expected, atol=1e-12)
    assert [frequencies(p).sum() for p in given] == pytest.approx([0, size - 1])
    seen = np.concatenate(
        [[shares(row, menu) for row in np.eye(len(Y))] for menu in menus(n_labels, size)], axis=1
    ).T

    def determined(quantity):
        ranks = map(np.linalg.matrix_rank, (seen, np.vstack([seen, quantity])))
        return len(set(ranks)) == 1

    assert not determined(Y.sum(axis=1))
    assert determined(Y[:, 0] - Y[:, 1]) == (size == 2)
    assert determined(Y[:, :size].prod(axis=1))
