"""A wide frame of partial answers, as pandas holds it: 1, 0, and NaN where nobody knows."""

import warnings

import numpy as np
import pandas as pd

from complabel.answers import Answers, UnansweredRowWarning
from complabel.datasets import make_synthetic
from complabel.errors import AnnotationError
from complabel.methods import SelectionLikelihoodClassifier

data = make_synthetic(400, n_features=5, n_labels=4, signal=4.0, random_state=0)
labels = ["beach", "city", "forest", "sea"]
names = [f"photo-{i:03}" for i in range(400)]
X = pd.DataFrame(data.X, index=names, columns=[f"e{k}" for k in range(5)])
truth = pd.DataFrame(data.Y, index=names, columns=labels)
known = np.random.default_rng(0).random(truth.shape) < 0.5
known[:20] = False  # nobody looked at these
partial = truth.where(known)[::-1]  # in another order than X

# A gap is not 0. The frame in place of answers is refused, and the message says what reads it.
said = ""
try:
    SelectionLikelihoodClassifier(random_state=0).fit(X, partial)
except AnnotationError as error:
    said = str(error)
assert "Answers.from_frame" in said, said

answers = Answers.from_frame(partial)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UnansweredRowWarning)  # blank rows are meant
    model = SelectionLikelihoodClassifier(random_state=0).fit(X, answers)
guessed = pd.DataFrame(model.predict_proba(X), index=names, columns=model.classes_)[labels]
assert abs(guessed.mean() - truth.mean()).max() < 0.07, (guessed.mean(), truth.mean())
right = ((guessed > 0.5) == (truth == 1)).to_numpy()[~known]
assert right.mean() > 0.8, right.mean()

# A table holds all of it, and gives the same answers back.
table = answers.to_table()
again = Answers.from_table(table, items=answers.item_names, label_names=labels)
np.testing.assert_array_equal(again.known_relevant, answers.known_relevant)
pd.testing.assert_frame_equal(again.to_table(), table)
