from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.metrics import log_loss
from tests.refusals import raises

from complabel.answers import Answers
from complabel.datasets import make_synthetic
from complabel.errors import AnnotationError, InputError
from complabel.methods import ComplementaryRidgeClassifier
from complabel.metrics import complementary_log_likelihood_of_rows as log_likelihoods
from complabel.metrics import (
    complementary_ranking_error,
    complementary_ranking_scorer,
    least_cardinality,
)
from complabel.simulate import draw_complementary


@st.composite
def complementary_and_scores(draw):
    n_labels = draw(st.integers(3, 7))
    codes = draw(st.lists(st.integers(1, 2**n_labels - 2), min_size=1, max_size=10))
    complementary = (np.array(codes)[:, np.newaxis] >> np.arange(n_labels)) & 1
    scores = draw(hnp.arrays(np.float64, complementary.shape, elements=st.integers(-3, 3)))
    return complementary, scores


@given(complementary_and_scores())
def test_ranking_error_equals_its_definition_pair_by_pair(case):
    complementary, scores = case
    of_rows = []
    for wrong, s in zip(complementary == 1, scores, strict=True):
        pairs = [(c < w) + 0.5 * (c == w) for c in s[~wrong] for w in s[wrong]]
        of_rows.append(np.mean(pairs))
    expected = np.mean(of_rows)
    assert complementary_ranking_error(complementary, scores) == pytest.approx(expected, abs=1e-12)
    opposite = complementary_ranking_error(sparse.csr_array(complementary), -scores)
    assert opposite == pytest.approx(1 - expected, abs=1e-12)


