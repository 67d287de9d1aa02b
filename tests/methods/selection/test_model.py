"""Where a fit of the selection likelihood starts."""

import numpy as np
import pytest
from scipy import special

from complabel.answers import Answers
from complabel.methods.selection._choices import Choices


def start(counts, *, cardinality, propensities=None):
    """The probabilities of the constant model for labels chosen so many times."""
    complementary = np.repeat(np.eye(len(counts), dtype=np.uint8), counts, axis=0)
    choices = Choices(Answers.from_complementary(complementary), propensities=propensities)
    return special.expit(choices.constant_logits(cardinality))


def test_a_label_chosen_twice_as_often_is_irrelevant_twice_as_often():
    # 4 - 1.5 labels of 4 are irrelevant: a tenth of 2.5 for the first, two tenths, three tenths.
    found = start([10, 20, 30, 40], cardinality=1.5)
    assert found[:3] == pytest.approx([0.75, 0.5, 0.25])
    assert found[3] == pytest.approx(0.02)  # 0 has no logit


def test_a_label_that_comes_to_mind_twice_as_readily_counts_half():
    found = start([10, 40, 30], cardinality=1.5, propensities=np.array([1.0, 2.0, 1.0]))
    assert found == pytest.approx(1 - 1.5 * np.array([10, 20, 30]) / 60)


def test_all_labels_start_alike_where_the_cardinality_is_open():
    assert start([25, 25, 50], cardinality=None) == pytest.approx([1 / 3, 1 / 3, 1 / 3])
