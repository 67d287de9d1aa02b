import pytest

from complabel.datasets import make_synthetic
from complabel.simulate import draw_complementary


@pytest.fixture(scope="module")
def problem():
    return make_synthetic(1200, n_features=6, n_labels=5, signal=6.0, random_state=1)


@pytest.fixture(scope="module")
def complementary(problem):
    return draw_complementary(problem.Y, random_state=1)
