import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics as sklearn_metrics

from complabel.errors import AnnotationError, InputError
from complabel.metrics import CRITERIA, HIGHER_IS_BETTER, METRIC_NAMES, Criterion, evaluate


@pytest.fixture
def case():
    rng = np.random.default_rng(3)
    Y = (rng.random((40, 6)) < 0.4).astype(np.uint8)
    scores = rng.integers(0, 9, (40, 6)) / 8  # eighths: the middle of two is exact
    return Y, scores, (scores > 0.7).astype(np.uint8)


def test_every_criterion_by_name_and_in_order(case):
    Y, scores, predictions = case
    criteria = evaluate(sparse.csr_array(Y), scores, predictions)
    top = scores == scores.max(axis=1, keepdims=True)
    middle = (scores.min(axis=1) + scores.max(axis=1)) / 2
    expected = {
        "hamming_loss": sklearn_metrics.hamming_loss(Y, predictions),
        "hamming_loss_minmax": np.mean((scores > middle[:, np.newaxis]) != Y),
        "ranking_loss": sklearn_metrics.label_ranking_loss(Y, scores),
        "one_error": np.mean(1 - (top & (Y == 1)).sum(axis=1) / top.sum(axis=1)),
        "coverage": (sklearn_metrics.coverage_error(Y, scores) - 1) / 6,
        "average_precision": sklearn_metrics.label_ranking_average_precision_score(Y, scores),
    }
    assert tuple(criteria) == METRIC_NAMES == tuple(expected)
    assert criteria == pytest.approx(expected, abs=1e-12)
    assert all(type(value) is float for value in criteria.values())


def test_only_average_precision_is_better_when_higher():
    Y = np.array([[1, 0, 0, 0], [0, 0, 1, 0]])
    good, bad = evaluate(Y, Y + 0.0, Y), evaluate(Y, 1.0 - Y, 1 - Y)
    assert {name for name in METRIC_NAMES if good[name] > bad[name]} == HIGHER_IS_BETTER
    assert {name for name in METRIC_NAMES if good[name] < bad[name]} == (
        set(METRIC_NAMES) - HIGHER_IS_BETTER
    )


def test_input_that_does_not_fit_is_refused(case):
    Y, scores, predictions = case
    with pytest.raises(InputError, match="but scores"):
        evaluate(Y, scores[:-1], predictions)
    with pytest.raises(InputError, match="but predicted"):
        evaluate(Y, scores, predictions[:, :-1])
    with pytest.raises(AnnotationError, match="predicted holds"):
        evaluate(Y, scores, scores)


def test_a_criterion_of_ones_own_stands_where_it_was_put(case):
    Y, scores, predictions = case

    def micro_f1(true_labels, _scores, predicted):
        return sklearn_metrics.f1_score(true_labels, predicted, average="micro")

    own = Criterion(name="micro_f1", title="Micro F1", higher_is_better=True, measure=micro_f1)
    values = evaluate(Y, scores, predictions, criteria=(CRITERIA[0], own, CRITERIA[-1]))
    assert list(values) == ["hamming_loss", "micro_f1", "average_precision"]
    assert evaluate(Y, scores, predictions, criteria=(own,)) == {"micro_f1": values["micro_f1"]}
    both, either = (Y & predictions).sum(), Y.sum() + predictions.sum()
    assert values["micro_f1"] == pytest.approx(2 * both / either)
