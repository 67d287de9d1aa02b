"""Joint distributions against sums by hand, and samples against their probabilities."""

from itertools import combinations

import numpy as np
import pytest
from research.theory import JointDistribution, cooccurrence_choice, label_sets, uniform_choice
from research.theory.tests.enumeration import all_sets, place

from complabel.errors import AnnotationError, InputError


def test_label_sets_are_the_bits_of_the_row_and_one():
    expected = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]]
    np.testing.assert_array_equal(label_sets(3), expected)
    assert not label_sets(3).flags.writeable


@pytest.mark.parametrize("n_labels", [1, 17, 2.5], ids=str)
def test_only_a_few_labels_have_all_their_sets_listed(n_labels):
    with pytest.raises(InputError, match="n_labels"):
        label_sets(n_labels)


def test_independent_labels_are_products_without_the_empty_and_the_full_set():
    p = np.array([[0.2, 0.5, 0.9], [0.6, 0.1, 0.3]])
    joint = JointDistribution.independent(p, weights=[0.25, 0.75])
    for x in range(2):
        chances = {
            Y: np.prod([p[x, k] if k in Y else 1 - p[x, k] for k in range(3)]) for Y in all_sets(3)
        }
        for Y, chance in chances.items():
            assert joint.conditional[x, place(Y)] == pytest.approx(chance / sum(chances.values()))
    np.testing.assert_allclose(
        joint.label_frequencies, 0.25 * joint.marginals[0] + 0.75 * joint.marginals[1]
    )


def test_the_ising_distribution_is_its_formula():
    rng = np.random.default_rng(0)
    h, J = rng.normal(size=(2, 4)), rng.normal(size=(4, 4))
    J = np.triu(J, 1) + np.triu(J, 1).T
    joint = JointDistribution.ising(h, J)
    for x in range(2):
        weight = {
            Y: np.exp(sum(h[x, k] for k in Y) + sum(J[j, k] for j, k in combinations(Y, 2)))
            for Y in all_sets(4)
        }
        for Y, value in weight.items():
            assert joint.conditional[x, place(Y)] == pytest.approx(value / sum(weight.values()))


def moments(joint, x):
    """Marginals and covariances at one x, by the definition."""
    sets, chances = label_sets(joint.n_labels), joint.conditional[x]
    mean = sum(chance * Y for chance, Y in zip(chances, sets, strict=True))
    second = sum(chance * np.outer(Y, Y) for chance, Y in zip(chances, sets, strict=True))
    return mean, second - np.outer(mean, mean)


@pytest.mark.parametrize("n_labels", [3, 4, 6])
def test_given_marginals_and_covariances_are_met(n_labels):
    given = JointDistribution.random(n_labels, n_points=2, random_state=n_labels)
    means, covariances = zip(*(moments(given, x) for x in range(2)), strict=True)
    fitted = JointDistribution.ising_with(means, covariances)
    for x in range(2):
        for found, expected in zip(moments(fitted, x), moments(given, x), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-8)


def test_the_moments_of_an_ising_distribution_lead_back_to_it():
    J = 0.7 * (1 - np.eye(4))
    given = JointDistribution.ising([[-1.0, 0.5, 0.2, -0.3]], J)
    mean, covariance = moments(given, 0)
    fitted = JointDistribution.ising_with([mean], covariance)
    np.testing.assert_allclose(fitted.conditional, given.conditional, atol=1e-6)


def test_moments_that_no_distribution_has_are_refused():
    marginals = [[0.4, 0.5, 0.45, 0.55], [0.1, 0.5, 0.45, 0.55]]
    covariances = np.full((2, 4, 4), -0.02)
    assert JointDistribution.ising_with(marginals[:1], covariances[:1]).n_labels == 4
    covariances[1, 0, 1] = covariances[1, 1, 0] = -0.06  # p(y_0 y_1) would be 0.05 - 0.06
    with pytest.raises(InputError, match=r"no Ising distribution .* at x 1"):
        JointDistribution.ising_with(marginals, covariances)


def test_dependent_labels_are_the_first_and_others_come_alone():
    narrow = JointDistribution.dependent([[0.2, 0.3, 0.5]], n_labels=4)
    wide = JointDistribution.dependent([[0.1, 0.2, 0.3]], n_labels=4, exclusive=[[0.15, 0.25]])
    expected = {(0,): 0.2, (1,): 0.3, (0, 1): 0.5}
    assert {Y: narrow.conditional[0, place(Y)] for Y in expected} == expected
    assert np.count_nonzero(narrow.conditional) == 3
    expected = {(0,): 0.1, (1,): 0.2, (0, 1): 0.3, (2,): 0.15, (3,): 0.25}
    assert {Y: wide.conditional[0, place(Y)] for Y in expected} == expected
    assert np.count_nonzero(wide.conditional) == 5


