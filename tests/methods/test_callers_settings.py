"""Whatever the caller's program has set for all of torch or NumPy, figures are the same."""

import contextlib
import functools
import warnings

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal
from scipy import sparse
from tests.methods.small import brief, targets_of

from complabel.answers import AssumedUniformWarning
from complabel.datasets import make_synthetic
from complabel.experiments.methods import CTLClassifier
from complabel.methods import METHODS
from complabel.simulate import draw_complementary


@contextlib.contextmanager
def default_type(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextlib.contextmanager
def warnings_as_errors():
    with warnings.catch_warnings(action="error"):
        warnings.simplefilter("ignore", AssumedUniformWarning)  # said of every free naming
        yield


SETTINGS = {
    "float64 by default": lambda: default_type(torch.float64),
    "another device by default": lambda: torch.device("meta"),
    "no gradients": torch.no_grad,
    "inference": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "floating point errors": lambda: np.errstate(all="raise"),
    "warnings as errors": warnings_as_errors,
}
# Methods without gradient descent are tried with these; the other settings belong to torch alone.
FOR_ALL = ("float64 by default", "floating point errors", "warnings as errors")
KINDS = {"dense": np.asarray, "CSR": sparse.csr_array, "network": np.asarray}
CASES = [(name, "dense", setting) for name in METHODS for setting in FOR_ALL]
CASES += [
    (name, kind, setting)
    for name in ("mlcl", "gdf", "ccmn")
    for kind in KINDS
    for setting in SETTINGS
    if (name, kind, setting) not in CASES
]


def outcome(name, kind):
    """All that a method returns on a small problem."""
    problem = make_synthetic(50, n_features=4, n_labels=4, signal=6.0, random_state=1)
    complementary = draw_complementary(problem.Y, random_state=1)
    X = KINDS[kind](problem.X)
    network = {"network": torch.nn.Linear, "solver": "adam"} if kind == "network" else {}
    classifier = brief(name, epochs=2, kernel="linear", scaling="global", **network)
    classifier.fit(X, targets_of(name, problem.Y, complementary))
    return (
        classifier.decision_function(X),
        classifier.predict_proba(X),
        classifier.predict(X),
        classifier.score(X, complementary),
    )


usual_outcome = functools.cache(outcome)


@pytest.mark.parametrize(("name", "kind", "setting"), CASES)
def test_every_method_is_the_same(name, kind, setting):
    expected = usual_outcome(name, kind)
    with SETTINGS[setting]():
        found = outcome(name, kind)
    for value, same in zip(found, expected, strict=True):
        assert_array_equal(value, same)


def test_the_callers_settings_are_as_they_were():
    with default_type(torch.float64):
        outcome("mlcl", "network")
        assert torch.get_default_dtype() == torch.float64
    with torch.no_grad():
        outcome("mlcl", "network")
        assert not torch.is_grad_enabled()


def test_scores_far_apart_raise_no_floating_point_error():
    problem = make_synthetic(50, n_features=4, n_labels=4, signal=6.0, random_state=1)
    complementary = draw_complementary(problem.Y, random_state=1)
    X = 1000 * problem.X
    with np.errstate(all="raise"):
        decision = CTLClassifier(epochs=40, random_state=0).fit(X, complementary)
        assert np.isfinite(decision.decision_function(X)).all()
