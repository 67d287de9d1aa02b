"""One fold: what a fit is given and told, and how it is measured."""

import dataclasses
import inspect

import numpy as np
import pytest
from sklearn.metrics import hamming_loss, label_ranking_average_precision_score, label_ranking_loss
from tests.experiments.studies.small import REFERENCE, WATCHED, assert_out_of_reach, fit_fold, small

from complabel.datasets import make_digits, make_synthetic
from complabel.errors import InputError
from complabel.experiments.datasets import save_file
from complabel.experiments.studies import (
    Draw,
    Row,
    run_fold,
    split_folds,
)
from complabel.experiments.studies._data import fetch
from complabel.experiments.studies._labels import draw_known, draw_labels
from complabel.experiments.studies._plan import OwnData
from complabel.experiments.studies._results import fitted_scalars
from complabel.methods import FrequencyMatchedClassifier, PriorClassifier
from complabel.simulate import draw_complementary

UNIFORM = Draw(name="uniform")
PRIOR, RIDGE = Row(method="prior"), Row(method="ridge")


@pytest.fixture(scope="module")
def dataset():
    return make_synthetic(120, random_state=0)


def fit_all(dataset, method, *, n_folds=3, seed=0, **settings):
    row = Row(method=method, settings=settings)
    drawn = draw_labels(dataset, UNIFORM, seed=seed)
    return [fit_fold(dataset, drawn, row, fold=n, folds=n_folds, seed=seed) for n in range(n_folds)]


def test_a_reference_that_declares_it_learns_from_relevant_labels(dataset, seen):
    fitted = fit_all(dataset, REFERENCE, n_folds=2, epochs=1)
    for fold, (_, labels, *_) in zip(fitted, seen, strict=True):
        np.testing.assert_array_equal(labels, dataset.Y[fold.train])


def test_folds_never_divide_a_group():
    digits = make_digits(200, random_state=0)
    for train, test in split_folds(digits, n_folds=5, seed=0):
        assert not set(digits.groups[train]) & set(digits.groups[test])


@pytest.mark.parametrize(
    ("n_folds", "message"), [(1, "between 2 and 120, got 1"), (121, "between 2 and 120, got 121")]
)
def test_impossible_numbers_of_folds_are_refused_at_once(dataset, seen, n_folds, message):
    with pytest.raises(InputError, match=message):
        run_fold(dataset, dataset.Y, Row(method=WATCHED), fold=0, folds=n_folds, seed=0)
    assert not seen


def test_metrics_are_those_of_a_hand_made_loop(dataset):
    drawn = draw_complementary(dataset.Y, random_state=2)
    for fold, (train, test) in enumerate(split_folds(dataset, n_folds=3, seed=2)):
        outcome = run_fold(dataset, drawn, PRIOR, fold=fold, folds=3, seed=2)
        rarely_chosen = -drawn[train].mean(axis=0)
        expected = label_ranking_average_precision_score(
            dataset.Y[test], np.tile(rarely_chosen, (len(test), 1))
        )
        assert outcome.metrics["average_precision"] == pytest.approx(expected)
        assert outcome.fit_seconds >= 0
        assert "score" not in outcome.metrics


