"""Results of the theory that are made up, but for a small survey."""

import numpy as np
from research.theory import (
    CRITERIA,
    WORLDS,
    JointDistribution,
    MatrixCost,
    RiskCurve,
    TheoryResults,
    check_theorem_1,
    survey_theory,
    uniform_choice,
    worked_example,
)

LABELS = ("a<b", "sea & sky")
SIZES = (100, 1000, 10_000)


def made_up(*, with_data=True):
    """Everything that a page can show."""
    always = JointDistribution.dependent([[0, 0, 1]], n_labels=3)
    curves = [
        RiskCurve(world, method, criterion, SIZES, np.full((2, 3), 0.01), limit, slope, 0.25)
        for world in WORLDS
        for criterion in CRITERIA
        if world == "several labels" or criterion == "squared"
        for method, limit, slope in (("supervised", 0.0, -1.0), ("MLCL, exact T", 0.125, 0.0))
    ]
    costs = [
        MatrixCost(
            dataset, scheme, matrix, LABELS, np.full((2, 2), far), np.full(2, good), 9, 1
        )
        for dataset in ("digits", "<b>mine</b>")
        for scheme in ("uniform", "biased")
        for matrix, far, good in (
            ("S", 0.25, 0.5), ("S C'", 0.125, 0.625), ("uniform", 0.375, 0.75), ("exact", 0, 0.875)
        )
    ]  # fmt: skip
    return TheoryResults(
        findings=survey_theory(20, random_state=0),
        counterexample=check_theorem_1(always, uniform_choice(3)),
        figure=worked_example(),
        curves=tuple(curves),
        costs=tuple(costs) if with_data else (),
        n_distributions=20,
        n_repeats=2,
        n_folds=2,
        seed=0,
        seconds=1.5,
    )
