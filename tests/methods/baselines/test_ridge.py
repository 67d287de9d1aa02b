"""Ridge regression of the complementary indicator."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse
from sklearn.linear_model import Ridge

from complabel.datasets import make_synthetic
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import split_folds
from complabel.methods import ComplementaryRidgeClassifier, PriorClassifier
from complabel.methods.baselines import ridge
from complabel.metrics import average_precision, evaluate
from complabel.simulate import draw_complementary

PROBLEM = make_synthetic(400, n_features=8, n_labels=5, random_state=1)
X, Y = PROBLEM.X, PROBLEM.Y
COMPLEMENTARY = draw_complementary(Y, random_state=0)
# The covariance factorized, or conjugate gradients.
WAYS = pytest.mark.parametrize(
    "most_columns", [3000, 0], ids=["direct", "iterative"], indirect=True
)
FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])


@pytest.fixture
def most_columns(request, monkeypatch):
    monkeypatch.setattr(ridge, "MAX_FORMED_FEATURES", request.param)


def prediction(classifier, features):
    """Undo the decision 1/2 - prediction / c."""
    return classifier.irrelevant_rate_ * (0.5 - classifier.decision_function(features))


def table_of_errors(classifier):
    """Penalties and ranks tried, and the mean squared error of each pair, one row per penalty."""
    results = classifier.cv_results_
    alphas = results["param_alpha"][:: len(set(results["param_rank"]))]
    ranks = results["param_rank"][: len(results["param_rank"]) // len(alphas)]
    assert_array_equal(results["param_alpha"], np.repeat(alphas, len(ranks)))
    assert_array_equal(results["param_rank"], np.tile(ranks, len(alphas)))
    return alphas, ranks, -results["mean_test_score"].reshape(len(alphas), len(ranks))


def scikit_learns(features, targets, *, alpha):
    """The same objective: penalty per instance, on features divided by their root mean variance."""
    spread = np.var(features, axis=0).mean()
    return Ridge(alpha=alpha * spread * len(features)).fit(features, targets)


@WAYS
@FORMS
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
def test_full_rank_is_scikit_learns_ridge(form, alpha, most_columns):
    classifier = ComplementaryRidgeClassifier(alpha=alpha, rank=None)
    classifier.fit(form(X), COMPLEMENTARY)
    expected = scikit_learns(X, COMPLEMENTARY, alpha=alpha).predict(X)
    assert_allclose(prediction(classifier, form(X)), expected, atol=1e-6)
    assert not hasattr(classifier, "cv_results_")
    assert (classifier.alpha_, classifier.rank_) == (alpha, 5)


@WAYS
@pytest.mark.parametrize("rank", [1, 2])
def test_no_map_of_that_rank_has_a_lower_objective(rank, most_columns):
    alpha = 0.5
    classifier = ComplementaryRidgeClassifier(alpha=alpha, rank=rank).fit(X, COMPLEMENTARY)
    centred = (X - X.mean(axis=0)) / np.var(X, axis=0).mean() ** 0.5
    targets = COMPLEMENTARY - COMPLEMENTARY.mean(axis=0)

    def objective(weights):
        loss = np.sum((targets - centred @ weights) ** 2) / len(X)
        return loss + alpha * np.sum(weights**2)

    def of_factors(flat):
        left, right = np.split(flat, [8 * rank])
        return objective(left.reshape(8, rank) @ right.reshape(rank, 5))

    starts = np.random.default_rng(0).normal(scale=0.3, size=(2, 13 * rank))
    least = min(optimize.minimize(of_factors, start).fun for start in starts)
    found = -classifier.irrelevant_rate_ * classifier.coef_.T * np.var(X, axis=0).mean() ** 0.5
    assert np.linalg.matrix_rank(found, tol=1e-8) == rank
    assert objective(found) == pytest.approx(least, abs=1e-6)


@WAYS
@FORMS
def test_the_table_of_errors_is_that_of_held_out_predictions(form, most_columns):
    classifier = ComplementaryRidgeClassifier(alpha=2.0, cv=4, random_state=3)
    classifier.fit(form(X), COMPLEMENTARY)
    alphas, ranks, errors = table_of_errors(classifier)
    assert_array_equal(alphas, [2.0])
    assert_array_equal(ranks, [1, 2, 3, 4, 5])
    seed = int(np.random.default_rng(3).integers(2**31))
    parts = np.array_split(np.random.RandomState(seed).permutation(len(X)), 4)
    for rank in (1, 3, 5):
        of_parts = []
        for part in parts:
            rest = np.setdiff1d(np.arange(len(X)), part)
            inner = ComplementaryRidgeClassifier(alpha=2.0, rank=rank)
            inner.fit(X[rest], COMPLEMENTARY[rest])
            residuals = COMPLEMENTARY[part] - prediction(inner, X[part])
            of_parts.append(np.sum(residuals**2) / len(part))
        assert errors[0, rank - 1] == pytest.approx(np.mean(of_parts), rel=1e-6)
        deviation = classifier.cv_results_["std_test_score"][rank - 1]
        assert deviation == pytest.approx(np.std(of_parts), rel=1e-4)
    order = classifier.cv_results_["rank_test_score"].argsort()
    assert (np.diff(errors[0, order]) >= 0).all()


@WAYS
def test_the_chosen_penalty_and_rank_have_the_least_error_and_lie_inside(most_columns):
    classifier = ComplementaryRidgeClassifier(random_state=0).fit(X, COMPLEMENTARY)
    alphas, ranks, errors = table_of_errors(classifier)
    assert (np.diff(alphas) < 0).all()
    row, column = np.unravel_index(errors.argmin(), errors.shape)
    assert 0 < row < len(alphas) - 1
    assert classifier.alpha_ == alphas[row]
    assert errors[row, classifier.rank_ - 1] == pytest.approx(errors.min(), rel=1e-12)
    assert classifier.rank_ <= ranks[column]


def test_targets_that_are_predicted_exactly_are_found_though_their_error_is_rounding():
    classes = np.eye(3, dtype=int)
    features, complementary = classes.repeat(40, axis=0), classes[[1, 2, 0]].repeat(40, axis=0)
    classifier = ComplementaryRidgeClassifier(random_state=0).fit(features, complementary)
    assert_allclose(prediction(classifier, classes), classes[[1, 2, 0]], atol=1e-6)
    assert (classifier.cv_results_["mean_test_score"] <= 0).all()


@WAYS
@FORMS
def test_constant_features_leave_the_rates_of_choice(form, most_columns):
    classifier = ComplementaryRidgeClassifier(random_state=0)
    constant = np.full((len(X), 3), 0.1)
    classifier.fit(form(constant), COMPLEMENTARY)
    rates = COMPLEMENTARY.mean(axis=0)
    assert_allclose(prediction(classifier, form(constant)), np.tile(rates, (len(X), 1)), atol=1e-9)
    prior = PriorClassifier().fit(constant, COMPLEMENTARY)
    assert_array_equal(
        classifier.decision_function(form(constant[:1])).argsort(),
        prior.decision_function(constant[:1]).argsort(),
    )


def test_the_rate_of_choice_and_the_decision_worked_by_hand():
    # One label per row, rates 1/2, 1/4, 1/8, 1/8: the largest exceeds 1 / (K - 1) = 1/3.
    complementary = np.eye(4, dtype=int)[[0, 0, 0, 0, 1, 1, 2, 3]]
    classifier = ComplementaryRidgeClassifier(alpha=1.0, rank=None).fit(
        np.ones((8, 1)), complementary
    )
    assert classifier.irrelevant_rate_ == pytest.approx(1 / 2)
    # 1/2 - rate / c
    expected = [-1 / 2, 0, 1 / 4, 1 / 4]
    assert_allclose(classifier.decision_function([[1.0]]), [expected], atol=1e-15)
    assert_allclose(classifier.predict_proba([[1.0]]), 1 / (1 + np.exp(-4 * np.array([expected]))))
    # Two labels per row of four: 2 / 3 exceeds every rate.
    pairs = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
    classifier.fit(np.ones((4, 1)), pairs)
    assert classifier.irrelevant_rate_ == pytest.approx(2 / 3)


def test_wide_sparse_features_are_never_made_dense(never_dense):
    never_dense()
    rng = np.random.default_rng(0)
    cells = rng.choice(60 * 4000, size=2400, replace=False)
    at = np.unravel_index(cells, (60, 4000))
    wide = sparse.csr_array((rng.random(2400), at), shape=(60, 4000))
    complementary = np.eye(3, dtype=int)[np.arange(60) % 3]
    classifier = ComplementaryRidgeClassifier(random_state=0).fit(wide, complementary)
    assert classifier.coef_.shape == (3, 4000)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least_precision", "most_hamming"), [("scene", 0.776, 0.16), ("yeast", 0.70, 0.23)]
)
def test_real_data_reach_the_known_level(name, least_precision, most_hamming, data_dir):
    dataset = load_dataset(name, data_dir=data_dir)
    complementary = draw_complementary(dataset.Y, random_state=0)
    criteria, of_prior = [], []
    for train, test in split_folds(dataset, n_folds=10, seed=0)[:4]:
        classifier = ComplementaryRidgeClassifier(random_state=0)
        classifier.fit(dataset.X[train], complementary[train])
        held_out = dataset.X[test]
        criteria.append(
            evaluate(
                dataset.Y[test],
                classifier.decision_function(held_out),
                classifier.predict(held_out),
            )
        )
        prior = PriorClassifier().fit(dataset.X[train], complementary[train])
        of_prior.append(average_precision(dataset.Y[test], prior.decision_function(held_out)))
    precision = np.mean([fold["average_precision"] for fold in criteria])
    assert precision > max(least_precision, np.mean(of_prior))
    assert np.mean([fold["hamming_loss"] for fold in criteria]) < most_hamming
