"""Average precision and ranking loss on real data, as measured elsewhere."""

import numpy as np
import pytest
from sklearn.metrics import hamming_loss, label_ranking_loss
from sklearn.model_selection import KFold

from complabel import metrics
from complabel.experiments.datasets import load_dataset
from complabel.experiments.methods import MLKNNClassifier
from complabel.methods import make_classifier
from complabel.simulate import draw_complementary

SGD = "optimizer=sgd,weight_decay=0.001,learning_rate=0.1,milestones=(100,150)"
# Of independent implementations, or of our own where there is none, on other complementary labels
# and folds: precision, ranking loss, and the Hamming loss of the method's own rule.
MEASURED = [
    ("ml-knn", "scene", 0.646, 0.266, None, 0.03),
    ("ml-knn", "yeast", 0.696, 0.234, None, 0.015),
    ("lift", "scene", 0.732, 0.178, None, 0.025),
    ("lift", "yeast", 0.684, 0.251, None, 0.03),
    ("fpml:rank=13", "yeast", 0.711, 0.225, 0.692, 0.02),
    ("fpml:rank=1", "yeast", 0.696, 0.225, 0.692, 0.02),
    ("pml-lrs:fit_intercept=false", "scene", 0.642, 0.256, 0.814, 0.02),
    ("pml-lrs:fit_intercept=false", "yeast", 0.490, 0.426, 0.308, 0.02),
    ("pml-lrs", "yeast", 0.716, 0.221, 0.692, 0.02),
    ("pml-lc:max_iter=8", "scene", 0.780, None, None, 0.02),
    ("pml-fp:max_iter=8", "scene", 0.788, None, None, 0.02),
    ("pml-lc:max_iter=8", "yeast", 0.689, None, None, 0.02),
    ("pml-fp:max_iter=8", "yeast", 0.687, None, None, 0.02),
    ("gdf:learning_rate=0.01", "scene", 0.741, 0.167, None, 0.05),
    ("gdf:learning_rate=0.1", "yeast", 0.704, 0.232, None, 0.02),
    (f"l-uw:{SGD}", "yeast", 0.685, 0.242, None, 0.02),
    ("comrank:learning_rate=0.01", "scene", 0.80, None, None, 0.02),
    ("comrank:learning_rate=0.1", "yeast", 0.71, None, None, 0.02),
]


def out_of_fold(data, learn):
    """Decisions about rows by fits to the other folds."""
    decisions = np.empty(data.Y.shape)
    for train, test in KFold(5, shuffle=True, random_state=0).split(data.X):
        decisions[test] = learn(train)._decision(data.X[test])
    return decisions


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dataset", "precision", "loss", "hamming", "tolerance"), MEASURED)
def test_as_measured_elsewhere(name, dataset, precision, loss, hamming, tolerance, data_dir):
    data = load_dataset(dataset, data_dir=data_dir)
    complementary = draw_complementary(data.Y, random_state=0)
    seeded = {} if name.startswith(("ml-knn", "pml")) else {"random_state": 0}

    def learn(train):
        return make_classifier(name, **seeded).fit(data.X[train], complementary[train])

    decisions = out_of_fold(data, learn)
    assert metrics.average_precision(data.Y, decisions) == pytest.approx(precision, abs=tolerance)
    if loss is not None:
        assert label_ranking_loss(data.Y, decisions) == pytest.approx(loss, abs=tolerance)
    if hamming is not None:
        assert hamming_loss(data.Y, decisions > 0) == pytest.approx(hamming, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "low", "high"), [("scene", 0.86, 0.87), ("yeast", 0.75, 0.77)])
def test_ml_knn_on_true_labels_reaches_the_level_of_the_literature(data_dir, name, low, high):
    data = load_dataset(name, data_dir=data_dir)

    def learn(train):
        classifier = MLKNNClassifier()
        classifier._fit_labels(data.X[train], data.Y[train])
        return classifier

    assert low <= metrics.average_precision(data.Y, out_of_fold(data, learn)) <= high
