"""Probabilities of events by sums of fractions over everything that can happen."""

from fractions import Fraction
from itertools import combinations

import numpy as np
from research.theory import JointDistribution


def all_sets(n_labels):
    """All label sets but the empty and the full one."""
    sizes = range(1, n_labels)
    return [frozenset(some) for size in sizes for some in combinations(range(n_labels), size)]


def place(labels):
    """The row of a label set in the arrays of the package."""
    return sum(2**label for label in labels) - 1


class World:
    """x, Y and ybar with rational probabilities; nothing here comes from the package."""

    def __init__(self, n_labels, weights, conditional, choice):
        """weights: p(x); conditional: for each x {Y: p}; choice: {Y: {label: p}}."""
        self.n_labels, self.weights, self.conditional = n_labels, weights, conditional
        self.choice = choice
        self.outcomes = [
            (x, Y, named, weight * chance * share)
            for x, weight in enumerate(weights)
            for Y, chance in conditional[x].items()
            for named, share in choice[Y].items()
            if weight * chance * share
        ]
        assert sum(chance for *_, chance in self.outcomes) == 1

    def mean(self, value, given=lambda x, Y, named: True):
        """E[value | given]; None if that never happens."""
        cases = [case for case in self.outcomes if given(*case[:3])]
        total = sum(case[3] for case in cases)
        return sum(case[3] * value(*case[:3]) for case in cases) / total if total else None

    def at(self, x):
        """The same with x given."""
        return World(self.n_labels, [Fraction(1)], [self.conditional[x]], self.choice)

    def named(self, j):
        """p(ybar_j)."""
        return self.mean(lambda x, Y, named: named == j)

    def transition(self):
        """The exact T; None where a label never applies."""
        labels = range(self.n_labels)
        return [
            [self.mean(lambda x, Y, n, j=j: n == j, lambda x, Y, n, k=k: k in Y) for j in labels]
            for k in labels
        ]

    def arrays(self):
        """The distribution and the rule as the package takes them."""
        n_sets = 2**self.n_labels - 2
        conditional = np.zeros((len(self.weights), n_sets))
        choice = np.zeros((n_sets, self.n_labels))
        for x, chances in enumerate(self.conditional):
            for Y, chance in chances.items():
                conditional[x, place(Y)] = chance
        for Y, shares in self.choice.items():
            for named, share in shares.items():
                choice[place(Y), named] = share
        return JointDistribution(np.array(self.weights, dtype=float), conditional), choice


def shares(weights):
    """Integers, not all 0, divided by their sum."""
    total = sum(weights)
    return [Fraction(int(weight), int(total)) for weight in weights]


def random_world(n_labels, seed, n_points=2, allowed=None, uniform=False):
    """A world with random small fractions; ``allowed`` limits the sets that occur."""
    rng = np.random.default_rng(seed)
    sets = all_sets(n_labels)
    possible = [Y for Y in sets if allowed is None or allowed(Y)]
    conditional = []
    for _ in range(n_points):
        chances = rng.integers(0, 4, size=len(possible))
        chances[rng.integers(len(possible))] += 1
        conditional.append(dict(zip(possible, shares(chances), strict=True)))
    choice = {}
    for Y in sets:
        outside = sorted(set(range(n_labels)) - Y)
        drawn = np.ones(len(outside)) if uniform else rng.integers(1, 5, size=len(outside))
        choice[Y] = dict(zip(outside, shares(drawn), strict=True))
    return World(n_labels, shares(rng.integers(1, 5, size=n_points)), conditional, choice)


def as_floats(rows):
    """Nested fractions as an array; None is NaN."""
    if isinstance(rows, list):
        return np.array([as_floats(row) for row in rows])
    return float("nan") if rows is None else float(rows)
