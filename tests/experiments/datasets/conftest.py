import pytest


@pytest.fixture(autouse=True)
def nothing_at_hand(monkeypatch, tmp_path_factory):
    """Keep what lies in the user's own directories out of these tests."""
    monkeypatch.delenv("COMPLABEL_DATA", raising=False)
    monkeypatch.setattr(
        "platformdirs.user_cache_path", lambda name: tmp_path_factory.getbasetemp() / "cache" / name
    )


@pytest.fixture
def limited(monkeypatch):
    """Lower the number of bytes that any file may unpack to."""

    def lower(n_bytes):
        monkeypatch.setattr("complabel._opening._LEAST_LIMIT", n_bytes)
        monkeypatch.setattr("complabel._opening._MOST_SHRUNK", 0)

    return lower
