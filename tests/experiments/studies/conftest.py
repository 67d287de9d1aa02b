import pytest
from tests.experiments.studies.small import Watched


@pytest.fixture
def seen():
    """What watched methods are given, and what the frame of their caller holds."""
    Watched.seen.clear()
    return Watched.seen
