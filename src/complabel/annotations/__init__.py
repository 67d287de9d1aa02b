"""Indicator matrices of labels: their checks, their other forms, and simulated draws."""

from complabel.annotations._checks import (
    IndicatorLike,
    UnchosenLabelWarning,
    check_complementary,
    check_indicator,
    check_relevant,
    warn_unchosen,
)
from complabel.annotations._cooccurrence import cooccurrence
from complabel.annotations._draws import draw_complementary, draw_relevant
from complabel.annotations._forms import (
    candidates_from_complementary,
    indicator_from_indices,
    indicator_from_names,
    indices_from_indicator,
    names_from_indicator,
)

__all__ = [
    "IndicatorLike",
    "UnchosenLabelWarning",
    "candidates_from_complementary",
    "check_complementary",
    "check_indicator",
    "check_relevant",
    "cooccurrence",
    "draw_complementary",
    "draw_relevant",
    "indicator_from_indices",
    "indicator_from_names",
    "indices_from_indicator",
    "names_from_indicator",
    "warn_unchosen",
]
