"""Count how often each statement of the paper's theory holds for random distributions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from research.theory._assumption import check_assumption
from research.theory._choice import cooccurrence_choice, random_choice, uniform_choice
from research.theory._consistency import check_consistency
from research.theory._joint import JointDistribution
from research.theory._tally import Tally
from research.theory._theorem_1 import check_theorem_1
from research.theory._theorem_2 import check_theorem_2
from research.theory._transition import (
    distortion,
    estimated_transitions,
    exact_transition,
    multiclass_transition,
)

from complabel._parameters import check_integer, check_random_state
from complabel.transition import uniform_transition

if TYPE_CHECKING:
    from numpy.typing import NDArray

_N_LABELS = (3, 5, 8)
_N_POINTS = 4
_DEPENDENT = (2, 3, 4, 5, 6)  # numbers of dependent labels, m of the corollary
_SHARE_SOLVED = 20  # minimizers take longest, so one in 20 distributions is solved for them


@dataclass(frozen=True)
class Finding:
    """The counts of one statement left >= right in one setting."""

    part: str
    """The part of the paper that the statement is about: "Theorem 1", "Assumption", ..."""
    statement: str
    """The statement, written as left >= right."""
    printed: bool
    """Whether the paper claims the statement. If False, it is a claim or a question of ours."""
    setting: str
    """The kind of distributions and choices, in words."""
    tally: Tally
    """How often the statement holds, and by how much."""


def survey_theory(
    n_distributions: int = 1000, *, random_state: int | np.random.Generator | None = 0
) -> tuple[Finding, ...]:
    """Count how often the statements of the paper and the corrected statements hold.

    Every count is over all x and complementary labels of the random distributions. The default
    number of distributions takes about half a minute on one core.

    Parameters
    ----------
    n_distributions : int, default=1000
        Number of distributions of each setting, at least 20. Minimizers are computed for one
        in 20 of them.
    random_state : int, numpy.random.Generator or None, default=0

    Returns
    -------
    tuple of Finding

    Raises
    ------
    InputError
        If ``n_distributions`` is less than 20.
    """
    check_integer("n_distributions", n_distributions, at_least=_SHARE_SOLVED)
    rng = check_random_state(random_state)
    findings: list[Finding] = []
    for setting, distribution, choice in _random_settings(n_distributions, rng):
        findings += _theorem_1(setting, distribution, choice)
        findings += _assumption(setting, distribution, choice)
        findings += _estimates(setting, distribution, choice)
    for n_dependent in _DEPENDENT:
        for exclusive in (False, True):
            findings += _theorem_2(n_distributions, n_dependent, exclusive, rng)
    for n_labels in _N_LABELS:
        findings += _theorem_6(n_distributions // _SHARE_SOLVED, n_labels, rng)
    return tuple(findings)


def _random_settings(
    size: int, rng: np.random.Generator
) -> Iterator[tuple[str, JointDistribution, NDArray[np.float64]]]:
    """Yield a setting in words, its distributions, and their rules p(ybar|Y)."""
    for n_labels in _N_LABELS:
        shape = (size, _N_POINTS, n_labels)
        couplings = np.triu(rng.normal(size=(size, 1, n_labels, n_labels)), 1)
        families = {
            "any": JointDistribution.random(
                n_labels, n_points=_N_POINTS, size=(size,), random_state=rng
            ),
            "few sets": JointDistribution.random(
                n_labels, n_points=_N_POINTS, size=(size,), concentration=0.1, random_state=rng
            ),
            "independent": JointDistribution.independent(rng.uniform(size=shape)),
            "Ising": JointDistribution.ising(
                rng.normal(size=shape), couplings + couplings.swapaxes(-1, -2)
            ),
        }
        for name, distribution in families.items():
            rules = {
                "uniform": uniform_choice(n_labels),
                "biased": cooccurrence_choice(distribution, sharpness=4),
                "any": random_choice(n_labels, size=(size,), random_state=rng),
            }
            for rule, choice in rules.items():
                yield f"K={n_labels}, p(Y|x) {name}, choice {rule}", distribution, choice


def _theorem_1(
    setting: str, distribution: JointDistribution, choice: NDArray[np.float64]
) -> Iterator[Finding]:
    """Count the inequality with one T and with the T of each x, its reverse, and a scaled one."""
    sides = check_theorem_1(distribution, choice)
    part = "Theorem 1"
    weights = distribution.weights[..., np.newaxis]
    mean_left, mean_right = (weights * sides.left).sum(-2), (weights * sides.right).sum(-2)
    scaled = sides.right / sides.cardinality
    for statement, printed, left, right in (
        ("p(ybar_j|x) >= sum_k T_kj p(y_k|x)", True, sides.left, sides.right),
        ("p(ybar_j|x) >= sum_k T_kj(x) p(y_k|x)", True, sides.left, sides.given_x),
        ("sum_k T_kj(x) p(y_k|x) >= p(ybar_j|x)", False, sides.given_x, sides.left),
        ("the same on average over x, with one T", False, mean_right, mean_left),
        ("p(ybar_j|x) >= sum_k T_kj p(y_k|x) / E[|Y| | x]", False, sides.left, scaled),
        ("the first, at all labels j of an x", True, (sides.left - sides.right).min(-1), 0.0),
    ):
        yield Finding(part, statement, printed, setting, Tally.of(left, right))


def _assumption(
    setting: str, distribution: JointDistribution, choice: NDArray[np.float64]
) -> Iterator[Finding]:
    """Count how far E[ybar|Y] is from T^T y over the label sets."""
    found = check_assumption(distribution, choice)
    for size, name in ((1, "|Y| = 1"), (2, "|Y| = 2")):
        away = found.distance[..., found.size == size]
        statement = f"0 >= sum_j |E[ybar_j|Y] - (T'y)_j| where {name}"
        yield Finding("Assumption", statement, True, setting, Tally.of(0.0, away))


def _estimates(
    setting: str, distribution: JointDistribution, choice: NDArray[np.float64]
) -> Iterator[Finding]:
    """Count how often the second of two estimates is nearer to the exact T than the first."""
    truth = exact_transition(distribution, choice)
    estimate = estimated_transitions(distribution, choice)
    uniform = uniform_transition(distribution.n_labels)
    multiclass = multiclass_transition(distribution, choice)[0]
    away = {
        name: distortion(truth, matrix).sum(axis=-1)
        for name, matrix in (
            ("S", _normalized(estimate.initial)),
            ("SC'", estimate.corrected),
            ("uniform", uniform),
            ("Q", multiclass),
        )
    }
    for worse, better in (("S", "SC'"), ("uniform", "SC'"), ("uniform", "S"), ("Q", "SC'")):
        statement = f"distortion of {worse} >= distortion of {better}"
        tally = Tally.of(away[worse], away[better])
        yield Finding("Estimates", statement, better == "SC'", setting, tally)


def _theorem_2(
    size: int, n_dependent: int, exclusive: bool, rng: np.random.Generator
) -> Iterator[Finding]:
    """Count the identity, and the bound with each reading of Q."""
    n_labels = max(_DEPENDENT) + 2
    distribution = JointDistribution.random(
        n_labels,
        n_points=_N_POINTS,
        size=(size,),
        n_dependent=n_dependent,
        exclusive=exclusive,
        random_state=rng,
    )
    part = "Theorem 2" if n_dependent == 2 else "Corollary"
    reading = "or one other label" if exclusive else "only"
    for rule, choice in (
        ("uniform", uniform_choice(n_labels)),
        ("any", random_choice(n_labels, size=(size,), random_state=rng)),
    ):
        setting = f"K={n_labels}, m={n_dependent} dependent {reading}, choice {rule}"
        sides = check_theorem_2(distribution, choice, n_dependent=n_dependent)
        for statement, printed, left, right in (
            ("T_zj >= its formula", True, sides.exact, sides.printed),
            ("1 >= the formula of T_zj", True, 1.0, sides.printed),
            ("T_zj >= Bayes' rule", False, sides.exact, sides.bayes),
            ("l_j >= bound, Q = p(ybar|x), T(x)", True, sides.distortion, sides.bound),
            ("l_j >= bound, Q = p(ybar|x), one T", True, sides.shared_distortion, sides.bound),
            ("l_j >= bound, Q by anchors, one T", True, sides.anchor_distortion, sides.bound),
            ("l_j >= |Cov(N, ybar_j|x)|", False, sides.distortion, np.abs(sides.covariance)),
            ("l_j >= 0 (its size)", False, sides.distortion, 0.0),
        ):
            yield Finding(part, statement, printed, setting, Tally.of(left, right))


def _theorem_6(size: int, n_labels: int, rng: np.random.Generator) -> Iterator[Finding]:
    """Count how far the minimizer of the complementary risk is from p(y|x)."""
    for kind in ("one label applies", "few sets", "independent"):
        found: dict[str, list[NDArray[np.float64]]] = {}
        for _ in range(size):
            distribution = _one_distribution(kind, n_labels, rng)
            choice = uniform_choice(n_labels)
            estimate = estimated_transitions(distribution, choice)
            for name, matrix in (
                ("exact T", exact_transition(distribution, choice)),
                ("T = SC'", estimate.corrected),
                ("T = S", _normalized(estimate.initial)),
                ("T uniform", uniform_transition(n_labels)),
            ):
                sides = check_consistency(distribution, choice, matrix)
                for what, values in (
                    (f"argmin = p(y|x), {name}", sides.error),
                    (f"argmin ~ p(y|x) up to a factor, {name}", sides.proportional_error),
                    (f"argmin ranks as p(y|x), {name}", sides.reversed_pairs),
                    (f"argmin > 1/2 where p(y|x) > 1/2, {name}", sides.wrong_labels),
                    (f"T'f = p(ybar|x) for some f, {name}", np.where(sides.reached, 0.0, 1.0)),
                ):
                    found.setdefault(what, []).append(values)
            found.setdefault("seldom named ranks as p(y|x)", []).append(sides.reversed_by_naming)
        setting = f"K={n_labels}, p(Y|x) {kind}, choice uniform"
        for what, lists in found.items():
            tally = Tally.of(0.0, np.concatenate(lists), tolerance=1e-5)
            yield Finding("Theorem 6", f"0 >= error: {what}", "exact" in what, setting, tally)


def _normalized(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide rows by their sums, which makes S a transition matrix without C."""
    return np.asarray(matrix / matrix.sum(axis=-1, keepdims=True))


def _one_distribution(kind: str, n_labels: int, rng: np.random.Generator) -> JointDistribution:
    """Draw a distribution at 2 K points x, which are enough for an invertible T."""
    n_points = 2 * n_labels
    if kind == "few sets":
        return JointDistribution.random(
            n_labels, n_points=n_points, concentration=0.1, random_state=rng
        )
    if kind == "independent":
        return JointDistribution.independent(rng.uniform(size=(n_points, n_labels)))
    single = np.zeros((n_points, 2**n_labels - 2))
    single[:, 2 ** np.arange(n_labels) - 1] = rng.dirichlet(np.ones(n_labels), n_points)
    return JointDistribution(np.full(n_points, 1 / n_points), single)
