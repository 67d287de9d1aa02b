"""ComRank: what it orders by, and its rule."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit

from complabel import metrics
from complabel.annotations import draw_complementary
from complabel.datasets import load_dataset
from complabel.methods import ComRankClassifier


def problem(seed=0, n=120, d=5, n_labels=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4 * n, d))
    Y = (X @ rng.normal(size=(d, n_labels)) > 0).astype(int)
    size = Y.sum(axis=1)
    usable = np.flatnonzero((size > 0) & (size < n_labels))[:n]
    return X[usable], Y[usable], draw_complementary(Y[usable], random_state=seed)


def test_orders_labels_by_how_unlikely_they_are_to_be_complementary():
    # Three kinds of instances, each with known chances of the complementary label.
    counts = np.array([[50, 30, 20, 0], [0, 10, 35, 55], [25, 60, 5, 10]])
    X = np.repeat(np.eye(3), 100, axis=0)
    chosen = np.concatenate([np.repeat(np.arange(4), row) for row in counts])
    complementary = np.eye(4, dtype=int)[chosen]
    model = ComRankClassifier(learning_rate=0.1, epochs=100, weight_decay=1e-4, random_state=0).fit(
        X, complementary
    )
    ranks = model.decision_function(np.eye(3)).argsort(axis=1)
    assert_array_equal(ranks, (-counts).argsort(axis=1))


def test_learns_the_relevant_labels():
    X, Y, complementary = problem(n=400)
    model = ComRankClassifier(learning_rate=0.1, epochs=40, random_state=0)
    model.fit(X[:300], complementary[:300])
    rarely_chosen = np.tile(-complementary[:300].sum(axis=0), (100, 1))
    found = metrics.average_precision(Y[300:], model.decision_function(X[300:]))
    assert found > metrics.average_precision(Y[300:], rarely_chosen) + 0.1


def test_predicts_the_upper_half_of_the_range_of_scores():
    X, _, complementary = problem()
    model = ComRankClassifier(epochs=5, learning_rate=0.1, random_state=0).fit(X, complementary)
    scores = expit(X @ model.coef_.T + model.intercept_)
    assert_allclose(model.predict_proba(X), scores, rtol=1e-12)
    assert_array_equal(model.predict(X), metrics.threshold_minmax(scores))


def test_sparse_equals_dense_and_a_seed_its_repetition():
    X, _, complementary = problem()
    X[np.abs(X) < 0.5] = 0
    settings = {"epochs": 5, "learning_rate": 0.1, "random_state": 3}
    dense = ComRankClassifier(**settings).fit(X, complementary).predict_proba(X)
    again = ComRankClassifier(**settings).fit(X, complementary).predict_proba(X)
    rows = sparse.csr_array(X)
    found = ComRankClassifier(**settings).fit(rows, complementary).predict_proba(rows)
    assert_array_equal(again, dense)
    assert_allclose(found, dense, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "learning_rate", "average_precision"), [("scene", 0.01, 0.80), ("yeast", 0.1, 0.71)]
)
def test_real_data_stays_at_the_level_measured(dataset, learning_rate, average_precision, data_dir):
    data = load_dataset(dataset, data_dir=data_dir)
    complementary = draw_complementary(data.Y, random_state=0)
    held_out = np.arange(len(data.Y)) % 5 == 0
    model = ComRankClassifier(learning_rate=learning_rate, random_state=0)
    model.fit(data.X[~held_out], complementary[~held_out])
    scores = model.decision_function(data.X[held_out])
    found = metrics.average_precision(data.Y[held_out], scores)
    assert found == pytest.approx(average_precision, abs=0.02)
