"""A synthetic problem with much to learn, for methods that should learn it."""

import pytest

from complabel import metrics
from complabel.datasets import make_synthetic
from complabel.simulate import draw_complementary

TEST = slice(1000, None)


@pytest.fixture(scope="module")
def problem():
    return make_synthetic(1600, n_features=6, n_labels=5, signal=6.0, random_state=1)


@pytest.fixture(scope="module", name="X")
def _features(problem):
    return problem.X


@pytest.fixture(scope="module")
def relevant(problem):
    return problem.Y


@pytest.fixture(scope="module")
def complementary(relevant):
    return draw_complementary(relevant, random_state=1)


@pytest.fixture
def precision_of(X, relevant):
    """Average precision on the test rows, on true labels."""

    def of(classifier):
        return metrics.average_precision(relevant[TEST], classifier.decision_function(X[TEST]))

    return of
