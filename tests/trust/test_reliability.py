"""Bins of pairs, and an expected calibration error without what chance adds to it."""

import itertools

import numpy as np
import pytest
from scipy import stats
from tests.refusals import raises

from complabel.answers import Answers
from complabel.errors import AnnotationError, InputError
from complabel.simulate import draw_answers
from complabel.trust import reliability

# A hand-worked example: probabilities .2 and .8, five pairs each.
P = np.array([[0.2, 0.8], [0.2, 0.8], [0.2, 0.8], [0.2, 0.8], [0.2, 0.8]])
Y = np.array([[0, 1], [0, 1], [0, 0], [1, 1], [1, 0]])


def draws_of(truth, said, n_draws, n_items, **how):
    """The errors and intervals of draws of labels with the chances ``truth``."""
    rng = np.random.default_rng(0)
    each = (truth, said)
    pairs = [np.broadcast_to(given, (n_items, len(given))) for given in each]
    drawn = (rng.random(pairs[0].shape) < pairs[0] for _ in range(n_draws))
    return [reliability(Y, pairs[1], **how) for Y in drawn]


def test_true_labels_are_counted_in_bins_of_equal_probabilities():
    found = reliability(Y, P, n_bins=2)
    np.testing.assert_allclose(found.mean_probability, [0.2, 0.8], rtol=1e-12)
    np.testing.assert_allclose(found.share, [0.4, 0.6], rtol=1e-12)
    np.testing.assert_array_equal(found.judgements, [5, 5])
    np.testing.assert_allclose(found.weights, [0.5, 0.5], rtol=1e-12)


def test_intervals_of_single_judgements_are_those_of_wilson():
    y = np.array([[1], [0], [0], [0], [1], [1], [0]])
    found = reliability(y, np.full((7, 1), 0.5))
    expected = stats.binomtest(3, 7).proportion_ci(method="wilson")
    np.testing.assert_allclose(found.intervals, [[expected.low, expected.high]], rtol=1e-6)


def test_answers_to_random_questions_count_and_others_do_not():
    """Each pair is asked once, so the answers say what the true labels say."""
    item, label = np.divmod(np.arange(Y.size), 2)
    asked = np.eye(2, dtype=np.uint8)[label]
    how = {"item": item, "n_items": len(Y)}
    yes = asked * Y[item].astype(np.uint8)
    random = Answers.from_arrays(relevant=yes, absent=asked - yes, probability=0.5, **how)
    chosen = Answers.from_arrays(relevant=asked, probability=np.nan, **how)
    found = reliability(Answers.concatenate([random, chosen]), P, n_bins=2)
    known = reliability(Y, P, n_bins=2)
    np.testing.assert_allclose(found.share, known.share, rtol=1e-12)
    np.testing.assert_array_equal(found.judgements, known.judgements)
    assert found.error == pytest.approx(known.error, rel=1e-9)
    with raises(AnnotationError, "--random-questions"):
        reliability(chosen, P)


def test_rare_questions_weigh_more():
    """Of the pairs with label 0, a third of the questions stand for more pairs."""
    marks = np.array([[1, 0]] * 3, dtype=np.uint8)
    yes = marks * [[1], [0], [0]]
    chance = np.array([0.1, 0.2, 0.2])
    answers = Answers.from_arrays(
        relevant=yes, absent=marks - yes, probability=chance, item=[0, 1, 2], n_items=5
    )
    found = reliability(answers, P)
    assert found.share[0] == pytest.approx(10 / (10 + 5 + 5), rel=1e-12)


def test_unknown_labels_are_left_out():
    values = Y.astype(float)
    values[0, 1] = np.nan
    found = reliability(values, P, n_bins=2)
    np.testing.assert_array_equal(found.judgements, [5, 4])
    np.testing.assert_allclose(found.share, [0.4, 0.5], rtol=1e-12)


@pytest.mark.parametrize("n_items", [20, 100])
def test_probabilities_that_are_right_have_errors_near_0(n_items):
    """Half of the errors are 0, and nearly all intervals hold 0."""
    chances = np.linspace(0.05, 0.95, 10)
    found = draws_of(chances, chances, 40, n_items)
    at_zero = [each.interval[0] <= 1e-9 for each in found]
    assert np.mean(at_zero) > 0.85
    plain = [each.weights @ np.abs(each.share - each.mean_probability) for each in found]
    assert np.mean([each.error for each in found]) < 0.6 * np.mean(plain)


