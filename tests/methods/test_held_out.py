"""Scores and probabilities of items whose answers were held out."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.refusals import raises

from complabel.answers import Answers, IgnoredAnswersWarning
from complabel.datasets import make_synthetic
from complabel.errors import AnnotationError, InputError
from complabel.experiments.methods import SupervisedClassifier
from complabel.methods import (
    ComplementaryRidgeClassifier,
    PriorClassifier,
    SelectionLikelihoodClassifier,
    cross_fit_probabilities,
    held_out_score,
)
from complabel.metrics import complementary_ranking_error
from complabel.simulate import draw_answers


def linear():
    return SelectionLikelihoodClassifier(kernel="linear", alpha=0.1, random_state=0)


@pytest.fixture(scope="module")
def data():
    return make_synthetic(150, n_features=5, n_labels=4, signal=4.0, random_state=0)


@pytest.fixture(scope="module")
def answers(data):
    return draw_answers(data.Y, question="asked", items_share=0.9, random_state=1)


def test_the_flagship_explains_held_out_answers_better_than_a_constant(data, answers):
    found = held_out_score(linear(), data.X, answers)
    assert (found.criterion, found.n_folds) == ("log-likelihood", 3)
    assert found.gain == found.score - found.constant > 3 * found.gain_error > 0
    assert found.standard_error > 0


def test_of_yes_no_answers_a_constant_guess_is_the_entropy_of_each_label(data, answers):
    """One label of each item is asked about: the log-likelihood is that of a coin per label."""
    label = answers.offered.indices
    yes = np.diff(answers.relevant.indptr)
    share = np.bincount(label, weights=yes, minlength=4) / np.bincount(label, minlength=4)
    expected = np.log(np.where(yes, share[label], 1 - share[label])).mean()
    found = held_out_score(linear().set_params(alpha=1e-4), data.X, answers)
    assert found.constant == pytest.approx(expected, abs=0.05)  # it is that of other folds


def test_noise_gains_nothing(answers):
    X = np.random.default_rng(5).normal(size=(answers.n_items, 30))
    found = held_out_score(linear(), X, answers)
    assert found.gain < 0.05  # on items that were learned from, noise would gain .15


def test_other_methods_are_scored_by_ranking(data, answers):
    found = held_out_score(ComplementaryRidgeClassifier(alpha=1.0), data.X, answers)
    assert found.criterion == "ranking"
    assert -1 < found.constant < found.score < 0


def test_a_constant_ranking_gains_nothing_over_itself(data, answers):
    found = held_out_score(PriorClassifier(), data.X, answers)
    assert found.gain == 0
    with pytest.warns(IgnoredAnswersWarning):
        everywhere = PriorClassifier().fit(data.X[answers.answered], answers[answers.answered])
    scores = everywhere.decision_function(data.X)
    assert -found.score == pytest.approx(complementary_ranking_error(answers, scores), abs=0.1)


def test_sparse_features_and_dense_ones_score_alike(data, answers):
    dense = held_out_score(linear(), data.X, answers)
    assert held_out_score(linear(), sparse.csr_array(data.X), answers).score == pytest.approx(
        dense.score, rel=1e-3
    )


def test_a_pipeline_is_scored_as_its_classifier_on_what_it_gets(data, answers):
    first = make_pipeline(ColumnTransformer([("few", "passthrough", ["a", "c"])]), linear())
    X = pd.DataFrame(data.X, columns=list("abcde"))
    found = held_out_score(make_pipeline(first), X, answers)
    expected = held_out_score(linear(), data.X[:, [0, 2]], answers)
    assert found.score == pytest.approx(expected.score, rel=1e-9)
    assert (found.criterion, found.constant) == ("log-likelihood", expected.constant)


@pytest.mark.parametrize("last", [CalibratedClassifierCV(linear()), StandardScaler()])
def test_what_takes_labels_to_predict_is_refused(data, answers, last):
    for classifier in (last, make_pipeline(StandardScaler(), last)):
        with raises(InputError, type(last).__name__):
            held_out_score(classifier, data.X, answers)


def test_it_says_which_folds_are_done_and_leaves_the_classifier_alone(data, answers):
    done, classifier = [], linear()
    held_out_score(classifier, data.X, answers, n_folds=2, on_fold=done.append)
    assert done == [1, 2]
    assert not hasattr(classifier, "classes_")


def test_folds_take_the_features_of_a_fitted_classifier_and_choose_the_penalty(data, answers):
    given = data.X[answers.answered], answers[np.flatnonzero(answers.answered)]
    fitted = SelectionLikelihoodClassifier(random_state=0).fit(*given)
    names = [each for each in ("kernel", "scaling", "gamma") if hasattr(fitted, f"{each}_")]
    chosen = {"rank": None, **{name: getattr(fitted, f"{name}_") for name in names}}
    expected = held_out_score(clone(fitted).set_params(**chosen), *given)
    assert held_out_score(fitted, *given, same_features=True) == expected


def test_there_must_be_something_to_score_on(data):
    with raises(InputError, "1 items", "3"):
        held_out_score(linear(), np.zeros((1, 1)), Answers.from_arrays(absent=[[1, 0, 0]]))
    with raises(InputError, "SupervisedClassifier"):
        held_out_score(SupervisedClassifier(), data.X, draw_answers(data.Y, random_state=0))
    with raises(InputError, "X", "149 rows", "150"):
        held_out_score(linear(), data.X[1:], draw_answers(data.Y, random_state=0))
    with raises(InputError, "n_folds"):
        held_out_score(linear(), data.X, draw_answers(data.Y, random_state=0), n_folds=1)


def test_folds_without_a_label_known_not_to_apply_are_left_out(data):
    absent = np.zeros((150, 4), dtype=int)
    absent[::2] = 1 - data.Y[::2]
    answers = Answers.from_arrays(absent=absent, relevant=data.Y, question="asked")
    assert held_out_score(ComplementaryRidgeClassifier(), data.X, answers).n_folds == 3
    only_yes = Answers.from_arrays(
        relevant=np.eye(4, dtype=int)[[0, 1, 2, 3]], absent=np.zeros((4, 4)), question="asked"
    )
    with pytest.raises(AnnotationError):
        held_out_score(PriorClassifier(), np.zeros((4, 1)), only_yes, n_folds=2)


def test_an_item_s_own_answers_do_not_reach_its_probabilities(data, answers):
    probabilities = cross_fit_probabilities(PriorClassifier(), data.X, answers)
    assert np.isfinite(probabilities).all()
    item = answers.item[0]
    told = Answers.from_arrays(absent=[[1, 0, 0, 0]], item=[item], n_items=answers.n_items)
    more = Answers.concatenate([answers, *[told] * 20])
    others = cross_fit_probabilities(PriorClassifier(), data.X, more)
    same = (others == probabilities).all(axis=1)
    assert same[item]
    # Four of five clones learn from the item; so a fifth of the items keep their probabilities.
    assert np.mean(same) == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize("as_data", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_left_out_probabilities_are_those_of_a_fit_to_the_other_items(data, as_data):
    answers = draw_answers(data.Y, items_share=0.8, random_state=1)
    steps = []
    ridge = ComplementaryRidgeClassifier(alpha=1.0, rank=2)
    found = cross_fit_probabilities(
        ridge, as_data(data.X), answers, n_folds=2, on_fold=steps.append
    )
    assert steps == [1, 2]
    answered = np.flatnonzero(answers.answered)
    from_a_clone = np.zeros(answers.n_items, dtype=bool)
    for train, test in KFold(2, shuffle=True, random_state=0).split(answered):
        rows = answered[train]
        expected = ridge.fit(data.X[rows], answers[rows]).predict_proba(data.X)
        np.testing.assert_allclose(found[answered[test]], expected[answered[test]], rtol=1e-9)
        from_a_clone |= np.isclose(found, expected, rtol=1e-9).all(axis=1)
    assert from_a_clone.all()  # also items without an answer
