"""What answers count for how often labels apply."""

import numpy as np
import pytest

from complabel.answers import Answers
from complabel.frequencies._counts import Audit, Named, judged_at_random
from complabel.simulate import draw_answers


def judged(labels, answers, probability, **changes):
    """Yes/no questions about one of three labels each, about items from 0."""
    marks = np.eye(3, dtype=np.uint8)[labels]
    yes = np.array(answers, dtype=np.uint8)[:, np.newaxis]
    return Answers.from_arrays(
        relevant=marks * yes, absent=marks * (1 - yes), probability=probability, **changes
    )


def test_equally_likely_questions_are_plain_counts():
    yes, total = Audit.of(judged([0, 0, 2, 0], [1, 0, 1, 0], 1 / 3)).counts()
    np.testing.assert_allclose(yes, [1, 0, 1], rtol=1e-12)
    np.testing.assert_allclose(total, [3, 0, 1], rtol=1e-12)


def test_unequally_likely_questions_are_weighted_by_the_inverse():
    audit = Audit.of(judged([0, 0, 0], [1, 0, 0], [0.5, 0.25, 0.25]))
    yes, total = audit.counts()
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
    yes, total = Audit.of(both).counts()
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
    audit = Audit.of(forms)
    yes, total = audit.counts()
    np.testing.assert_allclose(yes, [1, 2, 1], rtol=1e-12)
    np.testing.assert_allclose(total, [2, 2, 2], rtol=1e-12)
    # Four of six judgements say yes; the pooled frequency adds one of each.
    assert audit.pooled == pytest.approx(5 / 8, rel=1e-12)


def test_questions_of_different_forms_are_not_weighted_against_each_other():
    asked = judged([0, 0], [1, 1], 1 / 3)
    ticked = Answers.from_arrays(absent=[[1, 0, 0], [1, 0, 0]], question="ticked")
    yes, total = Audit.of(Answers.concatenate([asked, ticked])).counts()
    assert (yes[0], total[0]) == (pytest.approx(2, rel=1e-12), pytest.approx(4, rel=1e-12))


def test_the_pooled_frequency_is_that_of_all_judgements():
    audit = Audit.of(judged([0, 1, 2, 2], [1, 0, 0, 0], 1 / 3))
    assert audit.pooled == pytest.approx(2 / 6, rel=1e-12)
    assert audit.n_pooled == pytest.approx(4, rel=1e-12)


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
