"""Fixtures that tests of several rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

# A newcomer's scripts do their work when they are imported; tests/newcomer/session.py runs them.
collect_ignore_glob = ["newcomer/own_*.py"]

# Tests do not time anything; a busy machine must not fail them.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real benchmark data, beside the project or named by the environment."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("COMPLABEL_TEST_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is absent; set COMPLABEL_TEST_DATA to test with it")
    return folder
