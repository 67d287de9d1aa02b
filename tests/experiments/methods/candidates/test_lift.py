"""LIFT: centres, Platt scaling and the whole of one label against independent computations."""

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC, LinearSVC

from complabel.answers import UnchosenLabelWarning
from complabel.errors import InputError
from complabel.experiments.methods.candidates.lift import (
    LIFTClassifier,
    SquaredHingeSVC,
    _centers,
    _fit_label,
)
from complabel.simulate import draw_complementary

SOLVERS = pytest.mark.parametrize("solver", ["libsvm", "squared_hinge"])
MACHINES = {"libsvm": SVC(kernel="linear", C=1.0), "squared_hinge": SquaredHingeSVC(C=1.0)}
# LIBLINEAR penalizes b, the less the greater the constant that b multiplies.
SVMS = {
    "libsvm": SVC(kernel="linear"),
    "squared_hinge": LinearSVC(dual=False, intercept_scaling=100, tol=1e-8, max_iter=10_000),
}


def problem(seed=0, n=120, d=4, n_labels=4):
    """Features, complementary labels and new instances."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = (X @ rng.normal(size=(d, n_labels)) > 0).astype(int)
    Y[Y.sum(axis=1) == 0, 0] = 1
    Y[Y.all(axis=1), 1] = 0
    return X, draw_complementary(Y, random_state=seed), rng.normal(size=(25, d))


def split(n_candidates, n_others):
    return np.repeat([True, False], [n_candidates, n_others])


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_centres_are_the_means_of_the_instances_nearest_to_them(as_given):
    X = np.random.default_rng(0).normal(size=(200, 3))
    candidate = split(150, 50)
    centers = _centers(X, as_given(X), candidate, ratio=0.2, seed=0).reshape(2, 10, 3)
    for side, own in zip((X[candidate], X[~candidate]), centers, strict=True):
        nearest = cdist(side, own).argmin(axis=1)
        assert_allclose(own, [side[nearest == c].mean(axis=0) for c in range(10)], atol=1e-10)


@SOLVERS
def test_one_label_equals_scikit_learns_calibrated_machine_on_the_same_distances(solver):
    X, complementary, new = problem()
    candidate = complementary[:, 0] == 0
    centers, logit = _fit_label(X, X, candidate, machine=MACHINES[solver], ratio=0.2, seed=7)
    phi, phi_new = (cdist(of, centers) for of in (X, new))
    oracle = CalibratedClassifierCV(
        SVMS[solver],
        method="sigmoid",
        ensemble=False,
        cv=StratifiedKFold(5, shuffle=True, random_state=7),
    ).fit(phi, candidate)
    found = expit(cdist(new, centers) @ logit.coef + logit.intercept)
    assert_allclose(found, oracle.predict_proba(phi_new)[:, 1], atol=2e-3)


@SOLVERS
def test_the_logit_is_linear_in_the_distances_to_the_labels_own_training_centres(solver):
    X, complementary, new = problem()
    classifier = LIFTClassifier(solver=solver, random_state=0).fit(X, complementary)
    for label in range(4):
        own = classifier.center_label_ == label
        smaller = np.bincount(complementary[:, label], minlength=2).min()
        assert own.sum() == 2 * np.ceil(0.1 * smaller)
        logit = cdist(new, classifier.centers_[own]) @ classifier.coef_[own]
        logit += classifier.intercept_[label]
        assert_allclose(classifier.decision_function(new)[:, label], logit, atol=1e-6)
    assert_allclose(classifier.predict_proba(new), expit(classifier.decision_function(new)))
    assert_array_equal(classifier.predict(new), classifier.predict_proba(new) >= 0.5)
    one_by_one = np.vstack([classifier.decision_function(x) for x in new[:, None]])
    assert_allclose(one_by_one, classifier.decision_function(new), atol=1e-6)


def test_a_posterior_of_one_half_predicts_the_label():
    X, complementary, new = problem()
    classifier = LIFTClassifier(random_state=0).fit(X, complementary)
    classifier.coef_ = 0 * classifier.coef_
    classifier.intercept_ = 0 * classifier.intercept_
    assert_array_equal(classifier.predict_proba(new), 0.5)
    assert classifier.predict(new).all()


def test_a_label_with_one_side_only_is_certain():
    X = np.random.default_rng(0).normal(size=(20, 2))
    complementary = np.repeat([[1, 1, 0], [1, 0, 0]], 10, axis=0)
    with pytest.warns(UnchosenLabelWarning):
        classifier = LIFTClassifier(random_state=0).fit(X, complementary)
    posterior = classifier.predict_proba(X)
    assert_array_equal(posterior[:, [0, 2]], [[0, 1]] * 20)
    assert ((posterior[:, 1] > 0) & (posterior[:, 1] < 1)).all()
    assert np.unique(classifier.center_label_).tolist() == [1]


@SOLVERS
def test_with_one_instance_on_a_side_the_margin_is_the_logit(solver):
    X = np.random.default_rng(0).normal(size=(31, 2))
    machine, candidate = MACHINES[solver], split(30, 1)
    centers, logit = _fit_label(X, X, candidate, machine=machine, ratio=0.1, seed=0)
    phi = cdist(X, centers)
    margin = clone(SVMS[solver]).fit(phi, candidate).decision_function(phi)
    assert_allclose(cdist(X, centers) @ logit.coef + logit.intercept, margin, atol=1e-3)
    assert not hasattr(machine, "coef_")  # other labels are learned at the same time


@SOLVERS
def test_the_seed_fixes_the_scores_and_the_number_of_jobs_does_not_matter(solver):
    X, complementary, new = problem()
    fits = [LIFTClassifier(solver=solver, random_state=3).fit(X, complementary) for _ in range(2)]
    generator = np.random.default_rng(3)
    fits.append(LIFTClassifier(solver=solver, random_state=generator).fit(X, complementary))
    with joblib.parallel_config(backend="threading"):
        parallel = LIFTClassifier(solver=solver, random_state=3, n_jobs=2)
        fits.append(parallel.fit(X, complementary))
    first, *others = (fitted.decision_function(new) for fitted in fits)
    for other in others:
        assert_array_equal(other, first)
    another = LIFTClassifier(solver=solver, random_state=4).fit(X, complementary)
    assert (another.decision_function(new) != first).any()


@SOLVERS
@pytest.mark.parametrize("kind", ["numbers", "words"])
def test_csr_single_precision_and_booleans_are_the_same_features(solver, kind):
    X, complementary, new = problem()
    if kind == "words":  # many rows are alike, and k-means has ties to break
        X, new = X > 0.3, new > 0.3
    forms = [np.float32, sparse.csr_array, lambda of: sparse.csr_array(of.astype(np.float32))]
    if kind == "words":
        forms += [lambda of: of]
    # Numbers that single precision holds exactly.
    X, new = X.astype(np.float32).astype(float), new.astype(np.float32).astype(float)
    expected = LIFTClassifier(solver=solver, random_state=0).fit(X, complementary)
    for form in forms:
        given, given_new = form(X), form(new)
        if kind == "words" and form is forms[-1]:
            given, given_new = sparse.csr_array(X.astype(bool)), sparse.csr_array(new.astype(bool))
        fitted = LIFTClassifier(solver=solver, random_state=0).fit(given, complementary)
        assert_array_equal(fitted.decision_function(given_new), expected.decision_function(new))


@pytest.mark.parametrize(
    ("scale", "solver", "message"),
    [
        (1e30, "libsvm", "X has distances to cluster centres of up to .*e.30, too large for the"),
        (1e100, "squared_hinge", "X has distances to cluster centres of up to .*e.100, too large"),
        (1e200, "libsvm", "X holds values up to .*e.200, whose squares overflow; scale"),
        (1e200, "squared_hinge", "X holds values up to .*e.200, whose squares overflow; scale"),
    ],
)
def test_refuses_features_too_large(scale, solver, message):
    X, complementary, _ = problem()
    with pytest.raises(InputError, match=message):
        LIFTClassifier(solver=solver, random_state=0).fit(scale * X, complementary)


def test_features_that_are_mostly_0_get_the_centres_of_dense_ones():
    words = (np.random.default_rng(0).random((600, 40)) < 0.08).astype(float)
    candidate = split(400, 200)
    dense, fast = (
        _centers(words, given, candidate, ratio=0.2, seed=0)
        for given in (words, sparse.csr_array(words))
    )
    assert_allclose(fast, dense, atol=1e-12)
