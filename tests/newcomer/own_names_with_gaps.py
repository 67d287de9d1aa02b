"""Names of labels, some of them missing, from two annotators."""

import warnings

import numpy as np

from complabel.answers import (
    ReadAsComplementaryWarning,
    UnansweredRowWarning,
    indicator_from_names,
    names_from_indicator,
)
from complabel.methods import ComplementaryRidgeClassifier
from complabel.metrics import average_precision

labels = ["beach", "city", "forest", "sea"]
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 6))
applies = X[:, :4] > 0.3
answers = [[], None, ["sea", "sea"]]
for row in applies[3:]:
    wrong = np.flatnonzero(~row)
    first, second = (labels[rng.choice(wrong)] if len(wrong) else None for _ in range(2))
    answers.append([first, None if rng.random() < 0.5 else second])

y = indicator_from_names(answers, labels)
assert y.shape == (300, 4)
assert not y[:2].any()
assert y[2].tolist() == [0, 0, 0, 1]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    classifier = ComplementaryRidgeClassifier().fit(X, y)
kinds = {warning.category for warning in caught}
assert kinds == {ReadAsComplementaryWarning, UnansweredRowWarning}, caught
score = classifier.score(X, y)
assert np.isfinite(score)
names = names_from_indicator(classifier.predict(X), labels)
assert len(names) == 300
assert set().union(*names) <= set(labels)
found = average_precision(applies[3:], classifier.decision_function(X[3:]))
assert found > average_precision(applies[3:], np.zeros((297, 4))) + 0.1, found
