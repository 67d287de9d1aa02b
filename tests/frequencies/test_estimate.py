"""How often labels apply, estimated from answers: properties, and what is known exactly."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, optimize

from complabel.answers import Answers
from complabel.errors import InputError
from complabel.frequencies import estimate_label_frequencies
from complabel.frequencies._counts import Audit
from complabel.frequencies._posterior import STRENGTHS, Counts, _Beta, from_audit
from complabel.frequencies._sharpen import sharpened
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


COUNTS = Counts(np.array([0.0, 3.0, 7.0]), np.array([4.0, 10.0, 9.0]), 0.4, 23.0)


@pytest.mark.parametrize("strength", STRENGTHS)
def test_the_audit_alone_is_the_mode_of_a_beta_distribution_of_logits(strength):
    found = _Beta(COUNTS, strength).posterior()
    for k in range(3):
        yes, no = COUNTS.yes[k], COUNTS.judged[k] - COUNTS.yes[k]
        a, b = yes + 0.4 * strength, no + 0.6 * strength
        mode = optimize.minimize_scalar(
            lambda p, a=a, b=b: -(a * np.log(p) + b * np.log1p(-p)),
            bounds=(1e-9, 1 - 1e-9),
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert found.values[k] == pytest.approx(mode.x, rel=1e-5)


def test_the_audit_alone_is_averaged_by_the_probability_of_the_answers():
    weights, values = [], []
    for strength in STRENGTHS:
        a, b = 0.4 * strength, 0.6 * strength
        log_weight = np.log(strength / (1 + strength) ** 2)  # of the strength itself
        for yes, total in zip(COUNTS.yes, COUNTS.judged, strict=True):
            # In t with p = t^8 near 0, where the density grows without bounds.
            above, below = (
                integrate.quad(
                    lambda t, i=i, j=j: 8 * t ** (8 * i - 1) * (1 - t**8) ** (j - 1), 0, 1
                )[0]
                for i, j in ((a + yes, b + total - yes), (a, b))
            )
            log_weight += np.log(above / below)
        weights.append(np.exp(log_weight))
        values.append((COUNTS.yes + a) / (COUNTS.judged + strength))
    expected = np.average(values, axis=0, weights=weights)
    np.testing.assert_allclose(from_audit(COUNTS).values, expected, rtol=1e-4)


def test_the_covariance_of_the_audit_alone_knows_that_the_mean_is_uncertain():
    few = from_audit(Counts(COUNTS.yes, COUNTS.judged, 0.4, 5.0))
    many = from_audit(Counts(COUNTS.yes, COUNTS.judged, 0.4, 5000.0))
    assert (few.covariance - many.covariance >= 0).all()
    assert few.covariance[0, 1] > many.covariance[0, 1]


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
def test_intervals_hold_the_truth_about_as_often_as_they_say():
    held = []
    for seed in range(10):
        Y, named, asked = drawn(n_asked=120, sd=0.5, seed=seed)
        found = estimate_label_frequencies(Answers.concatenate([named, asked]))
        held.extend(abs(found.values - Y.mean(axis=0)) < 1.96 * found.standard_errors)
    assert 0.85 <= np.mean(held) <= 0.995


def test_random_menus_alone_say_how_often_labels_apply():
    Y, menus, _ = drawn(6000, sd=0.7, question="menu-2")
    found = estimate_label_frequencies(menus)
    assert found.n_audit == 0
    assert found.standard_errors.max() < 0.1
    assert (abs(found.values - Y.mean(axis=0)) < 4 * found.standard_errors).all()


@pytest.mark.parametrize("question", ["free", "excluded"])
def test_answers_that_do_not_say_how_often_labels_apply_are_refused(question):
    rates = {"exclusion_rates": 0.5} if question == "excluded" else {}
    answers = draw_answers(drawn()[0], question=question, random_state=0, **rates)
    with pytest.raises(InputError, match="no random judgement that says how often labels apply"):
        estimate_label_frequencies(answers)


def test_judgements_that_were_chosen_are_refused():
    chosen = Answers.from_arrays(absent=[[1, 0, 0], [0, 0, 0]], relevant=[[0, 0, 0], [0, 1, 0]])
    with pytest.raises(InputError, match="ask yes/no questions about random labels"):
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


def test_half_right_predictions_make_errors_smaller_and_intervals_still_hold():
    held, ratio = [], []
    for seed in range(15):
        Y, _, asked = drawn(n_asked=200, seed=seed)
        rng = np.random.default_rng([seed, 9])
        p = np.clip(0.5 * Y + 0.3 * PI + 0.2 * rng.random(Y.shape), 0, 1)
        plain = estimate_label_frequencies(asked)
        found = estimate_label_frequencies(asked, predictions=p)
        held.extend(abs(found.values - Y.mean(axis=0)) < 1.96 * found.standard_errors)
        ratio.append(found.standard_errors.mean() / plain.standard_errors.mean())
    assert np.mean(ratio) < 0.8
    assert np.mean(held) >= 0.85


def test_noise_as_predictions_does_no_harm():
    for seed in range(2):
        Y, named, asked = drawn(n_asked=100, seed=seed)
        noise = np.random.default_rng([seed, 9]).random(Y.shape)
        audit = Audit.of(asked)
        judged = sharpened(audit, noise).judged
        assert (judged >= audit.counts()[1]).all()
        assert judged.sum() < 1.1 * audit.counts()[1].sum()
        # With what was named, other spreads may become a little likelier.
        for answers, most in ((asked, 1.02), (Answers.concatenate([named, asked]), 1.15)):
            plain = estimate_label_frequencies(answers)
            found = estimate_label_frequencies(answers, predictions=noise)
            assert found.standard_errors.mean() < most * plain.standard_errors.mean()
            assert (abs(found.values - plain.values) < plain.standard_errors).all()


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        (np.zeros((3, 6)), "predictions have shape"),
        (np.full((1500, 6), 1.5), "predictions must be from 0 to 1"),
        (np.full((1500, 6), np.nan), "predictions must be finite"),
    ],
)
def test_other_predictions_are_refused(predictions, message):
    with pytest.raises(InputError, match=message):
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