def test_an_empirical_distribution_counts_label_sets_in_groups():
    Y = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 0]])
    joint = JointDistribution.empirical(Y, groups=["b", "b", "a", "b"])
    np.testing.assert_array_equal(joint.weights, [0.25, 0.75])
    np.testing.assert_allclose(joint.conditional[0], np.eye(6)[place([2])])
    np.testing.assert_allclose(joint.conditional[1], [1 / 3, 0, 2 / 3, 0, 0, 0])
    np.testing.assert_allclose(JointDistribution.empirical(Y).label_frequencies, Y.mean(axis=0))


def test_random_distributions_keep_leading_axes_and_their_support():
    many = JointDistribution.random(4, n_points=3, size=(5, 2), random_state=0)
    assert many.weights.shape == (5, 2, 3)
    assert many.conditional.shape == (5, 2, 3, 14)
    pair = JointDistribution.random(4, n_dependent=2, random_state=0)
    assert set(np.flatnonzero(pair.conditional[0])) == {place(Y) for Y in ((0,), (1,), (0, 1))}
    wide = JointDistribution.random(4, n_dependent=2, exclusive=True, random_state=0)
    sets = ((0,), (1,), (0, 1), (2,), (3,))
    assert set(np.flatnonzero(wide.conditional[0])) == {place(Y) for Y in sets}


def test_samples_have_the_probabilities_they_are_drawn_by():
    joint = JointDistribution.random(4, n_points=3, concentration=0.3, random_state=1)
    choice = cooccurrence_choice(joint, sharpness=2)
    n = 200_000
    points, Y, complementary = joint.sample(n, choice, random_state=0)
    assert (complementary.sum(axis=1) == 1).all()
    assert not (Y & complementary).any()
    # Counts of all (x, Y, ybar) together, within 6 standard deviations of their means.
    expected = n * joint.weights[:, None, None] * joint.conditional[..., None] * choice
    rows = Y @ (1 << np.arange(4)) - 1
    counts = np.zeros_like(expected)
    np.add.at(counts, (points, rows, complementary.argmax(axis=1)), 1)
    assert (np.abs(counts - expected) <= 6 * np.sqrt(expected)).all()


def test_the_same_seed_draws_the_same_items():
    joint = JointDistribution.random(3, n_points=2, random_state=0)
    first, second = (joint.sample(50, uniform_choice(3), random_state=4) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_never_happens_is_never_drawn():
    joint = JointDistribution([0, 1, 0], np.eye(6)[[0, 2, 1]])
    points, Y, complementary = joint.sample(1000, uniform_choice(3), random_state=0)
    assert (points == 1).all()
    assert (Y == [1, 1, 0]).all()
    assert (complementary == [0, 0, 1]).all()


def test_the_callers_arrays_stay_as_they_are():
    weights, conditional = np.array([1.0]), np.eye(6)[:1]
    joint = JointDistribution(weights, conditional)
    weights[0] = conditional[0, 0] = 7
    assert joint.weights[0] == joint.conditional[0, 0] == 1
    assert not joint.conditional.flags.writeable


REFUSED = {
    "no sum of 1": (lambda: JointDistribution([0.5], np.eye(6)[:1]), "weights must be prob"),
    "a negative one": (lambda: JointDistribution([1], [[2, -1]]), "conditional must be prob"),
    "two p(x), one p(Y|x)": (lambda: JointDistribution([0.5, 0.5], np.eye(6)[:1]), "all axes"),
    "5 sets": (lambda: JointDistribution([1], np.eye(5)[:1]), "has 5 columns"),
    "p above 1": (lambda: JointDistribution.independent([[0.5, 1.5]]), "from 0 to 1"),
    "always empty": (lambda: JointDistribution.independent([[0, 0, 0]]), "no label set"),
    "one-sided couplings": (
        lambda: JointDistribution.ising(np.zeros((1, 2)), [[0, 1], [0, 0]]),
        "symmetric",
    ),
    "couplings with themselves": (
        lambda: JointDistribution.ising(np.zeros((1, 2)), np.eye(2)),
        "diagonal",
    ),
    "no other labels": (lambda: JointDistribution.dependent([[0, 0, 1]], n_labels=2), "s < 2"),
    "4 sets of a group": (
        lambda: JointDistribution.dependent([[0, 0, 0, 1]], n_labels=5),
        "non-empty sets",
    ),
    "groups of other items": (
        lambda: JointDistribution.empirical([[1, 0, 0]], groups=[1, 2]),
        "groups have shape",
    ),
    "many distributions": (
        lambda: JointDistribution.random(3, size=(2,)).sample(3, uniform_choice(3)),
        "without leading axes",
    ),
}


@pytest.mark.parametrize(("build", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_distribution_is_refused(build, message):
    with pytest.raises(InputError, match=message):
        build()


def test_an_item_without_relevant_labels_is_refused():
    with pytest.raises(AnnotationError):
        JointDistribution.empirical([[1, 0, 0], [0, 0, 0]])
