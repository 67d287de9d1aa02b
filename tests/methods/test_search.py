"""scikit-learn's searches over methods, by complementary labels and by true ones."""

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from complabel import metrics
from complabel.datasets import make_synthetic
from complabel.methods import MLCLClassifier
from complabel.simulate import draw_complementary

DATASET = make_synthetic(150, n_features=6, n_labels=4, random_state=5)
X, Y = DATASET.X, DATASET.Y
COMPLEMENTARY = draw_complementary(Y, random_state=0)
PARTS = list(KFold(n_splits=2).split(X))
GRID = {"mlclclassifier__learning_rate": [1e-5, 0.1]}


def mlcl():
    return make_pipeline(StandardScaler(), MLCLClassifier(epochs=15, random_state=0))


def test_a_grid_search_over_a_pipeline_needs_no_true_label():
    search = GridSearchCV(
        mlcl(),
        GRID,
        scoring=metrics.complementary_log_likelihood_scorer,
        cv=PARTS,
        error_score="raise",
    ).fit(X, COMPLEMENTARY)
    assert search.best_params_ == {"mlclclassifier__learning_rate": 0.1}
    by_hand = []
    for train, test in PARTS:
        pipeline = mlcl().set_params(mlclclassifier__learning_rate=0.1)
        pipeline.fit(X[train], COMPLEMENTARY[train])
        implied = pipeline.predict_proba(X[test]) @ pipeline[-1].transition_
        implied /= implied.sum(axis=1, keepdims=True)
        by_hand.append(np.log(implied[COMPLEMENTARY[test] == 1]).mean())
    assert search.best_score_ == pytest.approx(np.mean(by_hand), rel=1e-6)
    assert search.predict(X).shape == Y.shape


def test_known_relevant_labels_and_true_labels_travel_as_metadata():
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = MLCLClassifier(epochs=15, random_state=0).set_fit_request(relevant=True)
        search = GridSearchCV(
            classifier,
            {"learning_rate": [1e-5, 0.1]},
            scoring={
                "likelihood": metrics.complementary_log_likelihood_scorer,
                "precision": metrics.average_precision_scorer,
            },
            refit="likelihood",
            cv=PARTS,
            error_score="raise",
        ).fit(X, COMPLEMENTARY, relevant=Y, true_labels=Y)
    precision = search.cv_results_["mean_test_precision"]
    expected = []
    for train, test in PARTS:
        fitted = MLCLClassifier(epochs=15, random_state=0, learning_rate=0.1)
        fitted.fit(X[train], COMPLEMENTARY[train], relevant=Y[train])
        expected.append(metrics.average_precision(Y[test], fitted.decision_function(X[test])))
    assert precision[1] == pytest.approx(np.mean(expected))
