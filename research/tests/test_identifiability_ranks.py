"""Ranks that the page gives: unknown numbers against shares, at random points."""

from functools import partial

import numpy as np
import pytest
from research.tests.enumeration import (
    both_apply,
    frequencies,
    independent,
    label_sets,
    menus,
    said,
    shares,
    table_after,
)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def rank(function, point):
    """Rank of the Jacobian; derivatives by a complex step are exact but for rounding."""
    steps = 1e-30j * np.eye(len(point))
    jacobian = np.array([function(point + step).imag / 1e-30 for step in steps])
    values = np.linalg.svd(jacobian, compute_uv=False)
    return int((values > 1e-11 * values[0]).sum())


def ranks(function, n_unknown, n_points=3):
    """Rank at random points, which is the same at each of them."""
    random = np.random.default_rng(0)
    (found,) = {rank(function, 0.7 * random.normal(size=n_unknown)) for _ in range(n_points)}
    return found


def unpack(theta, n_labels, *, with_w=False, with_e=False):
    """Return p, w and e of as many free numbers; e = sigmoid(a - 1.5)."""
    w, rest = np.ones(n_labels), theta[n_labels:]
    if with_w:
        w, rest = np.exp(np.append(0, rest[: n_labels - 1])), rest[n_labels - 1 :]
    return sigmoid(theta[:n_labels]), w, sigmoid(rest[0] - 1.5) if with_e else 0


def seen_only(answers):
    """Shares of the named labels, where "all of these apply" is not seen."""
    return answers[:-1] / answers[:-1].sum()


def test_2_free_naming_lacks_one_number():
    for n_labels in (3, 4, 5):
        assert ranks(lambda z: shares(independent(sigmoid(z))), n_labels) == n_labels
        assert ranks(lambda z: seen_only(shares(independent(sigmoid(z)))), n_labels) == n_labels - 1


def test_4_a_linear_model_is_determined_by_its_form():
    def answers(theta, values):
        each = [independent(sigmoid(theta[:3] * x + theta[3:])) for x in values]
        return np.concatenate([seen_only(shares(probabilities)) for probabilities in each])

    assert ranks(lambda theta: answers(theta, (-1, 1)), 6) == 4
    assert ranks(lambda theta: answers(theta, (-1, 0, 1)), 6) == 6
    common = np.zeros(3)
    for b in (-2, 0, 3):
        theta = np.append(common + 0.7, common + b)
        np.testing.assert_allclose(answers(theta, (-1, 0, 1)), 1 / 3)
    said("at two values of x has rank 4, at three values rank 6")


def named_twice(theta, n_labels, **which):
    """Shares of the pairs of labels that two people name about one item; all apply: left out."""
    p, w, e = unpack(theta, n_labels, **which)
    absent, probabilities = 1 - label_sets(n_labels), independent(p)
    some = absent.any(axis=1)
    mass = absent[some] * w
    each = (1 - e) * mass / mass.sum(axis=1, keepdims=True) + e / n_labels
    pairs = (each.T * probabilities[some] / probabilities[some].sum()) @ each
    return pairs[np.triu_indices(n_labels)]


@pytest.mark.parametrize("n_labels", [3, 4, 5])
def test_7_two_people_who_name_freely(n_labels):
    K = n_labels

    def found(n_unknown, **which):
        return ranks(lambda theta: named_twice(theta, K, **which), n_unknown)

    assert found(K) == K
    assert found(2 * K - 1, with_w=True) == 2 * K - 1
    assert found(K + 1, with_e=True) == K + 1
    assert found(2 * K, with_w=True, with_e=True) == (5 if K == 3 else 2 * K)
    for z in (-1.4, 0.0):
        alike = np.append(np.full(K, z), np.zeros(K - 1))
        assert rank(lambda theta: named_twice(theta, K), alike[:K]) == K
        assert rank(lambda theta: named_twice(theta, K, with_w=True), alike) == 2 * K - 1
    said("the ranks are K, and 2K - 1, for K = 3, 4, 5", "not for K = 3 (5 of 6)")


