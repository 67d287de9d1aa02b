import pytest

from complabel.experiments.datasets import CATALOG


@pytest.fixture(autouse=True)
def nothing_at_hand(monkeypatch, tmp_path_factory):
    """Keep what lies in the user's own directories out of these tests."""
    monkeypatch.delenv("COMPLABEL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def catalog(monkeypatch):
    """Put entries into the catalog as if they stood in catalog.toml."""
    name = "complabel.experiments.datasets._catalog.CATALOG"
    return lambda entries: monkeypatch.setattr(name, {**CATALOG, **entries})
