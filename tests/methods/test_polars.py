"""Polars data frames in: names of features and labels stay with the classifier."""

import numpy as np
import polars as pl
import pytest

from complabel.datasets import make_synthetic
from complabel.methods import ComplementaryRidgeClassifier

LABELS, FEATURES = ["sea", "sky", "city"], ["red", "green", "blue", "grey"]


@pytest.fixture(scope="module")
def data():
    return make_synthetic(60, n_features=4, n_labels=3, random_state=0)


def test_names_come_from_polars_as_from_pandas(data):
    X = pl.DataFrame(np.asarray(data.X), schema=FEATURES)
    y = pl.DataFrame(1 - np.asarray(data.Y), schema=LABELS)
    classifier = ComplementaryRidgeClassifier(alpha=1.0, random_state=0).fit(X, y)
    assert classifier.classes_.tolist() == LABELS
    assert classifier.feature_names_in_.tolist() == FEATURES
    plain = ComplementaryRidgeClassifier(alpha=1.0, random_state=0).fit(data.X, 1 - data.Y)
    # Columns one after the other are added up in another order.
    assert classifier.predict_proba(X) == pytest.approx(plain.predict_proba(data.X), rel=1e-9)
