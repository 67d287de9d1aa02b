"""Matrices on data: the exact one by counting, and all of them put together."""

import dataclasses

import numpy as np
import pytest
from research.theory import _real_data as real_data
from research.theory import _run, run_theory

from complabel.datasets import MultiLabelDataset, make_digits, make_synthetic
from complabel.errors import InputError
from complabel.transition import uniform_transition


@pytest.fixture(scope="module")
def dataset():
    return make_synthetic(150, n_features=4, n_labels=4, random_state=0)


def test_the_uniform_matrix_is_as_far_as_counts_say(dataset):
    found = real_data.compare_fold(dataset, "uniform", 0, epochs=2)
    assert list(found) == list(real_data.MATRICES)
    np.testing.assert_allclose(found["exact"][0], 0, atol=1e-6)
    # T_kj: the mean, over training rows with label k, of the chance that j is named.
    from sklearn.model_selection import KFold

    train, _ = next(iter(KFold(3, shuffle=True, random_state=0).split(dataset.X)))
    Y = dataset.Y[train].astype(float)
    chance = (1 - Y) / (1 - Y).sum(axis=1, keepdims=True)
    T = np.array([chance[Y[:, k] == 1].mean(axis=0) for k in range(4)])
    expected = np.abs(T - uniform_transition(4)).sum(axis=0)
    np.testing.assert_allclose(found["uniform"][0], expected, rtol=1e-6)
    assert all(0 < precision <= 1 for _, precision in found.values())


def test_a_biased_draw_has_another_exact_matrix(dataset):
    uniform = real_data.compare_fold(dataset, "uniform", 1, epochs=1)
    biased = real_data.compare_fold(dataset, "biased", 1, epochs=1)
    assert (np.abs(uniform["uniform"][0] - biased["uniform"][0]) > 1e-3).any()


def test_groups_are_not_divided():
    digits = make_digits(60)
    found = real_data.compare_fold(digits, "uniform", 0, epochs=1)
    assert found["S"][0].shape == (10,)


def test_too_many_labels_are_refused():
    names = tuple(map(str, range(16)))
    wide = MultiLabelDataset("wide", np.eye(16), np.eye(16, dtype=np.uint8), names, names)
    with pytest.raises(InputError, match="has 16 labels; exact matrices take at most 15"):
        real_data.compare_fold(wide, "uniform", 0)
    with pytest.raises(InputError, match="has 16 labels"):
        run_theory([wide])


def test_folds_are_put_together(dataset):
    folds = [{name: (np.arange(4.0) + fold, 0.5 * fold) for name in real_data.MATRICES}
             for fold in (0, 1)]  # fmt: skip
    costs = real_data.matrix_costs(dataset, "biased", folds)
    assert [cost.matrix for cost in costs if cost.from_true_labels] == ["exact"]
    np.testing.assert_array_equal(costs[0].distortion, [[0, 1, 2, 3], [1, 2, 3, 4]])
    np.testing.assert_array_equal(costs[0].average_precision, [0, 0.5])


def test_everything_runs_and_tells_how_far_it_is(dataset, monkeypatch):
    called = []

    def compare(*given, **settings):
        called.append((given[1:], settings))
        return real_data.compare_fold(*given, **settings, epochs=1)

    monkeypatch.setattr(_run, "compare_fold", compare)
    monkeypatch.setattr(_run, "_QUICK", _run._Extent((50, 1000, 2000), 2, 1))
    monkeypatch.setattr("research.theory._simulation._N_POINTS", 100)
    monkeypatch.setattr("research.theory._simulation._N_SINGLE_POINTS", 4)
    told = []
    found = run_theory([dataset], n_distributions=20, quick=True, n_jobs=1, tell=told.append)
    assert [given for given, _ in called] == [("uniform", 0), ("biased", 0)]
    assert told[-1] == f"{len(told)} of {len(told)} parts"
    assert {curve.world for curve in found.curves} == {"several labels", "one label"}
    assert {curve.criterion for curve in found.curves if curve.world == "one label"} == {"squared"}
    assert len(found.costs) == 8
    assert (found.n_distributions, found.n_repeats, found.n_folds) == (20, 2, 1)
    np.testing.assert_allclose(found.counterexample.right, [[0, 0, 2]])
    with pytest.raises(InputError, match="jobs must be"):
        run_theory(n_jobs=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.seed = 1
