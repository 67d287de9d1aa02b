"""Excess risks: by enumeration, as curves, and what small simulations show."""

import itertools

import numpy as np
import pytest
from research.theory import WORLDS
from research.theory import _simulation as simulation


def risks_by_enumeration(scores, p):
    """Ranking risk and Hamming loss of one x, over all label sets of independent labels."""
    ranking = hamming = 0.0
    pairs = [(i, j) for i in range(len(p)) for j in range(len(p)) if i != j]
    for Y in itertools.product([0, 1], repeat=len(p)):
        chance = np.prod([q if y else 1 - q for q, y in zip(p, Y, strict=True)])
        for i, j in pairs:
            if Y[i] > Y[j]:
                wrong = 0.5 if scores[i] == scores[j] else float(scores[i] < scores[j])
                ranking += chance * wrong / (len(pairs) / 2)
        hamming += chance * np.mean([(s > 0.5) != y for s, y in zip(scores, Y, strict=True)])
    return ranking, hamming


@pytest.mark.parametrize("scores", [[0.9, 0.1, 0.4], [0.2, 0.2, 0.7], [0.1, 0.6, 0.7]], ids=str)
def test_excess_is_over_the_truth(scores):
    p = [0.3, 0.6, 0.8]
    found = simulation.excess_risks(np.array([scores]), np.array([p]))
    ours, best = risks_by_enumeration(scores, p), risks_by_enumeration(p, p)
    assert found["ranking"][0] == pytest.approx(ours[0] - best[0], abs=1e-12)
    assert found["Hamming"][0] == pytest.approx(ours[1] - best[1], abs=1e-12)
    assert found["squared"][0] == pytest.approx(np.mean(np.subtract(scores, p) ** 2))


def test_a_slope_is_that_of_a_power():
    sizes = (100, 1000, 10_000, 100_000)
    repeats = [{("m", "squared"): [9.0, *(a / n for n in sizes[1:])]} for a in (2.0, 3.0)]
    (curve,) = simulation.risk_curves("several labels", sizes, repeats, {("m", "squared"): [0.0]})
    assert curve.slope == pytest.approx(-1)
    assert curve.slope_error == pytest.approx(0, abs=1e-12)
    assert curve.excess.shape == (2, 4)
    (short,) = simulation.risk_curves(
        "several labels", (100, 1000), [{("m", "squared"): [1.0, 0.1]}], {("m", "squared"): [0.0]}
    )
    assert np.isnan([short.slope, short.slope_error]).all()


@pytest.fixture
def small(monkeypatch):
    """Few points, which are fitted fast."""
    monkeypatch.setattr(simulation, "_N_POINTS", 200)
    monkeypatch.setattr(simulation, "_N_SINGLE_POINTS", 6)


@pytest.mark.usefixtures("small")
def test_limits_are_what_the_theory_says():
    several = simulation.simulate_once("several labels", [None])
    for method in ("supervised", "selection likelihood"):
        assert several[method, "squared"][0] < 1e-8
    for T in ("exact T", "T estimated", "uniform T"):
        assert several[f"MLCL, {T}", "squared"][0] > 0.01
    one = simulation.simulate_once("one label", [None])
    assert one["supervised", "squared"][0] < 1e-20
    assert one["MLCL, exact T", "squared"][0] < 1e-6


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("world", WORLDS)
def test_more_items_help_supervision(world):
    found = simulation.simulate_once(world, [100, 10_000])
    assert found["supervised", "squared"][1] < found["supervised", "squared"][0] / 10
    again = simulation.simulate_once(world, [100, 10_000])
    assert again == found
    other = simulation.simulate_once(world, [100, 10_000], repeat=1)
    assert other["supervised", "squared"] != found["supervised", "squared"]
