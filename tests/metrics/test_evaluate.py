import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn import metrics as sklearn_metrics
from sklearn.metrics import average_precision_score, precision_recall_fscore_support
from tests.refusals import raises

from complabel.errors import AnnotationError, InputError
from complabel.metrics import (
    CRITERIA,
    METRICS,
    Criterion,
    average_precision,
    evaluate,
    evaluate_labels,
    threshold_minmax,
)

SHAPES = st.tuples(st.integers(1, 12), st.integers(2, 5))


@pytest.fixture
def case():
    rng = np.random.default_rng(3)
    Y = (rng.random((40, 6)) < 0.4).astype(np.uint8)
    scores = rng.integers(0, 9, (40, 6)) / 8  # eighths: the middle of two is exact
    return Y, scores, (scores > 0.7).astype(np.uint8)


def test_every_criterion_has_its_name_and_place(case):
    criteria = evaluate(*case)
    errors = ["hamming_loss", "hamming_loss_minmax", "ranking_loss", "one_error", "coverage"]
    assert [*criteria] == [*METRICS] == [*errors, "average_precision"]
    assert all(type(value) is float for value in criteria.values())


def test_only_average_precision_is_better_when_higher():
    Y = np.array([[1, 0, 0, 0], [0, 0, 1, 0]])
    good, bad = evaluate(Y, Y + 0.0, Y), evaluate(Y, 1.0 - Y, 1 - Y)
    for name, criterion in METRICS.items():
        assert (good[name] > bad[name], good[name] < bad[name]) == (
            (True, False) if criterion.higher_is_better else (False, True)
        )
    assert [each.name for each in CRITERIA if each.higher_is_better] == ["average_precision"]


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


