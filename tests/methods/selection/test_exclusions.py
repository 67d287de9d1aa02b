"""Labels that a rule excluded, with rates that are known, follow from answers, or are not known."""

import numpy as np
import pytest
from tests.methods.selection import answered
from tests.methods.selection.answered import ANSWERS, X, assumed, fixed, logistic_problem

from complabel.answers import Answers
from complabel.frequencies import estimate_label_frequencies
from complabel.simulate import draw_answers

RULES = ANSWERS["excluded"]


def test_exclusions_of_unknown_rates_are_taken_as_named_with_a_warning():
    classifier = fixed(cardinality=1.5)
    (warning,) = assumed(classifier, X, RULES)
    assert "these labels are treated as named freely" in str(warning.message)
    assert warning.filename == answered.__file__
    assert not hasattr(classifier, "exclusion_rates_")
    rows = RULES.complementary.any(axis=1)
    named = Answers.from_complementary(RULES.complementary)[rows]
    assumed(classifier, X[rows], RULES[rows])
    expected = fixed(cardinality=1.5).fit(X[rows], named)
    np.testing.assert_array_equal(classifier.coef_, expected.coef_)
    assert classifier.score(X[rows], RULES[rows]) == expected.score(X[rows], named)


def test_what_is_known_beside_an_exclusion_is_kept_where_it_is_taken_as_named():
    # Each row is one answer; labels 0 and 1 of two rows are judged besides, and a rule looks at
    # label 2 alone.
    told = Answers.from_arrays(
        excluded=[[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1]],
        absent=[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        relevant=[[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        offered=[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]],
        question="excluded",
    )
    same = Answers.concatenate(
        [
            Answers.from_arrays(
                named=[[0, 0, 1, 0], [1, 0, 0, 1]], item=[0, 3], all_apply="never", n_items=4
            ),
            Answers.from_arrays(
                absent=[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]],
                relevant=[[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]],
                item=[0, 1, 2],
                n_items=4,
            ),
        ]
    )
    found, expected = fixed(), fixed()
    assumed(found, X[:4], told)
    assumed(expected, X[:4], same)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert found.score(X[:4], told) == pytest.approx(expected.score(X[:4], same), rel=1e-12)


def rules(excluded, offered):
    """Answers of a rule, about items from 0."""
    return Answers.from_arrays(
        excluded=excluded, offered=offered, question="excluded", n_items=len(excluded)
    )


def test_exclusion_rates_follow_from_random_answers():
    # Of 8 items, label 0 is excluded in 4. Label 1 is excluded in 1 of the 4 that the rule looks
    # at, and label 2 always.
    excluded = np.zeros((8, 3), dtype=int)
    excluded[:4, 0] = excluded[7, 1] = excluded[:, 2] = 1
    offered = np.ones((8, 3), dtype=int)
    offered[:4, 1] = 0
    # Label 0 applies in 1 of 4 random answers, label 1 in none of 2, and label 2 in both of 2.
    label = [0, 0, 0, 0, 1, 1, 2, 2]
    yes = np.array([1, 0, 0, 0, 0, 0, 1, 1])[:, np.newaxis] * np.eye(3, dtype=int)[label]
    no = np.eye(3, dtype=int)[label] - yes
    random = Answers.from_arrays(absent=no, relevant=yes, probability=1 / 3, question="asked")
    # What somebody chose to ask does not count.
    chosen = Answers.from_arrays(relevant=np.eye(3, dtype=int)[[1] * 8], question="asked")
    answers = Answers.concatenate([rules(excluded, offered), random, chosen])
    rates = fixed(error_rate=0.1).fit(X[:8], answers).exclusion_rates_
    applies = estimate_label_frequencies(random).values
    assert applies[1] < applies[0] < applies[2]
    expected = np.array([0.5, 0.25, 1.0]) / (1 - applies)
    np.testing.assert_allclose(rates, [*expected[:2], 0.999])


def test_who_judges_all_labels_tells_exclusion_rates_too():
    rates = np.array([0.9, 0.3, 0.6, 0.5])
    features, relevant = logistic_problem(600)
    of_rule = draw_answers(relevant, question="excluded", exclusion_rates=rates, random_state=0)
    ticked = draw_answers(relevant, question="ticked", items_share=0.3, random_state=0)
    classifier = fixed().fit(features, Answers.concatenate([of_rule, ticked]))
    np.testing.assert_allclose(classifier.exclusion_rates_, rates, atol=0.12)
