"""Simulated people: complementary labels, answers and questions drawn from true labels."""

from complabel.simulate._draws import SCHEMES as SCHEMES
from complabel.simulate._draws import Scheme as Scheme
from complabel.simulate._draws import cooccurrence as cooccurrence
from complabel.simulate._draws import draw_complementary, draw_relevant
from complabel.simulate._questions import draw_answers, draw_propensities
from complabel.simulate._sharpness import SharpnessEstimate as SharpnessEstimate
from complabel.simulate._sharpness import estimate_sharpness

__all__ = [
    "draw_answers",
    "draw_complementary",
    "draw_propensities",
    "draw_relevant",
    "estimate_sharpness",
]
