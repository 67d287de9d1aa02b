"""Answers keep what was asked, and find their rows by name."""

import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_predict, cross_val_score

from complabel.answers import Answers
from complabel.datasets import make_synthetic
from complabel.errors import AnnotationError
from complabel.methods import SelectionLikelihoodClassifier

data = make_synthetic(300, n_features=5, n_labels=4, signal=4.0, random_state=0)
names = [f"photo-{i:03}" for i in range(300)]
labels = ["beach", "city", "forest", "sea"]
X = pd.DataFrame(data.X, index=names, columns=[f"e{k}" for k in range(5)])
asked = np.random.default_rng(0).integers(4, size=300)
table = {
    "item": names,
    "label": [labels[k] for k in asked],
    "answer": ["yes" if data.Y[i, k] else "no" for i, k in enumerate(asked)],
    "question": ["asked"] * 300,
    "probability": [0.25] * 300,
}
answers = Answers.from_table(table, items=names, label_names=labels)
settings = {"kernel": "linear", "alpha": 0.01, "random_state": 0}
classifier = SelectionLikelihoodClassifier(**settings).fit(X, answers)

# A frame in another order has the same answers.
shuffled = X.sample(frac=1, random_state=0)
again = SelectionLikelihoodClassifier(**settings).fit(shuffled, answers)
np.testing.assert_allclose(again.predict_proba(X), classifier.predict_proba(X), atol=1e-4)

# What would turn answers into an array is refused; what splits them works.
refused = False
try:
    cross_val_predict(classifier, X, answers, cv=3, method="predict_proba")
except AnnotationError:
    refused = True
assert refused, "cross_val_predict turned the answers into an array"
assert np.isfinite(cross_val_score(classifier, X, answers, cv=3)).all()