def two_names(theta, n_labels, *, with_w=False, few_seen=False):
    """Shares of the pairs that one person names, in any order."""
    p, w, _ = unpack(theta, n_labels, with_w=with_w)
    absent, probabilities = 1 - label_sets(n_labels), independent(p)
    mass, found = absent @ w, []
    for j, k in menus(n_labels, 2):
        on = (absent[:, j] * absent[:, k]) == 1
        first, second = w[j] / (mass[on] - w[k]), w[k] / (mass[on] - w[j])
        found.append((probabilities[on] / mass[on] * (w[k] * first + w[j] * second)).sum())
    found = np.array(found)
    if not few_seen:
        return found / found.sum()
    few = probabilities[absent.sum(axis=1) < 2]
    return np.append(found, few)


def test_8_one_person_names_two_labels():
    for row in table_after("**8."):
        K = int(row[0])
        told = [tuple(map(int, cell.split(" of "))) for cell in row[1:]]
        alike = np.append(np.full(K, -0.4), np.zeros(K - 1))
        equal, unequal = (partial(two_names, n_labels=K, with_w=with_w) for with_w in (False, True))
        assert told == [
            (ranks(equal, K), K),
            (ranks(unequal, 2 * K - 1), 2 * K - 1),
            (rank(unequal, alike), 2 * K - 1),
        ]
        assert ranks(partial(unequal, few_seen=True), 2 * K - 1) == 2 * K - 1


def asked_in_menus(theta, n_labels, size, **which):
    p, w, e = unpack(theta, n_labels, **which)
    probabilities = independent(p)
    each = [shares(probabilities, menu, w, e) for menu in menus(n_labels, size)]
    return np.concatenate(each)


def test_17_menus_of_independent_labels():
    for row in table_after("for p, w and e:"):
        K = int(row[0])
        assert not any(row[K:])
        for size, cell in enumerate(row[1:K], start=2):
            told = [tuple(map(int, part.split(" of "))) for part in cell.split(", ")]
            answers = partial(asked_in_menus, n_labels=K, size=size, with_w=True)
            assert told == [
                (ranks(answers, 2 * K - 1), 2 * K - 1),
                (ranks(partial(answers, with_e=True), 2 * K), 2 * K),
            ]


def pairs_of_dependent_labels(theta, n_labels, n_asked):
    """Shares of menus of two, and of "yes" about the first labels, from p, P(both) and w."""
    pairs = menus(n_labels, 2)
    p, both = theta[:n_labels], theta[n_labels : n_labels + len(pairs)]
    w = np.exp(np.append(0, theta[n_labels + len(pairs) :]))
    answers = list(p[:n_asked])
    for (j, k), r in zip(pairs, both, strict=True):
        neither = 1 - p[j] - p[k] + r
        answers += [r, p[k] - r + neither * w[j] / (w[j] + w[k])]
    return np.array(answers)


def test_16_menus_of_two_of_dependent_labels():
    random = np.random.default_rng(0)
    for row in table_after("With w unknown, ranks"):
        K = int(row[0])
        probabilities = random.dirichlet(np.ones(2**K))
        point = np.concatenate(
            [frequencies(probabilities), both_apply(probabilities), random.normal(size=K - 1)]
        )
        told = [tuple(map(int, cell.split(" of "))) for cell in row[1:]]
        assert told == [
            (rank(partial(pairs_of_dependent_labels, n_labels=K, n_asked=n), point), len(point))
            for n in (0, 1)
        ]
        w = np.exp(np.append(0, point[1 - K :]))
        enumerated = [shares(probabilities, pair, w)[[2, 0]] for pair in menus(K, 2)]
        np.testing.assert_allclose(
            pairs_of_dependent_labels(point, K, 0), np.concatenate(enumerated)
        )


@pytest.mark.parametrize("n_labels", [3, 4, 5])
def test_18_free_naming_and_yes_or_no_with_mistakes(n_labels):
    K = n_labels

    def answers(theta, **which):
        p, w, e = unpack(theta, K, with_e=True, **which)
        named = seen_only(shares(independent(p), w=w))
        return np.append((1 - e) * p + e / 2, (1 - e) * named + e / K)

    assert ranks(answers, K + 1) == K + 1
    assert ranks(lambda theta: answers(theta, with_w=True), 2 * K) == 2 * K - 1
    said("the rank is K + 1 of K + 1 if w is equal, and 2K - 1 of 2K")
