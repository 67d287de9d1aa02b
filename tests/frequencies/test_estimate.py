"""How often labels apply, estimated from answers: properties, and what is known exactly."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special
from tests.refusals import raises

from complabel.answers import Answers
from complabel.errors import InputError
from complabel.frequencies import estimate_label_frequencies
from complabel.simulate import draw_answers, draw_propensities

MASKS = ("offered", "named", "absent", "relevant", "excluded")
PI = np.array([0.05, 0.1, 0.2, 0.3, 0.5, 0.7])


def drawn(n_items=1500, n_asked=300, *, sd=0.0, question="free", seed=0):
    """True labels, namings of them and yes/no answers about some items."""
    rng = np.random.default_rng([seed, 0])
    Y = (rng.random((n_items, len(PI))) < PI).astype(np.uint8)
    Y[Y.all(axis=1)] = 0
    named = draw_answers(
        Y,
        question=question,
        propensities=draw_propensities(len(PI), sd, rng),
        random_state=np.random.default_rng([seed, 1]),
    )
    asked = draw_answers(
        Y,
        question="asked",
        items_share=n_asked / n_items,
        random_state=np.random.default_rng([seed, 2]),
    )
    return Y, named, asked


def test_asked_alone_has_no_propensities():
    Y, _, asked = drawn()
    found = estimate_label_frequencies(asked)
    assert found.propensities is None
    assert found.spread == 0
    assert found.n_audit == 300
    assert found.cardinality == pytest.approx(found.values.sum(), rel=1e-12)
    assert found.cardinality_error == pytest.approx(np.sqrt(found.covariance.sum()), rel=1e-12)
    errors = found.values - Y.mean(axis=0)
    assert (abs(errors) < 4 * found.standard_errors).all()


@pytest.mark.parametrize("sd", [0.0, 1.0])
def test_namings_tell_propensities_apart_by_the_audit(sd):
    rng = np.random.default_rng([0, 0])
    rng.random((4000, len(PI)))
    w = draw_propensities(len(PI), sd, rng)
    Y, named, asked = drawn(4000, 2000, sd=sd)
    found = estimate_label_frequencies(Answers.concatenate([named, asked]))
    expected = w / np.exp(np.log(w).mean())
    np.testing.assert_allclose(found.propensities, expected, rtol=0.35)
    assert np.log(found.propensities).mean() == pytest.approx(0, abs=1e-9)
    assert found.spread <= 0.2 if sd == 0 else found.spread >= 0.5
    assert (abs(found.values - Y.mean(axis=0)) < 4 * found.standard_errors).all()


def test_namings_of_equally_ready_labels_make_errors_smaller():
    for seed in range(2):
        _, named, asked = drawn(seed=seed)
        both = estimate_label_frequencies(Answers.concatenate([named, asked]))
        alone = estimate_label_frequencies(asked)
        assert both.standard_errors.mean() < 0.9 * alone.standard_errors.mean()


@pytest.mark.slow
def test_few_frequent_labels_do_not_seem_rarer_because_all_never_apply():
    """Independent labels would all apply to one item in sixteen."""
    errors = []
    for seed in range(8):
        Y = (np.random.default_rng(seed).random((1000, 4)) < 0.5).astype(np.uint8)
        Y = Y[~Y.all(axis=1)]
        named = draw_answers(Y, random_state=seed)
        asked = draw_answers(Y, question="asked", items_share=0.4, random_state=seed)
        found = estimate_label_frequencies(Answers.concatenate([named, asked]))
        errors.append(found.cardinality - Y.sum(axis=1).mean())
    # Without the condition that not all apply, this is about -0.3.
    assert abs(np.mean(errors)) < 0.1


@pytest.mark.slow
def test_intervals_hold_the_truth_about_as_often_as_they_say():
    held = []
    for seed in range(10):
        Y, named, asked = drawn(n_asked=120, sd=0.5, seed=seed)
        found = estimate_label_frequencies(Answers.concatenate([named, asked]))
        held.extend(abs(found.values - Y.mean(axis=0)) < 1.96 * found.standard_errors)
    assert 0.85 <= np.mean(held) <= 0.995


@pytest.mark.slow
def test_random_menus_alone_say_how_often_labels_apply():
    Y, menus, _ = drawn(6000, sd=0.7, question="menu-2")
    found = estimate_label_frequencies(menus)
    assert found.n_audit == 0
    assert found.standard_errors.max() < 0.1
    assert (abs(found.values - Y.mean(axis=0)) < 4 * found.standard_errors).all()


@pytest.mark.parametrize(
    ("seed", "question", "error_rate"),
    [
        (0, "menu-3", 0.25),
        *(
            pytest.param(seed, question, rate, marks=pytest.mark.slow)
            for seed in range(1, 3)
            for question in ("menu-2", "menu-3")
            for rate in (0.0, 0.1, 0.3)
        ),
    ],
)
def test_mistakes_on_menus_are_found_where_labels_differ(seed, question, error_rate):
    # Without mistakes, only menus of frequent labels are said to apply as a whole.
    rng = np.random.default_rng(seed)
    Y = (rng.random((1500, 12)) < special.expit(np.linspace(-4, 1.5, 12))).astype(np.uint8)
    menus = draw_answers(Y, question=question, error_rate=error_rate, random_state=seed)
    found, truth = estimate_label_frequencies(menus), Y.mean(axis=0)
    assert abs(found.cardinality - truth.sum()) < 3 * found.cardinality_error
    low, high = found.intervals.T
    assert np.mean((low <= truth) & (truth <= high)) >= 0.75
    if not error_rate:
        assert found.cardinality_error < 0.1 * found.cardinality


@pytest.mark.parametrize("question", ["free", "excluded"])
def test_answers_that_do_not_say_how_often_labels_apply_are_refused(question):
    rates = {"exclusion_rates": 0.5} if question == "excluded" else {}
    answers = draw_answers(drawn()[0], question=question, random_state=0, **rates)
    with raises(InputError, "1500 items", "6 labels"):
        estimate_label_frequencies(answers)


def test_judgements_that_were_chosen_are_refused():
    chosen = Answers.from_arrays(absent=[[1, 0, 0], [0, 0, 0]], relevant=[[0, 0, 0], [0, 1, 0]])
    with raises(InputError, "2 items", "3 labels"):
        estimate_label_frequencies(chosen)


def test_labels_in_another_order_have_the_same_frequencies():
    _, named, asked = drawn(sd=0.5)
    order = np.array([3, 0, 5, 1, 4, 2])
    moved = [
        replace(answers, **{name: getattr(answers, name)[:, order] for name in MASKS})
        for answers in (named, asked)
    ]
    found = estimate_label_frequencies(Answers.concatenate(moved))
    expected = estimate_label_frequencies(Answers.concatenate([named, asked]))
    np.testing.assert_allclose(found.values, expected.values[order], rtol=1e-4)
    np.testing.assert_allclose(found.standard_errors, expected.standard_errors[order], rtol=1e-3)
    np.testing.assert_allclose(found.propensities, expected.propensities[order], rtol=1e-3)
    assert found.spread == expected.spread


def test_answers_and_predictions_stay_as_they_are():
    Y, named, asked = drawn()
    both = Answers.concatenate([named, asked])
    before = {name: getattr(both, name).copy() for name in ("probability", "asked_for", "item")}
    marks = both.named.toarray(), both.relevant.toarray()
    predictions = Y * 0.5
    estimate_label_frequencies(both, predictions=predictions)
    for name, values in before.items():
        np.testing.assert_array_equal(getattr(both, name), values)
    np.testing.assert_array_equal(both.named.toarray(), marks[0])
    np.testing.assert_array_equal(both.relevant.toarray(), marks[1])
    np.testing.assert_array_equal(predictions, Y * 0.5)


@pytest.mark.parametrize("n_draws", [5, pytest.param(15, marks=pytest.mark.slow)])
def test_half_right_predictions_make_errors_smaller_and_intervals_still_hold(n_draws):
    held, ratio = [], []
    for seed in range(n_draws):
        Y, _, asked = drawn(n_asked=200, seed=seed)
        rng = np.random.default_rng([seed, 9])
        p = np.clip(0.5 * Y + 0.3 * PI + 0.2 * rng.random(Y.shape), 0, 1)
        plain = estimate_label_frequencies(asked)
        found = estimate_label_frequencies(asked, predictions=p)
        held.extend(abs(found.values - Y.mean(axis=0)) < 1.96 * found.standard_errors)
        ratio.append(found.standard_errors.mean() / plain.standard_errors.mean())
    assert np.mean(ratio) < 0.8
    assert np.mean(held) >= 0.85


@pytest.mark.slow
def test_noise_as_predictions_does_no_harm():
    for seed in range(2):
        Y, named, asked = drawn(n_asked=100, seed=seed)
        noise = np.random.default_rng([seed, 9]).random(Y.shape)
        # With what was named, other spreads may become a little likelier.
        for answers, most in ((asked, 1.3), (Answers.concatenate([named, asked]), 1.3)):
            plain = estimate_label_frequencies(answers)
            found = estimate_label_frequencies(answers, predictions=noise)
            assert found.standard_errors.mean() < most * plain.standard_errors.mean()
            assert (abs(found.values - plain.values) < 1.5 * plain.standard_errors).all()


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        (np.zeros((3, 6)), "predictions"),
        (np.full((1500, 6), 1.5), ("predictions", "0", "1")),
        (np.full((1500, 6), np.inf), "predictions"),
    ],
)
def test_other_predictions_are_refused(predictions, message):
    with raises(InputError, message):
        estimate_label_frequencies(drawn()[2], predictions=predictions)


def test_frequencies_and_propensities_go_along_with_the_cardinality():
    rng = np.random.default_rng(8)
    Y = (rng.random((800, 4)) < [0.1, 0.2, 0.3, 0.4]).astype(np.uint8)
    Y = Y[~Y.all(axis=1)]
    named = draw_answers(Y, propensities=[1, 4, 1, 0.5], random_state=1)
    asked = draw_answers(Y, question="asked", items_share=0.2, random_state=2)
    found = estimate_label_frequencies(Answers.concatenate([named, asked]))
    same = found.given_cardinality(found.cardinality)
    np.testing.assert_allclose(same.values, found.values, rtol=1e-6)
    np.testing.assert_allclose(same.propensities, found.propensities, rtol=1e-6)
    for cardinality in (0.05, 0.7, 1.5, 3.9):
        moved = found.given_cardinality(cardinality)
        assert moved.cardinality == pytest.approx(cardinality)
        assert ((moved.values > found.values) == (cardinality > found.cardinality)).all()
        assert np.log(moved.propensities).mean() == pytest.approx(0, abs=1e-9)
        shift = special.logit(moved.values) - special.logit(found.values)
        ends = special.logit(found.intervals) + shift[:, np.newaxis]
        np.testing.assert_allclose(moved.intervals, special.expit(ends))


RATES = {
    "for all": (0.25, 0.03),
    "by annotator": (np.linspace(0, 0.7, 10), np.linspace(0, 0.1, 10)),
    "by annotator and label": (np.linspace(0, 0.6, 60).reshape(10, 6), 0.05),
}


@pytest.mark.parametrize("rates", RATES.values(), ids=RATES)
@pytest.mark.parametrize("with_machine", [False, True])
def test_known_mistakes_are_taken_back(rates, with_machine):
    rng = np.random.default_rng(5)
    n, held, errors, ignored = 3000, [], [], []
    for _ in range(5):
        Y = rng.random((n, len(PI))) < PI
        person, label = rng.integers(10, size=n), rng.integers(len(PI), size=n)
        missed, invented = (
            np.broadcast_to(np.reshape(rate, (-1, 1)) if np.ndim(rate) == 1 else rate, (10, 6))
            for rate in rates
        )
        applies = Y[np.arange(n), label]
        chance = np.where(applies, 1 - missed[person, label], invented[person, label])
        yes = (rng.random(n) < chance)[:, np.newaxis]
        marks = np.eye(len(PI), dtype=np.uint8)[label]
        answers = Answers.from_arrays(
            relevant=marks * yes,
            absent=marks * ~yes,
            probability=1 / len(PI),
            annotator=np.array(list("abcdefghij"))[person],
        )
        given = {"missed": rates[0], "invented": rates[1]}
        if with_machine:
            given["predictions"] = np.clip(0.6 * Y + 0.3 * rng.random(Y.shape), 0, 1)
        found = estimate_label_frequencies(answers, **given)
        errors.append(found.values - Y.mean(axis=0))
        ignored.append(estimate_label_frequencies(answers).values - Y.mean(axis=0))
        low, high = found.intervals.T
        held.extend((low <= Y.mean(axis=0)) & (Y.mean(axis=0) <= high))
    # The mean error of five draws, each with a standard error of .03 or less
    assert np.abs(np.mean(errors, axis=0)).max() < 0.045
    assert np.abs(np.mean(ignored, axis=0)).max() > 0.1
    assert np.mean(held) > 0.9


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ({"missed": [0.1, 0.2]}, "missed"),
        ({"invented": np.zeros((2, 2, 2))}, ("invented", "2-D array")),
        ({"invented": 1.5}, ("invented", "0", "1")),
        ({"missed": np.nan}, "missed"),
        ({"missed": 0.6, "invented": 0.4}, "up to 1"),
    ],
)
def test_other_rates_of_mistakes_are_refused(rates, message):
    with raises(InputError, message):
        estimate_label_frequencies(drawn()[2], **rates)


def test_the_same_answers_are_estimated_once_and_nobody_changes_what_is_kept(monkeypatch):
    Y = (np.random.default_rng(7).random((60, 4)) < 0.3).astype(np.uint8)
    menus = draw_answers(Y, question="menu-3", random_state=7)
    first = estimate_label_frequencies(menus)
    expected = first.values.copy()
    first.values[:] = 0.5
    monkeypatch.setattr("complabel.frequencies._estimate._estimated", None)
    np.testing.assert_array_equal(estimate_label_frequencies(menus[np.arange(60)]).values, expected)
    with pytest.raises(TypeError):  # other answers need an estimate of their own
        estimate_label_frequencies(menus[np.arange(59)])
