"""ONNX files, run by onnxruntime, beside what the classifiers themselves predict."""

import json

import numpy as np
import pytest
import torch
from scipy import sparse
from tests.methods.saving.test_networks import ACTIVATIONS, mlp
from tests.methods.small import COMPLEMENTARY, LEARNERS, N_FEATURES, N_LABELS, PROBLEM, brief
from tests.refusals import raises
from tests.spawned import python

from complabel.answers import ClassPerRowWarning
from complabel.errors import InputError, OutputError
from complabel.experiments.methods import GDFClassifier
from complabel.methods import (
    FrequencyMatchedClassifier,
    MLCLClassifier,
    SelectionLikelihoodClassifier,
    save_onnx,
)

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
nn = torch.nn

# As a file holds them, in single precision.
NEW = np.random.default_rng(0).normal(size=(300, N_FEATURES)).astype(np.float32)
WITH = {
    "ridge",
    "fpml",
    "pml-lrs",
    "selection-likelihood",
    "mlcl",
    *("l-uw", "gdf", "unbiased-bce", "ctl", "comrank", "bce", "ccmn", "comes-hl", "comes-rl"),
}
LINEAR = {"kernel": "linear", "alpha": 0.1, "cardinality": 1.5, "rank": None}


def ran(path, X):
    """Return probabilities and labels."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(["probabilities", "labels"], {"features": X})


def check(classifier, path, X=NEW):
    """The graph and the classifier agree: up to float32 in f, and in each label that f decides."""
    save_onnx(classifier, path)
    probabilities, labels = ran(path, X)
    expected = classifier.predict_proba(X.astype(np.float64))
    np.testing.assert_allclose(probabilities, expected, rtol=2e-6, atol=1e-7)
    predicted = classifier.predict(X.astype(np.float64))
    if classifier._single:
        assert np.array_equal(classifier.classes_[labels], predicted)
    else:
        assert np.array_equal(labels, predicted)
    return predicted


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onnx"


@pytest.mark.parametrize("name", sorted(WITH))
def test_methods_predict_the_same(name, path):
    check(brief(name).fit(PROBLEM.X, COMPLEMENTARY), path)


@pytest.mark.parametrize("name", sorted({*LEARNERS} - WITH))
def test_other_methods_say_which_can(name, path):
    classifier = brief(name).fit(PROBLEM.X, COMPLEMENTARY)
    with raises(InputError, "fPML"):
        save_onnx(classifier, path)
    assert not path.exists()


@pytest.mark.parametrize("settings", [{"kernel": "rbf"}, LINEAR], ids=["kernel", "linear"])
@pytest.mark.parametrize("mean", [50.0, -3e4])
def test_features_far_from_0_lose_no_digits(settings, mean, path):
    classifier = brief("selection-likelihood", **settings)
    classifier.fit(PROBLEM.X + mean, COMPLEMENTARY)
    check(classifier, path, (NEW + mean).astype(np.float32))


@pytest.mark.parametrize(
    "layer",
    [*ACTIVATIONS, nn.GELU(), nn.Softplus(threshold=0.5), nn.LayerNorm(6, bias=False)],
    ids=repr,
)
def test_networks_of_usual_layers_predict_the_same(layer, path):
    classifier = GDFClassifier(network=mlp(layer), epochs=3, random_state=0)
    check(classifier.fit(PROBLEM.X, COMPLEMENTARY), path)


def test_layers_of_your_own_are_refused(path):
    classifier = GDFClassifier(network=mlp(nn.Softmax(dim=1)), epochs=1, random_state=0)
    with raises(InputError, "torch.nn.modules.activation.Softmax", "torch.nn.Sequential"):
        save_onnx(classifier.fit(PROBLEM.X, COMPLEMENTARY), path)


def test_rows_of_zeros_stay_zeros_when_rows_are_scaled(path):
    classifier = SelectionLikelihoodClassifier(**{**LINEAR, "scaling": "rows"}, random_state=0)
    X = NEW.copy()
    X[::7] = 0
    check(classifier.fit(PROBLEM.X, COMPLEMENTARY), path, X)


def test_sparse_landmarks_become_dense(path):
    X = sparse.csr_array(np.where(np.abs(PROBLEM.X) > 0.5, PROBLEM.X, 0))
    check(brief("selection-likelihood").fit(X, COMPLEMENTARY), path)


def test_scores_matched_to_frequencies(path):
    for inner in (brief("selection-likelihood"), brief("gdf", network=mlp(nn.ReLU()))):
        matched = FrequencyMatchedClassifier(inner, [0.3] * 4, cv=None)
        check(matched.fit(PROBLEM.X, COMPLEMENTARY), path)


@pytest.mark.parametrize("settings", [LINEAR, {"kernel": "rbf"}], ids=["linear", "kernel"])
def test_one_class_per_row(settings, path):
    classes = np.array(["sea", "sky", "sun", "moor"])[COMPLEMENTARY.argmax(axis=1)]
    with pytest.warns(ClassPerRowWarning):
        classifier = brief("selection-likelihood", **settings).fit(PROBLEM.X, classes)
    assert len({*check(classifier, path)}) > 1


@pytest.mark.parametrize("threshold", ["probability", "minmax"])
def test_cuts_and_thresholds_decide_the_labels(threshold, path):
    classifier = MLCLClassifier(epochs=3, learning_rate=0.1, threshold=threshold, random_state=0)
    classifier.fit(PROBLEM.X, COMPLEMENTARY)
    plain = check(classifier, path)
    classifier.cut = 0.3
    below = check(classifier, path)
    assert (below >= plain).all()
    assert (below != plain).any()
    classifier.set_thresholds([0.2, 0.4, 0.6, 0.8])
    assert (check(classifier, path) != below).any()
    told = onnxruntime.InferenceSession(path).get_modelmeta().custom_metadata_map
    assert json.loads(told["thresholds"]) == [0.2, 0.4, 0.6, 0.8]


def test_thresholds_for_all_labels_or_none_hold_for_extreme_scores(path):
    classifier = brief("mlcl").fit(PROBLEM.X, COMPLEMENTARY)
    classifier.coef_[:] = 0
    classifier.intercept_[:] = [-200, -90, 90, 20]
    classifier.set_thresholds(np.nextafter(0, 1))
    assert (check(classifier, path) == 1).all()
    classifier.set_thresholds(np.nextafter(1, 0))
    assert (check(classifier, path) == [0, 0, 1, 0]).all()


def test_equal_scores_have_the_plain_cut(path):
    classifier = brief("mlcl", threshold="minmax").fit(PROBLEM.X, COMPLEMENTARY)
    for logit, expected in ((0.1, 1), (-0.1, 0)):
        classifier.coef_[:], classifier.intercept_[:] = 0, logit
        assert (check(classifier, path) == expected).all()


def test_the_file_names_labels_and_is_as_old_as_can_be(path):
    pd = pytest.importorskip("pandas")
    y = pd.DataFrame(COMPLEMENTARY, columns=["sea", "été", "sun", "moor"])
    save_onnx(brief("ridge").fit(PROBLEM.X, y), path)
    session = onnxruntime.InferenceSession(path)
    told = session.get_modelmeta().custom_metadata_map
    assert json.loads(told["label_names"]) == ["sea", "été", "sun", "moor"]
    assert json.loads(told["thresholds"]) == [0.5] * N_LABELS
    assert [each.shape for each in session.get_inputs()] == [["n", N_FEATURES]]
    model = onnx.load(path)
    assert (model.opset_import[0].version, model.ir_version) == (18, 8)


def test_too_many_numbers_are_refused_before_they_are_written(path, monkeypatch):
    monkeypatch.setattr("complabel.methods._onnx._MOST_BYTES", 100)
    with raises(InputError, "n_components"):
        save_onnx(brief("ridge").fit(PROBLEM.X, COMPLEMENTARY), path)


def test_a_file_that_cannot_be_written_says_so(tmp_path):
    with raises(OutputError, "model.onnx"):
        save_onnx(brief("ridge").fit(PROBLEM.X, COMPLEMENTARY), tmp_path / "no" / "model.onnx")


WITHOUT = """
import sys
sys.modules["onnx"] = None
import numpy as np
from complabel.errors import InputError
from complabel.methods import PriorClassifier, save_onnx
try:
    save_onnx(PriorClassifier().fit(np.zeros((3, 1)), np.eye(3, dtype=int)), "model.onnx")
except InputError as error:
    print(error)
assert "torch" not in sys.modules
"""


def test_without_the_extra_it_says_what_to_install():
    assert 'pip install "complabel[onnx]"' in python("-c", WITHOUT)
