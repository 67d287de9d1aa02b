import numpy as np
import pytest
from tests.refusals import warns

from complabel.answers import UnchosenLabelWarning
from complabel.methods import PriorClassifier

# Label 0 is chosen four times in eight, 1 twice, 2 and 3 once each.
COMPLEMENTARY = np.eye(4, dtype=int)[[0, 0, 0, 0, 1, 1, 2, 3]]
X = np.arange(16.0).reshape(8, 2)


def test_scores_worked_by_hand_are_the_same_for_every_instance():
    classifier = PriorClassifier().fit(X, COMPLEMENTARY)
    np.testing.assert_allclose(classifier.choice_rate_, [1 / 2, 1 / 4, 1 / 8, 1 / 8])
    new = np.random.default_rng(0).normal(size=(5, 2))
    # (1 - r)^3
    expected = [[0.125, 0.421875, 0.669921875, 0.669921875]] * 5
    np.testing.assert_allclose(classifier.predict_proba(new), expected)
    np.testing.assert_array_equal(classifier.predict(new), [[0, 0, 1, 1]] * 5)
    # For the score, one more choice is spread evenly.
    smoothed = (np.array([4, 2, 1, 1]) + 1 / 4) / 9
    held_out = np.eye(4, dtype=int)[[0, 2, 2]]
    score = (np.log(smoothed[0]) + 2 * np.log(smoothed[2])) / 3
    assert classifier.score(X[:3], held_out) == pytest.approx(score)


def test_several_complementary_labels_in_a_row_count_each():
    complementary = [[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 1, 1], [1, 0, 1, 0]]
    classifier = PriorClassifier().fit(X[:4], complementary)
    np.testing.assert_allclose(classifier.choice_rate_, np.array([3, 2, 2, 1]) / 8)


def test_a_label_never_chosen_ranks_first_and_is_not_held_impossible():
    complementary = np.eye(3, dtype=int)[[0, 0, 1]]
    with warns(UnchosenLabelWarning, "label 2"):
        classifier = PriorClassifier().fit(X[:3], complementary)
    assert classifier.predict_proba(X[:1]).argmax() == 2
    assert classifier.score(X[:1], [[0, 0, 1]]) == pytest.approx(np.log(1 / 12))
