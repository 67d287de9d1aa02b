import pytest


@pytest.fixture
def full_batches(monkeypatch):
    """Minimize by L-BFGS where few cells would be fitted by Newton's method."""
    monkeypatch.setattr("complabel.methods.selection._trials._FEW_CELLS", 0)
