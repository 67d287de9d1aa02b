"""What the pages about the theory work out by hand or store is what the code computes."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from research.theory import (
    JointDistribution,
    check_consistency,
    exact_transition,
    uniform_choice,
)
from research.theory._simulation import simulate_once

from benchmarks._results import read
from complabel.transition import uniform_transition

EVIDENCE = Path(__file__).parents[3] / "docs" / "evidence"
PAGE = (EVIDENCE / "theory-matrix.md").read_text(encoding="utf-8")


def test_the_example_of_theorem_6():
    pairs = JointDistribution(np.full(3, 1 / 3), np.eye(6)[[2, 4, 5]])
    T = exact_transition(pairs, uniform_choice(3))
    np.testing.assert_allclose(T, uniform_transition(3))
    found = check_consistency(pairs, uniform_choice(3), T)
    np.testing.assert_allclose(found.minimizer[0], [2 / 3, 2 / 3, 0], atol=1e-5)
    # Cross-entropy and squared error at f = (a, a, 0), where fbar = (a/2, a/2, a):
    # -2 log(1 - a/2) - log a and a^2/2 + (1 - a)^2 have their least value at the same a.
    a = Fraction(2, 3)
    assert 1 / (1 - a / 2) == 1 / a
    assert a == 2 * (1 - a)


def test_the_example_of_figure_2_is_on_the_page():
    S_12, S_13, C_23, C_32 = (Fraction(*each) for each in ((3, 7), (2, 5), (3, 7), (1, 2)))
    T_12, T_13 = S_12 + S_13 * C_23, S_13 + S_12 * C_32
    assert f"{T_12 / (T_12 + T_13)} < T<sub>13</sub> = {T_13 / (T_12 + T_13)}" in PAGE


@pytest.mark.slow
def test_the_stored_limits_are_those_of_the_simulation():
    limits = simulate_once("several labels", [None])
    stored = read("theory").table("part=simulation,world=several labels")["limit"].droplevel("part")
    for method in ("MLCL, exact T", "MLCL, T estimated", "MLCL, uniform T"):
        for criterion in ("squared", "ranking"):
            found = stored.xs((method, criterion), level=("method", "criterion")).item()
            assert found == pytest.approx(limits[method, criterion][0], rel=1e-4)
