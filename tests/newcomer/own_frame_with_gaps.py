"""A wide frame of partial answers, as pandas holds it: 1, 0, and NaN where nobody knows."""

import numpy as np
import pandas as pd

from complabel.answers import Answers
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
P = truth.where(known)[::-1]  # in another order than the features
assert P.isna().to_numpy().mean() > 0.4

# A gap is no 0: the frame in place of answers is refused, and the message says what reads it.
settings = {"kernel": "linear", "alpha": 0.1, "random_state": 0}
said = ""
try:
    SelectionLikelihoodClassifier(**settings).fit(X, P)
except AnnotationError as error:
    said = str(error)
assert "Answers.from_frame" in said, said

answers = Answers.from_frame(P)
model = SelectionLikelihoodClassifier(**settings).fit(X, answers)
guessed = pd.DataFrame(model.predict_proba(X), index=names, columns=model.classes_)
assert abs(guessed.mean() - truth.mean()).max() < 0.05, (guessed.mean(), truth.mean())
unseen = ~known
agree = ((guessed[labels] > 0.5) == (truth == 1)).to_numpy()[unseen].mean()
assert agree > 0.85, agree

# A table holds all of it, and gives the same answers back.
table = answers.to_table()
again = Answers.from_table(table, items=answers.item_names, label_names=labels)
assert again == answers, "a table gives the same answers back"
