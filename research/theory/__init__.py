"""Exact computations that check the paper's theory, for few labels and finitely many x."""

from research.theory._assumption import Assumption, check_assumption
from research.theory._choice import (
    check_choice,
    cooccurrence_choice,
    propensity_choice,
    random_choice,
    uniform_choice,
)
from research.theory._consistency import Consistency, check_consistency
from research.theory._example import Figure2, worked_example
from research.theory._joint import JointDistribution
from research.theory._label_sets import label_sets
from research.theory._real_data import MatrixCost
from research.theory._run import TheoryResults, run_theory
from research.theory._sample import Sample
from research.theory._simulation import CRITERIA, WORLDS, RiskCurve
from research.theory._survey import Finding, survey_theory
from research.theory._tally import Tally
from research.theory._theorem_1 import Theorem1, check_theorem_1
from research.theory._theorem_2 import Theorem2, check_theorem_2
from research.theory._transition import (
    EstimatedTransitions,
    complementary_probabilities,
    distortion,
    estimated_transitions,
    exact_transition,
    multiclass_transition,
)

__all__ = [
    "CRITERIA",
    "WORLDS",
    "Assumption",
    "Consistency",
    "EstimatedTransitions",
    "Figure2",
    "Finding",
    "JointDistribution",
    "MatrixCost",
    "RiskCurve",
    "Sample",
    "Tally",
    "Theorem1",
    "Theorem2",
    "TheoryResults",
    "check_assumption",
    "check_choice",
    "check_consistency",
    "check_theorem_1",
    "check_theorem_2",
    "complementary_probabilities",
    "cooccurrence_choice",
    "distortion",
    "estimated_transitions",
    "exact_transition",
    "label_sets",
    "multiclass_transition",
    "propensity_choice",
    "random_choice",
    "run_theory",
    "survey_theory",
    "uniform_choice",
    "worked_example",
]
