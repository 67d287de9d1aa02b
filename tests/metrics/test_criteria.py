import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn import metrics as sklearn_metrics

from complabel.errors import AnnotationError, InputError
from complabel.metrics import average_precision, coverage, hamming_loss, one_error, ranking_loss

RANKING = [ranking_loss, one_error, coverage, average_precision]


@st.composite
def labels_and_scores(draw, levels=3):
    """Labels of any rows, also empty and full ones, and scores with many ties."""
    shape = draw(st.tuples(st.integers(1, 12), st.integers(2, 7)))
    Y = draw(hnp.arrays(np.uint8, shape, elements=st.integers(0, 1)))
    scores = draw(hnp.arrays(np.float64, shape, elements=st.integers(-levels, levels)))
    return Y, scores


def expected_one_error(Y, scores):
    """The rate of irrelevant labels among those at the top, row by row."""
    return np.mean([np.mean(1.0 - y[s == s.max()]) for y, s in zip(Y, scores, strict=True)])


def assert_equal_to_scikit_learn(Y, scores, *, of=None, **options):
    """Compare what ours say of `of` (the same case by default) with what scikit-learn says."""
    by_sklearn = {
        ranking_loss: sklearn_metrics.label_ranking_loss(Y, scores),
        coverage: (sklearn_metrics.coverage_error(Y, scores) - 1) / Y.shape[1],
        average_precision: sklearn_metrics.label_ranking_average_precision_score(Y, scores),
        one_error: expected_one_error(Y, scores),
    }
    for criterion, expected in by_sklearn.items():
        found = criterion(*(of or (Y, scores)), **options)
        assert found == pytest.approx(expected, abs=1e-12)


@given(labels_and_scores())
def test_equal_to_scikit_learn_with_ties_and_with_empty_and_full_rows(case):
    assert_equal_to_scikit_learn(*case)


@given(labels_and_scores(levels=1000), st.integers(1, 30))
def test_equal_to_scikit_learn_however_the_rows_are_chunked(case, cells):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("complabel.metrics._criteria._CELLS_PER_CHUNK", cells)
        assert_equal_to_scikit_learn(*case)


@given(labels_and_scores())
def test_hamming_loss_equals_scikit_learn(case):
    Y, scores = case
    predictions = (scores > 0).astype(int)
    expected = sklearn_metrics.hamming_loss(Y, predictions)
    assert hamming_loss(Y, predictions) == pytest.approx(expected, abs=1e-15)
    assert hamming_loss(sparse.csr_array(Y), predictions) == hamming_loss(Y, predictions)


@pytest.mark.parametrize(
    ("Y", "scores", "error", "name"),
    [
        ([[1, 0, 0]], [[0.1, 0.2]], InputError, r"true_labels has shape \(1, 3\) but scores"),
        ([[1, 0]], [[0.1, np.nan]], InputError, "scores .*nan at row 0, label 1"),
        ([[1, 0]], [0.1, 0.2], InputError, "scores"),
        ([[1, 0]], [["a", "b"]], InputError, "scores"),
        (np.zeros((0, 2)), np.zeros((0, 2)), InputError, "non-empty"),
        ([[1, 2]], [[0.1, 0.2]], AnnotationError, "true_labels holds 2"),
    ],
)
def test_what_cannot_be_ranked_is_refused(Y, scores, error, name):
    for criterion in RANKING:
        with pytest.raises(error, match=name):
            criterion(Y, scores)


@pytest.mark.parametrize(
    ("Y", "predicted", "error", "name"),
    [
        ([[1, 0]], [[1, 0, 0]], InputError, "predicted"),
        ([[1, 0]], [[0.4, 0]], AnnotationError, "predicted"),
        (np.zeros((0, 3)), np.zeros((0, 3)), InputError, "at least one row"),
    ],
)
def test_hamming_loss_refuses_what_it_cannot_compare(Y, predicted, error, name):
    with pytest.raises(error, match=name):
        hamming_loss(Y, predicted)
