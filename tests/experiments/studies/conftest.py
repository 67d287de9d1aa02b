import inspect

import pytest

from complabel.methods import PriorClassifier


@pytest.fixture
def seen(monkeypatch):
    """What fit is given, and what the frame of its caller holds."""
    seen = []
    fit = PriorClassifier.fit

    def spying(self, X, y, **named):
        seen.append((X, y, named, dict(inspect.currentframe().f_back.f_locals)))
        return fit(self, X, y, **named)

    monkeypatch.setattr(PriorClassifier, "fit", spying)
    return seen
