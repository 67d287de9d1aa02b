"""Answers as the second argument of scikit-learn's splitting, scoring and searching."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing, indexable, resample
from tests.refusals import raises

from complabel.answers import Answers
from complabel.errors import AnnotationError

N_ITEMS, N_LABELS = 12, 4
X = np.arange(N_ITEMS, dtype=float)[:, np.newaxis]


class Recorder(ClassifierMixin, BaseEstimator):
    """Insists on answers about the rows of X, of which each says its own number."""

    def __init__(self, shift=0):
        self.shift = shift

    def fit(self, X, y):
        assert isinstance(y, Answers)
        assert y.shape == (len(X), N_LABELS)
        # Item i has answers of probability 1 / (i + 1), so it is known by its features again.
        own = np.rint(1 / y.probability).astype(int) - 1
        np.testing.assert_array_equal(own, X[y.item, 0].astype(int))
        self.n_answers_ = y.n_answers
        self.classes_ = np.arange(N_LABELS)
        return self

    def predict(self, X):
        return np.zeros((len(X), N_LABELS))

    predict_proba = predict

    def score(self, X, y):
        assert isinstance(y, Answers)
        assert len(X) == len(y)
        return y.n_answers + self.shift


@pytest.fixture
def answers():
    """Of item i: i % 3 answers."""
    item = np.repeat(np.arange(N_ITEMS), np.arange(N_ITEMS) % 3)
    return Answers.from_arrays(
        absent=np.eye(N_LABELS)[item % N_LABELS],
        item=item,
        probability=1 / (item + 1),
        n_items=N_ITEMS,
    )


@pytest.mark.parametrize("index", [[1, 5, 5], np.arange(12) % 2 == 0, slice(2, 8), (3, 1)])
def test_indexing_keeps_answers(answers, index):
    chosen = _safe_indexing(answers, index)
    assert isinstance(chosen, Answers)
    rows = list(index) if isinstance(index, tuple) else index
    np.testing.assert_array_equal(chosen.complementary, answers.complementary[rows])
    assert indexable(X, answers)[1] is answers


def test_cross_validation_fits_and_scores_answers(answers):
    scores = cross_val_score(Recorder(), X, answers, cv=KFold(3), error_score="raise")
    np.testing.assert_array_equal(scores, [3, 4, 5])
    assert len(cross_val_score(Recorder(), X, answers, cv=4, error_score="raise")) == 4
    predicted = cross_val_predict(Recorder(), X, answers, cv=ShuffleSplitOnce())
    assert predicted.shape == (N_ITEMS, N_LABELS)


@pytest.mark.parametrize(
    "misuse",
    [
        lambda answers: cross_val_predict(Recorder(), X, answers, method="predict_proba"),
        lambda answers: StratifiedKFold(2).split(X, answers).__next__(),
        lambda answers: CalibratedClassifierCV(Recorder()).fit(X, answers),
        *(
            lambda answers, name=name: cross_val_score(
                Recorder(), X, answers, scoring=name, cv=2, error_score="raise"
            )
            for name in ("f1_micro", "accuracy", "roc_auc", "neg_log_loss")
        ),
    ],
)
def test_what_takes_y_for_labels_to_predict_is_refused(answers, misuse):
    with raises(AnnotationError, "answers.complementary", "answers[rows]"):
        misuse(answers)


class ShuffleSplitOnce(KFold):
    """Folds of shuffled rows."""

    def __init__(self):
        super().__init__(3, shuffle=True, random_state=0)


def test_a_search_chooses_by_answers(answers):
    search = GridSearchCV(Recorder(), {"shift": [0, 5, 1]}, cv=3, error_score="raise", n_jobs=None)
    search.fit(X, answers)
    assert search.best_params_ == {"shift": 5}
    assert search.best_estimator_.n_answers_ == answers.n_answers


@pytest.mark.slow
def test_a_search_in_other_processes_gets_answers(answers):
    search = GridSearchCV(Recorder(), {"shift": [0, 5]}, cv=3, error_score="raise", n_jobs=2)
    assert search.fit(X, answers).best_score_ == 9


def test_a_pipeline_passes_answers_on(answers):
    pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), Recorder())
    scores = cross_val_score(pipeline, X, answers, cv=ShuffleSplit(2, random_state=0))
    assert len(scores) == 2


def test_rows_and_answers_are_split_alike(answers):
    X_train, X_test, train, test = train_test_split(X, answers, random_state=0)
    assert train.n_answers + test.n_answers == answers.n_answers
    for part, rows in ((train, X_train), (test, X_test)):
        Recorder().fit(rows, part)
    many, again = resample(X, answers, n_samples=30, random_state=1)
    assert Recorder().fit(many, again).n_answers_ == again.n_answers
