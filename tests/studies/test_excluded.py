"""Datasets with labels that were ruled out: kept whole, and measured where there is a ranking."""

import dataclasses

import numpy as np
import pytest

from complabel import metrics
from complabel.datasets import make_synthetic, save_file
from complabel.studies import Row, run_fold
from complabel.studies._data import fetch
from complabel.studies._fold import fit_fold

RIDGE = Row(method="ridge")


@pytest.fixture
def dataset():
    """With rows of none and of all labels; nothing is excluded from the latter."""
    made = make_synthetic(90, random_state=0)
    Y = made.Y.copy()
    Y[::5], Y[1::9] = 0, 1
    return dataclasses.replace(made, Y=Y, excluded=1 - Y)


def test_a_file_is_kept_whole_only_with_excluded_labels(tmp_path, dataset):
    path = tmp_path / "mine.npz"
    save_file(dataset, path)
    assert fetch("mine", str(path)).n_samples == 90
    save_file(dataclasses.replace(dataset, excluded=None), path)
    n_relevant = dataset.Y.sum(axis=1)
    assert fetch("mine", str(path)).n_samples == ((n_relevant > 0) & (n_relevant < 6)).sum() < 90


def test_rows_with_nothing_to_rank_train_and_count_in_no_ranking_criterion(dataset):
    # One label of each row, which does not apply; by mistake it does where all of them apply.
    shaken = dataset.Y + np.random.default_rng(0).random(dataset.Y.shape) / 2
    named = np.eye(6, dtype=np.uint8)[shaken.argmin(axis=1)]
    known = {"fold": 1, "folds": 3, "seed": 0}
    fitted = fit_fold(dataset, named, RIDGE, **known)
    measured = run_fold(dataset, named, RIDGE, **known).metrics
    assert len(fitted.train) == 60
    test = dataset.Y[fitted.test]
    kept = test.any(axis=1) & ~test.all(axis=1)
    assert 0 < kept.sum() < 30
    expected = metrics.ranking_loss(test[kept], fitted.probabilities[kept])
    assert measured["ranking_loss"] == pytest.approx(expected)
    assert measured["ranking_loss"] != metrics.ranking_loss(test, fitted.probabilities)
    assert measured["hamming_loss"] == metrics.hamming_loss(test, fitted.predicted)
