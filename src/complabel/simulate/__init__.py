"""Simulated people: complementary labels, answers and questions drawn from true labels."""

from complabel.simulate._draws import SCHEMES as SCHEMES
from complabel.simulate._draws import Scheme as Scheme
from complabel.simulate._draws import draw_complementary, draw_relevant
from complabel.simulate._draws import log_dissimilarity as log_dissimilarity
from complabel.simulate._questions import draw_answers, draw_propensities

__all__ = ["draw_answers", "draw_complementary", "draw_propensities", "draw_relevant"]
