import functools
import inspect

import numpy as np
import pytest
from sklearn.metrics import label_ranking_average_precision_score

from complabel.annotations import draw_complementary
from complabel.datasets import MultiLabelDataset, make_digits, make_synthetic
from complabel.errors import InputError
from complabel.methods import MLCLClassifier, PriorClassifier, SupervisedClassifier
from complabel.studies import _protocol, cross_validate, draw_known, draw_labels, split_folds


@pytest.fixture(scope="module")
def dataset():
    return make_synthetic(120, random_state=0)


class Spy(PriorClassifier):
    """Records what fit is given, and what the frames of fit and its caller hold."""

    seen: list

    def fit(self, *arguments, **named):
        caller = inspect.currentframe().f_back
        type(self).seen.append((arguments, named, dict(caller.f_locals)))
        return super().fit(*arguments, **named)


@pytest.fixture
def spy():
    Spy.seen = []
    return Spy


def arrays_in(values):
    return [value for value in values if isinstance(value, np.ndarray)]


def test_fit_is_given_features_and_complementary_labels_and_nothing_else(dataset, spy):
    list(cross_validate(dataset, spy, n_folds=4, seed=3))
    drawn = draw_complementary(dataset.Y, random_state=3)
    folds = split_folds(dataset, n_folds=4, seed=3)
    assert len(spy.seen) == 4
    for (arguments, named, _), (train, _) in zip(spy.seen, folds, strict=True):
        X, labels = arguments
        assert not named
        np.testing.assert_array_equal(X, dataset.X[train])
        np.testing.assert_array_equal(labels, drawn[train])
        assert not (labels & dataset.Y[train]).any()


def test_no_true_label_is_in_reach_of_fit(dataset, spy):
    list(cross_validate(dataset, spy, n_folds=3))
    for arguments, _, reachable in spy.seen:
        for array in arrays_in([*arguments, *reachable.values()]):
            assert not np.shares_memory(array, dataset.Y)
            assert array.base is not dataset.Y


def test_what_fit_is_given_does_not_change_with_the_true_labels(dataset, spy, monkeypatch):
    drawn = draw_labels(dataset, scheme="uniform", seed=0)
    monkeypatch.setattr(_protocol, "draw_labels", lambda *_, **__: drawn)
    rng = np.random.default_rng(1)
    others = MultiLabelDataset(
        "others",
        dataset.X,
        rng.permuted(dataset.Y, axis=1),
        dataset.label_names,
        dataset.feature_names,
    )
    assert (others.Y != dataset.Y).mean() > 0.2
    list(cross_validate(dataset, spy, n_folds=3))
    list(cross_validate(others, spy, n_folds=3))
    for (first, _, _), (second, _, _) in zip(spy.seen[:3], spy.seen[3:], strict=True):
        for one, other in zip(first, second, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_reference_that_declares_it_learns_from_relevant_labels(dataset, monkeypatch):
    seen = []
    fit = SupervisedClassifier.fit

    def spying(self, X, y, **named):
        seen.append(y)
        return fit(self, X, y, **named)

    monkeypatch.setattr(SupervisedClassifier, "fit", spying)
    list(cross_validate(dataset, functools.partial(SupervisedClassifier, epochs=1), n_folds=2))
    folds = split_folds(dataset, n_folds=2, seed=0)
    for labels, (train, _) in zip(seen, folds, strict=True):
        np.testing.assert_array_equal(labels, dataset.Y[train])


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
def test_impossible_numbers_of_folds_are_refused_at_once(dataset, n_folds, message):
    with pytest.raises(InputError, match=message):
        cross_validate(dataset, PriorClassifier, n_folds=n_folds)


def test_an_unknown_scheme_is_refused_at_once(dataset):
    with pytest.raises(InputError, match="labels must be one of uniform, biased, got 'odd'"):
        cross_validate(dataset, PriorClassifier, scheme="odd")


def test_labels_drawn_by_either_scheme_differ_and_repeat(dataset):
    uniform = draw_labels(dataset, scheme="uniform", seed=5)
    biased = draw_labels(dataset, scheme="biased", seed=5)
    np.testing.assert_array_equal(uniform, draw_labels(dataset, scheme="uniform", seed=5))
    assert (uniform != biased).any()


def test_metrics_are_those_of_a_hand_made_loop(dataset):
    results = list(cross_validate(dataset, functools.partial(PriorClassifier), n_folds=3, seed=2))
    drawn = draw_complementary(dataset.Y, random_state=2)
    for result, (train, test) in zip(results, split_folds(dataset, n_folds=3, seed=2), strict=True):
        rarely_chosen = -drawn[train].mean(axis=0)
        expected = label_ranking_average_precision_score(
            dataset.Y[test], np.tile(rarely_chosen, (len(test), 1))
        )
        assert result.metrics["average_precision"] == pytest.approx(expected)
        assert result.fit_seconds >= 0


def test_processes_give_the_same_figures_as_one(dataset):
    make = functools.partial(MLCLClassifier, epochs=3)
    alone = list(cross_validate(dataset, make, n_folds=3))
    together = list(cross_validate(dataset, make, n_folds=3, n_jobs=2))
    assert [fold.metrics for fold in alone] == [fold.metrics for fold in together]


def test_the_seed_reaches_the_method(dataset):
    make = functools.partial(MLCLClassifier, epochs=2)
    first = [fold.metrics for fold in cross_validate(dataset, make, n_folds=2, seed=0)]
    again = [fold.metrics for fold in cross_validate(dataset, make, n_folds=2, seed=0)]
    other = [fold.metrics for fold in cross_validate(dataset, make, n_folds=2, seed=1)]
    assert first == again
    assert first != other


def test_known_relevant_labels_are_relevant_and_as_many_as_asked_for():
    dataset = make_synthetic(500, random_state=0)
    one = draw_known(dataset, labels_per_row=1, seed=0)
    assert (one.sum(axis=1) == 1).all()
    assert not (one & ~dataset.Y.astype(bool)).any()
    some = draw_known(dataset, share=0.2, seed=0)
    assert not (some & ~dataset.Y.astype(bool)).any()
    assert some.sum() / dataset.Y.sum() == pytest.approx(0.2, abs=0.05)
    np.testing.assert_array_equal(draw_known(dataset, share=1.0, seed=0), dataset.Y)
    assert not draw_known(dataset, seed=0).any()
    np.testing.assert_array_equal(some, draw_known(dataset, share=0.2, seed=0))
    assert (some != draw_known(dataset, share=0.2, seed=1)).any()
