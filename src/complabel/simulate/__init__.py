"""Simulated people: complementary labels, answers and questions drawn from true labels."""

from complabel.simulate._draw_answers import draw_answers, draw_propensities
from complabel.simulate._draws import (
    SCHEMES,
    Scheme,
    cooccurrence,
    draw_complementary,
    draw_relevant,
)
from complabel.simulate._sharpness import SharpnessEstimate, estimate_sharpness

__all__ = [
    "SCHEMES",
    "Scheme",
    "SharpnessEstimate",
    "cooccurrence",
    "draw_answers",
    "draw_complementary",
    "draw_propensities",
    "draw_relevant",
    "estimate_sharpness",
]
