"""What answers count for how often labels apply."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from complabel.answers import Answers
from complabel.frequencies._counts import Audit, Counts, Named, judged_at_random
from complabel.simulate import draw_answers


def judged(labels, answers, probability, **changes):
    """Yes/no questions about one of three labels each, about items from 0."""
    marks = np.eye(3, dtype=np.uint8)[labels]
    yes = np.array(answers, dtype=np.uint8)[:, np.newaxis]
    return Answers.from_arrays(
        relevant=marks * yes, absent=marks * (1 - yes), probability=probability, **changes
    )


def totals(answers):
    """Effective numbers of "yes" and of judgements of each label."""
    counts = Audit.of(answers).counts()
    return counts.yes[0], counts.judged[0]


def test_equally_likely_questions_are_plain_counts():
    yes, total = totals(judged([0, 0, 2, 0], [1, 0, 1, 0], 1 / 3))
    np.testing.assert_allclose(yes, [1, 0, 1], rtol=1e-12)
    np.testing.assert_allclose(total, [3, 0, 1], rtol=1e-12)


def test_unequally_likely_questions_are_weighted_by_the_inverse():
    yes, total = totals(judged([0, 0, 0], [1, 0, 0], [0.5, 0.25, 0.25]))
    # Weights 2, 4, 4: a fifth of them says yes, and Kish's number is 100 / 36.
    assert total[0] == pytest.approx(100 / 36, rel=1e-12)
    assert yes[0] / total[0] == pytest.approx(0.2, rel=1e-12)


def test_only_random_judgements_count():
    chosen = judged([0, 1], [1, 1], np.nan)
    everything = Answers.from_arrays(absent=[[1, 0, 1]], question="ticked", n_items=2)
    some = Answers.from_arrays(
        absent=[[1, 0, 0]], offered=[[1, 1, 0]], question="ticked", n_items=2
    )
    both = Answers.concatenate([chosen, everything, some])
    np.testing.assert_array_equal(judged_at_random(both), both.n_offered == 3)
    yes, total = totals(both)
    np.testing.assert_allclose(yes, [0, 1, 0], rtol=1e-12)
    np.testing.assert_allclose(total, [1, 1, 1], rtol=1e-12)


def test_random_forms_to_tick_count_as_judgements_of_random_labels():
    """Three forms of two of three labels, each drawn with probability 1/3."""
    forms = Answers.from_arrays(
        absent=[[1, 0, 0], [0, 0, 1], [0, 0, 0]],
        offered=[[1, 1, 0], [0, 1, 1], [1, 0, 1]],
        question="ticked",
        probability=1 / 3,
    )
    assert judged_at_random(forms).all()
    yes, total = totals(forms)
    np.testing.assert_allclose(yes, [1, 2, 1], rtol=1e-12)
    np.testing.assert_allclose(total, [2, 2, 2], rtol=1e-12)


def test_questions_of_different_forms_are_not_weighted_against_each_other():
    asked = judged([0, 0], [1, 1], 1 / 3, n_items=4)
    ticked = Answers.from_arrays(absent=[[1, 0, 0]] * 2, question="ticked", item=[2, 3])
    yes, total = totals(Answers.concatenate([asked, ticked]))
    assert (yes[0], total[0]) == (pytest.approx(2, rel=1e-12), pytest.approx(4, rel=1e-12))


def test_judgements_are_counted_by_annotator_if_their_rates_differ():
    answers = judged([0, 0, 1, 2], [1, 0, 1, 1], 1 / 3, annotator=["ann", "bo", None, "ann"])
    answers = replace(answers, annotator_names=("ann", "bo", "cy"))
    missed = np.array([[0.1], [0.2], [0.3], [0.2]])
    counts = Audit.of(answers).counts(missed, np.full((1, 3), 0.05))
    # Nobody answered as "cy"; the last row are unknown people.
    np.testing.assert_allclose(counts.yes, [[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    np.testing.assert_allclose(counts.judged, [[1, 0, 1], [1, 0, 0], [0, 1, 0]])
    np.testing.assert_allclose(counts.missed[:, 0], [0.1, 0.2, 0.2])
    merged = counts.merged()
    np.testing.assert_allclose(merged.judged, [[2, 1, 1]])
    np.testing.assert_allclose(merged.missed, [[0.15, 0.2, 0.1]])
    np.testing.assert_allclose(merged.invented, np.full((1, 3), 0.05))


ERRING = Counts(
    yes=np.array([[3.0, 0.0], [1.0, 2.0]]),
    judged=np.array([[5.0, 4.0], [6.0, 2.0]]),
    missed=np.array([[0.2, 0.1], [0.0, 0.3]]),
    invented=np.array([[0.05, 0.0], [0.1, 0.02]]),
)


def test_the_likelihood_of_judgements_with_mistakes_is_that_of_rogan_and_gladen():
    logits = np.array([[-2.0, 0.5], [-1.0, 3.0]])
    pi = 1 / (1 + np.exp(-logits))
    expected = np.zeros_like(pi)
    for k in range(2):
        for g in range(2):
            m, v = ERRING.missed[g, k], ERRING.invented[g, k]
            chance = pi[k] * (1 - m) + (1 - pi[k]) * v
            expected[k] += ERRING.yes[g, k] * np.log(chance)
            expected[k] += (ERRING.judged[g, k] - ERRING.yes[g, k]) * np.log(1 - chance)
    np.testing.assert_allclose(ERRING.log_likelihood(logits), expected, rtol=1e-12)


def test_slope_and_information_are_derivatives_of_the_likelihood():
    at = np.array([-1.5, 0.3])

    def value(logits):
        return ERRING.log_likelihood(logits[:, np.newaxis]).sum()

    slope = optimize.approx_fprime(at, value, 1e-7)
    np.testing.assert_allclose(ERRING.slope(at), slope, rtol=1e-4)
    # The expected curvature is the observed one where as many say "yes" as expected.
    chance = ERRING.chance_of_yes(at[:, np.newaxis])[..., 0]
    expected = replace(ERRING, yes=ERRING.judged * chance)
    curvature = -(expected.slope(at + 1e-5) - expected.slope(at - 1e-5)) / 2e-5
    np.testing.assert_allclose(ERRING.information(at), curvature, rtol=1e-5)


def test_free_naming_is_counted_by_label():
    answers = Answers.from_complementary([[1, 0, 0], [1, 0, 0], [0, 0, 1]])
    named = Named.of(answers)
    np.testing.assert_allclose(named.first, [2, 0, 1], rtol=1e-12)
    assert named.answers is None
    assert not named.says_all_apply


def test_chosen_menus_do_not_count():
    menus = {"named": [[1, 0, 0], [0, 1, 0]], "offered": [[1, 1, 0], [0, 1, 1]]}
    assert Named.of(Answers.from_arrays(**menus)) is None
    assert Named.of(Answers.from_arrays(**menus, probability=1 / 3)).counts.sum() == 2


def test_like_answers_are_counted_once():
    rng = np.random.default_rng(0)
    Y = (rng.random((500, 4)) < 0.3).astype(np.uint8)
    named = Named.of(draw_answers(Y, question="menu-2", random_state=0))
    assert named.answers.n_answers == 6 * 3
    assert named.counts.sum() == pytest.approx(500, rel=1e-12)
    assert named.says_all_apply


def test_what_is_known_beside_a_naming_does_not_count():
    named = Named.of(
        Answers.from_arrays(named=[[1, 0, 0], [1, 0, 0]], relevant=[[0, 1, 0], [0, 0, 0]])
    )
    np.testing.assert_allclose(named.first, [2, 0, 0], rtol=1e-12)


def test_nothing_named_is_none():
    assert Named.of(judged([0], [1], 1 / 3)) is None
