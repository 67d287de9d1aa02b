"""How many examples a property test draws, and examples for several rooms."""

import hypothesis
import numpy as np
from hypothesis import strategies as st

USUAL = 50  # in the profile that is loaded by default


def examples(usual, **settings):
    """Return settings with this many examples, and as many times more as the profile has."""
    scale = hypothesis.settings().max_examples / USUAL
    return hypothesis.settings(max_examples=round(usual * scale), **settings)


@st.composite
def relevant_sets(draw):
    """Draw labels of 1 to 15 instances, of which some apply and some do not."""
    n_labels = draw(st.integers(3, 8))
    codes = draw(st.lists(st.integers(1, 2**n_labels - 2), min_size=1, max_size=15))
    return (np.array(codes)[:, np.newaxis] >> np.arange(n_labels)) & 1
