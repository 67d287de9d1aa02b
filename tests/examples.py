"""How many examples a property test draws."""

import hypothesis

USUAL = 50  # in the profile that is loaded by default


def examples(usual, **settings):
    """Return settings with this many examples, and as many times more as the profile has."""
    scale = hypothesis.settings().max_examples / USUAL
    return hypothesis.settings(max_examples=round(usual * scale), **settings)
