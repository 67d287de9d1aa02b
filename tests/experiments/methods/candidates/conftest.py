import tracemalloc

import numpy as np
import pytest

from complabel.datasets import make_synthetic
from complabel.simulate import draw_complementary


@pytest.fixture(scope="module")
def problem():
    return make_synthetic(1200, n_features=6, n_labels=5, signal=6.0, random_state=1)


@pytest.fixture(scope="module")
def complementary(problem):
    return draw_complementary(problem.Y, random_state=1)


@pytest.fixture
def turned():
    """Orthonormal rows (6, 8001), with which features become many; X^T X would take 512 MB."""
    rows = np.linalg.qr(np.random.default_rng(0).normal(size=(8001, 6)))[0].T
    tracemalloc.start()
    yield rows
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**27
