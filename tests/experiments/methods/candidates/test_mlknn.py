"""ML-KNN: the worked example, the definition in loops, ties, and the level of the literature."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from tests.examples import examples

from complabel.experiments.methods.candidates import mlknn
from complabel.experiments.methods.candidates.mlknn import MLKNNClassifier

# By hand: with k = 2 the instances' neighbours carry the label 1, 1, 2, 1, 1 and 0 times.
LINE = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
LABEL = np.array([1, 1, 0, 0, 0, 1], dtype=np.uint8)
QUERIES = np.array([[0.4], [11.6], [10.4]])
POSTERIORS = [1 / 3, 1 / 2, 2 / 3]


def searcher_over(X, **settings):
    """Fitted with a label for each row, so that what is counted names the neighbours."""
    searcher = MLKNNClassifier(**settings)
    searcher._fit_labels(X, np.eye(X.shape[0], dtype=np.uint8))
    return searcher


def test_a_posterior_of_one_half_predicts_the_label():
    complementary = np.column_stack([1 - LABEL, LABEL, [1, 0, 1, 0, 1, 0]])
    classifier = MLKNNClassifier(n_neighbors=2).fit(LINE, complementary)
    assert_allclose(classifier.predict_proba(QUERIES)[:, 0], POSTERIORS)
    assert_array_equal(classifier.predict(QUERIES)[:, 0], [0, 1, 1])
    assert_array_equal(classifier.predict(QUERIES), classifier.decision_function(QUERIES) > 0)


def by_definition(X, labels, new, k, s):
    """ML-KNN in loops over instances and labels; ties go to the lower index."""

    def count(x, label, without=None):
        order = sorted((((x - z) ** 2).sum(), i) for i, z in enumerate(X) if i != without)
        return sum(labels[i, label] for _, i in order[:k])

    posteriors = np.empty((len(new), labels.shape[1]))
    for label in range(labels.shape[1]):
        bins = {0: [0] * (k + 1), 1: [0] * (k + 1)}
        for i, x in enumerate(X):
            bins[labels[i, label]][count(x, label, without=i)] += 1
        prior = (s + sum(bins[1])) / (2 * s + len(X))
        for row, x in enumerate(new):
            found = count(x, label)
            likelihoods = [
                (s + bins[side][found]) / (s * (k + 1) + sum(bins[side])) for side in (0, 1)
            ]
            joint = prior * likelihoods[1]
            posteriors[row, label] = joint / (joint + (1 - prior) * likelihoods[0])
    return posteriors


@examples(40)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 15),
    st.integers(1, 4),
    st.sampled_from([0.5, 1.0, 2.0]),
    st.booleans(),
)
def test_equals_the_definition_where_ties_abound(seed, n, k, s, is_sparse):
    rng = np.random.default_rng(seed)
    k = min(k, n - 1)
    X = rng.integers(3, size=(n, 2)).astype(float)
    new = rng.integers(3, size=(4, 2)).astype(float)
    labels = rng.integers(2, size=(n, 3), dtype=np.uint8)
    as_given = sparse.csr_array if is_sparse else np.asarray
    classifier = MLKNNClassifier(n_neighbors=k, smoothing=s)
    classifier._fit_labels(as_given(X), labels)
    found = classifier._decision(as_given(new)) + 0.5
    assert_allclose(found, by_definition(X, labels, new, k, s), atol=1e-12)
    assert_allclose(classifier.candidate_likelihood_.sum(axis=1), 1)
    assert_allclose(classifier.other_likelihood_.sum(axis=1), 1)


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_duplicates_leave_nothing_to_the_size_of_a_batch(as_given, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(loc=100, size=(40, 7)).repeat(5, axis=0)
    complementary = np.eye(5, dtype=int)[rng.integers(5, size=len(X))]
    classifier = MLKNNClassifier(n_neighbors=7).fit(as_given(X), complementary)
    together = classifier.predict_proba(as_given(X))
    assert_array_equal(
        together, np.vstack([classifier.predict_proba(as_given(x)) for x in X[:, None]])
    )
    searcher = searcher_over(as_given(X), n_neighbors=7)
    ways = [{"exclude_self": True}, {"exclude_self": False}]
    whole = [searcher._count_neighbours(searcher.X_, **way) for way in ways]
    monkeypatch.setattr(mlknn, "_WORKING_MEMORY", 3 * 8 * len(X) / 2**20)  # three rows
    assert_array_equal([searcher._count_neighbours(searcher.X_, **way) for way in ways], whole)


@pytest.mark.filterwarnings("ignore::complabel.answers.UnchosenLabelWarning")
def test_without_smoothing_the_prior_stands_in_for_no_evidence():
    # Neither side of label 0 was ever seen with one such neighbour: at 5, 0/0.
    X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    complementary = np.array([[0, 0, 1]] * 3 + [[1, 0, 0]] * 3)
    classifier = MLKNNClassifier(n_neighbors=2, smoothing=0).fit(X, complementary)
    assert_allclose(classifier.predict_proba([[5.0], [0.0], [10.0]])[:, 0], [0.5, 1.0, 0.0])
    assert_allclose(classifier.predict_proba([[5.0], [0.0], [10.0]])[:, 1], 1.0)
