"""A machine beside people: its weight, people without a name, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from dask.array import from_array
from scipy import special
from sklearn.base import clone

from complabel.answers import Answers, Statements, UnansweredRowWarning
from complabel.datasets import make_synthetic
from complabel.errors import InputError
from complabel.methods import (
    FrequencyMatchedClassifier,
    PriorClassifier,
    SelectionLikelihoodClassifier,
    cross_fit_probabilities,
    fit_again,
    fit_beside_machine,
    load,
)
from complabel.methods.selection._beside_machine import _recalibrated, _shares, _together
from complabel.simulate import draw_answers

DATA = make_synthetic(300, n_features=5, n_labels=3, signal=4.0, random_state=0)
PEOPLE = draw_answers(DATA.Y, question="asked", random_state=1)
LINEAR = SelectionLikelihoodClassifier(kernel="linear", random_state=0)
CHOSEN = clone(LINEAR).set_params(alpha=0.02, scaling="global", rank=None)  # nothing is searched


def beside(machine, people=PEOPLE, classifier=LINEAR, **options):
    return fit_beside_machine(classifier, DATA.X, people, machine, n_folds=3, **options)


def mean_of_fits(found, X, machine, classifier):
    """Return the mean of the decisions of single fits, times slopes, by their shares."""
    both, of_machine = _together(PEOPLE, machine.astype(float))
    rates = {name: getattr(found.classifier, name) for name in ("missed", "invented")}
    mean = np.zeros(DATA.Y.shape)
    for number, at in zip(*np.nonzero(found.shares.any(axis=2)), strict=True):
        weights = np.where(both.annotator == of_machine, found.weights[number], 1.0)
        one = clone(classifier).set_params(alpha=found.alphas[at], **(rates if number else {}))
        one.fit(X, both.with_weight(weights) if number else PEOPLE)
        mean += found.shares[number, at] * found.slopes[number, at] * one.decision_function(X)
    return mean


def log_likelihood(classifier):
    z = np.where(DATA.Y == 1, 1, -1) * classifier.decision_function(DATA.X)
    return -np.logaddexp(0, -z).mean()


def test_a_machine_that_is_right_helps_where_people_said_little():
    few = PEOPLE.only(np.arange(PEOPLE.n_answers) < 30)
    calls = []
    found = beside(DATA.Y, few, on_fit=lambda *call: calls.append(call))
    with pytest.warns(UnansweredRowWarning):
        alone = clone(LINEAR).fit(DATA.X, few)
    assert found.weight > 0.5
    assert found.gain > 2 * found.gain_error
    assert log_likelihood(found.classifier) > log_likelihood(alone)
    assert calls == sorted(calls)
    assert calls[-1] == (27, 27)


def test_a_machine_that_says_what_it_likes_does_no_harm():
    machine = np.random.default_rng(3).integers(0, 2, DATA.Y.shape)
    found = beside(machine)
    alone = clone(LINEAR).fit(DATA.X, PEOPLE)
    assert found.gain < 2 * found.gain_error
    assert log_likelihood(found.classifier) > log_likelihood(alone) - 0.02


@pytest.mark.parametrize("word", [0, 1, np.nan])
def test_of_a_label_of_which_the_machine_always_says_the_same_the_model_knows_peoples_word(word):
    machine = DATA.Y.astype(float)
    machine[:, 1] = word
    found = beside(machine, classifier=CHOSEN)
    assert found.label_weights[1] == 0
    assert (found.label_weights[[0, 2]] > 0).all()
    # With one penalty, it is the fit to people's answers alone, but for rounding, its slope and a
    # shift: as all labels, it applies as often as the audit says.
    alone = clone(CHOSEN).fit(DATA.X, PEOPLE).decision_function(DATA.X) * found.slopes[0, 0]
    shift = (found.classifier.decision_function(DATA.X) - alone)[:, 1]
    np.testing.assert_allclose(shift, shift[0], rtol=1e-3, atol=1e-3)
    share = found.classifier.predict_proba(DATA.X)[:, 1].mean()
    assert share == pytest.approx(found.audit.frequencies.values[1], rel=1e-3)


def test_answers_that_are_the_same_of_all_items_change_no_label_whatever_they_count():
    """The likelihood itself: with the rates of such a machine, its words cancel."""
    machine = DATA.Y.astype(float)
    machine[:, 1] = 0
    learned = beside(machine, classifier=CHOSEN).classifier
    assert learned.missed[-1, 1] + learned.invented[-1, 1] == pytest.approx(1)
    both = _together(PEOPLE, machine)[0]
    decisions = [
        clone(learned).fit(DATA.X, both.with_weight(np.where(both.annotator, w, 1.0)))
        for w in (0.01, 1.0)
    ]
    first, second = (each.predict_proba(DATA.X).mean(axis=0)[1] for each in decisions)
    assert first == pytest.approx(second, abs=0.02)


def test_labels_share_what_they_do_not_know_of_fits():
    """A label with many answers goes its own way; one with few follows the others."""
    rng = np.random.default_rng(0)
    label = np.repeat([0, 1, 2, 3], [400, 400, 400, 4])
    better = np.array([0.2, 0.2, -0.2, 0.0])[label]
    values = rng.normal(size=(2, len(label))) * 0.1 - 0.6
    values[1] += better
    own = _shares(values, label, np.ones((2, 4), bool), 0)
    np.testing.assert_allclose(own[1, :3], [1, 1, 0], atol=0.05)
    alike = np.append(values[:1], values[:1] + 0.05 + 0.01 * rng.normal(size=1204), axis=0)
    assert _shares(alike, label, np.ones((2, 4), bool), 0)[1].min() > 0.8  # of four answers, too
    only = np.array([[True] * 4, [True, False, True, True]])
    assert _shares(alike, label, only, 0)[:, 1].tolist() == [1, 0]


def test_a_model_beside_a_machine_matches_frequencies(tmp_path):
    matched = FrequencyMatchedClassifier(CHOSEN)
    machine = np.where(np.random.default_rng(1).random(DATA.Y.shape) < 0.2, 1 - DATA.Y, DATA.Y)
    found = fit_beside_machine(matched, DATA.X, PEOPLE, machine)
    model = found.classifier
    np.testing.assert_allclose(model.label_frequencies_, found.audit.frequencies.values)
    mean = model.predict_proba(DATA.X).mean(axis=0)
    np.testing.assert_allclose(mean, model.label_frequencies_, rtol=1e-6)
    plain = fit_beside_machine(CHOSEN, DATA.X, PEOPLE, machine)
    scores = plain.classifier.decision_function(DATA.X)
    expected = model.scale_ * scores + model.shift_
    np.testing.assert_allclose(model.decision_function(DATA.X), expected, rtol=1e-6, atol=1e-6)
    model.save(tmp_path / "model.safetensors")
    again = fit_again(load(tmp_path / "model.safetensors"), DATA.X, PEOPLE, machine)
    np.testing.assert_allclose(again.decision_function(DATA.X), expected, rtol=1e-6, atol=1e-6)
    given = FrequencyMatchedClassifier(CHOSEN, [0.1, 0.2, 0.3])
    known = beside(machine, classifier=given).classifier
    np.testing.assert_allclose(known.predict_proba(DATA.X).mean(axis=0), [0.1, 0.2, 0.3])
    assert known.label_frequencies_errors_ is None
    with pytest.raises(InputError, match="not PriorClassifier"):
        beside(machine, classifier=FrequencyMatchedClassifier(PriorClassifier()))


def test_features_of_more_columns_than_rows_give_the_same_model():
    """It is fitted to rotated rows; its weights are those of the columns that were given."""
    X = np.hstack([DATA.X, np.random.default_rng(5).normal(size=(300, 400))])
    found = fit_beside_machine(CHOSEN, X, PEOPLE, DATA.Y)
    shift = found.classifier.decision_function(X) - mean_of_fits(found, X, DATA.Y, CHOSEN)
    np.testing.assert_allclose(shift, shift[[0] * 300], rtol=0.05, atol=0.03)
    told = found.audit.frequencies.values
    np.testing.assert_allclose(found.classifier.predict_proba(X).mean(axis=0), told, rtol=1e-3)


def test_the_model_is_the_mean_of_fits_with_the_weights_and_penalties_by_their_shares(tmp_path):
    machine = np.where(np.random.default_rng(1).random(DATA.Y.shape) < 0.2, 1 - DATA.Y, DATA.Y)
    classifier = clone(LINEAR).set_params(scaling="global", rank=None)
    found = beside(machine, classifier=classifier)
    np.testing.assert_allclose(found.shares.sum(axis=(0, 1)), 1)
    assert np.count_nonzero(found.shares) > 1
    np.testing.assert_allclose(found.label_weights, found.weights @ found.shares.sum(axis=1))
    mean = mean_of_fits(found, DATA.X, machine, classifier)
    decision = found.classifier.decision_function(DATA.X)
    np.testing.assert_allclose(decision - mean, (decision - mean)[[0] * 300], rtol=0.01, atol=0.02)
    told = found.audit.frequencies.values  # people were not asked by chance about each label
    np.testing.assert_allclose(special.expit(decision).mean(axis=0), told, rtol=1e-3)
    found.classifier.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors").decision_function(DATA.X)
    np.testing.assert_array_equal(again, decision)


def test_with_a_kernel_the_model_is_saved_and_predicts_the_same(tmp_path):
    kernel = clone(CHOSEN).set_params(kernel="rbf", gamma=0.1, n_components=20)
    found = beside(DATA.Y, classifier=kernel).classifier
    found.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors").decision_function(DATA.X)
    np.testing.assert_array_equal(again, found.decision_function(DATA.X))
    assert log_likelihood(found) > log_likelihood(clone(kernel).fit(DATA.X, PEOPLE)) - 0.02


def test_probabilities_of_a_fold_come_from_a_fit_beside_the_machine_without_it():
    people = PEOPLE.only(PEOPLE.item >= 30)
    machine = np.where(np.random.default_rng(2).random(DATA.Y.shape) < 0.2, 1 - DATA.Y, DATA.Y)
    erring = clone(CHOSEN).set_params(missed=0.1, invented=0.02)
    learned = beside(machine, people, erring).classifier
    learned_from = []

    def fit(items, X, answers):
        learned_from.append(items)
        return fit_again(learned, X, answers, machine[items])

    found = cross_fit_probabilities(learned, DATA.X, people, n_folds=2, fit=fit)
    assert sorted(np.concatenate(learned_from)) == list(range(len(DATA.Y)))  # each in one of two
    for rest, fold in (learned_from, learned_from[::-1]):
        again = fit_beside_machine(erring, DATA.X[rest], people[rest], machine[rest])
        expected = again.classifier.predict_proba(DATA.X[fold])
        np.testing.assert_allclose(found[fold], expected, rtol=1e-6)


def test_people_may_contradict_each_other():
    other = PEOPLE.only(np.arange(PEOPLE.n_answers) < 5)
    other = Answers.from_arrays(
        relevant=other.absent, absent=other.relevant, question="asked", item=other.item, n_items=300
    )
    found = beside(DATA.Y, Answers.concatenate([PEOPLE, other]), CHOSEN)
    assert np.isfinite(found.classifier.decision_function(DATA.X)).all()


def test_answers_of_people_with_the_weight_0_are_left_out():
    few = np.arange(PEOPLE.n_answers) < 200
    weighted, fewer = (
        beside(DATA.Y, people, CHOSEN).classifier.decision_function(DATA.X)
        for people in (PEOPLE.with_weight(few.astype(float)), PEOPLE.only(few))
    )
    np.testing.assert_array_equal(weighted, fewer)


def test_gaps_and_probabilities_are_read_as_no_answer_and_as_yes_or_no():
    p = np.where(DATA.Y == 1, 0.9, 0.2)
    p[::3, 1] = np.nan
    words = np.where(np.isnan(p), np.nan, p >= 0.5)
    first, second = (beside(each, classifier=CHOSEN) for each in (p, words))
    np.testing.assert_array_equal(
        first.classifier.decision_function(DATA.X), second.classifier.decision_function(DATA.X)
    )
    both, of_machine = _together(PEOPLE, words)
    of_it = both.only(both.annotator == of_machine).statements()
    assert len(of_it.label) == np.count_nonzero(~np.isnan(p))


def test_people_without_a_name_do_not_get_the_rates_of_the_machine():
    both, of_machine = _together(PEOPLE, DATA.Y.astype(float))
    assert both.annotator_names == ("people", "machine")
    assert of_machine == 1
    assert (both.annotator >= 0).all()
    assert PEOPLE.annotator_names == ()


def test_a_slope_and_a_shift_of_each_label_change_hardly_anything():
    rng = np.random.default_rng(0)
    z, label = rng.normal(size=3000), rng.integers(3, size=3000)
    yes = rng.random(3000) < 1 / (1 + np.exp(-z))
    at = np.arange(3000)
    judged = Statements(at, at, label, np.zeros(3000, dtype=np.int8), yes, 3)
    true = -np.logaddexp(0, -np.where(yes, z, -z)).mean()
    for other in (z, 1.5 * z + 2, 0.7 * z + np.array([-0.5, 0, 0.5])[label]):
        # Five unknowns fit 3,000 answers by 2.5 nats better than the truth, on average.
        assert _recalibrated(other, judged)[0].mean() == pytest.approx(true, abs=2.5e-3)
    assert _recalibrated(-z, judged)[0].mean() < true - 0.05


def test_a_penalty_that_is_given_is_the_only_one_and_frames_are_read():
    X = pd.DataFrame(DATA.X, columns=[*"abcde"])
    found = fit_beside_machine(clone(LINEAR).set_params(alpha=0.02), X, PEOPLE, DATA.Y, n_folds=3)
    assert found.alphas.tolist() == [0.02]
    assert found.shares.shape == (5, 1, 3)
    assert found.classifier.alpha_ == 0.02
    assert found.classifier.feature_names_in_.tolist() == [*"abcde"]


@pytest.mark.parametrize("known", [{"missed": "auto", "invented": "auto"}, {"error_rate": 0.1}])
def test_rates_of_people_that_are_not_known_are_refused(known):
    with pytest.raises(InputError, match="missed and invented"):
        beside(DATA.Y, classifier=clone(LINEAR).set_params(**known))


def test_answers_that_judge_nothing_other_shapes_and_features_in_blocks_are_refused():
    with pytest.raises(InputError, match="fit into memory"):
        fit_beside_machine(LINEAR, from_array(DATA.X), PEOPLE, DATA.Y)
    with pytest.raises(InputError, match="about a single label"):
        beside(DATA.Y, draw_answers(DATA.Y, random_state=0))
    with pytest.raises(InputError, match="machine have shape"):
        beside(DATA.Y[:, :2])
    nobody = Answers.from_arrays(
        absent=np.eye(3, dtype=np.uint8)[:1], question="asked", item=[0], n_items=300
    )
    with pytest.raises(InputError, match="folds"):
        beside(DATA.Y, nobody)
