"""What every method of the registry promises."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.methods.small import (
    COMPLEMENTARY,
    LEARNERS,
    N_FEATURES,
    N_LABELS,
    N_SAMPLES,
    PROBLEM,
    brief,
    targets_of,
)

from complabel import metrics
from complabel.errors import InputError
from complabel.methods import METHODS, ComplementaryClassifier
from complabel.simulate import draw_complementary

X = np.where(np.abs(PROBLEM.X) < 0.3, 0.0, PROBLEM.X)

every_method = pytest.mark.parametrize("name", METHODS)
every_learner = pytest.mark.parametrize("name", LEARNERS)


def fitted(name):
    return brief(name).fit(X, targets_of(name))


@every_method
def test_outputs_have_their_shapes_types_and_ranges(name):
    classifier = fitted(name)
    decision, probability = classifier.decision_function(X), classifier.predict_proba(X)
    predicted = classifier.predict(X)
    for output in (decision, probability, predicted):
        assert output.shape == (N_SAMPLES, N_LABELS)
    assert decision.dtype == probability.dtype == np.float64
    assert np.isfinite(decision).all()
    assert probability.min() >= 0
    assert probability.max() <= 1
    assert predicted.dtype == np.int64
    assert set(np.unique(predicted)) <= {0, 1}
    assert classifier.n_features_in_ == N_FEATURES
    np.testing.assert_array_equal(classifier.classes_, range(N_LABELS))
    assert isinstance(classifier.score(X, targets_of(name)), float)


@every_method
def test_decision_and_probability_order_labels_alike(name):
    classifier = fitted(name)
    decision, probability = classifier.decision_function(X), classifier.predict_proba(X)
    for scores, chances in zip(decision, probability, strict=True):
        assert (np.diff(chances[np.argsort(scores, kind="stable")]) >= -1e-12).all()


@every_method
def test_the_same_seed_gives_the_same_scores(name):
    first, second = fitted(name), fitted(name)
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    again = first.fit(X, targets_of(name))
    np.testing.assert_array_equal(again.decision_function(X), second.decision_function(X))


@every_method
def test_a_clone_is_unfitted_and_fits_to_the_same_scores(name):
    classifier = fitted(name)
    copy = clone(classifier)
    assert copy.get_params() == classifier.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(X)
    expected = classifier.decision_function(X)
    copy.fit(X, targets_of(name))
    np.testing.assert_array_equal(copy.decision_function(X), expected)


@every_method
def test_a_pickled_method_scores_the_same(name):
    classifier = fitted(name)
    loaded = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(loaded.decision_function(X), classifier.decision_function(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), classifier.predict_proba(X))
    targets = targets_of(name)
    assert loaded.score(X, targets) == classifier.score(X, targets)


@every_method
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_features_give_the_scores_of_dense_ones(name, kind):
    classifier, targets = brief(name), targets_of(name)
    expected = classifier.fit(X, targets).decision_function(X)
    rows = kind(X)
    found = brief(name).fit(rows, targets)
    np.testing.assert_allclose(found.decision_function(rows), expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found.decision_function(X), expected, rtol=1e-3, atol=1e-3)


@every_method
def test_labels_may_come_as_lists_booleans_or_sparse(name):
    targets = targets_of(name)
    expected = fitted(name).decision_function(X)
    for form in (targets.tolist(), targets.astype(bool), sparse.csr_array(targets)):
        found = brief(name).fit(X.tolist(), form).decision_function(X)
        np.testing.assert_array_equal(found, expected)


@every_method
def test_what_a_method_is_given_stays_as_it_was(name):
    features, targets = X.copy(), targets_of(name).copy()
    classifier = brief(name).fit(features, targets)
    classifier.predict(features)
    classifier.score(features, targets)
    np.testing.assert_array_equal(features, X)
    np.testing.assert_array_equal(targets, targets_of(name))


@every_learner
def test_relevant_labels_stay_as_they_were(name):
    relevant = np.zeros_like(targets_of(name))
    brief(name).fit(X, targets_of(name), relevant=relevant)
    assert not relevant.any()


def test_a_reference_takes_no_relevant_labels_beside_those_it_learns_from():
    targets = targets_of("supervised")
    with pytest.raises(InputError, match="takes the relevant labels as y; leave out"):
        brief("supervised").fit(X, targets, relevant=targets)


@every_learner
def test_several_complementary_labels_per_row_are_accepted(name):
    kept = PROBLEM.Y.sum(axis=1) <= N_LABELS - 2
    several = draw_complementary(PROBLEM.Y[kept], asked_for=2, random_state=0)
    assert (several.sum(axis=1) == 2).all()
    classifier = brief(name).fit(X[kept], several)
    assert np.isfinite(classifier.decision_function(X)).all()
    assert np.isfinite(classifier.score(X[kept], several))


@every_method
@pytest.mark.filterwarnings("ignore::complabel.answers.ClassPerRowWarning")
@pytest.mark.parametrize("dtype", [int, str])
def test_one_class_per_row_is_predicted_as_one_class_per_row(name, dtype):
    classes = np.array([3, 5, 7, 9]).astype(dtype)
    y = classes[COMPLEMENTARY.argmax(axis=1)]
    classifier = brief(name).fit(X, y)
    np.testing.assert_array_equal(classifier.classes_, classes)
    predicted, probability = classifier.predict(X), classifier.predict_proba(X)
    assert predicted.shape == (N_SAMPLES,)
    np.testing.assert_array_equal(predicted, classes[probability.argmax(axis=1)])
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert np.isfinite(classifier.score(X, y))
    column = brief(name).fit(X, y.reshape(-1, 1))
    np.testing.assert_array_equal(column.predict(X), predicted)


@every_learner
def test_one_class_per_row_is_the_complementary_label(name):
    of_classes = brief(name).fit(X, COMPLEMENTARY.argmax(axis=1))
    np.testing.assert_array_equal(
        of_classes.decision_function(X), fitted(name).decision_function(X)
    )


@every_learner
def test_works_in_a_pipeline_and_under_cross_validation(name):
    pipeline = make_pipeline(StandardScaler(), brief(name))
    pipeline.fit(X, COMPLEMENTARY)
    scaled = StandardScaler().fit_transform(X)
    alone = brief(name).fit(scaled, COMPLEMENTARY)
    np.testing.assert_array_equal(pipeline.predict(X), alone.predict(scaled))
    scores = cross_val_score(pipeline, X, COMPLEMENTARY, cv=3, error_score="raise")
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()


class ByNearness(ComplementaryClassifier):
    """A method as somebody might add it: scores by the distance to a label's mean."""

    def _fit(self, X, labels, known):
        self.centres_ = (labels.T @ X) / labels.sum(axis=0)[:, None]

    def _decision(self, X):
        return np.linalg.norm(X[:, None, :] - self.centres_[None], axis=2) - 2.0


def test_a_method_without_likelihood_is_scored_by_its_ranking_error():
    classifier = ByNearness().fit(X, COMPLEMENTARY)
    decision = classifier.decision_function(X)
    expected = -metrics.complementary_ranking_error(COMPLEMENTARY, decision)
    assert classifier.score(X, COMPLEMENTARY) == pytest.approx(expected)
    assert -1 < expected < 0
    np.testing.assert_array_equal(classifier.predict(X), decision > 0)
    np.testing.assert_allclose(classifier.predict_proba(X), 1 / (1 + np.exp(-decision)))


@every_learner
def test_a_higher_score_is_a_better_fit(name):
    classifier = brief(name)
    if "epochs" in classifier.get_params():
        classifier.set_params(epochs=100)
    classifier.fit(X, COMPLEMENTARY)
    # Other labels handed over as the complementary ones must look worse.
    others = [np.roll(COMPLEMENTARY, shift, axis=1) for shift in range(1, N_LABELS)]
    worse = np.mean([classifier.score(X, other) for other in others])
    assert classifier.score(X, COMPLEMENTARY) > worse
