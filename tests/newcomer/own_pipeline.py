"""A pipeline, settings searched without a true label, a model kept in a file."""

import pickle
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from complabel.answers import ReadAsComplementaryWarning
from complabel.datasets import make_synthetic
from complabel.methods import ComplementaryRidgeClassifier, SelectionLikelihoodClassifier
from complabel.metrics import average_precision, complementary_ranking_scorer
from complabel.simulate import draw_complementary

# In these labels, 1 does say that a label does not apply.
warnings.simplefilter("ignore", ReadAsComplementaryWarning)
data = make_synthetic(400, n_features=5, signal=6.0)
y = draw_complementary(data.Y, random_state=0)

ridge = make_pipeline(StandardScaler(), ComplementaryRidgeClassifier())
search = GridSearchCV(
    ridge,
    {"complementaryridgeclassifier__alpha": [0.1, 10.0, 1000.0]},
    scoring=complementary_ranking_scorer,
    cv=3,
).fit(data.X[:300], y[:300])
assert np.isfinite(search.best_score_)

model = make_pipeline(
    StandardScaler(),
    SelectionLikelihoodClassifier(
        kernel="linear",
        scaling="standardize",
        alpha=0.1,
        cardinality=1.5,
        propensities="equal",
        random_state=0,
    ),
)
held_out = cross_val_score(model, data.X, y, cv=3, scoring=complementary_ranking_scorer)
assert held_out.mean() > -0.5  # better than an order that knows nothing
model.fit(data.X[:300], y[:300])
found = average_precision(data.Y[300:], model.predict_proba(data.X[300:]))
constant = average_precision(data.Y[300:], np.tile(-y[:300].mean(axis=0), (100, 1)))
assert found > constant, (found, constant)
file = Path("model.pickle")
file.write_bytes(pickle.dumps(model))
again = pickle.loads(file.read_bytes())
np.testing.assert_array_equal(again.predict(data.X), model.predict(data.X))