def test_errors_are_those_of_the_truth_and_intervals_hold_it():
    chances = np.linspace(0.1, 0.9, 10)
    said = np.clip(0.5 + 1.5 * (chances - 0.5), 0.01, 0.99)
    found = draws_of(chances, said, 50, 40)
    truth = np.abs(chances - said).mean()
    assert np.mean([each.error for each in found]) == pytest.approx(truth, rel=0.1)
    held = [each.interval[0] <= truth <= each.interval[1] for each in found]
    assert np.mean(held) >= 0.9
    assert np.mean([np.diff(each.interval)[0] for each in found]) < 1.5 * truth


def test_items_that_are_alike_in_all_labels_widen_intervals():
    """Ten copies of one label tell no more than one."""
    y = np.random.default_rng(0).random((200, 1)) < 0.3
    once = reliability(y, np.full((200, 1), 0.3))
    ten = reliability(np.tile(y, 10), np.full((200, 10), 0.3))
    np.testing.assert_allclose(ten.intervals, once.intervals, rtol=1e-6)


def test_answers_of_an_exact_model_have_no_error_and_may_have_some_elsewhere():
    found = reliability(Y, Y.astype(float))
    assert (found.error, found.interval[0]) == (0, 0)
    assert found.interval[1] > 0.1
    assert (np.ptp(found.intervals, axis=1) > 0.2).all()


@pytest.mark.parametrize("sure", [1.0, 0.6, 0.999])
def test_an_error_is_a_share_and_its_interval_has_width_however_few_answers_there_are(sure):
    """Of one to eight pairs, all wrong or all right."""
    for n, right in itertools.product(range(1, 9), (0, 1)):
        found = reliability(np.full((n, 1), right), np.full((n, 1), sure))
        low, high = found.interval
        assert 0 <= low <= found.error <= high <= 1
        assert low < high
        if n < 3:
            np.testing.assert_array_equal(found.intervals, [[0, 1]])


def test_simulated_answers_tell_what_true_labels_tell():
    rng = np.random.default_rng(1)
    p = rng.beta(1, 3, size=(4000, 5))
    labels = (rng.random(p.shape) < p**1.5).astype(np.uint8)
    whole = reliability(labels, p)
    asked = draw_answers(labels, question="asked", random_state=0)
    found = reliability(asked, p)
    assert found.error == pytest.approx(whole.error, rel=0.25)
    assert found.interval[0] < whole.error < found.interval[1]


def test_known_mistakes_are_taken_out():
    """Shares are those without mistakes, from answers with them, and less certain."""
    rng = np.random.default_rng(2)
    p = np.tile([0.2, 0.7], (6000, 1))
    labels = (rng.random(p.shape) < p).astype(np.uint8)
    rates = {"missed": 0.3, "invented": 0.1}
    clean = draw_answers(labels, question="asked", random_state=0)
    erring = draw_answers(labels, question="asked", random_state=0, **rates)
    found, wrong = reliability(erring, p, **rates), reliability(erring, p)
    np.testing.assert_allclose(found.share, [0.2, 0.7], atol=0.03)
    np.testing.assert_allclose(wrong.share, [0.2 * 0.7 + 0.08, 0.7 * 0.7 + 0.03], atol=0.03)
    assert found.interval[0] <= 1e-3
    assert wrong.interval[0] > 0.05
    assert (np.ptp(found.intervals, axis=1) > np.ptp(reliability(clean, p).intervals, axis=1)).all()


@pytest.mark.parametrize(
    ("answers", "p", "says"),
    [
        pytest.param(Y, P[:3], "shape (3, 2)", id="other-shape"),
        pytest.param(Y, P + 0.5, ("0", "1"), id="above-1"),
        pytest.param(Y, np.where(P > 0.5, np.nan, P), "finite", id="nan"),
    ],
)
def test_wrong_probabilities_are_refused(answers, p, says):
    with raises(InputError, says):
        reliability(answers, p)


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(Y + 1, id="two"),
        pytest.param(np.full(Y.shape, np.nan), id="all-unknown"),
        pytest.param(np.full(Y.shape, "yes"), id="text"),
    ],
)
def test_wrong_true_labels_are_refused(labels):
    with raises(AnnotationError, "0", "1", "NaN"):
        reliability(labels, P)
