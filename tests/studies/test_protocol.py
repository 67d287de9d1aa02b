import inspect

import numpy as np
import pytest
from sklearn.metrics import label_ranking_average_precision_score

from complabel.datasets import MultiLabelDataset, make_digits, make_synthetic
from complabel.errors import InputError
from complabel.methods import PriorClassifier, SupervisedBCEClassifier
from complabel.simulate import draw_complementary
from complabel.studies import Draw, Row, run_fold, split_folds
from complabel.studies._fold import fit_fold
from complabel.studies._labels import draw_known, draw_labels

UNIFORM = Draw(name="uniform")


@pytest.fixture(scope="module")
def dataset():
    return make_synthetic(120, random_state=0)


def row_of(method, **settings):
    return Row(method=method, settings=settings)


def fit_all(dataset, method, *, n_folds=3, seed=0, **settings):
    row = row_of(method, **settings)
    drawn = draw_labels(dataset, UNIFORM, seed=seed)
    return [
        fit_fold(dataset, drawn, row, fold=fold, folds=n_folds, seed=seed)
        for fold in range(n_folds)
    ]


@pytest.fixture
def seen(monkeypatch):
    """What fit is given, and what the frame of its caller holds."""
    seen = []
    fit = PriorClassifier.fit

    def spying(self, *arguments, **named):
        caller = inspect.currentframe().f_back
        seen.append((arguments, named, dict(caller.f_locals)))
        return fit(self, *arguments, **named)

    monkeypatch.setattr(PriorClassifier, "fit", spying)
    return seen


def arrays_in(values):
    return [value for value in values if isinstance(value, np.ndarray)]


def test_fit_is_given_features_and_complementary_labels_and_nothing_else(dataset, seen):
    fitted = fit_all(dataset, "prior", n_folds=4, seed=3)
    drawn = draw_complementary(dataset.Y, random_state=3)
    folds = split_folds(dataset, n_folds=4, seed=3)
    assert len(seen) == 4
    for fold, (arguments, named, _), (train, test) in zip(fitted, seen, folds, strict=True):
        X, labels = arguments
        assert not named
        np.testing.assert_array_equal(X, dataset.X[train])
        np.testing.assert_array_equal(labels, drawn[train])
        assert not (labels & dataset.Y[train]).any()
        np.testing.assert_array_equal(fold.train, train)
        np.testing.assert_array_equal(fold.test, test)


def test_no_true_label_is_in_reach_of_fit(dataset, seen):
    fit_all(dataset, "prior")
    assert len(seen) == 3
    for arguments, _, reachable in seen:
        assert not any(isinstance(value, MultiLabelDataset) for value in reachable.values())
        for array in arrays_in([*arguments, *reachable.values()]):
            assert not np.shares_memory(array, dataset.Y)
            assert array.base is not dataset.Y


def test_what_fit_is_given_does_not_change_with_the_true_labels(dataset, seen):
    drawn = draw_labels(dataset, UNIFORM, seed=0)
    rng = np.random.default_rng(1)
    others = MultiLabelDataset(
        "others",
        dataset.X,
        rng.permuted(dataset.Y, axis=1),
        dataset.label_names,
        dataset.feature_names,
    )
    assert (others.Y != dataset.Y).mean() > 0.2
    for data in (dataset, others):
        for fold in range(3):
            fit_fold(data, drawn, row_of("prior"), fold=fold, folds=3, seed=0)
    for (first, _, _), (second, _, _) in zip(seen[:3], seen[3:], strict=True):
        for one, other in zip(first, second, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_reference_that_declares_it_learns_from_relevant_labels(dataset, monkeypatch):
    seen = []
    fit = SupervisedBCEClassifier.fit

    def spying(self, X, y, **named):
        seen.append(y)
        return fit(self, X, y, **named)

    monkeypatch.setattr(SupervisedBCEClassifier, "fit", spying)
    fitted = fit_all(dataset, "supervised-bce", n_folds=2, epochs=1)
    for fold, labels in zip(fitted, seen, strict=True):
        np.testing.assert_array_equal(labels, dataset.Y[fold.train])


def test_folds_cover_every_instance_once(dataset):
    folds = split_folds(dataset, n_folds=7, seed=0)
    tested = np.concatenate([test for _, test in folds])
    assert sorted(tested) == list(range(dataset.n_samples))
    for train, test in folds:
        assert not set(train) & set(test)
        assert len(train) + len(test) == dataset.n_samples


def test_folds_never_divide_a_group():
    digits = make_digits(200, random_state=0)
    for train, test in split_folds(digits, n_folds=5, seed=0):
        assert not set(digits.groups[train]) & set(digits.groups[test])


@pytest.mark.parametrize(
    ("n_folds", "message"), [(1, "between 2 and 120, got 1"), (121, "between 2 and 120, got 121")]
)
def test_impossible_numbers_of_folds_are_refused_at_once(dataset, seen, n_folds, message):
    with pytest.raises(InputError, match=message):
        run_fold(dataset, dataset.Y, row_of("prior"), fold=0, folds=n_folds, seed=0)
    assert not seen


def test_metrics_are_those_of_a_hand_made_loop(dataset):
    drawn = draw_complementary(dataset.Y, random_state=2)
    for fold, (train, test) in enumerate(split_folds(dataset, n_folds=3, seed=2)):
        outcome = run_fold(dataset, drawn, row_of("prior"), fold=fold, folds=3, seed=2)
        rarely_chosen = -drawn[train].mean(axis=0)
        expected = label_ranking_average_precision_score(
            dataset.Y[test], np.tile(rarely_chosen, (len(test), 1))
        )
        assert outcome.metrics["average_precision"] == pytest.approx(expected)
        assert outcome.fit_seconds >= 0
        assert "score" not in outcome.metrics


def test_predictions_are_those_of_the_fitted_classifier(dataset):
    (fitted, _) = fit_all(dataset, "mlcl", n_folds=2, epochs=2)
    X = dataset.X[fitted.test]
    np.testing.assert_array_equal(fitted.predicted, fitted.classifier.predict(X))
    np.testing.assert_array_equal(fitted.probabilities, fitted.classifier.predict_proba(X))


def test_the_seed_reaches_the_method(dataset):
    first, again, other = (
        fit_all(dataset, "mlcl", n_folds=2, seed=seed, epochs=2)[0].probabilities
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_settings_of_the_row_and_of_its_method_reach_the_classifier(dataset):
    (first, _) = fit_all(dataset, "mlcl:beta=0.5", n_folds=2, epochs=1)
    parameters = first.classifier.get_params()
    assert (parameters["beta"], parameters["epochs"]) == (0.5, 1)


def test_known_relevant_labels_are_relevant_and_as_many_as_asked_for():
    dataset = make_synthetic(500, random_state=0)

    def known(seed=0, **asked):
        return draw_known(dataset, row_of("prior").model_copy(update=asked), seed=seed)

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
