"""A sparse matrix of words, as a vectorizer makes it, and the caller's own copy stays as it is."""

import warnings

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from complabel.answers import ReadAsComplementaryWarning, indicator_from_names
from complabel.methods import make_classifier

# In these labels, 1 does say that a label does not apply.
warnings.simplefilter("ignore", ReadAsComplementaryWarning)
topics = {
    "sport": "ball goal team match win",
    "money": "bank price market tax fund",
    "health": "doctor pain pill heart nurse",
    "travel": "train hotel beach ticket map",
}
rng = np.random.default_rng(1)
texts, answers = [], []
for _ in range(400):
    about = rng.choice(list(topics), size=int(rng.integers(1, 3)), replace=False)
    words = " ".join(topics[topic] for topic in about).split()
    texts.append(" ".join(rng.choice(words, size=12)))
    answers.append(rng.choice([topic for topic in topics if topic not in about]))

X = TfidfVectorizer().fit_transform(texts)
before = X.copy()
y = indicator_from_names(answers, list(topics))
selection = "selection-likelihood:kernel=linear,propensities=equal"
for name in (selection, "ridge", "ml-knn", "comrank"):
    classifier = make_classifier(name)
    if "random_state" in classifier.get_params():
        classifier.set_params(random_state=0)
    probability = classifier.fit(X[:300], y[:300]).predict_proba(X[300:])
    assert probability.shape == (100, 4)
    assert np.isfinite(classifier.score(X[300:], y[300:]))
    held_out = probability[y[300:] == 1].mean()
    assert held_out < probability.mean(), (name, held_out)
assert abs(X - before).nnz == 0
