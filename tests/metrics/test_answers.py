"""Label-free scores on what people answered, by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from complabel.answers import Answers
from complabel.errors import AnnotationError, InputError
from complabel.metrics import (
    complementary_ranking_error,
    complementary_ranking_scorer,
)

# Label 0 of item 0 is denied twice; item 1 keeps no label, item 2 loses none, item 3 is untold.
ANSWERS = Answers.concatenate(
    [
        Answers.from_arrays(
            absent=np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0]]),
            relevant=np.array([[0, 0, 0], [0, 0, 0], [0, 1, 0]]),
            question="asked",
            item=np.array([0, 1, 2]),
            n_items=5,
        ),
        Answers.from_arrays(
            named=np.array([[1, 0, 0], [0, 0, 1]]), item=np.array([0, 4]), n_items=5
        ),
        Answers.from_arrays(excluded=np.array([[0, 0, 1]]), item=np.array([1]), n_items=5),
    ]
)
SCORES = np.array([[0.2, 0.9, 0.1], [5, 0, 0], [0, 7, 0], [3, 1, 2], [0.1, 0.2, 0.2]])
# Item 0: label 1 ranks above label 0, label 2 below: 1/2. Item 4: label 0 below label 2, label 1
# ties with it: 3/4.
ERROR = (1 / 2 + 3 / 4) / 2


class Fixed:
    """A classifier whose decisions are its features."""

    classes_ = np.arange(3)

    def decision_function(self, X):
        return X


def test_scores_in_another_order_are_paired_with_the_items_by_name():
    answers = replace(ANSWERS, item_names=np.array(list("abcde"), dtype=object))
    scores = pd.DataFrame(SCORES, index=list("abcde")).loc[list("ecadb")]
    assert complementary_ranking_error(answers, scores) == pytest.approx(ERROR)


def test_items_that_keep_some_labels_and_lose_others_are_ranked():
    assert complementary_ranking_error(ANSWERS, SCORES) == pytest.approx(ERROR)
    assert complementary_ranking_scorer(Fixed(), SCORES, ANSWERS) == pytest.approx(-ERROR)


def test_answers_that_rank_nothing_are_refused():
    message = "the ranking error needs an item with a label that does not apply"
    with pytest.raises(AnnotationError, match=message):
        complementary_ranking_error(ANSWERS[1:4], SCORES[1:4])
    with pytest.raises(InputError, match=r"complementary has shape \(5, 3\) but scores \(4, 3\)"):
        complementary_ranking_error(ANSWERS, SCORES[:4])