def test_the_seed_reaches_the_method(dataset):
    first, again, other = (
        fit_all(dataset, "mlcl", n_folds=2, seed=seed, epochs=2)[0].probabilities
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_known_relevant_labels_are_relevant_and_as_many_as_asked_for():
    dataset = make_synthetic(500, random_state=0)

    def known(seed=0, **asked):
        return draw_known(dataset, PRIOR.model_copy(update=asked), seed=seed)

    one = known(relevant_per_row=1)
    assert (one.sum(axis=1) == 1).all()
    assert not (one & ~dataset.Y.astype(bool)).any()
    some = known(relevant_share=0.2)
    assert not (some & ~dataset.Y.astype(bool)).any()
    assert some.sum() / dataset.Y.sum() == pytest.approx(0.2, abs=0.05)
    np.testing.assert_array_equal(known(relevant_share=1.0), dataset.Y)
    assert known() is None
    np.testing.assert_array_equal(some, known(relevant_share=0.2))
    assert (some != known(relevant_share=0.2, seed=1)).any()


@pytest.fixture
def odd():
    """With rows of none and of all labels; nothing is excluded from the latter."""
    made = make_synthetic(90, random_state=0)
    Y = made.Y.copy()
    Y[::5], Y[1::9] = 0, 1
    return dataclasses.replace(made, Y=Y, excluded=1 - Y)


def test_a_file_is_kept_whole_only_with_excluded_labels(tmp_path, odd):
    path = tmp_path / "mine.npz"
    save_file(odd, path)
    assert fetch("mine", OwnData(file=str(path))).n_samples == 90
    save_file(dataclasses.replace(odd, excluded=None), path)
    n_relevant = odd.Y.sum(axis=1)
    n_some = np.count_nonzero((n_relevant > 0) & (n_relevant < 6))
    assert fetch("mine", OwnData(file=str(path))).n_samples == n_some < 90


def test_rows_with_nothing_to_rank_train_and_count_in_no_ranking_criterion(odd):
    # One label of each row, which does not apply; by mistake it does where all of them apply.
    shaken = odd.Y + np.random.default_rng(0).random(odd.Y.shape) / 2
    named = np.eye(6, dtype=np.uint8)[shaken.argmin(axis=1)]
    known = {"fold": 1, "folds": 3, "seed": 0}
    fitted = fit_fold(odd, named, RIDGE, **known)
    measured = run_fold(odd, named, RIDGE, **known).metrics
    assert len(fitted.train) == 60
    test = odd.Y[fitted.test]
    kept = test.any(axis=1) & ~test.all(axis=1)
    assert 0 < kept.sum() < 30
    expected = label_ranking_loss(test[kept], fitted.probabilities[kept])
    assert measured["ranking_loss"] == pytest.approx(expected)
    assert measured["ranking_loss"] != label_ranking_loss(test, fitted.probabilities)
    assert measured["hamming_loss"] == pytest.approx(hamming_loss(test, fitted.predicted))


QUIET = pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")
DATASET = make_synthetic(150, n_labels=5, random_state=0)
DRAWN = draw_labels(DATASET, Draw(name="u"), seed=3)


class ToldClassifier(PriorClassifier):
    """Takes label frequencies, and remembers where fit was called from."""

    def __init__(self, *, label_frequencies="auto"):
        self.label_frequencies = label_frequencies

    def fit(self, X, y, **named):
        self.reachable = dict(inspect.currentframe().f_back.f_locals)
        return super().fit(X, y, **named)


TOLD = f"{__name__}:ToldClassifier"


def fitted(row, fold=0, labels=DRAWN, **options):
    found = fit_fold(DATASET, labels, row, fold=fold, folds=3, seed=3, **options)
    return found.classifier


def shares(fold):
    train, _ = split_folds(DATASET, n_folds=3, seed=3)[fold]
    return [sum(DATASET.Y[i, k] for i in train) / len(train) for k in range(5)]


def make_plan(*rows, **changes):
    return small(rows=list(rows), folds=2, **changes)


@pytest.mark.parametrize("fold", range(3))
def test_a_row_may_be_told_the_shares_of_its_training_part(fold):
    classifier = fitted(Row(method=TOLD, label_frequencies="true"), fold)
    np.testing.assert_allclose(classifier.label_frequencies, shares(fold), rtol=1e-12)
    reachable = [*classifier.reachable.values(), classifier.label_frequencies]
    assert_out_of_reach(DATASET.Y, reachable)
    assert fitted(Row(method=TOLD), fold).label_frequencies == "auto"


def test_a_row_may_be_matched_to_the_true_frequencies():
    matched = fitted(Row(method="ridge", label_frequencies="true", match_frequencies=True), 1)
    assert isinstance(matched, FrequencyMatchedClassifier)
    assert matched.learns_from == "complementary"
    np.testing.assert_allclose(matched.label_frequencies, shares(1), rtol=1e-12)
    plain = fitted(Row(method="ridge"), 1)
    # The same method under the same seed; only what becomes of its scores differs.
    np.testing.assert_array_equal(
        matched.classifier_.decision_function(DATASET.X), plain.decision_function(DATASET.X)
    )
    train, _ = split_folds(DATASET, n_folds=3, seed=3)[1]
    mean = matched.predict_proba(DATASET.X[train]).mean(axis=0)
    np.testing.assert_allclose(mean, shares(1), atol=1e-3)


@QUIET
def test_a_row_may_be_matched_to_what_an_audit_tells():
    matched = fitted(Row(method="prior", match_frequencies=True), audit=400)
    assert matched.label_frequencies == "auto"
    # 400 of the 500 pairs: nearly the truth.
    assert np.abs(matched.label_frequencies_ - shares(0)).max() < 0.1


TOLD_TWICE = {"label_frequencies": "true", "settings": {"label_frequencies": [0.1, 0.2]}}


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"method": "prior", "label_frequencies": "true"}, "prior has no parameter label_freq"),
        (
            {"method": "*", "label_frequencies": "true", "leave_out": ["selection-likelihood"]},
            'mlcl has no parameter .*leave_out = ["mlcl"]',
        ),
        ({"method": TOLD, "label_frequencies": "auto"}, "'true'"),
        ({"method": TOLD, **TOLD_TWICE}, "label_frequencies twice"),
        ({"method": "supervised", "match_frequencies": True}, "supervised learns from true"),
        ({"method": "*", "match_frequencies": True}, 'leave_out = ["supervised"]'),
        ({"method": "prior", "match_frequencies": True}, "add an audit"),
    ],
)
def test_what_cannot_be_told_or_matched_is_refused(row, complaint):
    with pytest.raises(ValueError, match=complaint.replace("[", r"\[")):
        make_plan(row)


def test_frequencies_that_a_fit_found_are_summed_with_their_error():
    found = PriorClassifier()
    found.label_frequencies_ = np.array([0.25, 0.5, 0.125])
    assert fitted_scalars(found) == {"label_frequencies_sum_": 0.875}
    found.label_frequencies_errors_ = np.array([0.02, 0.03, 0.06])
    assert fitted_scalars(found) == {
        "label_frequencies_sum_": 0.875,
        "label_frequencies_sum_error_": pytest.approx(0.07, rel=1e-12),
    }
    # Errors that belong together: 0.0004 + 0.0009 + 0.0036 + 2 * (0.0006 + 0.0006 + 0.0013)
    found.label_frequencies_covariance_ = np.array(
        [[0.0004, 0.0006, 0.0006], [0.0006, 0.0009, 0.0013], [0.0006, 0.0013, 0.0036]]
    )
    error = fitted_scalars(found)["label_frequencies_sum_error_"]
    assert error == pytest.approx(0.0099**0.5, rel=1e-12)
    del found.label_frequencies_covariance_
    for unknown in (None, np.full(3, np.nan)):
        found.label_frequencies_errors_ = unknown
        assert fitted_scalars(found) == {"label_frequencies_sum_": 0.875}
