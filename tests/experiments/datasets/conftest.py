import pytest


@pytest.fixture(autouse=True)
def nothing_at_hand(monkeypatch, tmp_path_factory):
    """Keep what lies in the user's own directories out of these tests."""
    monkeypatch.delenv("COMPLABEL_DATA", raising=False)
    monkeypatch.setattr(
        "platformdirs.user_cache_path", lambda name: tmp_path_factory.getbasetemp() / "cache" / name
    )