@given(st.integers(3, 8), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_log_likelihood_of_one_label_per_row_equals_scikit_learns_log_loss(n_labels, n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_labels, size=n)
    probabilities = rng.dirichlet(np.ones(n_labels), size=n)
    expected = -log_loss(labels, probabilities, labels=range(n_labels))
    indicator = np.eye(n_labels, dtype=int)[labels]
    found = log_likelihoods(indicator, probabilities)
    assert found.mean() == pytest.approx(expected, rel=1e-9)
    scaled = log_likelihoods(sparse.csr_array(indicator), 3.0 * probabilities)
    assert scaled.mean() == pytest.approx(expected, rel=1e-9)


def test_log_likelihood_averages_within_a_row():
    complementary = [[1, 1, 0, 0], [0, 0, 1, 0]]
    probabilities = [[0.5, 0.125, 0.25, 0.125], [0.25, 0.25, 0.25, 0.25]]
    found = log_likelihoods(complementary, probabilities)
    assert found == pytest.approx([-np.log(2) * (1 + 3) / 2, -np.log(2) * 2])


def test_an_impossible_label_costs_no_more_than_the_least_probability():
    case = [[1, 0, 0]], [[0.0, 0.5, 0.5]]
    assert log_likelihoods(*case) == pytest.approx(np.log(1e-12))


@given(complementary_and_scores())
def test_the_truth_as_scores_gives_the_true_cardinality(case):
    # Any set of labels may be the truth, and any of the others the marks.
    complementary, _ = case
    rng = np.random.default_rng(int(complementary.sum()))
    truth = (1 - complementary) & (rng.random(complementary.shape) < 0.5)
    found = least_cardinality(complementary, truth)
    assert found == pytest.approx(truth.sum(axis=1).mean(), abs=1e-12)


@given(complementary_and_scores())
def test_no_information_gives_a_cardinality_of_nothing(case):
    complementary, _ = case
    assert least_cardinality(complementary, np.zeros(complementary.shape)) == pytest.approx(0)


def test_the_least_cardinality_tells_true_labels_from_complementary_ones():
    problem = make_synthetic(1600, n_features=6, n_labels=8, signal=6.0, random_state=0)
    train, test = slice(0, 1000), slice(1000, None)

    def held_out(y):
        classifier = ComplementaryRidgeClassifier(random_state=0)
        classifier.fit(problem.X[train], y[train])
        return least_cardinality(y[test], classifier.decision_function(problem.X[test]))

    cardinality = problem.Y.mean() * 8  # 1.9 of 8
    one_marked = draw_complementary(problem.Y, random_state=0)
    for honest in (one_marked, 1 - problem.Y):
        assert 0.5 * cardinality < held_out(honest) < 1.1 * cardinality
    assert held_out(problem.Y) > 4


@pytest.mark.parametrize(
    ("function", "complementary", "scores", "error", "name"),
    [
        (
            log_likelihoods,
            [[1, 0, 0]],
            [[0.5, -0.1, 0.6]],
            InputError,
            "-0.1",
        ),
        (
            log_likelihoods,
            [[1, 0], [1, 0]],
            [[1, 0], [0, 0]],
            InputError,
            "row 1",
        ),
        (
            log_likelihoods,
            [[1, 0, 0]],
            [[0.5, 0.5]],
            InputError,
            "probabilities",
        ),
        (log_likelihoods, [[0, 0]], [[0.2, 0.8]], AnnotationError, "row 0"),
        (complementary_ranking_error, [[1, 0, 0]], [[0.5, 0.5]], InputError, "scores"),
        (complementary_ranking_error, [[1, 0]], [[0.5, np.inf]], InputError, "label 1"),
        (complementary_ranking_error, [[1, 1]], [[0.2, 0.4]], AnnotationError, "row 0"),
        (least_cardinality, [[1, 0, 0]], [[0.0, 0.0]], InputError, "scores"),
        (least_cardinality, [[0, 0]], [[0.0, 1.0]], AnnotationError, "row 0"),
    ],
)
def test_what_cannot_be_measured_is_refused(function, complementary, scores, error, name):
    with raises(error, name):
        function(complementary, scores)


# Label 0 of item 0 is denied twice; item 1 keeps no label, item 2 loses none, item 3 is untold.
ANSWERS = Answers.concatenate(
    [
        Answers.from_arrays(
            absent=np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0]]),
            relevant=np.array([[0, 0, 0], [0, 0, 0], [0, 1, 0]]),
            question="asked",
            item=np.array([0, 1, 2]),
            n_items=5,
        ),
        Answers.from_arrays(
            named=np.array([[1, 0, 0], [0, 0, 1]]), item=np.array([0, 4]), n_items=5
        ),
        Answers.from_arrays(excluded=np.array([[0, 0, 1]]), item=np.array([1]), n_items=5),
    ]
)
SCORES = np.array([[0.2, 0.9, 0.1], [5, 0, 0], [0, 7, 0], [3, 1, 2], [0.1, 0.2, 0.2]])
# Item 0: label 1 ranks above label 0, label 2 below: 1/2. Item 4: label 0 below label 2, label 1
# ties with it: 3/4.
ERROR = (1 / 2 + 3 / 4) / 2


class Fixed:
    """A classifier whose decisions are its features."""

    classes_ = np.arange(3)

    def decision_function(self, X):
        return X


def test_scores_in_another_order_are_paired_with_the_items_by_name():
    answers = replace(ANSWERS, item_names=np.array(list("abcde"), dtype=object))
    scores = pd.DataFrame(SCORES, index=list("abcde")).loc[list("ecadb")]
    assert complementary_ranking_error(answers, scores) == pytest.approx(ERROR)


def test_items_that_keep_some_labels_and_lose_others_are_ranked():
    assert complementary_ranking_error(ANSWERS, SCORES) == pytest.approx(ERROR)
    assert complementary_ranking_scorer(Fixed(), SCORES, ANSWERS) == pytest.approx(-ERROR)


def test_answers_that_rank_nothing_are_refused():
    with raises(AnnotationError):
        complementary_ranking_error(ANSWERS[1:4], SCORES[1:4])
    with raises(InputError, "complementary", "shape (5, 3)", "(4, 3)"):
        complementary_ranking_error(ANSWERS, SCORES[:4])