@given(
    hnp.arrays(np.int64, SHAPES.map(lambda shape: (2, *shape)), elements=st.integers(-3, 3)),
    st.integers(1, 30),
)
def test_any_rows_with_ties_are_ranked_as_by_scikit_learn_however_they_are_chunked(drawn, cells):
    """Rows may have no label that applies, or all."""
    Y, scores = (drawn[0] > 0).astype(np.uint8), drawn[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("complabel.metrics._criteria._CELLS_PER_CHUNK", cells)
        found = evaluate(Y, scores, (scores > 0).astype(int))
        precision = average_precision(Y, scores)
    top = [np.mean(1.0 - y[s == s.max()]) for y, s in zip(Y, scores, strict=True)]
    expected = {
        "hamming_loss": sklearn_metrics.hamming_loss(Y, scores > 0),
        "ranking_loss": sklearn_metrics.label_ranking_loss(Y, scores),
        "one_error": np.mean(top),
        "coverage": (sklearn_metrics.coverage_error(Y, scores) - 1) / Y.shape[1],
        "average_precision": sklearn_metrics.label_ranking_average_precision_score(Y, scores),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    assert precision == found["average_precision"]


@pytest.fixture
def with_trivial_rows():
    rng = np.random.default_rng(5)
    Y = np.vstack([np.zeros((3, 5)), np.eye(5), np.ones((2, 5)), 1 - np.eye(5)]).astype(np.uint8)
    rng.shuffle(Y)
    scores = rng.integers(0, 9, Y.shape) / 8
    return Y, scores, (scores > 0.4).astype(np.uint8)


def test_rows_with_nothing_to_rank_count_in_no_ranking_criterion(with_trivial_rows):
    Y, scores, predictions = with_trivial_rows
    found = evaluate(Y, scores, predictions, skip_trivial_rows=True)
    kept = [row for row, labels in enumerate(Y) if 0 < labels.sum() < 5]
    assert len(kept) == 10
    ranked = evaluate(Y[kept], scores[kept], predictions[kept])
    every = evaluate(Y, scores, predictions)
    for criterion in CRITERIA:
        expected = every if criterion.of_rows is None else ranked
        assert found[criterion.name] == expected[criterion.name]
        assert (every[criterion.name] == ranked[criterion.name]) is False


def test_no_row_to_rank_is_said_unless_nothing_is_ranked():
    Y = np.array([[0, 0, 0], [1, 1, 1]])
    with raises(InputError, "2 rows"):
        evaluate(Y, Y + 0.5, Y, skip_trivial_rows=True)
    unranked = [criterion for criterion in CRITERIA if criterion.of_rows is None]
    values = evaluate(Y, Y + 0.5, Y, criteria=unranked, skip_trivial_rows=True)
    assert values["hamming_loss"] == 0


@pytest.mark.parametrize(
    ("true", "predicted", "undefined"),
    [
        (0, 0, {"precision", "recall", "f1", "average_precision"}),
        (0, 1, {"recall", "average_precision"}),
        (1, 0, {"precision"}),
        (1, 1, set()),
    ],
)
def test_what_is_not_defined_is_none(true, predicted, undefined):
    (found,) = evaluate_labels([[true]] * 3, [[0.1], [0.2], [0.3]], [[predicted]] * 3)
    assert {name for name, value in found.items() if value is None} == undefined


@given(SHAPES.flatmap(lambda shape: hnp.arrays(np.int64, (4, *shape), elements=st.integers(0, 3))))
def test_figures_of_known_pairs_are_those_of_scikit_learn(drawn):
    true, scores, predicted, known = drawn[0] % 2, drawn[1] / 3, drawn[2] % 2, drawn[3] % 2 == 1
    cells = np.where(known, true, np.nan)
    found = [{"known": 0} for _ in true.T]
    rows = [row for row in range(len(true)) if len({*true[row][known[row]]}) == 2]
    criteria = [each for each in CRITERIA if rows or each.of_rows is None]
    if known.any():
        found = evaluate_labels(cells, scores, predicted, known=known)
        values = evaluate(cells, scores, predicted, criteria=criteria, known=known)
        wrong, middle = (predicted != true), threshold_minmax(scores)
        assert values["hamming_loss"] == pytest.approx(wrong[known].mean(), abs=1e-12)
        assert values["hamming_loss_minmax"] == pytest.approx((middle != true)[known].mean())
    for at, each in enumerate(found):
        labels, ranked, chosen = (part[known[:, at], at] for part in (true, scores, predicted))
        assert each["known"] == len(labels)
        if len(labels):
            shares = [each["applies"], each["predicted"]]
            assert shares == pytest.approx([labels.mean(), chosen.mean()])
        if labels.any():
            expected = average_precision_score(labels, ranked)
            assert each["average_precision"] == pytest.approx(expected, abs=1e-12)
        if labels.any() and chosen.any():
            precision, recall, f1, _ = precision_recall_fscore_support(
                labels, chosen, average="binary"
            )
            names = ("precision", "recall", "f1")
            assert [each[name] for name in names] == pytest.approx([precision, recall, f1])
    if rows:
        parts = [([true[row][known[row]]], [scores[row][known[row]]]) for row in rows]
        of_rows = [
            (
                sklearn_metrics.label_ranking_average_precision_score(*part),
                sklearn_metrics.label_ranking_loss(*part),
                (sklearn_metrics.coverage_error(*part) - 1) / len(part[0][0]),
            )
            for part in parts
        ]
        names = ("average_precision", "ranking_loss", "coverage")
        expected = np.mean(of_rows, axis=0)
        assert [values[name] for name in names] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_if_all_are_known_nothing_changes(kind, with_trivial_rows):
    Y, scores, predictions = with_trivial_rows
    known = kind(np.ones(Y.shape, dtype=np.uint8))
    found = evaluate(kind(Y), scores, predictions, known=known)
    assert found == evaluate(Y, scores, predictions, skip_trivial_rows=True)
    by_label = evaluate_labels(Y, scores, predictions)
    assert evaluate_labels(kind(Y), scores, predictions, known=known) == [
        {"known": len(Y), **each} for each in by_label
    ]


def test_a_criterion_of_ones_own_is_given_the_known_pairs(case):
    Y, scores, predictions = case
    known = scores > 0.3

    def precision(true_labels, _scores, predicted, known):
        return float(true_labels[known & (predicted == 1)].mean())

    own = Criterion(name="precision", title="Precision", measure=precision)
    found = evaluate(Y, scores, predictions, criteria=[own], known=known)
    assert found["precision"] == pytest.approx(Y[predictions == 1].mean())


@pytest.mark.parametrize("function", [evaluate, evaluate_labels])
def test_masks_that_do_not_fit_are_refused(function):
    given = [[1, 0]], [[0.1, 0.2]], [[1, 0]]
    with raises(InputError, "true_labels", "shape (1, 2)", "(1, 1)"):
        function(*given, known=[[1]])
    with raises(AnnotationError, "known", "0.5"):
        function(*given, known=[[1, 0.5]])
    with raises(InputError, "known"):
        function(*given, known=[[0, 0]])
    with raises(AnnotationError, "true_labels", "nan"):
        function([[1, np.nan]], *given[1:], known=[[1, 1]])


@given(
    hnp.arrays(
        np.int64, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.integers(-9, 9)
    )
)
def test_minmax_equals_the_comparison_in_whole_numbers(scores):
    lowest, highest = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    above_middle = 2 * scores > lowest + highest
    expected = np.where(lowest == highest, scores >= 1, above_middle)
    np.testing.assert_array_equal(threshold_minmax(scores), expected)
    assert threshold_minmax(scores).dtype == np.uint8


@pytest.mark.parametrize(
    ("true", "scores", "predicted", "error", "name"),
    [
        ([[1, 0]], [[0.1]], [[1, 0]], InputError, "scores"),
        ([[1, 0]], [[0.1, np.nan]], [[1, 0]], InputError, ("scores", "row 0", "label 1")),
        ([[1, 0]], [0.1, 0.2], [[1, 0]], InputError, "scores"),
        ([[1, 0]], [["a", "b"]], [[1, 0]], InputError, "scores"),
        (np.zeros((0, 2)), np.zeros((0, 2)), np.zeros((0, 2)), InputError, "scores"),
        ([[2, 0]], [[0.1, 0.2]], [[1, 0]], AnnotationError, "true_labels"),
        ([[1, 0]], [[0.1, 0.2]], [[1]], InputError, "predicted"),
        ([[1, 0]], [[0.1, 0.2]], [[0.1, 0.2]], AnnotationError, "predicted"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(true, scores, predicted, error, name):
    for function in (evaluate, evaluate_labels):
        with raises(error, name):
            function(true, scores, predicted)
    if name != "predicted":
        with raises(error, name):
            average_precision(true, scores)


@pytest.mark.parametrize("scores", [[[0.1, 0.2], [np.nan, 0.2]], [0.1, 0.2], np.zeros((0, 2))])
def test_scores_that_are_no_finite_matrix_are_refused(scores):
    with raises(InputError, "scores"):
        threshold_minmax(scores)
